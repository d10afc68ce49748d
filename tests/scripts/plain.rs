//! The app in lines: draws nothing, confirms prices first, and does all that the screen does.

use crate::harness::{behaview, piped};
use std::io::Write;
use std::process::Stdio;

/// What the demo says to these lines.
fn says(arguments: &[&str], lines: &str) -> String {
    let home = tempfile::tempdir().unwrap();
    let output = piped(behaview(home.path()).args(arguments).env("TMPDIR", home.path()), lines);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text}");
    text
}

#[test]
fn a_report_is_read_by_number_and_name() {
    let text = says(&["demo", "--plain"], "2\n1\nopen\nfiles\n3\nrow-details\nback\nback\nhelp\nback\nquit\n");
    for words in [
        "> 1: ● CAPE Sandbox",
        "> 2: ● Zenbox",
        "== 4 Files",
        "> 3: dropped",
        "== files_dropped",
        "== Keys and commands",
    ] {
        assert!(text.contains(words), "{words} is missing:\n{text}");
    }
    assert_eq!(text.matches("This is the demo").count(), 1);
}

#[test]
fn rows_over_the_screen_have_numbers_as_well() {
    let text = says(&["demo", "--plain"], "open\nindicators\n2\nback\ncompare\n3\nback\nsearch-stored\nstage\n2\n");
    for (title, number) in [("== Indicators", 2), ("== Compare", 3), ("== Search all stored reports", 2)] {
        let chosen = format!("> {number}: ");
        assert!(text.split(title).skip(1).any(|page| page.contains(&chosen)), "{title} {number} is missing:\n{text}");
    }
}

#[test]
fn input_before_a_price_confirms_nothing() {
    let text = says(&["demo", "--plain"], "5\n\ny\ny\n");
    assert!(text.contains(" costs 1 request.\n") && text.contains("y yes, send it"), "{text}");
    assert!(!text.contains("spent this session: 2") && !text.contains("== Sandboxes 6 =="), "{text}");
}

#[test]
fn over_budget_command_is_refused_unconfirmed() {
    let text =
        says(&["demo", "--plain", "--set", "budget.session=1"], "settings\nback\n5\n\nrow-details\nW\ny\nquit\n");
    assert!(text.contains("budget.session = 1 (flag). Maximum cost of one run"), "{text}");
    assert!(text.contains("Nothing was sent: 1 request, over budget."), "{text}");
    assert!(
        !text.contains("yes, watch") && text.contains("Nothing was sent: 1 to 20 requests, over budget."),
        "{text}"
    );
    assert!(!text.contains("yes, send it") && text.contains("row-details does not apply here"), "{text}");
}

#[test]
fn disabled_or_unknown_command_is_reported() {
    let text = says(&["demo", "--plain"], "row-details\nnonsense\nzoom\n");
    assert!(text.contains("row-details does not apply here: it works in panes"), "{text}");
    assert!(text.contains("no command, key or row \"nonsense\" here"), "{text}");
}

#[test]
fn in_ascii_every_letter_is_ascii() {
    let text = says(&["demo", "--plain", "--ascii"], "open\nback\nopen-file\nquit\n");
    assert!(text.is_ascii() && text.contains("> 1: * CAPE Sandbox"), "{text}");
}

/// The demo in lines, with any bytes to read.
fn output(lines: &[u8]) -> std::process::Output {
    let home = tempfile::tempdir().unwrap();
    piped(behaview(home.path()).args(["demo", "--plain"]).env("TMPDIR", home.path()), lines)
}

#[test]
fn invalid_or_endless_lines_cost_one_line() {
    let long = [vec![b'x'; 200_000], b"\n".to_vec()].concat();
    let ended = output(&[b"\xe9\n", &long[..], b"row-details\nquit\n"].concat());
    let printed = String::from_utf8(ended.stdout.clone()).unwrap();
    assert!(ended.status.success(), "{ended:?}");
    for words in ["row \"\u{fffd}\" here", "That line is longer than", "row-details does not apply here"] {
        assert!(printed.contains(words), "{words} is missing:\n{printed}");
    }
    // What never ends a line is no keyboard.
    assert!(output(&vec![0; 80 << 20]).status.success());
}

#[cfg(unix)]
#[test]
fn closed_output_pipe_ends_plain_mode_cleanly() {
    let home = tempfile::tempdir().unwrap();
    let mut command = behaview(home.path());
    command.args(["demo", "--plain"]).env("TMPDIR", home.path());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let _ = child.stdin.take().unwrap().write_all(b"help\nquit\n");
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success() && ended.stderr.is_empty(), "{ended:?}");
}
