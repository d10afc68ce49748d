//! Keys: the bar shows none that does nothing, help and palette find them, and what the config changes is dispatched as shown.

use crate::screen;
use crate::stage::{Stage, file, main_file, options};
use behaview::app::keys::keymap::Change;
use behaview::app::{Command, Key, Keymap, Overlay, Place, TerminalEvent};
use behaview::demo::{Demo, ListContent, Options};
use proptest::prelude::*;
use std::cell::{Cell, RefCell};

/// Ways to places that are all different.
const WAYS: &[&str] = &[
    "f",
    "f a",
    "esc",
    "G",
    "enter",
    "enter z",
    "enter 4",
    "enter 4 G enter",
    "0",
    "?",
    ":",
    ": z z z",
    "$",
    "L",
    "p",
    "H",
    "H d",
    "H p",
    "a",
    "enter i",
    "enter d",
    "enter x",
    "enter Y",
    "enter 4 /",
    "enter 4 / s t a g e enter",
    "F s t a g e",
    "S s t a g e",
    "c",
    "c /",
    "c enter",
    "!",
    "U",
    "E",
    "W",
    "! /",
    "G /",
    "H /",
    "enter i /",
    "! / t a s k enter",
    "! tab",
    "! j j enter",
    "S s t a g e enter",
    "S s t a g e enter esc",
    ": v 3 - r e s c a n enter",
];

/// The same, and those to an answer and to a question that waits for a yes.
fn ways() -> Vec<String> {
    let spelled = |name: &str, typed: &str| {
        let letters = |text: &str| text.chars().map(String::from).collect::<Vec<_>>().join(" ");
        format!(": {} enter {} enter", letters(name), letters(typed))
    };
    let public = &Demo::public_files()[0].sha256;
    let typed = [spelled("v3-file", public), spelled("v3-rescan", public), spelled("v3-analysis", "x")];
    let folded = format!("{} -", typed[0]);
    let letters = file("Unfriendly").to_string().chars().map(String::from).collect::<Vec<_>>().join(" ");
    let other = format!("f {letters} enter enter c w");
    WAYS.iter().map(|way| (*way).to_owned()).chain(typed).chain([folded, other]).collect()
}

fn at(way: &str) -> Stage {
    let mut stage = Stage::listed();
    stage.keys(way);
    if matches!(stage.session.model().over.top(), Some(Overlay::Save(_))) {
        // What is offered there is a file in the folder the tests run in.
        stage.keys("ctrl-u");
        stage.session.take(TerminalEvent::Paste("/no/such/folder/report.jsonl".to_owned()));
        stage.rest();
    }
    stage
}

/// The keys that the bar may show, each with the name of its command or the label of its answer.
fn shown(stage: &Stage) -> Vec<(Key, &'static str)> {
    let model = stage.session.model();
    let commands = Command::applying(model).filter(|(_, command)| command.rank > 0);
    let answers = model.answers().iter().map(|answer| (answer.key, answer.label));
    commands.map(|(key, command)| (key, command.name)).chain(answers).collect()
}

#[test]
fn every_key_in_the_bar_does_something() {
    for way in &ways() {
        for (key, name) in shown(&at(way)) {
            let mut stage = at(way);
            let before = stage.screen();
            let asked = stage.demo.as_ref().unwrap().seen().len();
            stage.keys(&key.to_string());
            let is_asked = stage.demo.as_ref().unwrap().seen().len() > asked;
            let is_seen = stage.screen() != before || is_asked || stage.session.exit().is_some();
            assert!(is_seen, "{key} ({name}) after {way:?} does nothing:\n{before}");
        }
    }
}

#[test]
fn commands_apply_nowhere_but_at_their_places() {
    let mut seen = Vec::new();
    for way in &ways() {
        let stage = at(way);
        let (model, place) = (stage.session.model(), stage.session.model().place());
        seen.push(place);
        assert!(Command::all().all(|command| command.off(model).is_none() == command.is_on(model)));
        let wrong = Command::all().find(|command| !command.place.contains(place) && command.is_on(model));
        assert!(wrong.is_none(), "{wrong:?} at {place:?}");
    }
    assert!(Place::ALL.iter().all(|place| seen.contains(place)), "{seen:?}");
}

#[test]
fn help_lists_what_applies_and_finds_what_is_typed() {
    let mut stage = at("enter");
    stage.keys("?");
    screen!("help_pane", stage);
    stage.keys("f o l d tab");
    screen!("help_typed_with_what_is_off", stage);
    stage.keys("enter");
    assert!(stage.screen().contains("Keys that apply here") || stage.screen().contains("▸"), "{}", stage.screen());
}

#[test]
fn the_palette_is_gone_through_row_by_row() {
    let mut stage = at(": down down");
    let chosen = |stage: &Stage| stage.session.model().rows_over().unwrap().scroll.cursor;
    assert_eq!(chosen(&stage), 2);
    stage.keys("z");
    assert_eq!(chosen(&stage), 0);
}

#[test]
fn what_is_off_says_why_and_is_not_done() {
    let mut stage = Stage::at(main_file(), options());
    stage.keys(": w h o l e - r o w enter");
    assert!(stage.screen().contains("whole-row does not apply here: it works in panes."), "{}", stage.screen());
    assert_eq!(stage.paid_calls(), 0);
}

fn map(changes: &[(&str, &str)]) -> Keymap {
    let changes: Vec<_> =
        changes.iter().map(|(command, keys)| Change { command, keys: keys.split(' ').collect() }).collect();
    Keymap::read(&changes).unwrap()
}

#[test]
fn changed_keys_are_shown_everywhere_and_do_what_they_say() {
    let mut stage = Stage::at(main_file(), Options { listing: ListContent::Identifiers, ..options() });
    stage.session.model_mut().settings.keys = map(&[
        ("list", "f5"),
        ("open", "o"),
        ("pane-other", "O"),
        ("whole-row", "space"),
        ("fold", "alt-f"),
        ("help", "f1"),
        ("refresh", "none"),
    ]);
    stage.keys("enter");
    assert_eq!(stage.paid_calls(), 0);
    stage.keys("f5 o");
    assert_eq!(stage.paid_calls(), 2);
    screen!("keys_changed", stage);
    stage.keys("f1");
    screen!("keys_changed_help", stage);
    stage.keys("esc alt-f space");
    assert!(stage.screen().contains("processes_tree"), "{}", stage.screen());
}

/// Keys that anything might be given.
fn some_key() -> impl Strategy<Value = &'static str> {
    prop::sample::select(
        &[
            "x", "X", "o", "1", "r", "R", "y", "space", "enter", "tab", "esc", "f2", "f3", "alt-x", "ctrl-x", "ctrl-r",
            "none",
        ][..],
    )
}

fn some_command() -> impl Strategy<Value = &'static str> {
    prop::sample::select(Command::all().map(|command| command.name).collect::<Vec<_>>())
}

#[test]
fn a_changed_table_that_is_taken_dispatches_as_it_says() {
    let stages: RefCell<Vec<_>> = RefCell::new(ways().iter().map(|way| at(way)).collect());
    let taken = Cell::new(0);
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let changes = prop::collection::btree_map(some_command(), prop::collection::vec(some_key(), 1..3), 1..4);
    runner
        .run(&changes, |changes| {
            let changes: Vec<_> = changes.into_iter().map(|(command, keys)| Change { command, keys }).collect();
            let Ok(map) = Keymap::read(&changes) else { return Ok(()) };
            taken.set(taken.get() + 1);
            for stage in stages.borrow_mut().iter_mut() {
                stage.session.model_mut().settings.keys = map.clone();
                let model = stage.session.model();
                let is_changed = |command: &Command| map.of(command) != command.keys;
                for command in Command::all().filter(|command| is_changed(command) && command.is_on(model)) {
                    // Of keys that it has unchanged an earlier command may take one first, as in the table itself.
                    let is_new = |key: &&Key| !command.keys.contains(key) && !model.place().types(**key);
                    for key in map.of(command).iter().filter(is_new) {
                        let found = Command::of(*key, model).map(|found| found.name);
                        prop_assert_eq!(found, Some(command.name), "{} at {:?}", key, model.place());
                    }
                }
            }
            Ok(())
        })
        .unwrap();
    assert!(taken.get() > 20, "{taken:?}");
}
