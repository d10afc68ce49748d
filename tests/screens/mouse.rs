//! The mouse chooses, scrolls and drags borders; it never spends.

use crate::harness::{TuiHarness, main_file, options};
use crate::{above_bar, screen};
use behaview::app::panes::{MouseInput, MouseKind};
use behaview::app::{Layout, TerminalEvent};
use behaview::demo::{ListContent, Options};
use behaview::report::Pane;

fn point(tui: &mut TuiHarness, kind: MouseKind, x: u16, y: u16) {
    tui.session.take(TerminalEvent::Mouse(MouseInput { x, y, kind }));
    tui.rest();
}

fn opened() -> TuiHarness {
    let mut tui = TuiHarness::listed();
    tui.keys("enter");
    tui
}

#[test]
fn click_focuses_and_selects_the_row() {
    let mut tui = opened();
    point(&mut tui, MouseKind::Press, 80, 6);
    assert_eq!(tui.session.model.focused(), Some(Pane::Tags));
    assert_eq!(tui.session.model.pane_state(Pane::Tags).scroll.cursor, 2);
    point(&mut tui, MouseKind::Press, 3, 6);
    assert!(tui.screen().contains("· Zenbox ·"), "{}", tui.screen());
    tui.keys("o esc");
    point(&mut tui, MouseKind::Press, 4, 6);
    assert!(tui.screen().contains("─ o Other"), "the same report keeps its panes: {}", tui.screen());
    point(&mut tui, MouseKind::Press, 3, 4);
    assert!(tui.screen().contains("─ 1 Processes"), "{}", tui.screen());
    let tabs = tui.screen().lines().nth(1).unwrap().to_owned();
    let files = tabs[..tabs.find("Files").unwrap()].chars().count();
    point(&mut tui, MouseKind::Press, u16::try_from(files).unwrap(), 1);
    assert_eq!(tui.session.model.focused(), Some(Pane::Files));
    tui.keys("?");
    point(&mut tui, MouseKind::Press, 10, 8);
    point(&mut tui, MouseKind::Press, 10, 0);
    assert!(tui.session.model.overlays.is_empty());
}

#[test]
fn wheel_scrolls_under_pointer_without_focus() {
    let mut tui = opened();
    point(&mut tui, MouseKind::ScrollDown, 80, 25);
    let model = &tui.session.model;
    assert_eq!((model.focused(), model.pane_state(Pane::Files).scroll.cursor), (Some(Pane::Processes), 3));
    point(&mut tui, MouseKind::ScrollUp, 80, 25);
    assert_eq!(tui.session.model.pane_state(Pane::Files).scroll.cursor, 0);
}

#[test]
fn clicks_send_nothing() {
    let mut tui = TuiHarness::at(main_file(), Options { listing: ListContent::Identifiers, ..options() });
    tui.keys("enter");
    let paid = tui.paid_calls();
    (0..2).for_each(|_| point(&mut tui, MouseKind::Press, 3, 6));
    tui.keys("G ? / n e x t - p");
    (0..2).for_each(|_| point(&mut tui, MouseKind::Press, 6, 4));
    assert_eq!(tui.paid_calls(), paid);
    // The key does what the click does not.
    tui.keys("enter");
    assert_eq!(tui.paid_calls(), paid + 1);
}

/// Where a border is.
type Border = fn(&Layout) -> (u16, u16);

#[test]
fn borders_are_dragged_and_keys_do_the_same() {
    let mut tui = opened();
    let borders: [Border; 3] = [
        |layout| (layout.list.unwrap().width - 1, 10),
        |layout| (layout.pane(Pane::Tags).unwrap().x, 8),
        |layout| (100, layout.pane(Pane::Registry).unwrap().y),
    ];
    for (border, to) in borders.into_iter().zip([(39, 12), (95, 8), (100, 28)]) {
        // Each moves the others.
        let layout = tui.session.model.layout();
        let from = border(&layout);
        point(&mut tui, MouseKind::Press, from.0, from.1);
        point(&mut tui, MouseKind::Drag, to.0, to.1);
        point(&mut tui, MouseKind::Release, to.0, to.1);
    }
    let model = &tui.session.model;
    assert_eq!((model.focused(), model.pane_state(Pane::Processes).scroll.cursor), (Some(Pane::Processes), 0));
    above_bar!("borders_dragged", tui);
    let before = tui.session.model.layout();
    tui.keys("> )");
    let after = tui.session.model.layout();
    assert_eq!(after.list.unwrap().width, before.list.unwrap().width + 2);
    assert!(after.pane(Pane::Tags).unwrap().height > before.pane(Pane::Tags).unwrap().height);
}

#[test]
fn a_timeline_shows_when_processes_started() {
    let mut tui = opened();
    tui.keys("T");
    screen!("timeline", tui);
    assert!(!tui.screen().contains('\u{fffd}'));
}
