//! Every exit code that the help documents, from a real run: one without a run here is untested.

use crate::harness::{CliHarness, errors, main_file};
use behaview::demo::{Endpoint, Options};
use std::process::Output;

/// What the program ends with where this goes wrong at the service.
fn struck(fault: &str, arguments: &[&str]) -> Output {
    CliHarness::faulty(fault).run(arguments)
}

/// A run that ends with this code.
fn run(code: u8) -> Output {
    let (cli, file, nobody) = (CliHarness::new(), main_file(), "ab".repeat(32));
    match code {
        0 => cli.run(&["ledger"]),
        // A file that is there already is not written over.
        1 => cli.run(&["config", "init"]),
        2 => cli.run(&["list"]),
        3 => cli.command(&["list", &file]).env_remove("VT_APIKEY").output().unwrap(),
        4 => CliHarness::with(Options { licence: false, ..Options::default() }).run(&["list", &file]),
        5 => cli.run(&["list", &nobody]),
        6 => struck("429-quota", &["list", &file]),
        7 => struck("429-rate", &["list", &file]),
        8 => struck("503", &["list", &file]),
        9 => struck("not-json", &["list", &file]),
        10 => cli.run(&["cost", "v2-file-report", "--hashes", "600", "--balances"]),
        11 => cli.run(&["list", "--max-cost", "0", &file]),
        12 => cli.run(&["list", &file, &nobody]),
        13 => cli.run(&["list", "--offline", &file]),
        14 => {
            cli.configure("wrong = 1\n");
            cli.run(&["list", &file])
        }
        other => panic!("exit code {other} is documented, and there is no way to it here"),
    }
}

#[test]
fn every_documented_exit_code_has_a_message() {
    for (code, meaning) in behaview::cli::exit_codes() {
        let output = run(code);
        assert_eq!(output.status.code(), Some(code.into()), "{meaning}: {output:?}");
        assert!(code == 0 || !errors(&output).is_empty(), "{meaning}: {output:?}");
    }
}

#[test]
fn overlong_identifier_is_refused_before_sending() {
    let cli = CliHarness::new();
    let long = "x".repeat(100_000);
    for arguments in [&["api", "v3-analysis", &long][..], &["api", "v3-analysis", "--dry-run", &long], &["show", &long]]
    {
        let ended = cli.run(arguments);
        let words = errors(&ended);
        assert!(ended.status.code() == Some(2) && words.contains("longer than"), "{:?}: {words}", &arguments[..2]);
    }
    assert!(cli.demo.seen().iter().all(|call| call.endpoint == Some(Endpoint::Quotas)), "{:?}", cli.demo.seen());
}
