//! Every exit code that the help documents, had from the program; a code without a way to it here is a code that nobody has seen.

use crate::harness::{Desk, errors, main_file};
use behaview::demo::{Endpoint, Options};
use std::process::Output;

/// What the program ends with where this goes wrong at the service.
fn struck(fault: &str, arguments: &[&str]) -> Output {
    Desk::faulty(fault).run(arguments)
}

/// A run that ends with this code.
fn run(code: u8) -> Output {
    let (desk, file, nobody) = (Desk::new(), main_file(), "ab".repeat(32));
    match code {
        0 => desk.run(&["ledger"]),
        // A file that is there already is not written over.
        1 => desk.run(&["config", "init"]),
        2 => desk.run(&["list"]),
        3 => desk.command(&["list", &file]).env_remove("VT_APIKEY").output().unwrap(),
        4 => Desk::with(Options { licence: false, ..Options::default() }).run(&["list", &file]),
        5 => desk.run(&["list", &nobody]),
        6 => struck("429-quota", &["list", &file]),
        7 => struck("429-rate", &["list", &file]),
        8 => struck("503", &["list", &file]),
        9 => struck("not-json", &["list", &file]),
        10 => desk.run(&["cost", "v2-file-report", "--hashes", "600", "--balances"]),
        11 => desk.run(&["list", "--max-cost", "0", &file]),
        12 => desk.run(&["list", &file, &nobody]),
        13 => desk.run(&["list", "--offline", &file]),
        14 => {
            desk.configure("wrong = 1\n");
            desk.run(&["list", &file])
        }
        other => panic!("exit code {other} is documented, and there is no way to it here"),
    }
}

#[test]
fn every_documented_exit_code_can_be_had_and_says_why() {
    for (code, meaning) in behaview::cli::exit_codes() {
        let output = run(code);
        assert_eq!(output.status.code(), Some(code.into()), "{meaning}: {output:?}");
        assert!(code == 0 || !errors(&output).is_empty(), "{meaning}: {output:?}");
    }
}

#[test]
fn what_is_longer_than_any_address_is_refused_before_anything_is_sent() {
    let desk = Desk::new();
    let long = "x".repeat(100_000);
    for arguments in [&["api", "v3-analysis", &long][..], &["api", "v3-analysis", "--dry-run", &long], &["show", &long]]
    {
        let ended = desk.run(arguments);
        let words = errors(&ended);
        assert!(ended.status.code() == Some(2) && words.contains("longer than"), "{:?}: {words}", &arguments[..2]);
    }
    assert!(desk.demo.seen().iter().all(|call| call.endpoint == Some(Endpoint::Quotas)), "{:?}", desk.demo.seen());
}
