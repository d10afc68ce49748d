//! Code points x widgets: every code point, through every place that shows text from outside, is shown and never obeyed.

use super::is_long;
use super::wire::{Stage, now};
use behaview::app::message::{HeldPage, HeldReport, Recent};
use behaview::app::model::Service;
use behaview::app::{Failure, Here, Message, Model};
use behaview::report::identifier::{Identifier, Sha256};
use behaview::report::page::Page;
use behaview::report::{Body, Imported};
use behaview::request::{Listing, Request};
use behaview::text::Untrusted;

/// Code points in a row of a pane, and rows: as many as fit a screen of 300 x 100 with every one escaped.
const IN_ROW: usize = 20;
const ROWS: usize = 80;

/// Panes with the key of each, and a report's attribute that lands in it.
const PLACES: [(&str, &str, Form); 12] = [
    ("1", "processes_tree", Form::Object("name")),
    ("2", "tags", Form::Text),
    ("3", "registry_keys_opened", Form::Text),
    ("4", "files_opened", Form::Text),
    ("5", "dns_lookups", Form::Object("hostname")),
    ("6", "command_executions", Form::Text),
    ("7", "modules_loaded", Form::Text),
    ("8", "mutexes_created", Form::Text),
    ("9", "signature_matches", Form::Object("name")),
    ("t", "text_highlighted", Form::Text),
    ("m", "permissions_requested", Form::Text),
    ("o", "never_heard_of", Form::Text),
];

#[derive(Clone, Copy)]
enum Form {
    Text,
    Object(&'static str),
}

/// Surrogates among them.
fn code_points() -> impl Iterator<Item = u32> {
    let step = if is_long() { 1 } else { 173 };
    (0..0x3000)
        .chain((0x3000..=0x0010_ffff).step_by(step))
        .chain([0xfeff, 0xd800, 0xdfff, 0xfffe, 0xffff, 0xe0001, 0x10ffff])
}

/// A code point in a JSON string, surrogates as they come.
fn escaped(code: u32) -> String {
    char::from_u32(code).map_or_else(
        || format!("\\u{code:04x}"),
        |c| c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
    )
}

/// A code point between two letters, as a JSON string writes it.
fn between(code: u32) -> String {
    format!("a{}b", escaped(code))
}

/// The report whose every pane holds these.
fn report(codes: &[u32]) -> Vec<u8> {
    let rows: Vec<String> = codes.chunks(IN_ROW).map(|row| row.iter().copied().map(between).collect()).collect();
    let attribute = |(_, name, form): &(&str, &str, Form)| {
        let rows = rows.iter().map(|row| match form {
            Form::Text => format!("\"{row}\""),
            Form::Object(field) => format!("{{\"{field}\":\"{row}\"}}"),
        });
        format!("\"{name}\":[{}]", rows.collect::<Vec<_>>().join(","))
    };
    let attributes = PLACES.iter().map(attribute).collect::<Vec<_>>().join(",");
    format!("{{\"data\":{{\"id\":\"x-1\",\"attributes\":{{{attributes}}}}}}}").into_bytes()
}

/// How a code point between two letters has to look.
fn form(code: u32) -> String {
    Untrusted::from_json(between(code).as_bytes()).visible().to_string()
}

#[test]
fn rows_of_every_pane_show_every_code_point() {
    let codes: Vec<u32> = code_points().collect();
    let mut frames = 0;
    for chunk in codes.chunks(IN_ROW * ROWS) {
        let mut stage = Stage::with_report("document", &report(chunk), 300, 100);
        for (key, name, _) in PLACES {
            stage.keys(&format!("{key} z"));
            let text = stage.draw_safely(name);
            // A space is a cell that is left alone.
            for code in chunk.iter().filter(|code| **code != u32::from(' ')) {
                assert!(text.contains(&form(*code)), "{name} does not show U+{code:04X} as {}", form(*code));
            }
            // The row whole, over the screen.
            stage.keys("enter");
            let text = stage.draw_safely(name);
            chunk
                .iter()
                .take(IN_ROW)
                .for_each(|code| assert!(text.contains(&form(*code)), "{name}, whole: U+{code:04X}"));
            stage.keys("esc z");
            frames += 2;
        }
    }
    println!("code points x panes: {} code points, {} panes, {frames} screens", codes.len(), PLACES.len());
}

/// One code point in everything else that shows text from outside.
struct Elsewhere {
    text: Untrusted,
    json: String,
}

impl Elsewhere {
    fn identifier(&self) -> String {
        format!("{}_{}-1794474845", "ab".repeat(32), self.json)
    }

    /// The start screen with the names of earlier files.
    fn start(&self) -> Stage {
        let mut stage = Stage::new(Model::new(service(), now()), 120, 40);
        let recent =
            Recent { file: file(), name: Some(self.text.clone()), opened: now(), reports: 1, notes: 1, scan: None };
        stage.take(Message::Recent(vec![recent]));
        stage
    }

    /// A list of sandboxes that is held, the first report open.
    fn listed(&self) -> Stage {
        let mut model = Model::new(service(), now());
        let first = model.open_file(file());
        let mut stage = Stage::new(model, 120, 40);
        stage.session.begin(first);
        let name = &self.json;
        let text = format!(
            "{{\"data\":[{{\"id\":\"{0}\",\"type\":\"{name}\",\"attributes\":{{\"sandbox_name\":\"{name}\",\"behash\":\"{name}\",\
             \"verdicts\":[\"{name}\"],\"{name}\":\"{name}\",\"html_report_link\":\"{name}\"}}}},{{\"id\":\"{0}0\"}}],\"meta\":{{\"cursor\":\"{name}\"}}}}",
            self.identifier()
        );
        let page = Page::of(&Body::in_memory(text.into_bytes())).unwrap();
        let reports = page.entries.iter().filter_map(|entry| {
            let body = entry.report.clone()?;
            Some(HeldReport {
                identifier: entry.identifier.clone(),
                here: Here { received: now(), body, unkept: None },
                imported: Some(Imported { from: self.text.clone(), by: self.text.clone() }),
            })
        });
        let reports = reports.collect();
        let pages = vec![HeldPage { received: now(), page, unkept: None }];
        stage.take(Message::Recalled { file: file(), pages, reports, scan: None });
        stage.session.run_until_idle(std::time::Duration::from_secs(60)).unwrap();
        stage
    }

    /// A report that was refused in the service's words.
    fn refused(&self) -> Stage {
        let mut stage = self.listed();
        let identifier = Identifier::new(Untrusted::from_json(format!("{}0", self.identifier()).as_bytes())).unwrap();
        let body = format!("{{\"error\":{{\"code\":\"X\",\"message\":\"{}\"}}}}", self.json);
        let refusal = behaview::service::error::Refusal::of(404, None, body.as_bytes(), now());
        let failure = Failure { what: refusal.to_string(), ..Failure::default() };
        let request = Request::Behaviour { identifier };
        stage.keys("j").take(Message::Answered { request, result: Err(failure) });
        stage
    }
}

fn service() -> Service {
    let (upload_direct, upload_largest) = (1 << 25, 1 << 29);
    let listing = Listing::Reports;
    Service { name: "lab".to_owned(), has_key: true, is_offline: false, listing, upload_direct, upload_largest }
}

fn file() -> Sha256 {
    Sha256::parse(&"ab".repeat(32)).unwrap()
}

#[test]
fn every_other_place_shows_every_code_point_or_less() {
    // Each takes a dozen screens of its own: every 37th stands for its block.
    let step = if is_long() { 37 } else { 61 };
    let (mut count, mut screens) = (0, 0);
    for code in code_points()
        .enumerate()
        .filter(|(at, code)| {
            (at % step == 0 || *at < if is_long() { 0x3000 } else { 0x100 }) && *code != u32::from(' ')
        })
        .map(|(_, code)| code)
    {
        let json = between(code);
        let here = Elsewhere { text: Untrusted::from_json(json.as_bytes()), json };
        let about = |place: &str| format!("{place}, U+{code:04X}");
        let text = here.start().draw_safely(&about("start"));
        assert!(text.contains(&form(code)), "{}", about("start"));
        let mut listed = here.listed();
        let text = listed.draw_safely(&about("list and title"));
        assert!(text.contains(&form(code)), "{}", about("list"));
        for keys in ["0", "z", "o", "enter", "esc", "$", "esc", "?", "esc", ":"] {
            listed.keys(keys).draw_safely(&about(keys));
        }
        let text = here.refused().draw_safely(&about("refusal"));
        assert!(text.contains(&form(code)), "{}", about("refusal"));
        (count, screens) = (count + 1, screens + 13);
    }
    println!("code points x other places: {count} code points, {screens} screens");
}

#[test]
fn the_programs_own_words_cannot_carry_a_control_either() {
    for code in (0..0x3000).filter_map(char::from_u32) {
        let mut stage = Stage::new(Model::new(service(), now()), 80, 24);
        stage.take(Message::Notice(format!("a{code}b"))).draw_safely("notice");
    }
}
