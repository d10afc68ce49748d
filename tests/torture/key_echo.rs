//! A service that repeats the key everywhere: rows, names, identifiers, cursors, in any spelling.

#[path = "../faults/answering.rs"]
mod answering;

/// Its report, of this file.
pub fn report(file: &str) -> String {
    format!("{file}_Parrot-1794474845")
}

/// Starts answering on its own port, with the key plain, in capitals, and escaped as in JSON.
pub fn begin(key: &str) -> String {
    let escaped: String = key.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
    let spellings = [("ESCAPED", escaped), ("CAPITALS", key.to_ascii_uppercase()), ("KEY", key.to_owned())];
    answering::answering("200 OK", move |call| {
        let spell = |text: String, (name, key): &(_, String)| text.replace(name, key);
        spellings.iter().fold(response(call.split(' ').nth(1).unwrap_or_default()), spell)
    })
}

/// What is said where this is asked.
fn response(path: &str) -> String {
    const ROWS: &str = r#""attributes":{"command_executions":["tool --key KEY","ESCAPED","x\nCAPITALS"],"tags":["KEY"],
        "processes_tree":[{"process_id":"KEY","name":"ESCAPED"}],"CAPITALS":{"KEY":["KEY"]},"has_pcap":true}"#;
    let (path, _) = path.split_once('?').unwrap_or((path, ""));
    let part = |index: usize| path.rsplit('/').nth(index).unwrap_or_default();
    match part(0) {
        "behaviours" => format!(
            r#"{{"data":[{{"id":"{}","type":"private_file_behaviour",{ROWS}}},
                {{"id":"{}_KEY-1794474846","type":"private_file_behaviour",{ROWS}}}],"meta":{{"cursor":"ESCAPED"}}}}"#,
            report(part(1)),
            part(1)
        ),
        "overall_quotas" => r#"{"data":{"api_requests_daily":{"user":{"allowed":500,"used":1}},
            "KEY":{"user":{"allowed":5,"used":1}},"ESCAPED":{"group":{"allowed":5,"used":1,"inherited_from":"KEY"}}}}"#
            .to_owned(),
        "api_usage" => r#"{"data":{"daily":{"2026-11-20":{"KEY":1,"ESCAPED":2}},"total":{"CAPITALS":3}}}"#.to_owned(),
        "pcap" => "capture of KEY, CAPITALS".to_owned(),
        of if of == "analyses" || path.contains("/files/analyses/") => {
            r#"{"data":[{"id":"KEY","type":"private_analysis","attributes":{"status":"ESCAPED"}}]}"#.to_owned()
        }
        id if part(1) == "file_behaviours" => {
            let id = id.replace("%20", " ");
            format!(r#"{{"data":{{"id":"{id}","type":"private_file_behaviour",{ROWS}}}}}"#)
        }
        "report" => r#"{"response_code":1,"verbose_msg":"KEY","CAPITALS":["ESCAPED"]}"#.to_owned(),
        id if part(1) == "files" => {
            format!(
                r#"{{"data":{{"id":"{id}","type":"file","attributes":{{"apikey":"KEY","CAPITALS":["ESCAPED"]}}}}}}"#
            )
        }
        _ => {
            r#"{"data":{"id":"KEY","type":"ESCAPED","attributes":{"apikey":"KEY","CAPITALS":["ESCAPED"]}}}"#.to_owned()
        }
    }
}
