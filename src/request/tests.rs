use super::*;
use jiff::civil::date;

fn file() -> Sha256 {
    Sha256::parse(&"ab".repeat(32)).unwrap()
}

fn named(text: &str) -> Identifier {
    Identifier::new(Untrusted::from(text)).unwrap()
}

#[test]
fn every_part_of_an_address_is_encoded() {
    let context = RequestContext { user: "spell/man", page_size: 40, ..RequestContext::default() };
    let request = Request::Behaviour { identifier: named("ff_C2 AE/../é?x#-1") };
    assert_eq!(request.address(&context).path, "/private/file_behaviours/ff_C2%20AE%2F..%2F%C3%A9%3Fx%23-1");
    assert_eq!(Request::Quotas.address(&context).path, "/users/spell%2Fman/overall_quotas");
    let first = date(2026, 1, 5);
    let last = date(2026, 2, 3);
    let usage = Request::Usage { first, last }.address(&context);
    assert_eq!(usage.path, "/users/spell%2Fman/api_usage");
    let days = [("start_date", "20260105".to_owned()), ("end_date", "20260203".to_owned())];
    assert_eq!(usage.parameters, days.map(|(name, day)| (name.into(), day)));
    let cursor = Some(Untrusted::from("a&b=="));
    let page = Request::Behaviours { file: file(), listing: Listing::Reports, cursor };
    let parameters = [("limit".into(), "40".to_owned()), ("cursor".into(), "a&b==".to_owned())];
    assert_eq!(page.address(&context).parameters, parameters);
}

#[test]
fn a_list_of_hashes_costs_one_for_each() {
    let hash = |c: &str| FileHash::parse(&c.repeat(32)).unwrap();
    let request = Request::V2Reports { files: vec![hash("a"), hash("b"), hash("c")] };
    let quote = request.quote(&Entitlements::default());
    assert_eq!((quote.price().short().as_str(), quote.price().rule.number), ("3 requests", "8.2.1"));
}

#[test]
fn different_requests_have_different_keys() {
    let page = |listing, cursor: Option<&str>| {
        Request::Behaviours { file: file(), listing, cursor: cursor.map(Untrusted::from) }.storage_key()
    };
    let keys = [
        page(Listing::Reports, None),
        page(Listing::Reports, Some("x")),
        page(Listing::Identifiers, None),
        Request::Behaviour { identifier: named("x") }.storage_key(),
    ];
    for (n, key) in keys.iter().enumerate() {
        assert!(!keys[..n].contains(key));
    }
}

#[test]
fn claims_differ_by_all_but_password_and_path() {
    let scan = |byte: &str, options: ScanOptions| {
        let file = Sha256::parse(&byte.repeat(32)).unwrap();
        let submission = Submission { path: "a".into(), file, size: 1, options, sent: None };
        Request::PrivateScan { submission: Arc::new(submission), to: None }
    };
    let password = Password::new("hunter2".to_owned());
    let plain = scan("ab", ScanOptions::default()).claim().unwrap();
    assert_eq!(scan("ab", ScanOptions::default().with_password(password)).claim().unwrap(), plain);
    let to = Some(UploadAddress::new("".into()));
    let large = match scan("ab", ScanOptions::default()) {
        Request::PrivateScan { submission, .. } => Request::PrivateScan { submission, to },
        other => other,
    };
    assert_eq!(large.claim().unwrap(), plain);
    let public = |path: &str, file| Request::V2Scan { path: path.into(), file }.claim();
    assert_eq!(public("a", Some((file(), 1))), public("./a", Some((file(), 1))), "the path is a name");
    assert_eq!(public("a", None), None, "its content is unknown");
    let hash = FileHash::parse(&"ab".repeat(32)).unwrap();
    let mut week = ScanOptions::default();
    week.set(ScanOption::Retention, "7").unwrap();
    week.set(ScanOption::CommandLine, "(\"retention_period_days\", \"9\")").unwrap();
    let others = [
        scan("cd", ScanOptions::default()),
        scan("ab", week.clone()),
        Request::V2Scan { path: "a".into(), file: Some((file(), 1)) },
        Request::Rescan { file: hash },
        Request::PrivateDelete { file: file(), only_from_storage: true },
        Request::PrivateDelete { file: file(), only_from_storage: false },
        Request::Behaviour { identifier: named("x") },
    ];
    let mut claims: Vec<_> = others.iter().map(|request| request.claim().unwrap()).chain([plain.clone()]).collect();
    assert_eq!(Submission::of_claim(&claims[1]), Some((file(), Some(7))));
    assert_eq!(Submission::of_claim(&plain), Some((file(), None)));
    claims.sort();
    claims.dedup();
    assert_eq!(claims.len(), 8);
}

#[test]
fn saved_page_has_the_cursor_of_its_self_link() {
    use crate::report::{Body, page::Page};
    let address = format!("https://h/api/v3/private/files/{}/behaviours?limit=4&cursor=a+b%2Bc&x=1#end", file());
    let before = format!(r#"{{"data":[],"links":{{"next":"{address}"}}}}"#);
    let next = Page::of(&Body::in_memory(before.into_bytes())).unwrap().end.cursor;
    let page = Request::of_page(format!(r#"{{"data":[],"links":{{"self":"{address}"}}}}"#).as_bytes()).unwrap();
    let Request::Behaviours { cursor, .. } = page else { panic!("{page:?}") };
    assert_eq!(cursor, Some(Untrusted::from("a b+c")));
    assert_eq!(cursor, next);
}
