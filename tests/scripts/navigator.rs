//! Layers of the ATT&CK Navigator: valid by its format, with all techniques, rows and colours.

use crate::harness::{CliHarness, behaview, errors, json, main_file, run};
use regex::Regex;
use serde_json::{Value, json};

/// Checks a value by `navigator.schema.json`: the keywords of JSON Schema that it uses.
fn check(value: &Value, schema: &Value, whole: &Value, at: &str) {
    let schema = schema["$ref"].as_str().map_or(schema, |way| whole.pointer(&way[1..]).unwrap());
    let kind = match value {
        Value::Object(_) => "object",
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Number(_) => "number",
        Value::Bool(_) => "boolean",
        Value::Null => "null",
    };
    assert!(schema["type"].as_str().is_none_or(|wanted| wanted == kind), "{at}: {kind}");
    assert!(schema["enum"].as_array().is_none_or(|known| known.contains(value)), "{at}: {value}");
    let pattern = schema["pattern"].as_str().map(|pattern| Regex::new(pattern).unwrap());
    assert!(pattern.is_none_or(|pattern| pattern.is_match(value.as_str().unwrap())), "{at}: {value}");
    let items = value.as_array().into_iter().flatten().enumerate();
    items.for_each(|(n, item)| check(item, &schema["items"], whole, &format!("{at}/{n}")));
    assert!(value.as_array().map_or(0, Vec::len) as u64 >= schema["minItems"].as_u64().unwrap_or(0), "{at}");
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(name.as_str().unwrap()).is_some(), "{at} has no {name}");
    }
    for (name, member) in value.as_object().into_iter().flatten() {
        let known = schema["properties"].get(name).unwrap_or_else(|| panic!("{at} has {name}"));
        check(member, known, whole, &format!("{at}/{name}"));
    }
}

/// The layers of a file, each valid.
fn layers(written: Value) -> Vec<Value> {
    let schema = serde_json::from_str(include_str!("navigator.schema.json")).unwrap();
    let layers = if let Value::Array(layers) = written { layers } else { vec![written] };
    for layer in &layers {
        check(layer, &schema, &schema, "");
        let gradient = &layer["gradient"];
        assert!(gradient["maxValue"].as_f64() > gradient["minValue"].as_f64(), "{gradient}");
        let score = |found: &Value| found["score"].as_f64() <= gradient["maxValue"].as_f64();
        assert!(layer["techniques"].as_array().unwrap().iter().all(score), "{layer}");
    }
    layers
}

fn of<'a>(layer: &'a Value, id: &str) -> Vec<&'a Value> {
    layer["techniques"].as_array().unwrap().iter().filter(|found| found["techniqueID"] == id).collect()
}

fn comment(layer: &Value, id: &str) -> String {
    of(layer, id).first().unwrap_or_else(|| panic!("{id}: {layer}"))["comment"].as_str().unwrap().to_owned()
}

#[test]
fn layer_has_every_technique_with_its_rows() {
    let rows: Vec<_> = (0..150).map(|n| format!(r#"{{"id":"T1055","signature_description":"row {n}"}}"#)).collect();
    let report = |sandbox: &str, more: &str| {
        format!(
            r#"{{"id":"{}_{sandbox}-1700000000","attributes":{{"sandbox_name":"{sandbox}",{more}}}}}"#,
            "ab".repeat(32)
        )
    };
    let hostile = r#"{"id":"T1001","signature_description":"<script>=cmd|x http://evil.example/a\u001b[2J\nline"}"#;
    let one = format!(
        r#""mitre_attack_techniques":[{},{hostile},{{"id":"T1547.001"}},{{"id":"TA0003"}}],
        "signature_matches":[{{"name":"x","description":"see attack.t1027.002 and T9999"}}],
        "ids_alerts":[{{"rule_msg":"m","rule_raw":"mitre_technique_id T1071"}}],
        "processes_tree":[{{"name":"WINWORD.EXE","children":[{{"name":"cmd.exe /c powershell -enc SQBFAFgA"}}]}}]"#,
        rows.join(",")
    );
    let two = r#""attack_techniques":{"T1055":[{"description":"summary","severity":"HIGH"}]}"#;
    let page = format!(r#"{{"data":[{},{}]}}"#, report("Box", &one), report("Zen", two));
    let output = run(&["export", "-", "--format", "navigator"], &page);
    assert!(errors(&output).contains("Left out: 1 row that this format"), "{output:?}");
    let layer = layers(json(&output)).remove(0);
    assert_eq!((&layer["domain"], &layer["versions"]["layer"]), (&json!("enterprise-attack"), &json!("4.5")));
    assert_eq!(of(&layer, "T1055")[0]["score"], 2);
    let rows = comment(&layer, "T1055");
    assert!(rows.contains("Box: and 142 rows more") && rows.contains("Zen: ") && rows.contains("summary"), "{rows}");
    let inert = comment(&layer, "T1001");
    assert!(inert.contains(r"hxxp[:]//evil[.]example/a\x1b[2J\x0aline") && inert.lines().count() == 1, "{inert}");
    for id in ["T1547.001", "T1027.002", "T1071"] {
        assert_eq!((&of(&layer, id)[0]["score"], of(&layer, id).len()), (&json!(1), 1), "{id}");
    }
    assert!(comment(&layer, "T1059.001").contains("by rule, "), "{layer}");
    assert!(of(&layer, "T9999").is_empty() && of(&layer, "TA0003").is_empty());
    let legend: Vec<_> = layer["legendItems"].as_array().unwrap().iter().map(|item| &item["label"]).collect();
    assert_eq!(legend, ["1 of 2 sandboxes", "2 of 2 sandboxes"]);
    let known = layer["metadata"].as_array().unwrap().iter().map(|known| known["value"].as_str().unwrap());
    assert_eq!(known.collect::<Vec<_>>(), [&*"ab".repeat(32), "Box", "Zen"]);
    // A row alone, and nothing of another kind.
    let pane = layers(json(&run(&["export", "-", "--format", "navigator", "--pane", "network"], &page))).remove(0);
    assert_eq!(pane["techniques"].as_array().unwrap().len(), 1);
    let other = run(&["export", "-", "--format", "navigator"], r#"{"error":{"code":"NotFoundError","message":"x"}}"#);
    assert!(!other.status.success(), "{other:?}");
    assert_eq!(run(&["export", "-", "--format", "navigator", "--indicators"], &page).status.code(), Some(2));
}

#[test]
fn layers_have_the_tactics_and_domains_of_their_techniques() {
    let technique = |id: &str| format!(r#"{{"id":"{id}","signatures":[{{"severity":"INFO","description":"d"}}]}}"#);
    let tactic = |id: &str, of: &str| format!(r#"{{"id":"{id}","name":"x","techniques":[{of}]}}"#);
    let trees = format!(
        r#"{{"links":{{"self":"x"}},"data":{{"Box":{{"tactics":[{},{}]}},"Droid":{{"tactics":[{}]}}}}}}"#,
        tactic("TA0005", &[technique("T1055.012"), technique("T1027")].join(",")),
        tactic("TA0004", &technique("T1055.012")),
        tactic("TA0030", &technique("T1406"))
    );
    let both = layers(json(&run(&["export", "-", "--format", "navigator"], &trees)));
    assert_eq!(both.iter().map(|layer| &layer["domain"]).collect::<Vec<_>>(), ["enterprise-attack", "mobile-attack"]);
    let tactics: Vec<_> = of(&both[0], "T1055.012").iter().map(|found| found["tactic"].clone()).collect();
    assert_eq!(tactics, ["defense-evasion", "privilege-escalation"]);
    assert_eq!(
        (&of(&both[1], "T1406")[0]["tactic"], &both[1]["versions"]["attack"]),
        (&json!("defense-evasion"), &json!("15"))
    );
    assert!(comment(&both[1], "T1406").starts_with("Droid: "), "{both:?}");
    // The document of all sandboxes is not one of them.
    assert_eq!(both[0]["legendItems"][1]["label"], "2 of 2 sandboxes");
}

#[test]
fn difference_layer_has_a_colour_for_each_side() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str, ids: &[String]| {
        let path = home.path().join(name);
        let rows: Vec<_> = ids.iter().map(|id| format!(r#"{{"id":"{id}"}}"#)).collect();
        std::fs::write(&path, format!(r#"{{"mitre_attack_techniques":[{}]}}"#, rows.join(","))).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    let (one, two) = (path("one.json", &ids(&["T1055", "T1027"])), path("two.json", &ids(&["T1027", "T1071"])));
    let compare = |more: &[&str]| behaview(home.path()).arg("compare").args(more).arg("--navigator").output().unwrap();
    let layer = layers(json(&compare(&[&one, &two]))).remove(0);
    insta::assert_snapshot!("difference_layer", serde_json::to_string_pretty(&layer).unwrap());
    let found = layer["techniques"].as_array().unwrap().iter();
    let found: Vec<_> =
        found.map(|one| (one["techniqueID"].clone(), one["score"].clone(), one["color"].clone())).collect();
    let legend = layer["legendItems"].as_array().unwrap();
    let colour = |n: usize| legend[n]["color"].clone();
    let wanted = [("T1027", 3, colour(2)), ("T1055", 1, colour(0)), ("T1071", 2, colour(1))];
    assert_eq!(found, wanted.map(|(id, score, colour)| (json!(id), json!(score), colour)));
    let labels: Vec<_> = legend.iter().map(|item| item["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["only in one.json", "only in two.json", "in both"]);
    // A list that the service perhaps cut does not say that a technique was not seen.
    let cut = path("cut.json", &vec!["T1027".to_owned(); 300]);
    let layer = layers(json(&compare(&[&one, &cut]))).remove(0);
    assert!(comment(&layer, "T1055").contains("not listed, perhaps cut by the service"), "{layer}");
    assert!(!comment(&layer, "T1027").contains("perhaps cut"), "{layer}");
    assert_eq!(compare(&[&one]).status.code(), Some(5));
    assert_eq!(compare(&[&one, &two, "--pane", "tags"]).status.code(), Some(2));
    let cli = CliHarness::new();
    cli.run(&["list", &main_file()]);
    let of_file = layers(json(&cli.run(&["compare", &main_file(), "--navigator", "--sandbox", "zenbox"]))).remove(0);
    assert_eq!(of_file["name"], "Zenbox against the other 3");
    let layer = layers(json(&cli.run(&["export", &main_file(), "--format", "navigator"]))).remove(0);
    assert_eq!(layer["gradient"]["maxValue"], 4);
}

#[test]
fn layer_of_a_long_comparison_names_what_is_left_out() {
    let report = |n: usize| {
        let techniques = r#"{"mitre_attack_techniques":[{"id":" t1055 "}]}"#;
        format!(r#"{{"id":"{}_S{n}-1700000000","attributes":{techniques}}}"#, "ab".repeat(32))
    };
    let page = format!(r#"{{"data":[{}]}}"#, (0..66).map(report).collect::<Vec<_>>().join(","));
    let output = run(&["compare", "-", "--navigator"], &page);
    assert!(errors(&output).contains("sandboxes left out: 2; 64 are compared at most"), "{output:?}");
    assert_eq!(of(&layers(json(&output))[0], "T1055").len(), 1);
}
