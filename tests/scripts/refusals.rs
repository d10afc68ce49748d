//! What the service refuses, and how: by status, by body, by header; and what is made of it.

use crate::faults::arm;
use crate::harness::{CliHarness, FakeService, errors, json, main_file};
use std::process::Output;

/// A service that answers each call so; gives the setting that leads to it.
fn service(answer: impl Fn(&str) -> (&'static str, &'static str, String) + Send + 'static) -> String {
    FakeService::new(answer).set
}

fn error(code: &str, message: &str) -> String {
    format!(r#"{{"error":{{"code":"{code}","message":"{message}"}}}}"#)
}

/// A report that is asked for, and refused so.
fn shown(status: &'static str, headers: &'static str, body: String) -> Output {
    let cli = CliHarness::new();
    let set = service(move |_| (status, headers, body.clone()));
    cli.run(&["show", &format!("{}_Box-1794474845", main_file()), "--set", &set])
}

#[test]
fn watch_polls_at_its_pace_where_nothing_is_listed() {
    let cli = CliHarness::new();
    let service = FakeService::new(|_| ("200 OK", "", r#"{"data":[]}"#.to_owned()));
    cli.fails(
        &["watch", "--interval", "1", "--max-polls", "4", &main_file(), "--set", &service.set],
        12,
        &["the service knows of no scan of this file"],
    );
    let lists = service.asked().iter().filter(|call| call.contains("/behaviours")).count();
    assert_eq!((service.asked().len(), lists), (4, 3));
}

#[test]
fn a_post_without_a_body_has_a_length() {
    let cli = CliHarness::new();
    let service = FakeService::new(|_| ("200 OK", "", r#"{"data":{"type":"analysis","id":"a-1"}}"#.to_owned()));
    let output = cli.run(&["api", "v3-rescan", "--yes", &main_file(), "--set", &service.set]);
    assert!(output.status.success(), "{output:?}");
    let call = service.asked()[0].to_ascii_lowercase();
    assert!(call.starts_with("post ") && call.contains("\r\ncontent-length: 0\r\n"), "{call}");
}

#[test]
fn an_empty_204_of_v2_is_a_spent_quota() {
    let cli = CliHarness::new();
    let set = service(|_| ("204 No Content", "", String::new()));
    cli.fails(&["api", "v2-file-report", &"a".repeat(32), "--set", &set], 6, &["the quota is spent (204)"]);
}

#[test]
fn an_error_is_read_by_its_first_bytes() {
    for label in ["content-encoding: gzip\r\n", "content-encoding: br\r\n", ""] {
        let output = shown("429 Too Many Requests", label, error("QuotaExceededError", "Quota exceeded"));
        assert_eq!(output.status.code(), Some(6), "{label}: {output:?}");
    }
}

#[test]
fn a_403_gives_the_reason_that_the_service_gives() {
    for (message, words) in [
        ("You are not authorized", "No licence, no role (USER_ROLE_PRIVATE_SCANNING) or a personal cap"),
        ("Missing role USER_ROLE_PRIVATE_SCANNING", "Your user lacks a role"),
        ("User quota_limits reached", "A personal cap (quota_limits)"),
        ("A private scanning license is required", "`behaview quota` (free) shows whether there is one"),
        ("You have reached your personal cap", "A personal cap (quota_limits)"),
    ] {
        let output = shown("403 Forbidden", "", error("ForbiddenError", message));
        assert_eq!(output.status.code(), Some(4), "{message}: {output:?}");
        assert!(errors(&output).contains(words), "{message}: {output:?}");
    }
    let set = service(|path| match path.contains("quotas") {
        true => ("200 OK", "", r#"{"data":{"private_scans_monthly":{"user":{"allowed":100,"used":1}}}}"#.to_owned()),
        false => ("403 Forbidden", "", error("ForbiddenError", "A private scanning license is required")),
    });
    let cli = CliHarness::new();
    let mut command = cli.command(&["list", &main_file(), "--set", &set]);
    let output = command.env_remove("BEHAVIEW_ENTITLEMENTS_PRIVATE_SCANNING").output().unwrap();
    assert!(errors(&output).contains("The counters show the licence"), "{output:?}");
}

#[test]
fn an_error_with_status_200_is_a_refusal() {
    for (code, exit) in [("QuotaExceededError", 6), ("NotFoundError", 5), ("ForbiddenError", 4), ("Unheard", 1)] {
        let output = shown("200 OK", "", error(code, "no"));
        assert_eq!(output.status.code(), Some(exit), "{code}: {output:?}");
    }
    for body in [r#"{"error":"no"}"#, r#"{"error":"no","data":{}}"#, r#"[{"error":{"code":"X"},"data":[]}]"#] {
        let (cli, set) = (CliHarness::new(), service(move |_| ("200 OK", "", body.to_owned())));
        for command in [&["delete", "--yes"][..], &["api", "v3-file"], &["api", "v3-rescan", "--yes"]] {
            cli.fails(&[command, &[&main_file(), "--set", &set]].concat(), 1, &["the service refused (200)"]);
        }
    }
    for body in ["null", r#"{"errors":[1]}"#, r#"{"error":{}}"#, r#"{"data":{"error":{}}}"#] {
        let set = service(move |_| ("200 OK", "", body.to_owned()));
        CliHarness::new().fails(&["delete", "--yes", &main_file(), "--set", &set], 9, &["does not name a deletion"]);
    }
}

#[test]
fn a_refused_upload_speaks_of_the_archive_or_its_size() {
    let upload = |status: &'static str, body: String| {
        let cli = CliHarness::new();
        let path = cli.home.path().join("sample.zip");
        std::fs::write(&path, b"PK").unwrap();
        let set = service(move |_| (status, "", body.clone()));
        cli.run(&["submit", path.to_str().unwrap(), "--set", &set])
    };
    let wrong = upload("401 Unauthorized", error("WrongCredentialsError", "Wrong password"));
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    assert!(errors(&wrong).contains("the archive's password is wrong (401)"), "{wrong:?}");
    assert_eq!(upload("200 OK", error("WrongCredentialsError", "Wrong password")).status.code(), Some(2));
    assert_eq!(upload("401 Unauthorized", error("WrongCredentialsError", "Wrong API key")).status.code(), Some(3));
    let large = upload("413 Payload Too Large", "<html>413</html>".to_owned());
    assert_eq!(large.status.code(), Some(2), "{large:?}");
    assert!(errors(&large).contains("too large for the service (413)"), "{large:?}");
}

#[test]
fn a_404_is_remembered_with_its_time() {
    let cli = CliHarness::new();
    arm(&cli.demo, "behaviour:404*1");
    let id = format!("{}_CAPE Sandbox-1794474845", main_file());
    let (first, dry, second) = (cli.run(&["show", &id]), cli.run(&["show", "--dry-run", &id]), cli.run(&["show", &id]));
    assert_eq!((first.status.code(), second.status.code()), (Some(5), Some(0)), "{first:?} {second:?}");
    assert!(!errors(&first).contains("did not have it at"), "{first:?}");
    for output in [dry, second] {
        assert!(errors(&output).contains("UTC; repeating it costs 1 request"), "{output:?}");
    }
    let third = cli.run(&["show", "--refresh", &id]);
    assert!(!errors(&third).contains("did not have it at"), "{third:?}");
}

#[test]
fn an_empty_first_page_is_followed_by_one_more() {
    let cli = CliHarness::new();
    let service = FakeService::new(|path| {
        let id = format!("{}_Box-1794474845", main_file());
        let body = match path.contains("cursor=") {
            true => format!(r#"{{"data":[{{"id":"{id}","type":"file_behaviour","attributes":{{"tags":["A"]}}}}]}}"#),
            false => r#"{"data":[],"meta":{"cursor":"next"}}"#.to_owned(),
        };
        ("200 OK", "", body)
    });
    let listed = json(&cli.run(&["list", "--all", &main_file(), "--set", &service.set]));
    assert_eq!(listed["sandboxes"].as_array().unwrap().len(), 1, "{listed}");
    let circle = FakeService::new(|_| ("200 OK", "", r#"{"data":[],"meta":{"cursor":"next"}}"#.to_owned()));
    cli.fails(&["list", "--all", "--refresh", &main_file(), "--set", &circle.set], 12, &[]);
    assert_eq!((service.asked().len(), circle.asked().len()), (2, 2));
}
