//! `behaview help`: the manual by topic, and the help of each command.

use super::output::print_text;
use super::{FailureKind, grammar};
use clap::Args;
use std::io::{IsTerminal, Write};
use std::process::{Command, Stdio};

/// The manual: each topic with its text, which is Markdown that reads well as it is.
pub(super) const TOPICS: [(&str, &str); 12] = [
    ("keys", include_str!("../../assets/help/keys.md")),
    ("config", include_str!("../../assets/help/config.md")),
    ("pricing", include_str!("../../assets/help/pricing.md")),
    ("store", include_str!("../../assets/help/store.md")),
    ("export", include_str!("../../assets/help/export.md")),
    ("findings", include_str!("../../assets/help/findings.md")),
    ("scripts", include_str!("../../assets/help/scripts.md")),
    ("security", include_str!("../../assets/help/security.md")),
    ("accessibility", include_str!("../../assets/help/accessibility.md")),
    ("demo", include_str!("../../assets/help/demo.md")),
    ("troubleshooting", include_str!("../../assets/help/troubleshooting.md")),
    ("glossary", include_str!("../../assets/help/glossary.md")),
];

const LIST: &str = "\
Topics:
  keys config pricing store export findings scripts security accessibility demo troubleshooting glossary

Examples:
  behaview help
  behaview help pricing
  behaview help list";

#[derive(Debug, Args)]
#[command(after_help = LIST)]
pub(super) struct Help {
    /// A topic of the manual, or a command
    topic: Option<String>,
}

impl Help {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let mut grammar = grammar();
        grammar.build();
        let Some(name) = &self.topic else {
            return show(&format!("{}\n{LIST}\n", grammar.render_help()));
        };
        // A topic comes first: a command of its name has --help.
        if let Some((_, text)) = TOPICS.iter().find(|(topic, _)| topic == name) {
            return show(text);
        }
        match grammar.find_subcommand_mut(name) {
            Some(command) => show(&command.render_long_help().to_string()),
            None => Err(FailureKind::Usage.error("no such topic or command; behaview help lists both").into()),
        }
    }
}

/// Prints a text, on a terminal by way of the pager.
fn show(text: &str) -> anyhow::Result<()> {
    if std::io::stdout().is_terminal() && page(text).is_ok() {
        return Ok(());
    }
    print_text(text)
}

/// Pages a text by `$PAGER`, else `less`; an error where it cannot be started.
fn page(text: &str) -> std::io::Result<()> {
    let pager = std::env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
    let mut words = pager.as_deref().unwrap_or("less -FRX").split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("less"));
    let mut pager = command.args(words).stdin(Stdio::piped()).spawn()?;
    if let Some(mut input) = pager.stdin.take() {
        // A pager that is left early closes its input.
        let _ = input.write_all(text.as_bytes());
    }
    pager.wait().map(|_| ())
}
