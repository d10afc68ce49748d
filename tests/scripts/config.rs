//! `behaview config`: what is set and by whom, a file to start from, mistakes by their lines.

use crate::harness::{CliHarness, behaview, errors, json, main_file, text};
use serde_json::{Value, json};

fn setting(shown: &Value, name: &str) -> Value {
    let found = shown["settings"].as_array().unwrap().iter().find(|setting| setting["name"] == name).unwrap();
    json!([found["value"], found["source"], found.get("variable").or(found.get("line"))])
}

#[test]
fn settings_are_shown_with_source_and_no_secret() {
    let cli = CliHarness::new();
    cli.configure("proxy = \"http://user:hidden1@proxy.example:3128\"\n[budget]\nsession = 9\ndaily = 9\n");
    let path = cli.home.path().join(".config/behaview/config.toml");
    let file = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("api_key = \"hidden2\"\napi_key_command = \"echo hidden3\"\n{file}")).unwrap();
    let mut command = cli.command(&["config", "show", "--json", "--set", "budget.session=3", "--log-level", "debug"]);
    let output = command.env("BEHAVIEW_BUDGET_DAILY", "5").env("BEHAVIEW_TIMEOUT_S", "7").output().unwrap();
    let shown = json(&output);
    for (name, wanted) in [
        ("budget.session", json!([3, "flag", null])),
        ("log_level", json!(["debug", "flag", null])),
        ("budget.daily", json!([5, "variable", "BEHAVIEW_BUDGET_DAILY"])),
        ("profiles.lab.timeout_s", json!([7, "variable", "BEHAVIEW_TIMEOUT_S"])),
        ("profile", json!(["lab", "file", 3])),
        ("profiles.lab.header", json!(["x-apikey", "default", null])),
        ("budget.confirm_above", json!([3, "default", null])),
    ] {
        assert_eq!(setting(&shown, name), wanted, "{name}");
    }
    let set = ["--set", "budget.session=4", "config", "--set=budget.daily=6", "show", "--json", "--set", "profile=lab"];
    let shown = json(&cli.run(&set));
    assert_eq!(["budget.session", "budget.daily"].map(|name| setting(&shown, name)[0].clone()), [4, 6]);
    let help = text(&cli.run(&["config", "show", "--help"]));
    assert!(help.contains("Options of every command, see behaview --help: --profile"), "{help}");
    let columns = cli.run(&["config", "show"]);
    for output in [&output, &columns] {
        let printed = text(output) + &errors(output);
        assert!(!printed.contains("hidden") && !printed.contains(&cli.key), "{printed}");
    }
}

#[test]
fn no_secret_is_shown_wherever_it_was_put() {
    let cli = CliHarness::new();
    let unknown = "0123456789abcdef".repeat(4);
    cli.configure(&format!(
        "user = \"{}\"\nheader = \"x-{0}\"\nupload_host = \"https://u:hidden1@h\"\n[profiles.{0}]\nuser = \"{unknown}\"\n",
        cli.key
    ));
    let commands = [
        &["config", "show"][..],
        &["config", "show", "--json"],
        &["config", "show", "--set", "root=https://name:hidden2@host"],
        &["config", "check"],
        &["doctor"],
        &["doctor", "--set", "root=https://name:hidden2@host"],
        &["list", &main_file()],
        &["list", "--profile", "nothing", &main_file()],
        &["list", "--profile", &cli.key, &main_file()],
        &["doctor", "--profile", &cli.key],
        &["list", &main_file(), "--set", "root=https://name:hidden2@host"],
    ];
    for command in commands {
        let output = cli.run(command);
        let printed = text(&output) + &errors(&output);
        for secret in [cli.key.as_str(), &unknown, "hidden"] {
            assert!(!printed.contains(secret), "{command:?} tells {secret}: {printed}");
        }
    }
    let shown = text(&cli.run(&["config", "show"]));
    assert!(shown.contains("(the key, not shown)") && shown.contains("(as long as a key, not shown)"), "{shown}");
    cli.fails(&["list", "--profile", &cli.key, &main_file()], 14, &["named by the key"]);
    let named = cli.run(&["config", "show", "--set", "user=spellman"]);
    assert!(text(&named).contains("\"spellman\""), "{named:?}");
}

#[test]
fn flags_and_variables_take_effect() {
    let cli = CliHarness::new();
    let over = cli.run(&["list", &main_file(), "--set", "budget.session=0"]);
    assert_eq!((over.status.code(), cli.paid()), (Some(11), 0), "{over:?}");
    let over = cli.command(&["list", &main_file()]).env("BEHAVIEW_BUDGET_DAILY", "0").output().unwrap();
    assert_eq!((over.status.code(), cli.paid()), (Some(11), 0), "{over:?}");
    for (flags, variable, code) in [
        (&["--set", "budget.weekly=1"][..], "", 2),
        (&["--set", "budget.session=x"], "", 2),
        (&["--set", "api_key=x"], "", 2),
        (&["--set", "nothing"], "", 2),
        (&["--log-level", "loud"], "", 2),
        (&[], "many", 2),
    ] {
        let file = main_file();
        let arguments = [&["list", &file], flags].concat();
        let output = cli.command(&arguments).env("BEHAVIEW_BUDGET_SESSION", variable).output().unwrap();
        assert_eq!((output.status.code(), cli.paid()), (Some(code), 0), "{flags:?} {output:?}");
    }
    #[cfg(unix)]
    for (name, code) in [("/dev/null", 0), ("/dev/zero", 14), ("/dev/full", 14), ("/dev", 14)] {
        let output = cli.command(&["config", "show"]).env("BEHAVIEW_CONFIG", name).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{name}: {output:?}");
        let output = cli.command(&["config", "check"]).env("BEHAVIEW_CONFIG", name).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{name}: {output:?}");
    }
    let elsewhere = cli.home.path().join("other.toml");
    std::fs::write(&elsewhere, "profile = 1\n").unwrap();
    let output = cli.command(&["list", &main_file()]).env("BEHAVIEW_CONFIG", &elsewhere).output().unwrap();
    assert!(output.status.code() == Some(14) && errors(&output).contains("other.toml, line 1"), "{output:?}");
}

#[test]
fn config_init_writes_a_valid_private_file_once() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| behaview(home.path()).args(arguments).output().unwrap();
    let made = run(&["config", "init"]);
    assert!(made.status.success(), "{made:?}");
    let path = text(&made).trim().to_owned();
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.contains("#api_key_command = ") && written.contains("BEHAVIEW_BUDGET_DAILY"));
    let fine = run(&["config", "check"]);
    assert!(fine.status.success() && text(&fine).ends_with("config.toml: nothing is wrong\n"), "{fine:?}");
    std::fs::write(&path, "profile = \"virustotal\"\n").unwrap();
    let again = run(&["config", "init"]);
    assert!(again.status.code() == Some(1) && errors(&again).contains("already exists"), "{again:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "profile = \"virustotal\"\n");
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions()) & 0o077, 0);
}

#[test]
fn config_errors_show_expectations_but_no_values() {
    let cli = CliHarness::new();
    cli.configure(
        "listing = 5\nslowst = 1\ntimeout_s = \"5ecretK3y\"\nv3_prefix = 5\nconnect_timeout_s = -1\n[keys]\nzoom = \"c\"\nhelp = \"5ecretK3y\"\n\
         [budget]\ndaily = \"a\\\"5ecret\\\"K3y\"\nsession = 5550123456\n5ecretK3y = 1\n[ui]\ntheme = \"5ecretK3y\"\n[profiles.other]\nroot = \"http://5ecretK3y.example\"\n",
    );
    let output = cli.run(&["config", "check"]);
    let printed = text(&output);
    assert_eq!(output.status.code(), Some(14), "{output:?}");
    for words in [
        "http is accepted for this machine (127.0.0.1) only",
        "keys are single characters, ctrl-c, alt-c, f1 and the like",
        "expected one of `root`, `v3_prefix`, `v2_prefix`, `header`",
        "profiles.lab.v3_prefix: invalid type: integer `5`, expected a string",
        "connect_timeout_s: invalid value: integer `-1`, expected a whole number, and none below zero",
        "ui.theme: invalid value: not the name of a theme, expected one of `auto`",
        "budget.daily: invalid type: string \"…\", expected a whole number",
    ] {
        assert!(printed.contains(words), "{words}: {printed}");
    }
    let found = cli.run(&["config", "check", "--json"]);
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(found["problems"].as_array().unwrap().len(), printed.lines().count());
    let all = printed + &errors(&output);
    assert!(!all.contains("5ecret") && !all.contains("K3y") && !all.contains("5550"), "{all}");
}

#[test]
fn missing_config_file_is_refused() {
    let cli = CliHarness::new();
    let named = cli.home.path().join("nowhere/config.toml");
    let run = |arguments: &[&str]| cli.command(arguments).env("BEHAVIEW_CONFIG", &named).output().unwrap();
    for arguments in [&["config", "check"][..], &["config", "show"], &["store"], &["list", &main_file()]] {
        let output = run(arguments);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(14), 0), "{arguments:?}: {output:?}");
        assert!(errors(&output).contains("BEHAVIEW_CONFIG names"), "{output:?}");
    }
    assert!(run(&["config", "init"]).status.success());
    assert!(run(&["config", "check"]).status.success());
}

#[test]
fn every_command_refuses_unknown_settings() {
    let cli = CliHarness::new();
    for (wrong, code) in [(["--profile", "nosuch"], 2), (["--set", "budget.dayly=3"], 2)] {
        for arguments in [&["store"][..], &["cost", "private-behaviours"], &["ledger"], &["search", "x"]] {
            let output = cli.run(&[arguments, &wrong].concat());
            assert_eq!((output.status.code(), output.stdout.len()), (Some(code), 0), "{arguments:?} {output:?}");
        }
    }
    // What is held of a profile that the config does not name any more can be seen and deleted.
    json(&cli.run(&["list", &main_file()]));
    let path = cli.home.path().join(".config/behaview/config.toml");
    std::fs::write(&path, "").unwrap();
    assert!(text(&cli.run(&["store", "--profile", "lab"])).contains(" stored: "));
    std::fs::write(&path, "profiel = 1\n").unwrap();
    for arguments in [&["store"][..], &["cost", "rules"]] {
        assert_eq!(cli.run(arguments).status.code(), Some(14), "{arguments:?}");
    }
}

#[cfg(unix)]
#[test]
fn invalid_utf8_variable_is_refused_not_ignored() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let cli = CliHarness::new();
    for (name, value) in [
        ("BEHAVIEW_OFFLINE", &b"true\xff"[..]),
        ("BEHAVIEW_BUDGET_DAILY", b"0\xff"),
        ("BEHAVIEW_STORE_PERSIST", b"false\xff"),
        ("BEHAVIEW_PROFILE", b"other\xff"),
        ("BEHAVIEW_API_KEY", b"key\xff"),
    ] {
        let refused = cli.command(&["list", &main_file()]).env(name, OsStr::from_bytes(value)).output().unwrap();
        assert!(matches!(refused.status.code(), Some(2 | 3 | 14)), "{name}: {refused:?}");
        assert_eq!(cli.demo.seen().len(), 0, "{name}: {refused:?}");
        assert!(!errors(&refused).contains("there is no key"), "{refused:?}");
    }
}
