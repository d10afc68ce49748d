use super::*;
use crate::prevalence::{Rarity, StableBuildHasher};
use crate::report::compare::ValueKind;
use crate::report::{Body, Cancel, Report};
use crate::store::value_index::IndexedReport;
use crate::store::values::indexed_values;
use serde_json::{Value, json};
use std::hash::BuildHasher;

fn report(attributes: Value) -> Report {
    Report::open(&Body::in_memory(attributes.to_string().into_bytes()))
}

fn values(report: &Report) -> Vec<ReportValue> {
    report.values_of(None, &StableBuildHasher, &Cancel::default()).unwrap()
}

fn holder(file: usize, sandbox: &str) -> ValueHolder {
    let file = Sha256::parse(&format!("{file:064x}")).unwrap();
    let identifier = Identifier::new(Untrusted::from(format!("{file}_{sandbox}"))).unwrap();
    let service = "demo".to_owned();
    let profile = "lab".to_owned();
    ValueHolder {
        file: Some(file),
        identifier,
        received: Timestamp::UNIX_EPOCH,
        service,
        profile,
        place: RowPlace::default(),
        person: None,
    }
}

/// An index with reports of these files and sandboxes.
fn index(reports: Vec<(usize, &str, Value)>) -> ValueIndex {
    let index = ValueIndex::open(None).unwrap();
    let read = |(file, sandbox, attributes): (usize, &str, Value)| {
        let report = report(attributes);
        let place = format!("{file}{sandbox}");
        let of = holder(file, sandbox);
        let values = indexed_values(&report, &Cancel::default()).unwrap();
        IndexedReport { place, stamp: 0, of, figures: ReportFigures::of(&report), values }
    };
    index.add(&reports.into_iter().map(read).collect::<Vec<_>>(), |_| true).unwrap();
    index
}

/// The prevalence of a text as a row of a kind, in a sandbox.
fn prevalence(index: &ValueIndex, text: &str, label: &str, sandbox: &str) -> Prevalence {
    let probe = Report::of_text(text);
    let found = values(&probe).into_iter().find(|found| found.label(&probe) == label).unwrap();
    index.prevalence(&[found.hashes], &Untrusted::from(sandbox)).unwrap()[0]
}

#[test]
fn hashes_are_stable() {
    assert_eq!(StableBuildHasher.hash_one(1_u64.to_be()), StableBuildHasher.hash_one(1_u64.to_be()));
    let first = values(&report(json!({"mutexes_created": ["m"]})));
    // A change of this number makes all stored indexes again: change the index's version too.
    assert_eq!(
        first.iter().map(|value| value.hashes.value).collect::<Vec<_>>(),
        [9345688840297864341, 17601926588558161686]
    );
}

#[test]
fn a_text_is_found_as_each_kind_it_can_be() {
    let stored = json!({
        "sandbox_name": "Box", "behash": "d41d8cd98f00b204e9800998ecf8427e",
        "registry_keys_set": [{"key": r"HKCU\Software\Run\x", "value": r"C:\Users\me\a.exe"}],
        "dns_lookups": [{"hostname": "C2.example", "resolved_ips": ["203.0.113.7"]}],
        "tls": [{"sni": "front.example"}], "mutexes_created": ["Global\\M"], "services_created": ["svc"],
        "command_executions": ["cmd.exe /c del x"],
        "processes_tree": [{"process_id": "1", "name": r"C:\Windows\System32\cmd.exe", "children": [
            {"process_id": "2", "name": "evil.exe"}]}],
        "files_dropped": [{"path": r"C:\Users\me\b.dll", "sha256": "ab".repeat(32)}],
        "http_conversations": [{"url": "http://c2.example/x?y", "request_method": "GET"}],
    });
    let stored: Vec<_> = values(&report(stored)).into_iter().map(|value| value.hashes.value).collect();
    let kinds = |text: &str| {
        let probe = Report::of_text(text);
        let found = values(&probe).into_iter().filter(|found| stored.contains(&found.hashes.value));
        let mut labels: Vec<_> = found.map(|found| found.label(&probe)).collect();
        labels.sort();
        labels.dedup();
        labels.join(", ")
    };
    let cases = [
        (r"hkcu\SOFTWARE\run\X", "Registry set, key"),
        (r"c:\users\YOU\A.exe", "data"),
        ("c2.example", "Network name, host"),
        ("203.0.113.7", "address"),
        ("FRONT.example", "Network tls, host"),
        ("Global\\M", "Services mutex made, mutex"),
        ("svc", "Services created"),
        ("CMD.exe /c del x", "Commands, Processes"),
        ("cmd.exe", "Processes"),
        ("evil.exe", "Processes"),
        (r"C:\Users\you\b.dll", "Files dropped"),
        (&"AB".repeat(32), "hash"),
        ("http://c2.example/x?y", "host, url"),
        ("d41d8cd98f00b204e9800998ecf8427e", "Overview behash"),
        ("global\\m", ""),
    ];
    for (text, found) in cases {
        assert_eq!(kinds(text), found, "{text}");
    }
    // The rows have the same values as the whole.
    let whole = report(json!({"mutexes_created": ["a", "b"], "links": {"x": 1}, "tags": ["T"]}));
    for value in values(&whole) {
        let alone = whole.values_of(Some(value.place), &StableBuildHasher, &Cancel::default()).unwrap();
        assert!(alone.contains(&value), "{value:?}");
    }
    assert!(values(&whole).iter().any(|value| value.kind == ValueKind::Row));
}

#[test]
fn files_are_counted_and_cut_lists_apart() {
    let cut: Vec<_> = (0..300).map(|n| format!("m{n}")).collect();
    let mut reports: Vec<_> = (0..10).map(|n| (n, "Box", json!({"mutexes_created": ["noise"]}))).collect();
    reports.extend([
        (0, "Tub", json!({"mutexes_created": ["noise", "rare"]})),
        (10, "Box", json!({"mutexes_created": cut})),
        (11, "Tub", json!({"mutexes_created": ["rare"]})),
    ]);
    let index = index(reports);
    let of = |text, sandbox| prevalence(&index, text, "Services mutex made", sandbox);
    let noise = of("noise", "Box");
    let rare = of("rare", "Box");
    let none = of("absent", "Tub");
    assert_eq!((noise.files, noise.of_files, noise.in_sandbox, noise.of_sandbox), (10, 12, 10, 11));
    assert_eq!((noise.rarity(), noise.perhaps_unlisted), (Rarity::Noise, 1));
    assert_eq!((rare.files, rare.in_sandbox, none.files, none.of_sandbox), (2, 0, 0, 2));
    assert_eq!(
        [rare.rarity(), of("m7", "Box").rarity(), none.rarity()],
        [Rarity::Common, Rarity::Rare, Rarity::Common]
    );
    let label = "in 10 of 12 stored files · 10 of 11 of this sandbox · 1 more perhaps, whose list was cut: noise of this sandbox";
    assert_eq!(noise.label().unwrap(), label);
    assert_eq!(Prevalence { files: 1, of_files: 1, ..Prevalence::default() }.label(), None);
    index.forget(&["0Tub".to_owned(), "11Tub".to_owned()]).unwrap();
    assert_eq!((of("rare", "Tub").files, of("noise", "Box").of_files), (0, 11));
}

#[test]
fn twins_share_what_is_unusual() {
    let mutexes = |file: usize, more: &[&str]| {
        let own = (0..6).map(|n| format!("own{file}-{n}")).chain((0..20).map(|n| format!("noise{n}")));
        json!({"mutexes_created": own.chain(more.iter().map(|more| (*more).to_owned())).collect::<Vec<_>>()})
    };
    let family = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o"];
    let mut reports: Vec<_> = (0..6).map(|n| (n, "Box", mutexes(n, &[]))).collect();
    reports.extend([(6, "Box", mutexes(6, &family)), (7, "Box", mutexes(7, &family[..14]))]);
    reports.extend([(8, "Tub", json!({"behash": "x", "tags": ["t"]})), (9, "Box", json!({"behash": "x"}))]);
    let own = report(mutexes(7, &family[..14]));
    let index = index(reports);
    let me = holder(7, "Box");
    let found = index.twins(&values(&own), None, (me.file.as_ref(), &me.identifier), &Cancel::default()).unwrap();
    assert_eq!(found.iter().map(|twin| twin.holder.file.clone()).collect::<Vec<_>>(), [holder(6, "Box").file]);
    // Each of these is a row and an indicator.
    assert_eq!(found[0].label(), "28 of 40 values that are not usual in this sandbox");
    let cancel = Cancel::default();
    cancel.cancel();
    assert_eq!(index.twins(&values(&own), None, (me.file.as_ref(), &me.identifier), &cancel).unwrap(), []);
    let same = report(json!({"behash": "x"}));
    let behash = values(&same)[0].hashes.value;
    let me = holder(9, "Box");
    let found = index.twins(&[], Some(behash), (me.file.as_ref(), &me.identifier), &Cancel::default()).unwrap();
    assert_eq!(found.iter().map(Twin::label).collect::<Vec<_>>(), ["the same behash"]);
}

#[test]
fn a_sandbox_usually_brings_the_median() {
    let tree = json!([{"name": "a", "process_id": "1"}]);
    let index = index(vec![
        (0, "Box", json!({"processes_tree": tree, "has_pcap": true})),
        (1, "Box", json!({"processes_tree": tree, "dns_lookups": [{"hostname": "a.example"}], "has_pcap": true})),
        (2, "Box", json!({"tags": ["a"]})),
    ]);
    let found = index.yields().unwrap();
    assert_eq!((found.len(), found[0].reports, found[0].label().as_str()), (1, 3, "usually tree, capture"));
    index.note_findings(&holder(1, "Box").identifier, 12).unwrap();
    assert_eq!(index.yields().unwrap()[0].label(), "usually tree, capture, 12 findings");
}
