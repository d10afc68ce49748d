//! Every example in a help text, run as a shell runs it; and every option that the README names.

use crate::harness::{CliHarness, behaview, text};
use std::path::Path;
#[cfg(unix)]
use std::process::Output;

/// Every command with a help text of its own, as words.
fn commands(cli: &CliHarness) -> Vec<Vec<String>> {
    let inside = |words: &[String]| {
        let help: Vec<_> = words.iter().map(String::as_str).chain(["--help"]).collect();
        let help = text(&cli.run(&help));
        let names = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
        let named = names.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let named = named.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
        named.map(|name| [words, &[name.to_owned()]].concat()).collect::<Vec<_>>()
    };
    let first = inside(&[]);
    let second: Vec<_> = first.iter().flat_map(|words| inside(words)).collect();
    [vec![Vec::new()], first, second].concat()
}

#[cfg(unix)]
/// Runs a line by a shell that finds the program by its name.
fn shell(cli: &CliHarness, line: &str) -> Output {
    let folder = cli.home.path().join("bin");
    let program = folder.join("behaview");
    if !program.exists() {
        std::fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_behaview"), &program).unwrap();
    }
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = std::process::Command::new("sh");
    command.args(["-c", line]).env_clear().env("PATH", path).env("HOME", cli.home.path()).env("VT_APIKEY", &cli.key);
    command.current_dir(cli.home.path()).stdin(std::process::Stdio::null()).output().unwrap()
}

#[cfg(unix)]
#[test]
fn every_example_in_a_help_text_works() {
    let cli = CliHarness::new();
    std::fs::write(cli.home.path().join("sample.exe"), "MZ").unwrap();
    let mut tried = Vec::new();
    for words in commands(&cli) {
        for help in ["-h", "--help"] {
            let help = [words.iter().map(String::as_str).collect::<Vec<_>>(), vec![help]].concat();
            let shown = text(&cli.run(&help));
            let examples = || shown.lines().skip_while(|line| !line.starts_with("Example")).map(str::trim);
            let given: String =
                examples().filter(|line| line.starts_with("file=")).map(|line| format!("{line}\n")).collect();
            for example in examples().filter(|line| line.starts_with("behaview ")) {
                if tried.contains(&example.to_owned()) {
                    continue;
                }
                // They need a terminal, or a machine without a config file.
                if ["behaview demo", "behaview open report.json", "behaview config init"].contains(&example) {
                    continue;
                }
                let output = shell(&cli, &format!("{given}{example}"));
                // A check that finds nothing says nothing.
                let says = !output.stdout.is_empty() || example == "behaview config check";
                assert!(output.status.success() && says, "{example} {output:?}");
                tried.push(example.to_owned());
            }
        }
    }
    let has_example = |command: &&str| tried.iter().any(|example| example.contains(&format!("behaview {command}")));
    let mut commands = "list show api cost quota usage store ledger config doctor completions man".split(' ');
    assert_eq!(commands.find(|command| !has_example(command)), None, "it has no example");
}

#[test]
fn every_option_that_readme_and_manual_name_is_one() {
    let cli = CliHarness::new();
    let known = commands(&cli);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let texts = ["README.md", "assets/help/scripts.md", "assets/help/pricing.md", "assets/help/demo.md"];
    let readme: String = texts.map(|name| std::fs::read_to_string(folder.join(name)).unwrap()).concat();
    let mut tried = 0;
    // Text between backticks there, in the manual and in messages is a command as well.
    let mut search = std::process::Command::new("grep");
    search.args(["-rohE", "`behaview [^`]+`", "README.md", "assets/help", "src"]).current_dir(folder);
    let quoted = text(&search.output().unwrap()).replace('`', "");
    assert!(quoted.lines().count() > 20, "{quoted}");
    for line in readme.lines().chain(quoted.lines()).filter_map(|line| line.strip_prefix("behaview ")) {
        let line = line.split(['#', '|', '"']).next().unwrap();
        let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        let command = known.iter().rev().find(|command| words.starts_with(command)).unwrap();
        assert!(
            !command.is_empty() || words[0] == "help" || words[0].contains(|c: char| !c.is_ascii_lowercase()),
            "unknown: {line}"
        );
        let help = [command.iter().map(String::as_str).collect::<Vec<_>>(), vec!["--help"]].concat();
        let help = text(&cli.run(&help));
        for option in words.iter().filter(|word| word.starts_with("--")) {
            assert!(help.contains(option.as_str()), "{option} of {line}");
            tried += 1;
        }
    }
    // Its tables are of these two commands.
    let help = |command| text(&behaview(cli.home.path()).args([command, "--help"]).output().unwrap());
    let help = help("demo") + &help("cost");
    for row in readme.lines().filter(|line| line.starts_with("| `--")) {
        for option in row.split('|').nth(1).unwrap().split('`').filter(|part| part.starts_with("--")) {
            assert!(help.contains(option.split(' ').next().unwrap()), "{option}");
            tried += 1;
        }
    }
    assert!(tried > 15, "{tried}");
}
