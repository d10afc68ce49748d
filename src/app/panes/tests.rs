//! Visible rows of a pane, and the order of panes.

use super::*;
use crate::report::RowSet;

/// A registry pane with three kinds of rows, and a tree.
fn report() -> Report {
    let json = r#"{"processes_tree":[{"name":"a","children":[{"name":"b"},{"name":"c"}]},{"name":"d"}],
        "registry_keys_set":["s0","s1","s2"],"registry_keys_deleted":["d0"],"registry_keys_opened":["o0","o1"]}"#;
    Report::of_json(json)
}

/// Every visible row of a pane; `^` precedes a mere ancestor of others.
fn rows(state: &PaneState, report: &Report, pane: Pane) -> Vec<String> {
    let rows = (0..state.count(report, pane)).map(|at| {
        let place = state.place(report, pane, at).unwrap();
        assert_eq!(state.position(report, pane, place), at);
        let row = report.row(place.section, place.row);
        let crate::report::Piece::Value(text) = &row.pieces[0] else { panic!("a value") };
        format!("{}{}", if state.passes_filter(place) { "" } else { "^" }, text.visible())
    });
    rows.collect()
}

#[test]
fn a_pane_shows_what_is_found_without_what_is_hidden() {
    let report = report();
    let mut state = PaneState::default();
    let all = ["s0", "s1", "s2", "d0", "o0", "o1"];
    assert_eq!(rows(&state, &report, Pane::Registry), all);
    state.scroll.cursor = 5;
    let found = [(1, 1), (1, 2), (3, 0)].into_iter().collect();
    state.filter_rows(&report, Pane::Registry, |row_filter| row_filter.found = Some(found));
    assert_eq!(rows(&state, &report, Pane::Registry), ["s1", "s2", "o0"]);
    assert_eq!((state.scroll.cursor, state.borders(&report, Pane::Registry)), (2, vec![2]));
    state.filter_rows(&report, Pane::Registry, |row_filter| row_filter.hidden = [(1, 2), (3, 1)].into_iter().collect());
    assert_eq!(rows(&state, &report, Pane::Registry), ["s1", "o0"]);
    state.filter_rows(&report, Pane::Registry, |row_filter| row_filter.found = None);
    assert_eq!(rows(&state, &report, Pane::Registry), ["s0", "s1", "d0", "o0"]);
    assert_eq!(state.scroll.cursor, 3);
    state.filter_rows(&report, Pane::Registry, |row_filter| row_filter.hidden = RowSet::default());
    assert_eq!(rows(&state, &report, Pane::Registry), all);
}

#[test]
fn panes_with_rows_come_before_those_without() {
    let order = PaneOrder::of(|pane| matches!(pane, Pane::Processes | Pane::Registry), false);
    assert_eq!((order.group(1), order.group_of(Pane::Tags)), (&[][..], None));
    assert_eq!((order.group(0), order.groups()), (&[Pane::Processes, Pane::Registry][..], 1));
    assert_eq!(order.neighbour(Pane::Processes, true), Pane::Registry);
    assert_eq!(order.neighbour(Pane::Registry, true), Pane::Overview);
    assert_eq!(order.neighbour(Pane::Mobile, true), Pane::Overview);
    assert_eq!(PaneOrder::of(|_| true, false).groups(), 3);
    let first = [Pane::Processes, Pane::Tags, Pane::Registry, Pane::Files, Pane::Network, Pane::Techniques];
    let large = PaneOrder::of(|_| true, true);
    assert_eq!((large.group(0), large.group_of(Pane::Techniques), large.groups()), (&first[..], Some(0), 3));
}

#[test]
fn page_moves_window_and_cursor() {
    let mut scroll = crate::app::panes::Scroll::default();
    scroll.go(Move::PageDown(9), 100, 10);
    assert_eq!((scroll.cursor, scroll.top), (9, 9));
}
