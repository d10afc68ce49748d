//! `behaview help`, `completions` and `man`: generated from the manual and from the grammar of the
//! command line.

use super::grammar;
use super::*;
use clap_complete::Shell;
use clap_mangen::Man as Page;

/// The topics of the manual, in Markdown that is readable as plain text.
const TOPICS: [(&str, &str); 12] = [
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
pub(super) struct HelpArgs {
    /// A topic of the manual, or a command
    topic: Option<String>,
}

impl HelpArgs {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let mut grammar = grammar();
        grammar.build();
        let Some(name) = &self.topic else {
            return print_text(&format!("{}\n{LIST}\n", grammar.render_help()));
        };
        // Topics take precedence; a command with the same name still has --help.
        if let Some((_, text)) = TOPICS.iter().find(|(topic, _)| topic == name) {
            return print_text(text);
        }
        match grammar.find_subcommand_mut(name) {
            Some(command) => print_text(&command.render_long_help().to_string()),
            None => fail!(Usage, "no such topic or command; behaview help lists both"),
        }
    }
}

const NAME: &str = "behaview";

const WHERE: &str = "\
Where they go:
  bash         ~/.local/share/bash-completion/completions/behaview
  zsh          _behaview, in a folder of $fpath
  fish         ~/.config/fish/completions/behaview.fish
  powershell   behaview completions powershell | Out-String | Invoke-Expression, in $PROFILE
  elvish       eval (behaview completions elvish | slurp), in rc.elv

Examples:
  behaview completions bash
  behaview completions zsh
  behaview completions fish
  behaview completions powershell
  behaview completions elvish";

#[derive(Debug, Args)]
#[command(after_help = WHERE)]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl CompletionsArgs {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut grammar(), NAME, &mut text);
        print_text(&String::from_utf8(text)?)
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  behaview man\n  behaview man list")]
pub(super) struct ManArgs {
    /// The page of one command; that of the program unless given
    command: Option<String>,
    /// Write every page into this folder instead, as behaview.1, behaview-list.1 and so on
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    into: Option<PathBuf>,
}

impl ManArgs {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let mut grammar = grammar();
        grammar.build();
        if let Some(folder) = &self.into {
            return write_all(grammar, folder);
        }
        let page = match &self.command {
            None => Some(grammar),
            Some(name) => grammar.find_subcommand(name).cloned(),
        };
        let Some(page) = page else { fail!(Usage, "unknown command; behaview --help names all") };
        let mut text = Vec::new();
        Page::new(page).render(&mut text)?;
        print_text(&String::from_utf8(text)?)
    }
}

fn write_all(grammar: clap::Command, folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", crate::text::path(folder)))?;
    let commands: Vec<_> = grammar.get_subcommands().cloned().collect();
    for command in std::iter::once(grammar).chain(commands) {
        let path = folder.join(format!("{}.1", command.get_display_name().unwrap_or(NAME)));
        let mut text = Vec::new();
        Page::new(command).render(&mut text)?;
        if path.is_symlink() {
            anyhow::bail!("{} is a link, which is not followed", crate::text::path(path));
        }
        std::fs::write(&path, text).with_context(|| format!("{} cannot be written", crate::text::path(path)))?;
    }
    Ok(())
}
