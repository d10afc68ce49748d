//! The app in lines at a terminal: what was typed before a price was said is no yes to it.

use super::stage::Terminal;
use portable_pty::CommandBuilder;
use std::time::Duration;

const DEMO: [&str; 4] = ["demo", "--plain", "--list", "identifiers"];

/// Waits for the question about the price, where a yes is too early; says no to it.
fn assert_asked(mut terminal: Terminal) {
    terminal.wait_for("y yes, send it");
    // What is typed before the prompt behind it is dropped.
    let is_asked = |text: &str| text.split("y yes, send it").last().is_some_and(|rest| rest.contains("\n> "));
    terminal.wait_until("there is no prompt", || is_asked(&terminal.text()));
    terminal.press("n\r");
    terminal.wait_for("n is no answer to the question: it is closed, and nothing was done.");
    terminal.press("quit\r");
    assert_eq!(terminal.wait_for_end(), 0);
}

#[test]
fn a_yes_that_was_typed_ahead_pays_for_nothing() {
    let mut terminal = Terminal::start(&DEMO);
    terminal.wait_for("keys: ");
    terminal.press("R\ry\r");
    assert_asked(terminal);
}

#[test]
fn nor_does_one_that_came_with_what_asked_for_the_price() {
    // Such a terminal hands over whatever has come, and not line by line.
    let mut command = CommandBuilder::new("sh");
    command.env_clear();
    command.args(["-c", "stty -icanon; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_behaview")]);
    let mut terminal = Terminal::run(command, &DEMO, "");
    terminal.wait_for("keys: ");
    terminal.press("R\ry\r");
    assert_asked(terminal);
}

#[test]
fn nor_does_one_that_came_while_the_price_was_on_its_way() {
    let mut terminal = Terminal::start(&DEMO);
    terminal.wait_for("keys: ");
    terminal.wait_for("> ");
    // The terminal takes no output from Ctrl-S to Ctrl-Q: the program waits with its question.
    terminal.press("\u{13}R\r");
    std::thread::sleep(Duration::from_millis(500));
    terminal.press("y\r\u{11}");
    assert_asked(terminal);
}

#[test]
fn what_the_budget_will_not_pay_for_is_told_before_it_is_asked() {
    let mut terminal = Terminal::start(&["demo", "--plain", "--set", "budget.session=1"]);
    terminal.wait_for("keys: ");
    terminal.press("?\r");
    terminal.wait_for("1 request, over budget");
    terminal.press("quit\r");
    assert_eq!(terminal.wait_for_end(), 0);
}
