//! Submitting, watching, deleting: as scripts use them.

use crate::faults::arm;
use crate::harness::{CliHarness, errors, json, main_file, piped, text};
use crate::store::{places_of, records};
use behaview::demo::{Demo, Endpoint, Options};

/// A desk with a file on it.
fn cli(options: Options) -> (CliHarness, String) {
    let cli = CliHarness::with(options);
    let path = cli.home.path().join("sample.bin");
    std::fs::write(&path, b"not much of a program").unwrap();
    (cli, path.to_str().unwrap().to_owned())
}

fn scans(cli: &CliHarness) -> u64 {
    cli.demo.seen().iter().map(|call| call.scans).sum()
}

#[test]
fn submitted_file_is_watched_until_its_reports() {
    let (cli, path) = cli(Options::default());
    let output = cli.run(&["submit", "--keep-days", "2", "--watch", "--interval", "1", "--max-polls", "9", &path]);
    let found = json(&output);
    assert_eq!((found["status"].as_str(), found["done"].as_bool()), (Some("done"), Some(true)), "{found}");
    assert_eq!(found["reports"].as_array().unwrap().len(), 3);
    assert_eq!(found["file"].as_str(), Some(cli.demo.submitted()[0].sha256.as_str()));
    assert_eq!(cli.demo.submitted()[0].fields, [("retention_period_days".to_owned(), "2".to_owned())]);
    // What each look cost is what the service counted, and the reports are held now.
    assert_eq!((scans(&cli), cli.paid() as u64), (1, found["calls_made"].as_u64().unwrap()));
    let calls = cli.paid() as u64;
    let told = format!("charged: {calls} requests, 1 scan");
    assert!(errors(&output).contains(&told), "{}", errors(&output));
    let charged = |unit: &str| {
        found["cost"].as_array().unwrap().iter().find(|one| one["unit"] == unit).unwrap()["charged"].as_u64()
    };
    assert_eq!((charged("request"), charged("scan")), (Some(calls), Some(1)), "{found}");
    let stored = json(&cli.run(&["list", "--offline", found["file"].as_str().unwrap()]));
    assert_eq!(stored["sandboxes"].as_array().unwrap().len(), 3);
    let inventory = json(&cli.run(&["store", "list", "--json"]));
    let expires = |item: &serde_json::Value| item["kind"] != "report" || item["at_service"]["state"] == "expires";
    assert!(inventory["stored"].as_array().unwrap().iter().all(expires), "--keep-days tells when: {inventory}");
    // Whoever sends it once more is told of them.
    let again = cli.run(&["submit", "--dry-run", &path]);
    assert!(errors(&again).contains("Scanned before: 3 reports stored. To send it is another scan."), "{again:?}");
}

#[test]
fn pending_scan_is_stored_until_it_has_ended() {
    let (cli, path) = cli(Options::default());
    let submitted = json(&cli.run(&["submit", &path]));
    let file = submitted["file"].as_str().unwrap();
    let calls = |endpoint| cli.demo.seen().iter().filter(|call| call.endpoint == Some(endpoint)).count();
    let again = cli.run(&["submit", "--dry-run", &path]);
    assert!(errors(&again).contains("A scan of it was running on"), "{again:?}");
    let short = cli.run(&["watch", "--max-polls", "1", file]);
    assert_eq!((short.status.code(), calls(Endpoint::PrivateAnalyses)), (Some(12), 0), "it need not be looked for");
    let found = json(&cli.run(&["watch", "--interval", "1", file]));
    assert_eq!((found["scan"].as_str(), found["done"].as_bool()), (submitted["scan"].as_str(), Some(true)));
    assert_eq!(calls(Endpoint::PrivateAnalyses), 0);
    // From then on it is the service's last one; a slip does not change that.
    assert_eq!(cli.run(&["watch", "--scan", "no-such-scan", file]).status.code(), Some(5));
    cli.fails(&["watch", file], 2, &["watching it costs 1 to 20 requests. --yes sends it"]);
    json(&cli.run(&["watch", "--yes", "--interval", "1", file]));
    assert_eq!(calls(Endpoint::PrivateAnalyses), 1);
}

#[test]
fn memory_mode_stores_no_pending_scan() {
    let (cli, path) = cli(Options::default());
    let submitted = json(&cli.run(&["submit", "--set", "store.persist=false", &path]));
    let known = [&submitted["file"], &submitted["scan"]].map(|value| value.as_str().unwrap().to_owned());
    assert!(places_of(&known, &cli.home.path().join(".local/share/behaview")).is_empty());
    cli.run(&["watch", "--max-polls", "1", &known[0]]);
    assert!(cli.demo.seen().iter().any(|call| call.endpoint == Some(Endpoint::PrivateAnalyses)), "it is looked for");
}

#[test]
fn a_dry_run_and_a_limit_send_nothing() {
    let (cli, path) = cli(Options::default());
    let output = cli.run(&["submit", "--dry-run", "--watch", &path]);
    let words = text(&output);
    assert!(output.status.success() && words.contains("1 scan") && words.contains("A.1"), "{words}");
    assert!(words.contains("at most 20 calls") && words.contains("In all: 1 to 20 requests, 1 scan."), "{words}");
    let watch = text(&cli.run(&["watch", "--dry-run", "--max-polls", "3", &main_file()]));
    assert!(watch.contains("In all: 1 to 3 requests."), "{watch}");
    cli.fails(&["submit", "--max-cost", "0", &path], 11, &[]);
    let output = cli.fails(&["submit", "--internet", "yes", &path], 2, &[]);
    assert!(errors(&output).contains("--yes") && errors(&output).contains("can see"), "{}", errors(&output));
    assert!(cli.demo.seen().is_empty());
}

#[test]
fn empty_option_is_refused_before_sending() {
    let (cli, path) = cli(Options::default());
    for (option, words) in [("--sandbox", ""), ("--sandbox", " "), ("--command-line", "")] {
        let output = cli.fails(&["submit", option, words, &path], 2, &[]);
        assert!(errors(&output).contains(option) && errors(&output).contains("it is empty"), "{}", errors(&output));
    }
    assert!(cli.demo.seen().is_empty());
}

#[test]
fn password_from_stdin_is_sent_and_not_stored() {
    let (cli, path) = cli(Options::default());
    let mut command = cli.command(&["submit", "--log-level", "debug", "--password-file", "-", &path]);
    let output = piped(&mut command, "swordfish-77\n");
    json(&output);
    assert_eq!(cli.demo.submitted()[0].fields, [("password".to_owned(), "swordfish-77".to_owned())]);
    assert!(!errors(&output).contains("swordfish"));
    assert!(places_of(&["swordfish"], cli.home.path()).is_empty());
}

#[test]
fn each_failure_has_its_exit_code() {
    let (cli, path) = cli(Options::default());
    let code = |arguments: &[&str]| cli.run(arguments).status.code();
    assert_eq!(code(&["submit", "/nowhere"]), Some(2));
    assert_eq!(code(&["submit", cli.home.path().to_str().unwrap()]), Some(2));
    assert_eq!(code(&["submit", "--set", "direct_upload_limit_mib=0", "--set", "max_upload_mib=0", &path]), Some(2));
    assert_eq!(code(&["submit", "--offline", &path]), Some(13));
    assert_eq!(code(&["delete", &main_file()]), Some(2));
    assert_eq!(code(&["watch", "--max-polls", "1", &Demo::files()[6].sha256]), Some(12));
    arm(&cli.demo, "upload-url:stranger*1");
    assert_eq!(code(&["submit", "--set", "direct_upload_limit_mib=0", &path]), Some(9));
    assert_eq!(code(&["watch", &"ab".repeat(32)]), Some(5));
    assert_eq!(scans(&cli), 0);
    arm(&cli.demo, "scan:lost*1");
    cli.fails(
        &["submit", &path],
        8,
        &["charged: 0 to 1 scan", "behaview watch --max-polls 1 ", "finds its scan: 1 request"],
    );
    assert_eq!(cli.demo.seen().iter().filter(|call| call.endpoint == Some(Endpoint::Scan)).count(), 1);
    // Whoever sends it again is told of that one first.
    for again in [&["submit", "--keep-days", "1", &path][..], &["submit", "--dry-run", &path]] {
        let told = cli.run(again);
        assert_eq!(told.status.code(), Some(if again[1] == "--dry-run" { 0 } else { 2 }), "{told:?}");
        let words = errors(&told);
        assert!(words.contains("already, without a response: it may have arrived, and been charged."), "{words}");
        assert!(words.contains("finds its scan: 1 request"), "{words}");
    }
    // So is whoever asks the same service by another name, where no key is read.
    cli.configure(&format!("[profiles.twin]\nroot = \"{}\"\n", cli.demo.root()));
    let told =
        cli.command(&["submit", "--profile", "twin", "--dry-run", &path]).env_remove("VT_APIKEY").output().unwrap();
    assert!(told.status.success() && errors(&told).contains("already, without a response"), "{told:?}");
    assert_eq!(scans(&cli), 1);
    // What became of an upload is not told, and nothing of such an answer is kept.
    arm(&cli.demo, "scan:number*1");
    let silent = cli.fails(&["submit", "--yes", &path], 9, &[]);
    let words = "it does not name a scan that has begun. Nothing of it is stored.";
    assert!(errors(&silent).contains(words), "{}", errors(&silent));
    let (spent, path) = self::cli(Options { licence: false, ..Options::default() });
    assert_eq!(spent.run(&["submit", &path]).status.code(), Some(4));
}

#[test]
fn lost_upload_is_recognized_despite_ledger_damage() {
    let (cli, path) = cli(Options::default());
    arm(&cli.demo, "scan:lost*1");
    assert_eq!(cli.run(&["submit", &path]).status.code(), Some(8));
    let sound = std::fs::read(records(&cli)).unwrap();
    let meddle = |sql: &str| rusqlite::Connection::open(records(&cli)).unwrap().execute_batch(sql).unwrap();
    for damage in [
        "key = NULL",
        "key = CAST(replace(CAST(key AS TEXT), 'scan', 'sca.') AS BLOB)",
        // As a bit of the hash flips that the words do not show.
        "key = CAST(substr(CAST(key AS TEXT), 1, 40) || CASE substr(CAST(key AS TEXT), 41, 1) WHEN '1' THEN '3' ELSE '1' END
            || substr(CAST(key AS TEXT), 42) AS BLOB)",
        "state = 'free'",
        "state = 'unsent'",
        "profile = 'x'",
        "operation = 'x'",
        "what = ''",
        "session = x'00', at = 9223372036854775807",
    ] {
        meddle(&format!("UPDATE ledger SET {damage}"));
        cli.fails(&["submit", &path], 2, &["may have been sent for a scan on"]);
        std::fs::write(records(&cli), &sound).unwrap();
    }
    // It keeps no other file from being sent.
    let other = cli.home.path().join("other.bin");
    std::fs::write(&other, b"another program").unwrap();
    let other = other.to_str().unwrap();
    assert!(cli.run(&["submit", other]).status.success());
    assert_eq!(scans(&cli), 2);
    // Of what a ledger that is lost had, nothing is known.
    std::fs::write(records(&cli), vec![7; 9000]).unwrap();
    for path in [&path[..], other] {
        assert_eq!(cli.run(&["submit", path]).status.code(), Some(2), "{path}");
    }
    assert_eq!(scans(&cli), 2);
    // A yes is good for the file that it was given for.
    assert!(cli.run(&["submit", "--yes", other]).status.success());
    assert!(cli.run(&["submit", other]).status.success());
    assert_eq!((cli.run(&["submit", &path]).status.code(), scans(&cli)), (Some(2), 4));
}

#[cfg(unix)]
#[test]
fn unreadable_or_irregular_file_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let (cli, sample) = cli(Options::default());
    let at = |name: &str| cli.home.path().join(name).to_str().unwrap().to_owned();
    assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    std::fs::write(at("empty"), "").unwrap();
    std::fs::File::create(at("huge")).unwrap().set_len(1 << 40).unwrap();
    std::fs::set_permissions(&sample, PermissionsExt::from_mode(0o000)).unwrap();
    // Whoever may read everything is kept from nothing by modes.
    let is_unreadable = std::fs::read(&sample).is_err();
    let unreadable = is_unreadable.then_some((sample.clone(), "denied"));
    let others = [
        (at("pipe"), "not a regular file"),
        (at(""), "not a regular file"),
        ("/dev/zero".to_owned(), "not a regular file"),
        (at("nowhere"), "No such file"),
        (at("empty"), "empty"),
        (at("huge"), "larger than"),
    ];
    for (path, words) in others.into_iter().chain(unreadable) {
        for call in [&["submit", &path][..], &["api", "--yes", "v2-file-scan", &path]] {
            cli.fails(call, 2, &[words]);
        }
    }
    assert!(cli.demo.seen().is_empty());
}

#[test]
fn repeat_of_an_unconfirmed_call_is_always_named() {
    let (cli, path) = cli(Options::default());
    let before = "the same was sent on ";
    for call in [&["api", "--yes", "v2-file-scan", &path][..], &["api", "--yes", "v3-rescan", &main_file()]] {
        arm(&cli.demo, "lost*1");
        let lost = errors(&cli.run(call));
        assert!(!lost.contains(before), "{lost}");
        let again = cli.run(call);
        assert!(errors(&again).contains(before), "{again:?}");
        assert!(errors(&again).contains("This sends it again."), "{again:?}");
    }
}

#[test]
fn service_deletion_spares_stored_reports() {
    let (cli, _) = cli(Options::default());
    json(&cli.run(&["list", &main_file()]));
    let shown = text(&cli.run(&["delete", "--dry-run", &main_file()]));
    assert!(shown.contains("1 request") && shown.contains("deletion of"), "{shown}");
    assert_eq!(json(&cli.run(&["delete", "--yes", &main_file()]))["deleted"], serde_json::json!(["file", "reports"]));
    assert_eq!(cli.run(&["list", "--refresh", &main_file()]).status.code(), Some(5));
    assert_eq!(json(&cli.run(&["list", "--offline", &main_file()]))["sandboxes"].as_array().unwrap().len(), 4);
}

#[test]
fn over_budget_upload_is_refused_before_its_url() {
    for (budget, is_dry, code) in [("session = 1", false, 11), ("daily = 1", true, 11), ("session = 2", false, 0)] {
        let (cli, path) = cli(Options::default());
        cli.configure(&format!("[budget]\n{budget}\n"));
        let mut arguments = vec!["submit", "--set", "direct_upload_limit_mib=0", &path];
        arguments.extend(is_dry.then_some("--dry-run"));
        let output = cli.run(&arguments);
        assert_eq!(output.status.code(), Some(code), "{budget}: {output:?}");
        assert_eq!((cli.paid() as u64, scans(&cli)), if code == 0 { (1, 1) } else { (0, 0) }, "{budget}: {output:?}");
    }
    let (cli, path) = cli(Options::default());
    let limited = cli.run(&["submit", "--set", "direct_upload_limit_mib=0", "--max-cost", "1", &path]);
    assert_eq!((limited.status.code(), cli.paid()), (Some(11), 0), "{limited:?}");
}
