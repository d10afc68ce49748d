//! The table of ad-hoc requests: all operations of the specification beside private reports (§4.2),
//! for palette and `behaview api`; and the planner, which sums prices of operations.

use crate::app::keys::{BACKSPACE, TAB};
use crate::app::overlays::{FormSource, InputForm, TextRow, paragraph};
use crate::app::panes::Move;
use crate::app::panes::moving::scrolled;
use crate::app::spending::price::QuotaState;
use crate::app::{Effect, Key, StoreJob};
use crate::export::file;
use crate::quota::{Amount, Entitlements, ForecastLine, Kind, Operation, Plan, price};
use crate::report::identifier::{FileHash, Identifier};
use crate::request::{GroupQuotaPart, Request};
use crate::text::{Untrusted, thousands};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// An ad-hoc request: its prompt, and the function that makes the request.
#[derive(Debug)]
pub struct AdHocRequest {
    /// Its name in the palette and in scripts.
    pub name: &'static str,
    pub help: &'static str,
    /// The expected input; empty for none.
    pub input: &'static str,
    pub make: MakeRequest,
}

type MakeRequest = fn(&str, Timestamp) -> Result<Request, String>;

pub static AD_HOC_REQUESTS: &[AdHocRequest] = &[
    entry("v2-file-report", "Reports of public files by API v2", "MD5, SHA-1 or SHA-256, one or more", |typed, _| {
        hashes(typed).map(|files| Request::V2Reports { files })
    }),
    entry("v2-file-submissions", "Uploads of public files by API v2", "SHA-256, one or more", |typed, _| {
        hashes(typed).map(|files| Request::V2Submissions { files })
    }),
    entry(
        "v2-file-scan",
        "Upload a file to the public corpus by API v2",
        "path of the file; it becomes public",
        |typed, _| path(typed).map(|path| Request::V2Scan { path, file: None }),
    ),
    entry("v3-quotas", "Quota details of user and group", "", |_, _| Ok(Request::Quotas)),
    entry("v3-user", "What the user has bought: premium API, premium intelligence", "", |_, _| Ok(Request::User)),
    entry("v3-usage", "Calls of the last 30 days, by endpoint", "", |_, now| Ok(last_30_days(now))),
    entry("v3-group-usage", "Calls of a group, by endpoint, for its administrators", GROUP, |typed, _| {
        identifier(typed).map(|group| Request::GroupQuota { group, part: GroupQuotaPart::Usage })
    }),
    entry("v3-group-users", "Requests of this month by user of a group, for its administrators", GROUP, |typed, _| {
        identifier(typed).map(|group| Request::GroupQuota { group, part: GroupQuotaPart::Users })
    }),
    entry("v3-analysis", "An analysis by its identifier", "identifier of the analysis", |typed, _| {
        identifier(typed).map(|identifier| Request::Analysis { identifier })
    }),
    entry("v3-file", "A public file", "MD5, SHA-1 or SHA-256", |typed, _| {
        hash(typed).map(|file| Request::File { file })
    }),
    entry("v3-file-analyses", "The analyses of a public file", "MD5, SHA-1 or SHA-256", |typed, _| {
        hash(typed).map(|file| Request::FileAnalyses { file })
    }),
    entry("v3-rescan", "Scan a public file again", "MD5, SHA-1 or SHA-256; others can see the re-scan", |typed, _| {
        hash(typed).map(|file| Request::Rescan { file })
    }),
];

const GROUP: &str = "identifier of the group";

const fn entry(name: &'static str, help: &'static str, input: &'static str, make: MakeRequest) -> AdHocRequest {
    AdHocRequest { name, help, input, make }
}

impl AdHocRequest {
    pub fn named(name: &str) -> Option<&'static Self> {
        AD_HOC_REQUESTS.iter().find(|entry| entry.name == name)
    }
}

fn hash(typed: &str) -> Result<FileHash, String> {
    FileHash::parse(typed).ok_or_else(|| "not an MD5, SHA-1 or SHA-256".to_owned())
}

fn hashes(typed: &str) -> Result<Vec<FileHash>, String> {
    let words: Vec<_> = typed.split([' ', ',', '\n', '\t', '\r']).filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        return Err("no hash yet".to_owned());
    }
    let number = |(at, word): (usize, &&str)| {
        hash(word).map_err(|_| format!("number {} is not an MD5, SHA-1 or SHA-256", at + 1))
    };
    let mut found = words.iter().enumerate().map(number).collect::<Result<Vec<_>, _>>()?;
    // Duplicates are sent once and paid once.
    let mut known = HashSet::new();
    found.retain(|hash| known.insert(hash.clone()));
    Ok(found)
}

fn identifier(typed: &str) -> Result<Identifier, String> {
    let typed = typed.trim();
    let why = match typed.len() {
        0 => "no identifier yet",
        length if length > Identifier::LONGEST => "longer than any identifier",
        _ => "not an identifier",
    };
    Identifier::from_input(typed).ok_or_else(|| why.to_owned())
}

fn path(typed: &str) -> Result<PathBuf, String> {
    if typed.trim().is_empty() { Err("no path yet".to_owned()) } else { Ok(file::from_input(typed.trim())) }
}

pub(crate) fn last_30_days(now: Timestamp) -> Request {
    let last = now.to_zoned(TimeZone::UTC).date();
    let first = last.saturating_sub(jiff::Span::new().days(29));
    Request::Usage { first, last }
}

pub type Prompt = InputForm<AdHocPrompt>;

#[derive(Debug)]
pub struct AdHocPrompt {
    pub entry: &'static AdHocRequest,
    /// The last request that was checked in the store, and when its response was stored.
    pub(crate) stored: Option<(Request, Timestamp)>,
    /// The last request with partly stored responses, and the hashes of the rest.
    pub(crate) missing: Option<(Request, Vec<FileHash>)>,
}

impl Prompt {
    pub fn of(entry: &'static AdHocRequest) -> Self {
        Self::with_fields(AdHocPrompt { entry, stored: None, missing: None }, usize::from(!entry.input.is_empty()))
    }

    pub fn request(&self, now: Timestamp) -> Result<Request, String> {
        (self.source.entry.make)(self.text(), now)
    }

    pub(crate) fn is_for(&self, request: &Request, now: Timestamp) -> bool {
        self.request(now).is_ok_and(|asked| asked == *request)
    }

    /// Returns when the response to the typed request was stored.
    pub fn stored_at(&self, now: Timestamp) -> Option<Timestamp> {
        let request = self.request(now).ok()?;
        self.source.stored.as_ref().filter(|(stored, _)| *stored == request).map(|(_, since)| *since)
    }
}

impl FormSource for AdHocPrompt {
    fn on_typed(form: &mut Prompt, now: Timestamp) -> Option<Effect> {
        form.request(now).ok().map(|request| StoreJob::Check(request).into())
    }
}

pub type Planner = InputForm<PlannedOperations>;

#[derive(Debug, Default)]
pub struct PlannedOperations {
    items: Vec<Operation>,
    /// The first visible row.
    pub top: usize,
}

impl Planner {
    pub(crate) fn empty() -> Self {
        Self::with_fields(PlannedOperations::default(), 1)
    }

    fn set(&mut self, text: String) {
        self.fields = vec![text.into()];
    }

    pub(crate) fn operation(&self) -> Result<Operation, String> {
        let (name, amount) = self.label();
        let name = Some(name)
            .filter(|name| !name.is_empty())
            .ok_or("type an operation and how many, such as v2-file-report 600, or @ and a file of hashes")?;
        let kind = Kind::named(name).ok_or_else(|| {
            let more = if self.matching_kinds().next().is_some() { "; tab takes the first of these" } else { "" };
            format!("unknown operation {name}{more}")
        })?;
        let Amount { numbers, list, .. } = Amount::read(kind, &crate::quota::split_words(amount)?)?;
        match list {
            None => Ok(Operation { kind, numbers }),
            Some(path) => Err(format!("enter counts the hashes that {} lists", Untrusted::from(path).visible_cut(60))),
        }
    }

    /// Adds the typed operation; returns the file of hashes to be counted first.
    pub(crate) fn add(&mut self) -> Result<Option<PathBuf>, String> {
        if let Some((.., path)) = self.hash_file_input() {
            return Ok(Some(file::from_input(&path)));
        }
        self.source.items.push(self.operation()?);
        self.set(String::new());
        Ok(None)
    }

    /// Replaces the file name by the number of its hashes.
    pub(crate) fn counted(&mut self, path: &Path, count: u64) {
        let Some((operation, others, typed)) = self.hash_file_input() else { return };
        if file::from_input(&typed) == path {
            self.set(format!("{operation} {count} {others}").trim_end().to_owned());
        }
    }

    fn matching_kinds(&self) -> impl Iterator<Item = Kind> {
        let typed = self.text().trim();
        let mut kinds: Vec<Kind> = Kind::ALL.iter().copied().filter(|kind| kind.name().contains(typed)).collect();
        kinds.sort_by_key(|kind| !kind.is_private());
        kinds.into_iter()
    }

    fn hash_file_input(&self) -> Option<(&str, String, String)> {
        let (operation, amount) = self.label();
        let words = crate::quota::split_words(amount).ok()?;
        let Amount { list, others, .. } = Amount::read(Kind::named(operation)?, &words).ok()?;
        Some((operation, others, list?))
    }

    fn label(&self) -> (&str, &str) {
        let typed = self.text().trim();
        typed.split_once(char::is_whitespace).unwrap_or((typed, ""))
    }

    /// Returns typed operation, total, outcome, then the parts: the outcome stays visible.
    pub fn rows(&self, quota_state: &QuotaState, now: Timestamp) -> Vec<TextRow> {
        let entitled = &quota_state.entitlements;
        let typed = self.operation();
        let mut rows = Vec::new();
        match &typed {
            Ok(operation) => {
                rows.push(priced("typed", operation, entitled));
                rows.push(paragraph("takes", operation.kind.options_label()));
            }
            Err(missing) if self.source.items.is_empty() || !self.text().is_empty() => {
                rows.push(paragraph("", missing.clone()));
                rows.extend(self.matching_kinds().map(|kind| paragraph("", format!("  {}", kind.name()))));
            }
            Err(_) => {}
        }
        let plan = Plan::of(self.source.items.iter().copied().chain(typed), entitled);
        if !plan.prices.is_empty() {
            rows.extend(outcome(plan, quota_state, now));
        }
        rows.extend(self.source.items.iter().rev().map(|item| priced("planned", item, entitled)));
        rows
    }
}

/// Returns the total price of a plan, and the quota left after it.
fn outcome(plan: Plan, quota_state: &QuotaState, now: Timestamp) -> Vec<TextRow> {
    let mut rows = vec![paragraph("in all", plan.to_string())];
    match quota_state.balances_now(now) {
        None => rows.push(paragraph("", "The quota left after it is unknown: the counters were not read.".to_owned())),
        Some(balances) => {
            let forecast = plan.forecast(&balances, now);
            rows.push(paragraph(forecast.fit.label(), forecast.summary));
            rows.extend(forecast.lines.iter().map(forecast_row));
        }
    }
    rows.push(paragraph("", String::new()));
    rows
}

impl FormSource for PlannedOperations {
    /// Backspace on an empty line removes the last operation; tab completes a name.
    fn press(form: &mut Planner, key: Key) -> bool {
        match key {
            BACKSPACE if form.text().is_empty() => form.source.items.pop().is_some(),
            TAB => {
                let first = form.matching_kinds().next();
                first.map(|kind| form.set(format!("{} ", kind.name()))).is_some()
            }
            _ => false,
        }
    }

    fn on_typed(form: &mut Planner, _: Timestamp) -> Option<Effect> {
        form.source.top = 0;
        None
    }

    fn go(form: &mut Planner, movement: Move) {
        // Each operation and each limit take one or two rows.
        let rows = 2 * form.source.items.len() + 21;
        form.source.top = scrolled(form.source.top, movement, rows, 1);
    }
}

fn priced(head: &str, operation: &Operation, entitled: &Entitlements) -> TextRow {
    let price = price(operation, entitled);
    let name = operation.kind.name();
    let many = operation.label();
    let text = format!("{name} · {many} · {} · rule {}, {}", price.short(), price.rule.number, price.basis.name());
    paragraph(head, text)
}

fn forecast_row(line: &ForecastLine) -> TextRow {
    let remaining = thousands(line.limit.remaining);
    let allowed = thousands(line.limit.allowed);
    let unit = line.unit.plural();
    let period = line.limit.period.current();
    let leaves = match line.short.min {
        0 => format!("{} left after it, of {remaining} now", line.after_label()),
        _ => format!("{}, {remaining} left now", line.fit_label()),
    };
    paragraph(line.limit.holder.name(), format!("{unit} {period}: {leaves} ({allowed} in all)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_becomes_a_question_or_a_reason() {
        let make = |name: &str, typed: &str| (AdHocRequest::named(name).unwrap().make)(typed, Timestamp::UNIX_EPOCH);
        let a = "a".repeat(64);
        let b = "b".repeat(32);
        assert!(
            matches!(make("v2-file-report", &format!("{a}, {b}\n")), Ok(Request::V2Reports { files }) if files.len() == 2)
        );
        assert_eq!(make("v2-file-report", &format!("{a} {b} {a}")), make("v2-file-report", &format!("{a} {b}")));
        assert_eq!(
            make("v2-file-report", &format!("{a} x")),
            Err("number 2 is not an MD5, SHA-1 or SHA-256".to_owned())
        );
        assert!(make("v3-analysis", "..").is_err() && make("v2-file-scan", " ").is_err());
        assert!(matches!(make("v3-usage", ""), Ok(Request::Usage { .. })));
    }

    #[test]
    fn every_operation_of_the_specification_can_be_asked() {
        use crate::quota::Kind;
        let typed =
            |entry: &AdHocRequest| (entry.make)(&"a".repeat(64), Timestamp::UNIX_EPOCH).unwrap().operation().kind;
        let kinds: Vec<_> = AD_HOC_REQUESTS.iter().map(typed).collect();
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
        assert!(AD_HOC_REQUESTS.iter().zip(&kinds).all(|(entry, kind)| entry.name == kind.name()));
    }
}

#[cfg(test)]
mod planner_tests {
    use super::*;
    use crate::app::overlays::OverlayScreen;
    use crate::quota::Balances;
    use jiff::Timestamp;

    fn rows(planner: &Planner) -> Vec<TextRow> {
        let response = br#"{"data":{"api_requests_daily":{"user":{"allowed":600,"used":2}}}}"#;
        let mut quota_state = QuotaState::default();
        quota_state.take_balances(Balances::parse(response).unwrap(), Timestamp::UNIX_EPOCH);
        planner.rows(&quota_state, Timestamp::UNIX_EPOCH)
    }

    fn typed(words: &str) -> Planner {
        Planner::new(PlannedOperations::default(), words.to_owned())
    }

    fn text(planner: &Planner) -> String {
        rows(planner).into_iter().map(|row| format!("{}|{}\n", row.head, row.text)).collect()
    }

    #[test]
    fn what_is_no_operation_is_helped_along() {
        let planner = typed("report");
        assert!(text(&planner).contains("tab takes the first of these\n|  v2-file-report\n"), "{}", text(&planner));
        let mut planner = typed("v2-file-rep");
        assert!(planner.press(TAB) && planner.text() == "v2-file-report ");
        let planner = typed("v3-file many");
        assert!(text(&planner).contains("many is not a number"));
    }
}
