//! What the terminal can do, as far as it says so itself: nothing is asked of it.

use super::Check;
use crate::environment::variable;
use crate::runtime;
use crate::view::Depth;

/// Everything about the terminal.
pub(super) fn checks() -> Vec<Check> {
    vec![size(variable("TERM").as_deref()), colours(&variable), text(&variable), clipboard(&variable)]
}

fn size(term: Option<&str>) -> Check {
    let term = term.unwrap_or("no name");
    match runtime::terminal_size() {
        None => Check::good("terminal", "none here; the commands for scripts need none"),
        Some(_) if term == "dumb" => {
            Check::odd("terminal", "dumb", "the app says everything in lines there, as --plain does; set TERM for more")
        }
        Some((wide, high)) if wide < 40 || high < 10 => {
            Check::odd("terminal", format!("{term}, {wide} x {high}"), "40 x 10 is the least, 80 x 24 is enough")
        }
        Some((wide, high)) => Check::good("terminal", format!("{term}, {wide} x {high}")),
    }
}

fn colours(set: &impl Fn(&str) -> Option<String>) -> Check {
    let many = match Depth::of(set) {
        Depth::True => "16 million",
        Depth::Indexed => "256",
        Depth::Sixteen => "16",
        Depth::None => "none",
    };
    let said =
        ["CLICOLOR_FORCE", "NO_COLOR", "CLICOLOR", "COLORTERM", "TERM"].into_iter().filter(|name| set(name).is_some());
    let said = said.collect::<Vec<_>>().join(", ");
    Check::good("colours", if said.is_empty() { many.to_owned() } else { format!("{many}, as {said} has it") })
}

/// The first of the variables that decides about characters, as the system has it.
fn text(set: &impl Fn(&str) -> Option<String>) -> Check {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default();
    let lower = locale.to_ascii_lowercase();
    if cfg!(windows) || lower.contains("utf-8") || lower.contains("utf8") {
        return Check::good("characters", if locale.is_empty() { "UTF-8".to_owned() } else { locale });
    }
    let found =
        if locale.is_empty() { "no locale is set".to_owned() } else { format!("the locale {locale} is not UTF-8") };
    Check::odd("characters", found, "set LANG=C.UTF-8, or borders and names may look wrong")
}

/// Copying goes by way of the terminal (OSC 52), which does not say whether it takes it.
fn clipboard(set: &impl Fn(&str) -> Option<String>) -> Check {
    if set("TMUX").is_some() {
        return Check::good(
            "clipboard",
            "into tmux's buffer, and on to its terminal unless tmux's set-clipboard is off",
        );
    }
    if set("STY").is_some() {
        return Check::good("clipboard", "by way of screen, which hands it on to a terminal that takes it (OSC 52)");
    }
    match set("TERM").as_deref() {
        Some("linux" | "dumb") => {
            Check::odd("clipboard", "this terminal has none", "save to a file in place of copying")
        }
        _ => Check::good("clipboard", "by way of the terminal (OSC 52), which may have to be allowed in its settings"),
    }
}
