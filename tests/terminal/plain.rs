//! The app in lines at a terminal: what was typed before a price was said is no yes to it.

use super::stage::Terminal;

#[test]
fn a_yes_that_was_typed_ahead_pays_for_nothing() {
    let mut terminal = Terminal::start(&["demo", "--plain", "--list", "identifiers"]);
    terminal.wait_for("keys: ");
    terminal.press("R\ry\r");
    terminal.wait_for("Send it? y or n:");
    terminal.press("n\r");
    terminal.wait_for("Nothing was sent.");
    terminal.press("quit\r");
    assert_eq!(terminal.wait_for_end(), 0);
}
