//! The mouse chooses, scrolls and drags borders; it never spends.

use crate::stage::{Stage, main_file, options};
use crate::{above_bar, screen};
use behaview::app::pointer::{MouseAction, Pointer};
use behaview::app::{Layout, TerminalEvent};
use behaview::demo::{ListContent, Options};
use behaview::report::Pane;

fn point(stage: &mut Stage, does: MouseAction, x: u16, y: u16) {
    stage.session.take(TerminalEvent::Pointer(Pointer { x, y, does }));
    stage.rest();
}

fn opened() -> Stage {
    let mut stage = Stage::listed();
    stage.keys("enter");
    stage
}

#[test]
fn a_press_gives_the_focus_and_chooses_the_row() {
    let mut stage = opened();
    point(&mut stage, MouseAction::Press, 80, 6);
    assert_eq!(stage.session.model.focused(), Some(Pane::Tags));
    assert_eq!(stage.session.model.pane_state(Pane::Tags).scroll.cursor, 2);
    point(&mut stage, MouseAction::Press, 3, 6);
    assert!(stage.screen().contains("· Zenbox ·"), "{}", stage.screen());
    stage.keys("o esc");
    point(&mut stage, MouseAction::Press, 4, 6);
    assert!(stage.screen().contains("─ o Other"), "the same report keeps its panes: {}", stage.screen());
    point(&mut stage, MouseAction::Press, 3, 4);
    assert!(stage.screen().contains("─ 1 Processes"), "{}", stage.screen());
    let tabs = stage.screen().lines().nth(1).unwrap().to_owned();
    let files = tabs[..tabs.find("Files").unwrap()].chars().count();
    point(&mut stage, MouseAction::Press, u16::try_from(files).unwrap(), 1);
    assert_eq!(stage.session.model.focused(), Some(Pane::Files));
    stage.keys("?");
    point(&mut stage, MouseAction::Press, 10, 8);
    point(&mut stage, MouseAction::Press, 10, 0);
    assert!(stage.session.model.over.is_empty());
}

#[test]
fn the_wheel_moves_what_is_under_it_and_leaves_the_focus() {
    let mut stage = opened();
    point(&mut stage, MouseAction::Down, 80, 25);
    let model = &stage.session.model;
    assert_eq!((model.focused(), model.pane_state(Pane::Files).scroll.cursor), (Some(Pane::Processes), 3));
    point(&mut stage, MouseAction::Up, 80, 25);
    assert_eq!(stage.session.model.pane_state(Pane::Files).scroll.cursor, 0);
}

#[test]
fn a_double_press_opens_what_is_held_and_only_names_a_price() {
    let mut stage = Stage::at(main_file(), Options { listing: ListContent::Identifiers, ..options() });
    stage.keys("enter");
    let paid = stage.paid_calls();
    point(&mut stage, MouseAction::Press, 3, 6);
    point(&mut stage, MouseAction::Press, 3, 6);
    assert_eq!(stage.paid_calls(), paid);
    assert!(stage.screen().contains("open: 1 request. The mouse never spends: enter does it."), "{}", stage.screen());
    stage.keys("enter esc");
    point(&mut stage, MouseAction::Press, 3, 8);
    point(&mut stage, MouseAction::Press, 3, 8);
    assert_eq!(stage.session.model.focused(), Some(Pane::Processes));
}

#[test]
fn a_double_press_in_the_palette_spends_no_more_than_one_on_the_row_itself() {
    let mut stage = Stage::listed();
    stage.keys("G ? / n e x t - p");
    let paid = stage.paid_calls();
    point(&mut stage, MouseAction::Press, 6, 4);
    point(&mut stage, MouseAction::Press, 6, 4);
    assert_eq!(stage.paid_calls(), paid);
    stage.assert_shows("next page: 1 request. The mouse never spends: enter does it.");
    stage.keys("enter");
    assert_eq!(stage.paid_calls(), paid + 1);
}

/// Where a border is.
type Border = fn(&Layout) -> (u16, u16);

#[test]
fn borders_are_dragged_and_keys_do_the_same() {
    let mut stage = opened();
    let borders: [Border; 3] = [
        |layout| (layout.list.unwrap().width - 1, 10),
        |layout| (layout.pane(Pane::Tags).unwrap().x, 8),
        |layout| (100, layout.pane(Pane::Registry).unwrap().y),
    ];
    for (border, to) in borders.into_iter().zip([(39, 12), (95, 8), (100, 28)]) {
        // Each moves the others.
        let layout = stage.session.model.layout();
        let from = border(&layout);
        point(&mut stage, MouseAction::Press, from.0, from.1);
        point(&mut stage, MouseAction::Drag, to.0, to.1);
        point(&mut stage, MouseAction::Release, to.0, to.1);
    }
    let model = &stage.session.model;
    assert_eq!((model.focused(), model.pane_state(Pane::Processes).scroll.cursor), (Some(Pane::Processes), 0));
    above_bar!("borders_dragged", stage);
    let before = stage.session.model.layout();
    stage.keys("> )");
    let after = stage.session.model.layout();
    assert_eq!(after.list.unwrap().width, before.list.unwrap().width + 2);
    assert!(after.pane(Pane::Tags).unwrap().height > before.pane(Pane::Tags).unwrap().height);
}

#[test]
fn a_timeline_shows_when_processes_started() {
    let mut stage = opened();
    stage.keys("T");
    screen!("timeline", stage);
    assert!(!stage.screen().contains('\u{fffd}'));
}
