//! Every code point in every place that shows outside text: shown, and never obeyed.

use super::is_long;
use super::wire::{Stage, now};
use behaview::app::model::Service;
use behaview::app::{Failure, LoadedFile, LoadedReport, Message, Model, ServiceEvent, StoreEvent};
use behaview::report::identifier::{Identifier, Sha256};
use behaview::report::page::Page;
use behaview::report::{Body, ImportOrigin, RecentFile};
use behaview::request::Request;
use behaview::text::Untrusted;

/// Code points in a row of a pane, and rows: all that fit on 300 x 100 if each is escaped.
const IN_ROW: usize = 20;
const ROWS: usize = 80;

/// Panes with the key of each, and a report's attribute that lands in it.
const PLACES: [(&str, &str, SectionForm); 13] = [
    ("0", "verdict_labels", SectionForm::Text),
    ("1", "processes_tree", SectionForm::Object("name")),
    ("2", "tags", SectionForm::Text),
    ("3", "registry_keys_opened", SectionForm::Text),
    ("4", "files_opened", SectionForm::Text),
    ("5", "dns_lookups", SectionForm::Object("hostname")),
    ("6", "command_executions", SectionForm::Text),
    ("7", "modules_loaded", SectionForm::Text),
    ("8", "mutexes_created", SectionForm::Text),
    ("9", "signature_matches", SectionForm::Object("name")),
    ("t", "text_highlighted", SectionForm::Text),
    ("m", "shared_preferences_lookups", SectionForm::Text),
    ("o", "never_heard_of", SectionForm::Text),
];

#[derive(Clone, Copy)]
enum SectionForm {
    Text,
    Object(&'static str),
}

/// Surrogates among them.
fn code_points() -> impl Iterator<Item = u32> {
    let step = if is_long() { 1 } else { 173 };
    (0..0x800)
        .chain(0x2000..0x2100)
        .chain((0x800..=0x0010_ffff).step_by(step))
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
    let attribute = |(_, name, form): &(&str, &str, SectionForm)| {
        let rows = rows.iter().map(|row| match form {
            SectionForm::Text => format!("\"{row}\""),
            SectionForm::Object(field) => format!("{{\"{field}\":\"{row}\"}}"),
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

/// A place outside the panes, and the code points it gets: as many in a text as fit if each is
/// escaped, and as many texts at once as it has rows.
struct ShownPlace {
    name: &'static str,
    in_text: usize,
    texts: usize,
    /// Shows texts, the insides of JSON strings; returns the screens, for as many as each shows.
    show: fn(&[String]) -> Vec<String>,
}

impl ShownPlace {
    /// Shows every code point, and fails unless each is seen in its visible form and nothing else.
    fn shows_every_code_point(&self) {
        // A space is a cell that is left alone.
        let codes: Vec<u32> = code_points().filter(|code| *code != u32::from(' ')).collect();
        let chunks = codes.chunks(self.in_text * self.texts);
        let (count, mut screens) = (chunks.len(), 0);
        for (at, chunk) in chunks.enumerate() {
            let texts: Vec<_> = chunk.chunks(self.in_text).collect();
            let json: Vec<_> = texts.iter().map(|text| self.json(text)).collect();
            let shown = (self.show)(&json);
            for (texts, shown) in texts.chunks(texts.len().div_ceil(shown.len())).zip(&shown) {
                let missing = texts.iter().flat_map(|text| *text).find(|code| !shown.contains(&form(**code)));
                assert!(missing.is_none(), "{} does not show U+{:04X}", self.name, missing.unwrap());
            }
            screens += shown.len();
            if (at + 1) % count.div_ceil(4) == 0 {
                println!("{}: U+{:04X}, {} of {count}", self.name, chunk[0], at + 1);
            }
        }
        println!("code points x {}: {} code points, {screens} screens", self.name, codes.len());
    }

    fn json(&self, text: &[u32]) -> String {
        text.iter().copied().map(between).collect::<Vec<_>>().join(" ")
    }
}

/// The identifier of a sandbox of this name, the first of its kind.
fn identifier(name: &str, at: usize) -> String {
    format!("{}_{name}-{}", "ab".repeat(32), 1_794_474_845 + at)
}

/// A stored list of sandboxes of these names, each with its attributes, first chosen.
fn listed(names: &[String], width: u16, height: u16, attributes: fn(&str) -> String) -> Stage {
    let mut model = Model::new(service(), now());
    model.open_files(&[file()]);
    let mut stage = Stage::new(model, width, height);
    stage.session.begin();
    let entry = |(at, name): (usize, &String)| {
        format!("{{\"id\":\"{}\",\"type\":\"file_behaviour\"{}}}", identifier(name, at), attributes(name))
    };
    let entries: Vec<_> = names.iter().enumerate().map(entry).collect();
    let text = format!("{{\"data\":[{}],\"meta\":{{\"cursor\":\"{}\"}}}}", entries.join(","), names[0]);
    let page = Page::of(&Body::in_memory(text.into_bytes())).unwrap();
    let reports = page.entries.iter().zip(names).filter_map(|(entry, name)| {
        let (body, from) = (entry.report.clone()?, Untrusted::from_json(name.as_bytes()));
        // What the page itself brought counts unless this is newer.
        let received = now() + jiff::SignedDuration::from_secs(1);
        let imported = Some(ImportOrigin { from: from.clone(), by: from });
        Some((entry.identifier.clone(), LoadedReport { imported, ..LoadedReport::new(received, body, None) }))
    });
    let reports = reports.collect();
    let loaded = LoadedFile { pages: vec![(now(), page)], reports, absent: Vec::new() };
    stage.take(StoreEvent::FileLoaded(file(), loaded, None));
    stage
}

/// What comes with an entry whose report is still to be paid for.
fn nothing(_: &str) -> String {
    String::new()
}

/// What comes with an entry whose report says so of the file.
fn verdict(name: &str) -> String {
    format!(",\"attributes\":{{\"sandbox_name\":\"x\",\"verdicts\":[\"{name}\"]}}")
}

/// Rows for so many of two rows each, and for what stands around them.
fn rows(names: &[String]) -> u16 {
    u16::try_from(2 * names.len() + 20).unwrap()
}

/// What a screen says before its list begins.
fn title(screen: &str) -> String {
    screen.split("Sandboxes").next().unwrap().to_owned()
}

fn service() -> Service {
    let name = "lab".to_owned();
    Service { name, has_key: true, upload_direct: 1 << 25, upload_largest: 1 << 29, ..Service::default() }
}

fn file() -> Sha256 {
    Sha256::parse(&"ab".repeat(32)).unwrap()
}

#[test]
fn names_of_earlier_files_show_every_code_point() {
    let show = |names: &[String]| {
        let mut stage = Stage::new(Model::new(service(), now()), 100, rows(names));
        let recent = names.iter().map(|name| RecentFile {
            file: file(),
            name: Some(Untrusted::from_json(name.as_bytes())),
            opened: now(),
            reports: 1,
            notes: 1,
            scan: None,
            expires: None,
        });
        stage.take(StoreEvent::RecentFiles(recent.collect()));
        vec![stage.draw_safely("start")]
    };
    ShownPlace { name: "names of earlier files", in_text: 3, texts: 200, show }.shows_every_code_point();
}

#[test]
fn sandboxes_in_the_list_show_every_code_point() {
    let show = |names: &[String]| {
        // So narrow, the list has the screen to itself.
        let mut stage = listed(names, 59, rows(names), nothing);
        let list = stage.draw_safely("list");
        stage.resize(120, 40);
        for keys in ["j", "0", "z", "o", "enter", "esc", "$", "esc", "?", "esc", ":"] {
            stage.keys(keys).draw_safely(keys);
        }
        vec![list]
    };
    ShownPlace { name: "sandboxes in the list", in_text: 3, texts: 200, show }.shows_every_code_point();
}

#[test]
fn verdicts_in_the_list_show_every_code_point() {
    let show = |names: &[String]| vec![listed(names, 59, rows(names), verdict).draw_safely("list")];
    ShownPlace { name: "verdicts in the list", in_text: 1, texts: 200, show }.shows_every_code_point();
}

#[test]
fn the_title_shows_every_code_point() {
    // Sandbox, verdict, where it was imported from, and by whom.
    const SHOWN: usize = 4;
    let show = |names: &[String]| {
        // A verdict has room for two, and for no space between them.
        let names: Vec<_> = names.iter().map(|name| name.replace(' ', "")).collect();
        let mut stage = listed(&names, 250, 10, verdict);
        let screen = |name: &String| {
            let shown = title(&stage.draw_safely("title"));
            stage.keys("j");
            let name = Untrusted::from_json(name.as_bytes()).visible().to_string();
            assert_eq!(shown.matches(&name).count(), SHOWN, "{name} in {shown}");
            shown
        };
        names.iter().map(screen).collect()
    };
    ShownPlace { name: "the title", in_text: 2, texts: 100, show }.shows_every_code_point();
}

#[test]
fn words_of_a_refusal_show_every_code_point() {
    let show = |messages: &[String]| {
        let names: Vec<_> = (0..messages.len()).map(|at| at.to_string()).collect();
        let mut stage = listed(&names, 100, 24, nothing);
        let screen = |(at, message): (usize, &String)| {
            let identifier = Identifier::new(Untrusted::from(identifier(&names[at], at))).unwrap();
            let body = format!("{{\"error\":{{\"code\":\"X\",\"message\":\"{message}\"}}}}");
            let refusal = behaview::service::error::ApiError::of(404, None, body.as_bytes(), now());
            let failure = Failure { what: refusal.to_string(), ..Failure::default() };
            stage.take(ServiceEvent::Ended(Request::Behaviour { identifier }, Err(failure)));
            let shown = stage.draw_safely("refusal");
            stage.keys("j");
            shown
        };
        messages.iter().enumerate().map(screen).collect()
    };
    ShownPlace { name: "words of a refusal", in_text: 15, texts: 50, show }.shows_every_code_point();
}

#[test]
fn names_of_attributes_show_every_code_point() {
    let show = |names: &[String]| {
        let attributes: Vec<_> = names.iter().map(|name| format!("\"{name}\":\"{name}\"")).collect();
        let report = format!("{{\"data\":{{\"id\":\"x-1\",\"attributes\":{{{}}}}}}}", attributes.join(","));
        let mut stage = Stage::with_report("document", report.as_bytes(), 59, rows(names));
        vec![stage.keys("o z").draw_safely("attributes")]
    };
    ShownPlace { name: "names of attributes", in_text: 1, texts: 450, show }.shows_every_code_point();
}

#[test]
fn notices_cannot_carry_control_characters() {
    for code in (0..0x100).chain(0x2000..0x2100).filter_map(char::from_u32) {
        let mut stage = Stage::new(Model::new(service(), now()), 80, 24);
        stage.take(Message::Notice(format!("a{code}b"))).draw_safely("notice");
    }
}
