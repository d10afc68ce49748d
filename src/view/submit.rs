//! The form of a file that is submitted: its fields, and what it would cost or how far it is.

use super::form::DrawForm;
use super::list::progress;
use super::theme::Meaning;
use crate::app::Model;
use crate::app::over::sheet::left_words;
use crate::app::scan::submit::{FIELDS, Field, FileToScan, SubmitForm};
use crate::quota::Price;
use crate::request::{Request, UploadLimit};
use crate::text::bytes;

impl DrawForm for FileToScan {
    fn title(_: &SubmitForm, _: &Model) -> String {
        "Submit a file for a private scan".to_owned()
    }

    fn label(number: usize) -> Option<&'static Field> {
        FIELDS.get(number)
    }

    fn words(form: &SubmitForm, model: &Model) -> Vec<(String, Meaning)> {
        said(form, model)
    }
}

/// The words below the fields.
fn said(form: &SubmitForm, model: &Model) -> Vec<(String, Meaning)> {
    if let Some(call) = model.call_of(form) {
        let words = match call.request {
            Request::UploadAddress => "◌ asking for an address that takes a large file …".to_owned(),
            _ => format!("◌ {} · {}", call.request.words(), progress(call, model.now)),
        };
        return vec![(words, Meaning::Strong)];
    }
    if let Some(failure) = &form.failure {
        return vec![(failure.words(), Meaning::Problem)];
    }
    if form.is_looked_at() {
        return vec![("◌ reading the file …".to_owned(), Meaning::Strong)];
    }
    let (Some(found), Some(submission)) = (&form.source.found, form.submission()) else {
        let words = format!(
            "{} reads the file and says what it costs; nothing is sent before that.",
            model.way_to("look-at-file")
        );
        return vec![(words, Meaning::Faint)];
    };
    let price = crate::app::scan::submit::price_of(&submission, found.limit, &model.figures.entitlements);
    let way = match found.limit {
        UploadLimit::Direct => String::new(),
        UploadLimit::Large => ", by way of an address for large files".to_owned(),
    };
    let waits = found.limit == UploadLimit::Large && model.calls.has(&Request::UploadAddress);
    let after = if waits { " once another file has its address" } else { "" };
    let basis = model.price(&Request::PrivateScan { submission, to: None });
    let sent = found.sent.map(|sent| {
        let when = crate::text::moment(sent);
        (
            format!("Perhaps sent already on {when}, and no answer came. {}", model.way_to_look(&found.file)),
            Meaning::Problem,
        )
    });
    let mut said = vec![
        (format!("{} · {}{way}", found.file.short(), bytes(found.size)), Meaning::Strong),
        (
            format!(
                "{price}, {} {}; {} submits it{after}",
                basis.rule.number,
                basis.basis.name(),
                model.way_to("submit")
            ),
            Meaning::Price,
        ),
    ];
    said.extend(left(model, &basis).map(|left| (left, Meaning::Detail)));
    said.extend(found.before.clone().map(|before| (before, Meaning::Strong)));
    said.extend(sent);
    said
}

/// What the counters leave of each limit that a scan is charged to; none where they count none.
fn left(model: &Model, price: &Price) -> Option<String> {
    let limits = model.figures.left(price.unit, model.now);
    let words = limits.iter().map(|left| format!("{} {}", left.limit.holder.name(), left_words(left)));
    let words = words.collect::<Vec<_>>().join(" · ");
    (!words.is_empty()).then(|| format!("{}: {words}", price.pool.words()))
}
