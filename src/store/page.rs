//! Splits a list page into its reports, one file each, and a skeleton that they are put back into.

use super::shelf::Escaped;
use crate::report::identifier::{Identifier, Sha256};
use crate::report::json::{Kind, Raw};
use crate::report::page::Page;
use std::collections::HashSet;
use std::ops::Range;

/// A report within the bytes of a list page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageReport {
    pub identifier: Identifier,
    /// The file it is of, if that is known.
    pub file: Option<Sha256>,
    pub range: Range<usize>,
}

impl PageReport {
    /// The reports of a page; of duplicates, the first.
    pub fn of_page(page: Page, file: &Sha256) -> Vec<Self> {
        let mut known = HashSet::new();
        let reports = page.without_others(file).entries.into_iter().filter_map(|entry| {
            entry.report?;
            known.insert(entry.identifier.clone()).then(|| Self {
                identifier: entry.identifier,
                file: Some(file.clone()),
                range: entry.range,
            })
        });
        reports.collect()
    }

    /// Its bytes.
    pub(super) fn of<'a>(&self, page: &'a [u8]) -> &'a [u8] {
        page.get(self.range.clone()).unwrap_or_default()
    }
}

/// Splits a page into its skeleton and the offsets of these reports, which are sorted by range.
pub(super) fn split(page: &[u8], reports: &[PageReport]) -> (Vec<u8>, Vec<(u64, Escaped)>) {
    let (mut skeleton, mut parts, mut at) = (Vec::new(), Vec::new(), 0);
    for report in reports {
        skeleton.extend_from_slice(page.get(at..report.range.start).unwrap_or_default());
        parts.push((skeleton.len() as u64, report.identifier.as_bytes().into()));
        at = report.range.end;
    }
    skeleton.extend_from_slice(page.get(at..).unwrap_or_default());
    (skeleton, parts)
}

/// Rebuilds a page with the reports that are stored now. A report that is not stored becomes an
/// entry with only its identifier.
pub(super) fn join(skeleton: &[u8], parts: &[(u64, Escaped)], stored: impl Fn(&[u8]) -> Option<Vec<u8>>) -> Vec<u8> {
    let (mut page, mut at) = (Vec::new(), 0);
    for (offset, identifier) in parts {
        let offset = usize::try_from(*offset).unwrap_or(usize::MAX);
        page.extend_from_slice(skeleton.get(at..offset).unwrap_or_default());
        let identifier = identifier.bytes();
        match stored(&identifier) {
            Some(report) => page.extend_from_slice(bare(&report)),
            None => page.append(&mut entry(&identifier)),
        }
        at = offset;
    }
    page.extend_from_slice(skeleton.get(at..).unwrap_or_default());
    page
}

/// A report without the envelope of a response to a request for it alone.
pub(super) fn bare(report: &[u8]) -> &[u8] {
    let raw = Raw::new(report);
    match raw.member("data") {
        Some(data) if data.kind() == Kind::Object && raw.member("id").is_none() => data.bytes(),
        _ => raw.bytes(),
    }
}

/// A list entry that names its report without the content.
fn entry(identifier: &[u8]) -> Vec<u8> {
    let mut json = b"{\"id\":\"".to_vec();
    for byte in identifier {
        match byte {
            b'"' | b'\\' => json.extend([b'\\', *byte]),
            0..=0x1f => json.extend(format!("\\u{byte:04x}").bytes()),
            _ => json.push(*byte),
        }
    }
    json.extend(b"\",\"type\":\"private_file_behaviour\"}");
    json
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Body;

    #[test]
    fn a_page_is_the_same_bytes_again() {
        let file = Sha256::parse(&"ab".repeat(32)).unwrap();
        let entry = |tag: &str, sandbox: &str| {
            format!(
                r#"{{"id":"{file}_{sandbox}-17","type":"private_file_behaviour","attributes":{{"tags":["{tag}"]}}}}"#
            )
        };
        let (first, second, other) = (entry("A", "Box"), entry("B", "Box"), entry("C", "Tub"));
        let text = format!(r#" {{"data":[{first}, {second},{{"id":"x"}},{other}],"meta":{{"cursor":"n"}}}} "#);
        let reports = PageReport::of_page(Page::of(&Body::in_memory(text.clone().into_bytes())).unwrap(), &file);
        let bytes: Vec<_> = reports.iter().map(|report| report.of(text.as_bytes())).collect();
        assert_eq!(bytes, [first.as_bytes(), other.as_bytes()], "of two with one name the first");
        let (skeleton, parts) = split(text.as_bytes(), &reports);
        let stored = |id: &[u8]| {
            let report = if id.ends_with(b"Box-17") { format!(r#"{{"data":{first}}}"#) } else { other.clone() };
            Some(report.into_bytes())
        };
        assert_eq!(join(&skeleton, &parts, stored), text.as_bytes());
        let without = join(&skeleton, &parts, |_| None);
        let page = Page::of(&Body::in_memory(without)).unwrap();
        let names: Vec<_> = page.entries.iter().map(|entry| entry.report.is_some()).collect();
        assert_eq!(names, [false, true, false, false]);
    }
}
