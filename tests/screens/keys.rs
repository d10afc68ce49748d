//! Keys: no key in the bar is without effect, help and palette find each, as the config sets them.

use crate::harness::{TuiHarness, file, main_file, options};
use crate::screen;
use behaview::app::{Command, Key, KeyContext, Keymap, Overlay, TerminalEvent};
use behaview::demo::{Demo, ListContent, Options};

/// Ways to places that are all different, with ` | ` between them.
const WAYS: &str = "\
f | f a | esc | G | enter | enter z | enter 4 | enter 4 G enter | 0 | ? | : | : z z z | $ | \
L | p | H | H D | H P | a | enter i | enter d | enter x | enter Y | enter 4 / | \
enter 4 / s t a g e enter | F s t a g e | S s t a g e | c | c / | c enter | ! | U | E | W | \
! / | G / | H / | enter i / | ! / t a s k enter | ! tab | ! j j enter | S s t a g e enter | \
S s t a g e enter esc | : v 3 - r e s c a n enter";

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
    WAYS.split(" | ").map(str::to_owned).chain(typed).chain([folded, other]).collect()
}

fn at(way: &str) -> TuiHarness {
    let mut tui = TuiHarness::listed();
    tui.keys(way);
    if matches!(tui.session.model.overlays.top(), Some(Overlay::Export(_))) {
        // What is offered there is a file in the folder the tests run in.
        tui.keys("up ctrl-u");
        tui.session.take(TerminalEvent::Paste("/no/such/folder/report.jsonl".to_owned()));
        tui.keys("down");
    }
    tui
}

/// The keys that the bar may show, each with the name of its command or the label of its answer.
fn shown(tui: &TuiHarness) -> Vec<(Key, &'static str)> {
    let model = &tui.session.model;
    let commands = Command::applying(model).filter(|(_, command)| command.rank > 0);
    let answers = model.overlays.choices().iter().map(|answer| (answer.key, answer.label));
    commands.map(|(key, command)| (key, command.name)).chain(answers).collect()
}

#[test]
fn every_bar_key_acts_and_commands_fit_contexts() {
    let (mut places, mut tried) = (Vec::new(), Vec::new());
    let ways = ways();
    for way in &ways {
        let tui = at(way);
        let (model, place) = (&tui.session.model, tui.session.model.key_context());
        places.push(place);
        let wrong = Command::all().find(|command| !command.contexts.contains(place) && command.off(model).is_none());
        assert!(wrong.is_none(), "{wrong:?} at {place:?}");
        for (key, name) in shown(&tui) {
            // The same command is found wherever it applies: one of its places is enough.
            if !tried.iter().any(|(_, _, tried)| *tried == name) {
                tried.push((way, key, name));
            }
        }
    }
    std::thread::scope(|scope| {
        for half in tried.chunks(tried.len().div_ceil(2)) {
            scope.spawn(|| half.iter().for_each(|(way, key, name)| assert_does_something(way, *key, name)));
        }
    });
    assert!(KeyContext::ALL.iter().all(|place| places.contains(place)), "{places:?}");
}

/// Goes this way and presses a key: something is asked, or the screen is another one.
fn assert_does_something(way: &str, key: Key, name: &str) {
    let mut tui = at(way);
    let before = tui.screen();
    let asked = tui.demo.as_ref().unwrap().seen().len();
    tui.keys(&key.to_string());
    let is_asked = tui.demo.as_ref().unwrap().seen().len() > asked;
    let is_seen = tui.screen() != before || is_asked || tui.session.exit.is_some();
    assert!(is_seen, "{key} ({name}) after {way:?} does nothing:\n{before}");
}

#[test]
fn help_lists_applicable_keys_and_filters() {
    let mut tui = at("enter");
    tui.keys("?");
    screen!("help_pane", tui);
    let before = tui.screen();
    tui.keys("j j");
    assert_ne!(tui.screen(), before, "letters move until / is pressed");
    tui.keys("/ f o l d");
    screen!("help_typed_with_what_is_off", tui);
    tui.keys("enter");
    assert!(tui.screen().contains("▸"), "{}", tui.screen());
    let words = "ioc indicators mitre pane-techniques attack pane-techniques pcap artifacts download artifacts theme \
        settings verdict pane-overview history ledger reboot findings persistence findings powershell findings decode \
        row-details base64 row-details only compare diff compare common compare";
    let words: Vec<_> = words.split_whitespace().collect();
    for pair in words.chunks(2) {
        let (word, command) = (pair[0], pair[1]);
        let letters: Vec<_> = word.chars().map(String::from).collect();
        tui.keys("esc").keys(&format!(": {}", letters.join(" ")));
        assert_eq!(tui.session.model.chosen_item().unwrap().name, command, "{word}");
    }
}

#[test]
fn disabled_command_explains_itself() {
    let mut tui = TuiHarness::at(main_file(), options());
    tui.keys(": r o w - d e t a i l s enter");
    assert!(tui.screen().contains("row-details does not apply here: it works in panes"), "{}", tui.screen());
    assert_eq!(tui.paid_calls(), 0);
    tui.keys("esc : n o t e");
    assert_eq!(tui.session.model.chosen_item().unwrap().name, "note");
}

fn map(changes: &[(&str, &str)]) -> Keymap {
    Keymap::read(&changes.iter().map(|(command, keys)| (*command, keys.split(' ').collect())).collect::<Vec<_>>())
        .unwrap()
}

#[test]
fn changed_keys_are_shown_and_effective() {
    let mut tui = TuiHarness::at(main_file(), Options { listing: ListContent::Identifiers, ..options() });
    tui.session.model.settings.keys = map(&[
        ("list", "f5"),
        ("open", "o"),
        ("pane-other", "O"),
        ("row-details", "space"),
        ("fold", "alt-f"),
        ("help", "f1"),
        ("refetch", "none"),
    ]);
    tui.keys("enter");
    assert_eq!(tui.paid_calls(), 0);
    tui.keys("f5 o");
    assert_eq!(tui.paid_calls(), 2);
    screen!("keys_changed", tui);
    tui.keys("f1");
    screen!("keys_changed_help", tui);
    tui.keys("esc alt-f space");
    assert!(tui.screen().contains("processes_tree"), "{}", tui.screen());
}
