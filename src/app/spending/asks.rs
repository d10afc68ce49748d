//! The table of questions that are typed in full: every operation the specification names beside the private reports (§4.2).
//!
//! The palette and `behaview call` read this table. A question's price follows from the question itself.

use crate::app::over::{FormSource, InputForm, SMALL};
use crate::export::file;
use crate::report::identifier::{FileHash, Identifier};
use crate::request::Request;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::collections::HashSet;
use std::path::PathBuf;

#[derive(Debug)]
pub struct Ask {
    /// Its name in the palette and for scripts.
    pub name: &'static str,
    pub help: &'static str,
    /// What has to be typed; empty where nothing has.
    pub input: &'static str,
    pub make: MakeRequest,
}

type MakeRequest = fn(&str, Timestamp) -> Result<Request, String>;

pub static ASKS: &[Ask] = &[
    ask("v2-file-report", "Reports of public files by API v2", "MD5, SHA-1 or SHA-256, one or more", |typed, _| {
        hashes(typed).map(|files| Request::V2Reports { files })
    }),
    ask("v2-file-submissions", "Uploads of public files by API v2", "SHA-256, one or more", |typed, _| {
        hashes(typed).map(|files| Request::V2Submissions { files })
    }),
    ask(
        "v2-file-scan",
        "Upload a file to the public corpus by API v2",
        "path of the file; it becomes public",
        |typed, _| path(typed).map(|path| Request::V2Scan { path, file: None }),
    ),
    ask("v3-quotas", "Quota details of user and group", "", |_, _| Ok(Request::Quotas)),
    ask("v3-user", "What the user has bought: premium API, premium intelligence", "", |_, _| Ok(Request::User)),
    ask("v3-usage", "Calls of the last 30 days, by endpoint", "", |_, now| Ok(last_days(now))),
    ask("v3-analysis", "An analysis by its identifier", "identifier of the analysis", |typed, _| {
        identifier(typed).map(|identifier| Request::Analysis { identifier })
    }),
    ask("v3-file", "A public file", "MD5, SHA-1 or SHA-256", |typed, _| hash(typed).map(|file| Request::File { file })),
    ask("v3-file-analyses", "The analyses of a public file", "MD5, SHA-1 or SHA-256", |typed, _| {
        hash(typed).map(|file| Request::FileAnalyses { file })
    }),
    ask("v3-rescan", "Scan a public file again", "MD5, SHA-1 or SHA-256; others can see the re-scan", |typed, _| {
        hash(typed).map(|file| Request::Rescan { file })
    }),
];

const fn ask(name: &'static str, help: &'static str, input: &'static str, make: MakeRequest) -> Ask {
    Ask { name, help, input, make }
}

impl Ask {
    pub fn named(name: &str) -> Option<&'static Self> {
        ASKS.iter().find(|ask| ask.name == name)
    }
}

fn hash(typed: &str) -> Result<FileHash, String> {
    FileHash::parse(typed).ok_or_else(|| "that is no MD5, SHA-1 or SHA-256".to_owned())
}

fn hashes(typed: &str) -> Result<Vec<FileHash>, String> {
    let words: Vec<_> = typed.split([' ', ',', '\n', '\t', '\r']).filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        return Err("no hash yet".to_owned());
    }
    let number =
        |(at, word): (usize, &&str)| hash(word).map_err(|_| format!("number {} is no MD5, SHA-1 or SHA-256", at + 1));
    let mut found = words.iter().enumerate().map(number).collect::<Result<Vec<_>, _>>()?;
    // However often one is named, it is asked about once, and paid for once.
    let mut known = HashSet::new();
    found.retain(|hash| known.insert(hash.clone()));
    Ok(found)
}

fn identifier(typed: &str) -> Result<Identifier, String> {
    let typed = typed.trim();
    let why =
        if typed.len() > Identifier::LONGEST { "that is longer than any identifier" } else { "no identifier yet" };
    Identifier::typed(typed).ok_or_else(|| why.to_owned())
}

fn path(typed: &str) -> Result<PathBuf, String> {
    if typed.trim().is_empty() { Err("no path yet".to_owned()) } else { Ok(file::typed(typed.trim())) }
}

pub(in crate::app) fn last_days(now: Timestamp) -> Request {
    let last = now.to_zoned(TimeZone::UTC).date();
    let first = last.saturating_sub(jiff::Span::new().days(29));
    Request::Usage { first, last }
}

pub type Prompt = InputForm<TypedQuestion>;

#[derive(Debug)]
pub struct TypedQuestion {
    pub ask: &'static Ask,
    /// The last request that was checked in the store, and since when its response is there.
    pub held: Option<(Request, Timestamp)>,
}

impl Prompt {
    pub fn of(ask: &'static Ask) -> Self {
        Self::with_fields(TypedQuestion { ask, held: None }, usize::from(!ask.input.is_empty()))
    }

    pub fn request(&self, now: Timestamp) -> Result<Request, String> {
        (self.source.ask.make)(self.text(), now)
    }

    pub fn asks(&self, request: &Request, now: Timestamp) -> bool {
        self.request(now).is_ok_and(|asked| asked == *request)
    }

    pub fn held_since(&self, now: Timestamp) -> Option<Timestamp> {
        let request = self.request(now).ok()?;
        self.source.held.as_ref().filter(|(held, _)| *held == request).map(|(_, since)| *since)
    }
}

impl FormSource for TypedQuestion {
    fn height(form: &Prompt, columns: usize) -> usize {
        form.failure.as_ref().map_or(0, |failure| failure.rows(columns) + 1).max(SMALL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_becomes_a_question_or_a_reason() {
        let make = |name: &str, typed: &str| (Ask::named(name).unwrap().make)(typed, Timestamp::UNIX_EPOCH);
        let (a, b) = ("a".repeat(64), "b".repeat(32));
        assert!(
            matches!(make("v2-file-report", &format!("{a}, {b}\n")), Ok(Request::V2Reports { files }) if files.len() == 2)
        );
        assert_eq!(make("v2-file-report", &format!("{a} {b} {a}")), make("v2-file-report", &format!("{a} {b}")));
        let key = |typed: &str| make("v2-file-report", typed).unwrap().holding_key();
        assert_eq!(key(&format!("{a} {b}")), key(&format!("{b} {a}")), "in any order it is one question");
        assert_eq!(make("v2-file-report", &format!("{a} x")), Err("number 2 is no MD5, SHA-1 or SHA-256".to_owned()));
        assert!(make("v3-analysis", "..").is_err() && make("v2-file-scan", " ").is_err());
        assert!(matches!(make("v3-usage", ""), Ok(Request::Usage { .. })));
    }

    #[test]
    fn every_operation_of_the_specification_can_be_asked() {
        use crate::quota::Kind;
        let typed = |ask: &Ask| (ask.make)(&"a".repeat(64), Timestamp::UNIX_EPOCH).unwrap().operation().kind();
        let kinds: Vec<_> = ASKS.iter().map(typed).collect();
        for kind in [
            Kind::V2FileReport,
            Kind::V2FileSubmissions,
            Kind::V2FileScan,
            Kind::V3Quotas,
            Kind::V3Usage,
            Kind::V3Analysis,
            Kind::V3File,
            Kind::V3FileAnalyses,
            Kind::V3Rescan,
        ] {
            assert!(kinds.contains(&kind), "{kind:?}");
        }
        assert!(ASKS.iter().zip(&kinds).all(|(ask, kind)| ask.name == kind.name()));
    }
}
