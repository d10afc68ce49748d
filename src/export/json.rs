//! Writes reports as strict JSON in the service's envelope, with `notes`, `decoded` texts and names
//! of lists `perhaps_cut` by the service beside the attributes; or as JSON lines.

use super::opened::{self, ExportRow, MergedReports, OpenedReport};
use super::{Export, Member, Summary, list, literal, object, own_literal};
use crate::report::index::{Section, SectionForm};
use crate::report::indicators::MergedIndicator;
use crate::report::json::{Event, Raw, Scanner, is_delimiter};
use crate::report::rules::Rule;
use crate::report::{Indicator, Pane, Report, RowPlace};
use crate::text::Untrusted;
use std::collections::HashSet;
use std::io::{self, Write};

/// Writes reports as JSON in the envelope of the service (specification §2.1); several as a list.
pub(super) fn write(job: &Export<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    let is_list = job.sources.len() != 1;
    let mut comma = "";
    out.write_all(if is_list { b"{\"data\":[" } else { b"{\"data\":" })?;
    let summary = job.each_report(|opened| {
        out.write_all(comma.as_bytes())?;
        comma = ",";
        write_report(opened, out)?;
        Ok(opened.rows.len() as u64)
    })?;
    out.write_all(if is_list { b"]}\n" } else { b"}\n" })?;
    Ok(summary)
}

fn write_report(opened: &OpenedReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    let report = &opened.report;
    let id = opened.identifier.as_ref().map(|identifier| literal(identifier.text()));
    let head =
        object([("id", id), ("type", report.kind().as_ref().map(literal)), ("attributes", Some("{".to_owned()))]);
    out.write_all(head.trim_end_matches('}').as_bytes())?;
    let is_beside = |section: &Section| report.index.is_attributed && section.is_beside;
    write_sections(opened, &|section| !is_beside(section), &mut MemberNames::default(), false, out)?;
    out.write_all(b"}")?;
    let mut names = MemberNames::default();
    for taken in ["id", "type", "attributes", "decoded", "notes", "perhaps_cut"] {
        names.next(&Untrusted::from(taken));
    }
    write_sections(opened, &is_beside, &mut names, true, out)?;
    let notes = opened.notes().map(|(place, note)| {
        let item = note.about.item.as_ref();
        object([
            ("attribute", item.map(|item| literal(&item.attribute))),
            ("row", place.map(|place| (place.row + 1).to_string())),
            ("item", item.map(|item| literal(&item.text))),
            ("note", Some(literal(&note.text))),
            ("written", Some(own_literal(&note.written.to_string()))),
        ])
    });
    let cut = report.cut_lists(None).map(|section| literal(&section.name));
    let beside = [("decoded", list(decoded(opened)?)), ("notes", list(notes)), ("perhaps_cut", list(cut))];
    for (name, list) in beside.iter().filter(|(_, list)| list != "[]") {
        write!(out, ",\"{name}\":{list}")?;
    }
    out.write_all(b"}")
}

/// Returns the texts decoded from command lines, each with the row of its command line.
fn decoded(opened: &OpenedReport<'_>) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    opened.each_row(&mut |row| {
        let texts = decoded_in(&row);
        let place = [("attribute", Some(literal(&row.attribute))), ("row", Some((row.place.row + 1).to_string()))];
        found.extend(texts.1.is_some().then(|| object(place.into_iter().chain([texts]))));
        Ok(())
    })?;
    Ok(found)
}

/// Returns the member `decoded` of a row, without a value if the row hides no text.
fn decoded_in(row: &ExportRow<'_>) -> Member<'static> {
    let texts = list(opened::decoded(&row.record).iter().map(literal));
    ("decoded", Some(texts).filter(|texts| texts != "[]"))
}

/// Writes the selected sections, each as a member; `has_members` is whether members precede them.
fn write_sections(
    opened: &OpenedReport<'_>,
    passes_filter: &dyn Fn(&Section) -> bool,
    names: &mut MemberNames,
    mut has_members: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let report = &opened.report;
    for number in Pane::ALL.into_iter().flat_map(|pane| report.sections(pane)) {
        let Some(section) = report.section(number).filter(|section| passes_filter(section)) else { continue };
        opened.job.cancel.check()?;
        let is_single = matches!(section.form, SectionForm::Loose | SectionForm::Scalar);
        let is_head = section.form == SectionForm::Scalar && matches!(section.name.as_bytes(), b"id" | b"type");
        let rows = opened.rows(number);
        if is_head || rows.is_empty() && (is_single || !opened.is_whole(section)) {
            continue;
        }
        out.write_all(if has_members { b"," } else { b"" })?;
        has_members = true;
        if !is_single {
            write!(out, "{}:", names.next(&section.name))?;
        }
        if !is_single && rows.len() == section.len() {
            // The rows in the order of the bytes: each process contains its children.
            let start = section.start(0).map_or(report.body.len(), |start| start as usize);
            let end = section.end().map_or(report.body.len(), |end| end as usize);
            let bracket = if section.form == SectionForm::Object { "{" } else { "[" };
            write!(out, "{}", rewrite(bracket, report.body.window(start..end.max(start)), false).0)?;
        } else {
            write_rows(report, number, section, names, rows, out)?;
        }
    }
    Ok(())
}

fn write_rows(
    report: &Report,
    section: usize,
    found: &Section,
    names: &mut MemberNames,
    rows: &[u32],
    out: &mut dyn Write,
) -> io::Result<()> {
    let (open, close) = match found.form {
        SectionForm::Array | SectionForm::Processes => ("[", "]"),
        SectionForm::Object => ("{", "}"),
        SectionForm::Scalar | SectionForm::Loose => ("", ""),
    };
    out.write_all(open.as_bytes())?;
    for (count, row) in rows.iter().enumerate() {
        let record = report.record(RowPlace { section, row: *row as usize });
        out.write_all(if count > 0 { b"," } else { b"" })?;
        // Single values are among the attributes, others in an object of their own.
        let name = match (&record.member, open.is_empty()) {
            (member, true) => Some(names.next(member.as_ref().unwrap_or(&found.name))),
            (member, false) => member.as_ref().map(literal),
        };
        let name = name.map(|name| name + ":").unwrap_or_default();
        write!(out, "{name}{}", rewrite("", &record.value, false).0)?;
    }
    out.write_all(close.as_bytes())
}

/// Writes one line per row: `origin`, `report`, `received`, `pane`, `attribute`, `row` (from 1),
/// `value`. Some also have `perhaps_cut` (the service may have cut the list), the `member` of an
/// object, `depth` and `parent` (a row) of a process, `severity` and `rule` of a finding, a `note`,
/// or texts `decoded` from command lines. Notes on the report, or on an `item` it has lost, are
/// lines without `row` and `value`. If a string of a row is not Unicode, `escaped` is true and all
/// strings of the value are in visible form.
pub(super) fn write_lines(job: &Export<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    if job.what.is_indicators() {
        return job.each_indicator(out, write_loose, write_indicator);
    }
    job.each_report(|opened| {
        write_loose(opened, out)?;
        let head = head(opened);
        opened.each_row(&mut |row| write_line(&row, &head, out))
    })
}

fn head(opened: &OpenedReport<'_>) -> [Member<'static>; 3] {
    [
        ("origin", Some(own_literal(&opened.source.origin))),
        ("report", opened.identifier.as_ref().map(|identifier| literal(identifier.text()))),
        ("received", opened.source.received.map(|received| own_literal(&received.to_string()))),
    ]
}

fn write_loose(opened: &OpenedReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    opened.loose.iter().try_for_each(|note| {
        let item = note.about.item.as_ref();
        let own = [
            ("attribute", item.map(|item| literal(&item.attribute))),
            ("item", item.map(|item| literal(&item.text))),
            ("note", Some(literal(&note.text))),
        ];
        writeln!(out, "{}", object(head(opened).into_iter().chain(own)))
    })
}

fn write_line(row: &ExportRow<'_>, head: &[Member<'_>], out: &mut dyn Write) -> io::Result<()> {
    let (value, is_visible) = rewritten(&row.record.value);
    let own = [
        ("pane", Some(own_literal(row.pane.name()))),
        ("attribute", Some(literal(&row.attribute))),
        ("row", Some((row.place.row + 1).to_string())),
        ("member", row.member.as_ref().map(literal)),
        ("depth", row.depth.map(|depth| depth.to_string())),
        ("parent", row.parent.map(|parent| (parent + 1).to_string())),
        ("escaped", is_visible.then(|| "true".to_owned())),
        ("perhaps_cut", row.is_perhaps_cut.then(|| "true".to_owned())),
    ];
    let note = ("note", row.note.map(|note| literal(&note.text)));
    let end = [note, ("value", Some(value)), decoded_in(row)];
    writeln!(out, "{}", object(head.iter().cloned().chain(own).chain(marked(row.rule)).chain(end)))
}

/// Writes one line per indicator: `kind`, `value`, `to_block`, `seen`, `decoded`, `severity`,
/// `rule`, `notes`, and `reports`, each with the rows that name the indicator.
fn write_indicator(merged: &MergedReports<'_>, found: &MergedIndicator, out: &mut dyn Write) -> io::Result<()> {
    let report = |(opened, indicator): (&OpenedReport<'_>, &Indicator)| {
        let places = indicator.places.iter().map(|place| {
            let name = opened.report.section(place.section).map(|section| literal(&section.name));
            object([("attribute", name), ("row", Some((place.row + 1).to_string()))])
        });
        let seen = [("seen", Some(indicator.seen.to_string())), ("where", Some(list(places)))];
        object(head(opened).into_iter().chain(seen))
    };
    let own = [
        ("kind", Some(own_literal(found.kind().name()))),
        ("value", Some(literal(found.value()))),
        ("to_block", Some(found.is_to_block().to_string())),
        ("seen", Some(found.seen().to_string())),
        ("decoded", found.is_decoded().then(|| "true".to_owned())),
    ];
    let notes = list(merged.notes_about(found).iter().map(|note| literal(&note.text)));
    let end = [
        ("notes", Some(notes).filter(|notes| notes != "[]")),
        ("reports", Some(list(merged.reports_of(found).map(report)))),
    ];
    writeln!(out, "{}", object(own.into_iter().chain(marked(merged.rule_of(found))).chain(end)))
}

fn marked(rule: Option<&Rule>) -> [Member<'static>; 2] {
    let severity = rule.map(|rule| own_literal(rule.severity.name()));
    [("severity", severity), ("rule", rule.map(|rule| own_literal(&rule.label())))]
}

#[derive(Default)]
struct MemberNames(HashSet<Untrusted>);

impl MemberNames {
    /// Returns a name's literal, numbered if repeated: most parsers drop all but the last.
    fn next(&mut self, name: &Untrusted) -> String {
        let numbered = |number: usize| match number {
            1 => name.clone(),
            _ => Untrusted::from([name.as_bytes(), format!(" ({number})").as_bytes()].concat()),
        };
        let name = (1..).map(numbered).find(|name| self.0.insert(name.clone()));
        name.as_ref().map(literal).unwrap_or_default()
    }
}

/// Returns a value as one line, and whether all strings are visible forms as one is not Unicode.
fn rewritten(value: &[u8]) -> (String, bool) {
    let (plain, is_foreign) = rewrite("", value, false);
    if is_foreign { (rewrite("", value, true).0, true) } else { (plain, false) }
}

/// Rewrites the first value. The flag is true if one of its strings is not Unicode; such strings,
/// or all, are in their visible form. `bracket` opens a container whose content follows.
///
/// [`Scanner`] continues where a strict parser stops. The result has matching brackets, a value for
/// each name, valid numbers, and strings without control characters.
fn rewrite(bracket: &str, value: &[u8], all_visible: bool) -> (String, bool) {
    let out = String::with_capacity(value.len());
    let mut rewriter = Rewriter { out, all_visible, open: Vec::new(), is_done: false, is_foreign: false };
    let mut scanner = Scanner::default();
    for bytes in [bracket.as_bytes(), value] {
        let start = scanner.position();
        scanner.feed(bytes, &mut |at, event| {
            let rest = usize::try_from(at.saturating_sub(start)).ok().and_then(|at| bytes.get(at..));
            rewriter.on_event(rest.unwrap_or_default(), event);
        });
    }
    while !rewriter.open.is_empty() {
        rewriter.close();
    }
    if !rewriter.is_done {
        rewriter.write_value("null");
    }
    (rewriter.out, rewriter.is_foreign)
}

struct Rewriter {
    out: String,
    all_visible: bool,
    open: Vec<OpenContainer>,
    is_done: bool,
    is_foreign: bool,
}

/// An object or array that is not closed yet.
struct OpenContainer {
    is_object: bool,
    is_filled: bool,
    /// The literal of a name that has no value yet.
    name: Option<String>,
}

impl Rewriter {
    fn on_event(&mut self, rest: &[u8], event: Event<'_>) {
        match event {
            _ if self.is_done => {}
            // The scanner truncates long names, so the name is taken from the bytes.
            Event::Name(_) => {
                let name = self.literal(&Raw::new(rest).text());
                self.end_name();
                self.open.last_mut().into_iter().for_each(|open| open.name = Some(name.clone()));
            }
            Event::Open { object } => {
                self.begin_value();
                self.out.push(if object { '{' } else { '[' });
                self.open.push(OpenContainer { is_object: object, is_filled: false, name: None });
            }
            Event::Close => self.close(),
            Event::Text => {
                let literal = self.literal(&Raw::new(rest).text());
                self.write_value(&literal);
            }
            Event::Word { .. } => {
                let word = rest.split(|byte| is_delimiter(*byte)).next().unwrap_or_default();
                // Anything but constants and numbers in the range of a double becomes a string.
                let is_sound = serde_json::from_slice::<serde_json::Value>(word).is_ok();
                let sound = std::str::from_utf8(word).ok().filter(|_| is_sound).map(str::to_owned);
                let written = sound.unwrap_or_else(|| self.literal(&Untrusted::from(word)));
                self.write_value(&written);
            }
        }
    }

    fn write_value(&mut self, value: &str) {
        self.begin_value();
        self.out.push_str(value);
        self.is_done = self.open.is_empty();
    }

    /// Writes null for a name without a value.
    fn end_name(&mut self) {
        if self.open.last().is_some_and(|open| open.name.is_some()) {
            self.write_value("null");
        }
    }

    /// Writes the comma and the name that precede a value.
    fn begin_value(&mut self) {
        let Some(open) = self.open.last_mut() else { return };
        if std::mem::replace(&mut open.is_filled, true) {
            self.out.push(',');
        }
        if open.is_object {
            self.out.push_str(open.name.take().as_deref().unwrap_or("\"\""));
            self.out.push(':');
        }
    }

    fn close(&mut self) {
        self.end_name();
        if let Some(closed) = self.open.pop() {
            self.out.push(if closed.is_object { '}' } else { ']' });
            self.is_done = self.open.is_empty();
        }
    }

    fn literal(&mut self, text: &Untrusted) -> String {
        let plain = if self.all_visible { None } else { text.json() };
        self.is_foreign |= plain.is_none();
        plain.unwrap_or_else(|| text.visible().json())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::rows::{leaves, pointer};
    use proptest::prelude::*;

    fn text(value: &[u8]) -> String {
        rewritten(value).0
    }

    #[test]
    fn invalid_json_is_repaired() {
        for (odd, mended) in [
            (&b"{\"a\":1}"[..], r#"{"a":1}"#),
            (b" [1, 2 ,\n3]", "[1,2,3]"),
            (br#"{"a":,"b":2}"#, r#"{"a":null,"b":2}"#),
            (br#"{1,"b":2}"#, r#"{"":1,"b":2}"#),
            (br#"[1 2 NaN 01 -0.5e+3 .5]"#, r#"[1,2,"NaN","01",-0.5e+3,".5"]"#),
            (br#"{"a":[1,{"b":"x"#, r#"{"a":[1,{"b":"x"}]}"#),
            (b"[1e999,-1E400,1e-999]", r#"["1e999","-1E400",1e-999]"#),
            (br#"[1}]"#, "[1]"),
            (b"\xef\xbb\xbf{}{}", "{}"),
            (b"", "null"),
            (b"\"\x1b[2J\x7f\"", r#""\u001b[2J\u007f""#),
            ("\"a\u{202e}b\u{1f600}\u{e0041}\"".as_bytes(), "\"a\\u202eb\u{1f600}\\udb40\\udc41\""),
            (br#"{"a":1,"a":2}"#, r#"{"a":1,"a":2}"#),
            (br#""C:\\x41\\n""#, r#""C:\\x41\\n""#),
        ] {
            assert_eq!(text(odd), mended);
        }
    }

    #[test]
    fn invalid_unicode_escapes_the_whole_row() {
        let (row, is_visible) = rewritten(br#"["\ud800","C:\\x1b","plain"]"#);
        assert!(is_visible);
        assert_eq!(row, r#"["\\u{d800}","C:\\x5cx1b","plain"]"#);
        assert!(!rewritten(br#"["C:\\x41"]"#).1);
    }

    fn leaf_texts(bytes: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        leaves(bytes, &mut |way, raw| {
            found.push(format!("{} {}", pointer(way.iter().skip(1)).visible(), raw.text().visible()));
        });
        found
    }

    proptest! {
        #[test]
        fn any_input_is_rewritten_to_strict_json(bytes in prop::collection::vec(prop_oneof![
            Just(b'{'), Just(b'}'), Just(b'['), Just(b']'), Just(b'"'), Just(b'\\'), Just(b','), Just(b':'), Just(b'1'),
            Just(b'u'), Just(b'd'), Just(b'8'), Just(b'0'), Just(b'e'), Just(b'-'), any::<u8>()], 0..60)) {
            let (row, _) = rewritten(&bytes);
            let strict: Result<serde_json::Value, _> = serde_json::from_str(&row);
            prop_assert!(strict.is_ok(), "{:?}", row);
            prop_assert!(!row.chars().any(char::is_control));
        }

        #[test]
        fn no_leaf_is_lost(value in crate::report::json::tests::any_json()) {
            let bytes = serde_json::to_vec(&value).unwrap();
            prop_assert_eq!(Raw::new(&bytes).bytes(), &bytes[..]);
            let (row, is_visible) = rewritten(&bytes);
            prop_assert!(!is_visible);
            prop_assert_eq!(&serde_json::from_str::<serde_json::Value>(&row).unwrap(), &value);
            prop_assert_eq!(leaf_texts(row.as_bytes()), leaf_texts(&bytes));
        }
    }
}
