//! What people have around the program: completions in each shell, and the pager of the manual.

use super::harness::Terminal;
use portable_pty::CommandBuilder;

#[test]
fn shells_complete_options_commands_and_values() {
    // What starts a shell plainly, and what makes it know the completions in a file.
    for (shell, arguments, setup) in [
        ("bash", &["--norc", "--noprofile", "-i"][..], ". ./_behaview"),
        ("zsh", &["-f", "-i"], "fpath=($PWD $fpath); autoload -U compinit; compinit -u -D"),
        ("fish", &["--no-config", "-i"], "source _behaview"),
    ] {
        if std::process::Command::new(shell).arg("--version").output().is_err() {
            assert!(std::env::var_os("CI").is_none(), "{shell} is missing");
            println!("{shell} is missing: its completions were NOT tested");
            continue;
        }
        let made = std::process::Command::new(env!("CARGO_BIN_EXE_behaview")).args(["completions", shell]).output();
        let mut command = CommandBuilder::new(shell);
        command.env_clear();
        let mut terminal = Terminal::run(command, arguments, "");
        std::fs::write(terminal.home().join("_behaview"), made.unwrap().stdout).unwrap();
        terminal.press(&format!("{setup} && echo re''ady\r"));
        terminal.wait_for("ready");
        for (typed, completed) in [
            ("behaview dow", "download"),
            ("behaview list --ref", "--refresh"),
            ("behaview config ch", "check"),
            ("behaview store import --off", "--offline"),
            ("behaview export --format mi", "misp"),
            ("behaview quota --theme contr", "contrast"),
        ] {
            let (before, _) = typed.rsplit_once(' ').unwrap();
            terminal.press(&format!("{typed}\t"));
            terminal.wait_for(&format!("{before} {completed}"));
            terminal.press("\x15");
        }
        terminal.press("exit\r");
        terminal.wait_for_end();
    }
}

#[test]
fn manual_topic_on_terminal_is_paged() {
    let help = |pager: &str, options: &[&str]| {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_behaview"));
        command.env_clear();
        command.env("PAGER", pager);
        let mut terminal = Terminal::run(command, &[&["help", "glossary"], options].concat(), "");
        assert_eq!(terminal.wait_for_end(), 0);
        terminal.wait_for("hxxp://a[.]b");
        terminal.text()
    };
    assert!(help("sed s/^/paged:/", &[]).starts_with("paged:# Glossary\n"));
    // No shell reads it; a pager that is not there does no harm.
    for (pager, options) in [("no-such-pager; sed s/^/paged:/", &[][..]), ("sed s/^/paged:/", &["--plain"])] {
        assert!(help(pager, options).starts_with("# Glossary\n"), "{pager}");
    }
}
