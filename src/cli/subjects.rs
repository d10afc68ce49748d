//! What a command is about: identifiers from the command line or standard input, or saved documents.

use super::document::{self, Document, STANDARD_INPUT, is_json};
use super::{Common, FailureKind, exit};
use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};

/// Longest list of identifiers that is taken, in bytes: a million of them are less.
const LONGEST_LIST: u64 = 128 << 20;

/// One thing that a command is about.
pub(super) enum Subject<T> {
    /// Reports in a file, or on standard input.
    Saved(Document),
    /// What the service knows by a hash or identifier.
    Service(T),
}

impl<T> Subject<T> {
    pub(super) fn service(&self) -> Option<&T> {
        match self {
            Self::Service(named) => Some(named),
            Self::Saved(_) => None,
        }
    }
}

/// Reads the arguments by `typed`, and by `piped` the lines of standard input, for which `-` stands.
/// Standard input may hold a document instead. Duplicates are left out.
pub(super) fn read<T>(
    arguments: &[OsString],
    typed: impl Fn(&str) -> anyhow::Result<T>,
    piped: impl Fn(&str) -> anyhow::Result<T>,
) -> anyhow::Result<Vec<Subject<T>>> {
    let (mut subjects, mut known) = (Vec::new(), HashSet::new());
    for argument in arguments {
        match document::services(argument) {
            _ if argument == STANDARD_INPUT => match standard_input()? {
                Subject::Saved(document) => subjects.push(Subject::Saved(document)),
                Subject::Service(text) => {
                    for line in lines(&text).filter(|line| known.insert(in_lower_case(line))) {
                        subjects.push(Subject::Service(piped(line)?));
                    }
                }
            },
            Some(name) if known.insert(in_lower_case(name)) => subjects.push(Subject::Service(typed(name)?)),
            Some(_) => {}
            None => subjects.push(Subject::Saved(document::read(argument)?)),
        }
    }
    if subjects.is_empty() {
        fail!(Usage, "standard input names nothing: it has one identifier a line, or a document");
    }
    Ok(subjects)
}

/// A name whose hash is written in small letters.
fn in_lower_case(text: &str) -> String {
    match text.split_at_checked(64) {
        Some((hash, rest)) => hash.to_ascii_lowercase() + rest,
        None => text.to_owned(),
    }
}

/// A document, or the text of standard input.
fn standard_input() -> anyhow::Result<Subject<String>> {
    let bytes = document::piped(std::io::stdin().lock(), "standard input", LONGEST_LIST)?;
    if is_json(&bytes) {
        return Ok(Subject::Saved(document::of(STANDARD_INPUT, bytes)?));
    }
    Ok(Subject::Service(String::from_utf8(bytes).map_err(|_| FailureKind::Usage.error("standard input is not UTF-8"))?))
}

/// The lines that name something; what begins with `#` is a remark.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Does something with each. A failure that is about one alone is told, and the next is tried; any other would
/// come again, and perhaps be paid for again.
pub(super) fn each<T>(
    common: &Common,
    subjects: Vec<T>,
    mut work: impl FnMut(T) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (all, mut tried, mut failed) = (subjects.len(), 0, Vec::new());
    for subject in subjects {
        tried += 1;
        progress(tried, all);
        let Err(error) = work(subject) else { continue };
        let goes_on = exit::is_of_one(&error);
        if all > 1 {
            exit::say(&error, common.log());
        }
        failed.push(error);
        if !goes_on {
            break;
        }
    }
    let done = tried - failed.len();
    match failed.pop() {
        None => Ok(()),
        Some(error) if all == 1 => Err(error),
        Some(error) if done == 0 => Err(exit::kind_of(&error).error(format!("none of {all} is there")).into()),
        Some(_) => Err(FailureKind::Partial.error(format!("{done} of {all} are there")).into()),
    }
}

/// Says how far it is, to people; a file or pipe hears nothing.
fn progress(tried: usize, all: usize) {
    let mut to = std::io::stderr();
    if all > 1 && to.is_terminal() {
        let _ = write!(to, "\r{tried} of {all}\x1b[K\r");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_one_and_remarks_name_none() {
        let named: Vec<_> = lines("a b\r\n\n# no\n  c  \n").collect();
        assert_eq!(named, ["a b", "c"]);
        assert!(is_json(b"\xef\xbb\xbf \n[ {") && is_json(b"{\"") && is_json(b"["));
        assert!(!is_json(b"ab{") && !is_json(b"") && !is_json(b"[evil\nx") && !is_json(b"{evil"));
    }
}
