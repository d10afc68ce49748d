//! `behaview completions` and `behaview man`: made from the command line's own grammar, so that they are never out of date.

use super::output::print_text;
use super::{FailureKind, grammar};
use anyhow::Context;
use clap::Args;
use clap_complete::Shell;
use clap_mangen::Man as Page;
use std::path::{Path, PathBuf};

/// The program's name, as shells know it.
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
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut grammar(), NAME, &mut text);
        print_text(&String::from_utf8(text)?)
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  behaview man\n  behaview man list")]
pub(super) struct Man {
    /// The page of one command; that of the program unless given
    command: Option<String>,
    /// Write every page into this folder instead, as behaview.1, behaview-list.1 and so on
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    into: Option<PathBuf>,
}

impl Man {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let mut grammar = grammar();
        grammar.build();
        if let Some(folder) = &self.into {
            return write_all(grammar, folder);
        }
        let page = match &self.command {
            None => grammar,
            Some(name) => {
                let found = grammar.get_subcommands().find(|command| command.get_name() == name).cloned();
                found.ok_or_else(|| FailureKind::Usage.error("there is no such command; behaview --help names all"))?
            }
        };
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
