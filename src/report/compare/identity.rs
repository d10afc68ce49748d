//! Derives the key by which rows of two reports are the same item, whatever the sandbox, and the
//! values of a report that others may have too, each as a hash: of such a key, or an indicator's.
//!
//! | rows | the same item when |
//! |---|---|
//! | all | pane and word beside the row are: a file opened here and written there are two items |
//! | files, registry, modules, command lines | [normal forms](crate::report::canonical) are |
//! | processes of the tree | the program's file name and folder are, whatever arguments and place |
//! | hosts, tags, services, signatures, techniques | name, address:port or id is, capitals apart |
//! | everything else | the text is, letter by letter |
//!
//! Many sandboxes report a program without folder. It matches one in the system's folders or, if
//! that has none, in a folder for samples: an `svchost.exe` from elsewhere is another item.
//!
//! Values that differ between any two runs of a file (identifiers, dates, links) are not compared.
//!
//! A hash of a record's other fields (the value set, a status, a severity) shows differing details.
//! Process identifiers, files that a sandbox stored and its evidence are specific to the sandbox:
//! they do not count, nor do a list's order and mere counts.

use crate::report::attributes::{
    Attribute, FieldRole, IndicatorSource, PROCESS_LIST, RecordField, Sameness, ValueMeaning, ValueShape,
};
use crate::report::canonical::{fold, put};
use crate::report::index::SectionForm;
use crate::report::indicators::{self, Indicator, Indicators};
use crate::report::json::{Kind, Raw};
use crate::report::rows::{RowBytes, ValueMember, compact, split_member};
use crate::report::{ATTRIBUTES, Body, Cancel, Report, RowPlace, Section, command_line};
use crate::text::{decode_json, last_part};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher};
use std::io;

/// How the rows of one section are compared.
pub(super) struct EqualityRule<'k, Keys> {
    keys: &'k Keys,
    /// A hash of the pane and of the word beside the row.
    kind: u64,
    sameness: Sameness,
    key_groups: &'static [Vec<&'static str>],
    fields: &'static [RecordField],
    form: SectionForm,
    /// Whether a registry value's name is separate from its key.
    has_named_values: bool,
    /// Whether its rows are a summary's techniques.
    has_techniques: bool,
}

const SANDBOX_FIELDS: &[&str] = &["process_id", "stage", "file_name"];

impl<'k, Keys: BuildHasher> EqualityRule<'k, Keys> {
    /// Returns the rule for a section; `None` if its rows are not compared.
    pub(super) fn of(section: &Section, registry: ValueMember, keys: &'k Keys) -> Option<Self> {
        let known =
            section.attribute.map(|known| (known.label.as_bytes(), known.sameness, known.key_groups.as_slice()));
        let (label, sameness, key_groups) =
            known.unwrap_or((section.name.as_bytes(), Sameness::of(section.pane()), &[]));
        let kind = keys.hash_one((section.pane().name(), label));
        let fields = match section.attribute.map(|known| &known.shape) {
            Some(ValueShape::Records(fields)) => fields.as_slice(),
            _ => &[],
        };
        // The address of the report itself at the service.
        let is_address = known.is_none() && section.form == SectionForm::Object && label == b"links";
        (sameness != Sameness::Never && !is_address).then_some(Self {
            keys,
            kind,
            sameness,
            key_groups,
            fields,
            form: section.form,
            has_named_values: registry == ValueMember::Name && section.name.as_bytes() == b"registry_keys_set",
            has_techniques: section.name.as_bytes() == b"attack_techniques",
        })
    }

    /// Hashes a row's key and, apart, its other fields (0 if it has none); clears `buffer` first.
    pub(super) fn hash(&self, bytes: &[u8], buffer: &mut Vec<u8>) -> (u64, u64) {
        let (hash, key) = self.hash_key(bytes, buffer);
        (hash, key.map_or(0, |key| self.hash_details(Raw::new(bytes), key, buffer)))
    }

    /// Hashes a row's key; returns the key's members too if it is a record; clears `buffer` first.
    fn hash_key(&self, bytes: &[u8], buffer: &mut Vec<u8>) -> (u64, Option<&'static [&'static str]>) {
        buffer.clear();
        let key = self.key(bytes, buffer);
        (self.hash_text(self.kind, buffer), key)
    }

    /// Hashes one member of a record, whatever its other members; clears `buffer` first.
    fn hash_member(&self, bytes: &[u8], member: &str, buffer: &mut Vec<u8>) -> Option<u64> {
        buffer.clear();
        add(Raw::new(bytes).member(member)?, self.sameness, buffer);
        (!buffer.is_empty()).then(|| self.hash_text(self.keys.hash_one(member), buffer))
    }

    fn hash_text(&self, kind: u64, text: &[u8]) -> u64 {
        let mut hasher = self.keys.build_hasher();
        hasher.write_u64(kind);
        hasher.write(text);
        hasher.finish()
    }

    /// Returns the bytes that identify a row: of a process those before its children, if they do.
    pub(super) fn bytes_of<'a>(&self, row: &RowBytes<'a>) -> Cow<'a, [u8]> {
        let is_identified = self.form != SectionForm::Processes || Raw::new(row.bytes).member("name").is_some();
        if is_identified { row.bytes.into() } else { row.own() }
    }

    /// Returns the hash of the fields that a record's row shows, without the members of its key.
    fn hash_details(&self, raw: Raw<'_>, key: &[&str], buffer: &mut Vec<u8>) -> u64 {
        let is_own = |name: &str| key.contains(&name) || SANDBOX_FIELDS.contains(&name);
        let mut details = 0_u64;
        for (place, field) in (0..).zip(self.fields) {
            if field.role == FieldRole::Evidence || is_own(field.name) {
                continue;
            }
            let Some(value) = raw.member(field.name) else { continue };
            for value in value.each() {
                buffer.clear();
                add(value, if field.name == "process_name" { Sameness::Program } else { self.sameness }, buffer);
                if field.role == FieldRole::Severity && buffer.starts_with(SEVERITY) {
                    put(buffer, 0..SEVERITY.len(), b"");
                }
                if !buffer.is_empty() && value.bytes() != b"null" {
                    details = details.wrapping_add(self.hash_text(place, buffer));
                }
            }
        }
        details
    }

    /// Appends a row's key to `out`; returns its members if the row is a record.
    fn key(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<&'static [&'static str]> {
        if matches!(self.form, SectionForm::Object | SectionForm::Loose) {
            let (name, value) = split_member(bytes);
            if self.has_techniques {
                add(name, self.sameness, out);
                out.push(0);
                return None;
            }
            out.extend_from_slice(name.text().as_bytes());
            out.push(0);
            add(value, self.sameness, out);
            return None;
        }
        let raw = Raw::new(bytes);
        match raw.kind() {
            Kind::Text if self.form == SectionForm::Array => add_text(raw.content_alone(), self.sameness, out),
            Kind::Object if self.form == SectionForm::Processes => {
                raw.member("name").into_iter().for_each(|name| add(name, self.sameness, out));
            }
            _ => {
                let key = self.record_key(raw, out);
                if key.is_none() {
                    add(raw, self.sameness, out);
                }
                return key;
            }
        }
        None
    }

    /// Appends the key of a record that has identifying fields; returns their names.
    fn record_key(&self, raw: Raw<'_>, out: &mut Vec<u8>) -> Option<&'static [&'static str]> {
        if let Some(key) = raw.member("key").filter(|_| self.has_named_values) {
            add(key, self.sameness, out);
            if let Some(name) = raw.member("value") {
                out.push(b'\\');
                add(name, Sameness::Case, out);
            }
            out.push(0);
            return Some(&["key", "value"]);
        }
        for group in self.key_groups {
            let mut members = group.iter().filter_map(|name| raw.member(name)).peekable();
            if members.peek().is_some() {
                for value in members {
                    add(value, self.sameness, out);
                    out.push(0);
                }
                return Some(group);
            }
        }
        None
    }
}

/// The service's prefix of severities, in lower case.
const SEVERITY: &[u8] = b"impact_severity_";

fn add(value: Raw<'_>, sameness: Sameness, out: &mut Vec<u8>) {
    if value.kind() == Kind::Text {
        return add_text(value.content(), sameness, out);
    }
    let start = out.len();
    out.extend_from_slice(compact(value).as_bytes());
    normalise(sameness, out, start);
}

/// Appends a text, given as written between quotes.
fn add_text(content: &[u8], sameness: Sameness, out: &mut Vec<u8>) {
    let start = out.len();
    decode_json(content, out);
    normalise(sameness, out, start);
}

/// Normalizes `out` from `start` on for the comparison.
fn normalise(sameness: Sameness, out: &mut Vec<u8>, start: usize) {
    if sameness != Sameness::Exact {
        out.get_mut(start..).unwrap_or_default().make_ascii_lowercase();
    }
    let added = out.get(start..).unwrap_or_default().trim_ascii_end();
    let blanks = added.len() - added.trim_ascii_start().len();
    out.truncate(start + added.len());
    put(out, start..start + blanks, b"");
    match sameness {
        Sameness::Never | Sameness::Exact | Sameness::Case => {}
        Sameness::Path => fold(out, start),
        Sameness::Program => program(out, start),
    }
}

/// Folders in which the name identifies a program.
const SYSTEM: &[&[u8]] = &[
    br"c:\windows\",
    br"c:\windows\system32\",
    br"c:\windows\syswow64\",
    br"c:\windows\system32\wbem\",
    br"c:\windows\system32\windowspowershell\v1.0\",
    b"/bin/",
    b"/usr/bin/",
];

/// Prefixes of folders with samples and installed programs.
const PLACED: &[&[u8]] = &[
    br"%samplepath%\",
    br"c:\users\*\desktop\",
    br"c:\users\*\downloads\",
    br"c:\users\*\appdata\local\temp\",
    br"c:\program files\",
    br"c:\program files (x86)\",
];

/// Programs of the system whose names malware imitates.
const IMITATED: &str = "cmd conhost csrss dllhost explorer lsass powershell rundll32 services smss \
    spoolsv svchost taskhostw winlogon wscript";

/// Reduces a program to its file name, or its path if the folder matters; drops arguments.
fn program(out: &mut Vec<u8>, start: usize) {
    let program = command_line::program(out.get(start..).unwrap_or_default());
    out.truncate(start + program.end);
    put(out, start..start + program.start, b"");
    fold(out, start);
    let text = out.get(start..).unwrap_or_default();
    let name = last_part(text);
    let folder = text.get(..text.len() - name.len()).unwrap_or_default();
    let is_imitated = || IMITATED.split(' ').any(|imitated| name.strip_suffix(b".exe") == Some(imitated.as_bytes()));
    let is_placed = || PLACED.iter().any(|placed| folder.starts_with(placed)) && !is_imitated();
    // A command line may leave out the ending of a program of Windows.
    let is_bare = !name.is_empty() && !text.contains(&b'/') && !name.contains(&b'.') && !name.starts_with(b"<");
    if SYSTEM.contains(&folder) || is_placed() {
        put(out, start..start + folder.len(), b"");
    }
    if is_bare {
        out.extend_from_slice(b".exe");
    }
}

/// A value of a report in its normal form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportValue {
    pub hashes: ValueHashes,
    /// The first row that has it.
    pub place: RowPlace,
    pub kind: ValueKind,
}

/// A value by its hash and that of the list that names such values: a cut one may have left it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ValueHashes {
    pub value: u64,
    pub list: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueKind {
    /// What a row is about.
    Row,
    /// The data of a registry value.
    Data,
    Indicator(indicators::Kind),
}

impl ReportValue {
    /// Returns its kind for people, such as `Files written`, `data` or `host`.
    pub fn label(&self, report: &Report) -> String {
        match self.kind {
            ValueKind::Indicator(kind) => kind.name().to_owned(),
            ValueKind::Data => "data".to_owned(),
            ValueKind::Row => report.section(self.place.section).map_or_else(String::new, |section| {
                let label = section.attribute.map_or("", |known| known.label);
                format!("{} {label}", section.pane().short()).trim_end().to_owned()
            }),
        }
    }
}

impl Indicator {
    /// Returns its hash among stored values, and that of the lists that name its kind.
    pub fn hashes(&self, keys: &impl BuildHasher) -> ValueHashes {
        ValueHashes { value: self.hash(keys), list: hash_of_list(self.kind, keys) }
    }
}

impl Report {
    /// Returns the values of all rows, or of one; a value that several rows have is of the first.
    pub fn values_of(
        &self,
        only: Option<RowPlace>,
        keys: &impl BuildHasher,
        cancel: &Cancel,
    ) -> io::Result<Vec<ReportValue>> {
        let mut found = Vec::new();
        let mut room = Vec::new();
        for (number, section) in self.index.sections.iter().enumerate() {
            cancel.check()?;
            let is_meant = only.is_none_or(|place| place.section == number);
            let rule = is_meant.then(|| EqualityRule::of(section, self.registry, keys)).flatten();
            let Some(rule) = rule else { continue };
            let data = sources(section).iter().find(|source| source.meaning == ValueMeaning::Data);
            let data = data.map(|source| source.member).filter(|_| self.registry != ValueMember::Name);
            let mut add = |row: RowBytes<'_>| {
                let bytes = rule.bytes_of(&row);
                let mut push = |kind, value| {
                    let hashes = ValueHashes { value, list: rule.kind };
                    found.push(ReportValue { hashes, place: row.place, kind });
                };
                push(ValueKind::Row, rule.hash_key(&bytes, &mut room).0);
                let data = data.and_then(|data| rule.hash_member(&bytes, data, &mut room));
                data.into_iter().for_each(|hash| push(ValueKind::Data, hash));
            };
            match only {
                Some(place) => add(self.row_bytes_of(place)),
                None => self.each_row(number).for_each(add),
            }
        }
        let rows = |section: usize| match only {
            Some(place) if place.section == section => place.row..place.row + 1,
            Some(_) => 0..0,
            None => 0..self.section(section).map_or(0, Section::len),
        };
        let indicators = Indicators::among(self, &rows, &|_| None, cancel)?;
        for kind in indicators::Kind::ALL {
            found.extend(indicators.of_kind(kind).iter().filter_map(|indicator| {
                let place = *indicator.places.first()?;
                Some(ReportValue { hashes: indicator.hashes(keys), place, kind: ValueKind::Indicator(kind) })
            }));
        }
        Ok(found)
    }

    /// Hashes the lists that may be incomplete; [`EVERY_LIST`] if the report itself is.
    pub fn incomplete_lists(&self, keys: &impl BuildHasher) -> BTreeSet<u64> {
        if !self.is_sound() {
            return [EVERY_LIST].into();
        }
        let cut = self.index.sections.iter().filter(|section| section.is_perhaps_cut());
        let lists = cut.flat_map(|section| {
            let rows = EqualityRule::of(section, self.registry, keys).map(|rule| rule.kind);
            let kinds = sources(section).iter().flat_map(|source| kinds_of(source.meaning));
            rows.into_iter().chain(kinds.map(|kind| hash_of_list(kind, keys)))
        });
        lists.collect()
    }

    /// Returns a report in which every list has this text: its values are all that the text can be.
    pub fn of_text(text: &str) -> Self {
        let member = |known: &Attribute| {
            let value = match &known.shape {
                ValueShape::Value | ValueShape::Moment => json!(text),
                ValueShape::Strings => json!([text]),
                ValueShape::ProcessTree => json!([{ "name": text }]),
                ValueShape::Records(_) => {
                    let names: BTreeSet<_> = known.key_groups.iter().flatten().copied().collect();
                    let names = names.into_iter().chain(known.holds.iter().map(|source| source.member));
                    names.map(|name| json!({ name: text })).collect()
                }
            };
            (known.name.to_owned(), value)
        };
        // A list of processes would become the tree. What differs between runs is no value.
        let is_meant = |known: &&Attribute| known.sameness != Sameness::Never && known.name != PROCESS_LIST;
        let known = ATTRIBUTES.iter().filter(is_meant);
        let body = Value::Object(known.map(member).collect()).to_string();
        Self::open(&Body::in_memory(body.into_bytes()))
    }
}

/// Stands for every list of a report that could not be read to its end.
pub const EVERY_LIST: u64 = 0;

fn sources(section: &Section) -> &'static [IndicatorSource] {
    section.attribute.map_or(&[], |known| known.holds.as_slice())
}

/// Returns the kinds of indicators that a member may name.
fn kinds_of(meaning: ValueMeaning) -> Vec<indicators::Kind> {
    use indicators::Kind::*;
    match meaning {
        ValueMeaning::Is(kind) => vec![kind],
        ValueMeaning::Module => vec![Path],
        _ => vec![Hash, Host, Address, Url, Mail, Path],
    }
}

fn hash_of_list(kind: indicators::Kind, keys: &impl BuildHasher) -> u64 {
    keys.hash_one(("list", kind.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(sameness: Sameness, a: &str, b: &str) -> bool {
        let key = |text: &str| {
            let mut key = text.as_bytes().to_vec();
            normalise(sameness, &mut key, 0);
            key
        };
        key(a) == key(b)
    }

    #[test]
    fn program_identity_is_file_name_and_folder() {
        let same_program = |a: &str, b: &str| same(Sameness::Program, a, b);
        assert!(
            same_program(r#""C:\Users\me\Downloads\a.exe""#, r"%SAMPLEPATH%\A.exe")
                && same_program("a.exe", r"%temp%\x\a.exe")
        );
        assert!(same_program(r"%windir%\explorer.exe", "explorer.exe"));
        for elsewhere in
            [r"C:\Users\me\AppData\Local\Temp\svchost.exe", r"C:\Windows\Temp\svchost.exe", r"D:\svchost.exe"]
        {
            assert!(!same_program(elsewhere, "svchost.exe"), "{elsewhere}");
            assert!(!same_program(elsewhere, r"C:\Windows\System32\svchost.exe"), "{elsewhere}");
        }
        assert!(!same_program(r"C:\A\update.exe", r"C:\B\update.exe"));
        assert!(same(Sameness::Program, r"C:\Windows\System32\CMD.exe", "cmd.exe"));
        assert!(
            same_program("cmd.exe", "cmd /c rmdir") && same_program(r"<SYSTEM32>\cmd.exe", r#""%ComSpec%" /c del x"#)
        );
        assert!(!same_program(r#"cmd /c "C:\a\b.exe""#, r"C:\a\b.exe") && !same_program("/bin/sh", "sh.exe"));
        assert!(!same(Sameness::Exact, "Global\\a", "Global\\A"));
    }
}
