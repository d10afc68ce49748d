//! The screen at every size: usable at 80x24, sensible at 40x10, a message below that, resized at any moment.

use crate::faults::arm;
use crate::screen;
use crate::stage::{Stage, file, options};
use behaview::app::TerminalEvent;
use behaview::runtime::Exit;
use proptest::prelude::*;

#[test]
fn at_80_by_24() {
    let mut stage = Stage::listed();
    stage.size(80, 24);
    screen!("size_80x24_list", stage);
    stage.keys("enter");
    screen!("size_80x24_panes", stage);
    stage.keys("0");
    screen!("size_80x24_overview", stage);
    stage.keys("$");
    screen!("size_80x24_prices", stage);
}

#[test]
fn at_60_by_20() {
    let mut stage = Stage::listed();
    stage.size(60, 20).keys("enter");
    screen!("size_60x20", stage);
    let head: Vec<_> = stage.screen().lines().take(2).map(str::to_owned).collect();
    assert!(head[0].ends_with("· CAPE Sandbox · MALWARE 92"), "{head:?}");
    assert!(head[1].contains("1 Processes│2 Tags"), "{head:?}");
}

#[test]
fn what_is_left_stands_with_its_period_at_every_width() {
    let mut stage = Stage::listed();
    for columns in 40..=120 {
        stage.size(columns, 20);
        let screen = stage.screen();
        let bar = screen.lines().last().unwrap();
        let has_both = bar.contains("left today: you 499") && bar.contains("· group 17,519");
        assert!(has_both || columns < 75 && bar.contains(" left: you 239 this hour"), "{columns}: {bar}");
        assert!(bar.contains("you 239 this hour") && bar.contains("spent"), "{columns}: {bar}");
        assert!(bar.trim_end().ends_with(" 1"), "{columns}: {bar}");
    }
}

#[test]
fn at_40_by_10() {
    let mut stage = Stage::listed();
    stage.size(40, 10);
    screen!("size_40x10_list", stage);
    stage.keys("enter");
    screen!("size_40x10_pane", stage);
    stage.keys("esc G");
    screen!("size_40x10_next_page", stage);
}

#[test]
fn smaller_is_a_message() {
    let mut stage = Stage::listed();
    stage.size(30, 8);
    screen!("size_30x8", stage);
    stage.size(0, 0);
    stage.size(1, 1);
    stage.size(120, 40);
    assert!(stage.screen().contains("Sandboxes"));
}

#[test]
fn below_the_smallest_size_no_key_acts_but_quit() {
    let keys = "r R W U E d A b u enter G j tab esc : ? $ / y x f Q ctrl-z H S T L p z 0 1".split(' ');
    for (width, height, before) in [(39, 10, "esc"), (40, 9, "E"), (1, 1, "U"), (39, 10, ":")] {
        let mut stage = Stage::listed();
        stage.keys(before);
        let (screen, calls) = (stage.screen(), stage.demo.as_ref().unwrap().seen().len());
        stage.size(width, height);
        for key in keys.clone() {
            stage.keys(key);
        }
        stage.session.take(TerminalEvent::Paste("d41d8cd9".to_owned()));
        stage.rest();
        stage.size(120, 40);
        assert_eq!(stage.screen(), screen, "{before} at {width}x{height}");
        assert_eq!(stage.demo.as_ref().unwrap().seen().len(), calls);
        stage.size(width, height).press("ctrl-c");
        assert_eq!(stage.session.exit, Some(Exit::Done), "{before} at {width}x{height}");
    }
}

#[test]
fn at_200_by_60() {
    let mut stage = Stage::listed();
    stage.size(200, 60).keys("enter");
    screen!("size_200x60", stage);
}

#[test]
fn a_failure_is_told_where_only_the_list_has_room() {
    let mut stage = Stage::new(options());
    stage.size(40, 12);
    stage.open(&file("statement"));
    arm(stage.demo.as_ref().unwrap(), "list:404*1");
    stage.keys("enter");
    screen!("size_40x12_failure", stage);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
}
