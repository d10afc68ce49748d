//! What is done with several files, with a scan that runs, and with a file that is submitted or deleted.

use super::context::{A_SERVICE, nothing};
use super::{Act, Command, When};
use crate::app::keys::key::{BACK_TAB, DOWN, ENTER, TAB, UP, key};
use crate::app::keys::place::{FILE, FOLLOWED, LIST, OPEN, Place, SUBMIT};
use crate::app::model::Model;
use crate::app::over::overlay::Overlay;
use crate::app::scan::submit::SubmitForm;
use crate::app::spending::questions::Questions;
use crate::quota::Kind;
use crate::request::{Request, Submission};
use std::sync::Arc;

const SEVERAL_FILES: When = When::Has("several files that are open", |m| m.files.are_several());
const NOT_SENT: When = When::Has("a form that is not under way", |m| !m.is_form_sent());
const A_FILE: When = When::Has("a file of the service's", |m| m.file().is_some());

pub(super) static COMMANDS: &[Command] = &[
    Command {
        name: "next-file",
        keys: &[key('J')],
        label: "next file",
        help: "Show the next of the files that are open, as it was left",
        rank: 8,
        place: FILE,
        when: SEVERAL_FILES,
        act: Act::Local(|m| m.step_file(1)),
    },
    Command {
        name: "file-before",
        keys: &[key('K')],
        label: "file before",
        help: "Show the file before this one, among those that are open",
        rank: 0,
        place: FILE,
        when: SEVERAL_FILES,
        act: Act::Local(|m| m.step_file(-1)),
    },
    Command {
        name: "close-file",
        keys: &[key('Q')],
        label: "close file",
        help: "Close this file, and show another that is open; what is held stays held",
        rank: 0,
        place: FILE,
        when: A_FILE,
        act: Act::Local(Model::close_file),
    },
    Command {
        name: "follow",
        keys: &[key('W')],
        label: "follow",
        help: "Follow the file's scan until its reports are there: a look now and then, each at a price, up to a limit",
        rank: 5,
        place: LIST,
        when: When::Has("a file of which no sandbox is listed, and which is not followed", |m| {
            can_follow(m) && !has_sandboxes(m)
        }),
        act: Act::Each { requests: followed, price: Model::follow_price, begin: Model::follow_if_cheap },
    },
    Command {
        name: "follow-on",
        keys: &[key('W')],
        label: "follow",
        help: "Follow the file's scan though some of its reports are listed: says what that costs first",
        rank: 5,
        place: LIST,
        when: When::Has("a file with sandboxes that is not followed", |m| can_follow(m) && has_sandboxes(m)),
        act: Act::Leads { to: Model::ask_to_follow, price: Model::follow_price },
    },
    Command {
        name: "following",
        keys: &[key('W')],
        label: "how far",
        help: "Show how far the scan is that is followed: each sandbox, the next look, what it may still cost",
        rank: 3,
        place: FILE,
        when: When::Has("a scan that is followed", |m| m.following().is_some()),
        act: Act::Local(Model::show_following),
    },
    Command {
        name: "stop-following",
        keys: &[key('s')],
        label: "stop",
        help: "Stop following the file's scan: nothing further is sent",
        rank: 1,
        place: FOLLOWED,
        when: When::Has("a scan that is followed", |m| {
            let is_there = m.place() != Place::Sheet || m.shows_following();
            is_there && m.batch.is_none() && m.following().is_some()
        }),
        act: Act::Local(Model::stop_following),
    },
    Command {
        name: "submit-file",
        keys: &[key('U')],
        label: "submit",
        help: "Submit a file of this machine for a private scan: say which, and what the sandboxes are told; nothing is sent before its price is shown",
        rank: 7,
        place: OPEN,
        when: A_SERVICE,
        act: Act::Leads {
            to: |m| {
                m.over.put(Overlay::Submit(Box::<SubmitForm>::default()));
                nothing(m)
            },
            price: |m| m.price_of_one(Kind::PrivateScan),
        },
    },
    Command {
        name: "next-field",
        keys: &[TAB, DOWN],
        label: "next field",
        help: "Go to the next field of the form",
        rank: 2,
        place: SUBMIT,
        when: NOT_SENT,
        act: Act::Local(|m| step(m, 1)),
    },
    Command {
        name: "field-before",
        keys: &[BACK_TAB, UP],
        label: "field before",
        help: "Go to the field before",
        rank: 0,
        place: SUBMIT,
        when: NOT_SENT,
        act: Act::Local(|m| step(m, -1)),
    },
    Command {
        name: "look-at-file",
        keys: &[ENTER],
        label: "look at the file",
        help: "Look at the file that is typed, and say what it would cost; nothing is sent",
        rank: 1,
        place: SUBMIT,
        when: When::Has("a file that has not been looked at", |m| {
            m.direct_scan().is_none() && m.large_scan().is_none()
        }),
        act: Act::Local(Model::look_at_file),
    },
    Command {
        name: "submit",
        keys: &[ENTER],
        label: "submit it",
        help: "Upload the file for a private scan",
        rank: 1,
        place: SUBMIT,
        when: When::Has("a file that has been looked at", |m| m.direct_scan().is_some()),
        act: Act::ask_anew(Model::direct_scan),
    },
    Command {
        name: "submit-large",
        keys: &[ENTER],
        label: "submit it",
        help: "Ask for an address that takes a large file, and upload it there for a private scan",
        rank: 1,
        place: SUBMIT,
        when: When::Has("a large file that has been looked at, and no other that is being sent", |m| {
            m.large_scan().is_some() && !m.calls.has(&Request::UploadAddress) && !m.is_form_sent()
        }),
        act: Act::Each { requests: |m| scans(m.large_scan()), price: Model::large_price, begin: Model::submit_large },
    },
    Command {
        name: "delete-at-service",
        keys: &[key('E')],
        label: "delete",
        help: "Delete the file at the service, with its reports or without, after a yes; what is held here stays",
        rank: 8,
        place: LIST,
        when: A_FILE,
        act: Act::Leads { to: Model::delete_at_service, price: |m| m.price_of_one(Kind::PrivateDelete) },
    },
];

/// The scan of a large file, as what a price is for.
fn scans(submission: Option<Arc<Submission>>) -> Questions {
    submission.map(|submission| Request::PrivateScan { submission, to: None }).into()
}

/// The scans of the file that is followed, as what a price is for.
fn followed(model: &Model) -> Questions {
    model.file().map(|file| Request::PrivateAnalyses { file: file.clone() }).into()
}

fn can_follow(model: &Model) -> bool {
    model.file().is_some() && model.following().is_none()
}

fn has_sandboxes(model: &Model) -> bool {
    model.list().is_some_and(|list| !list.entries().is_empty())
}

fn step(model: &mut Model, by: isize) -> Vec<crate::app::Effect> {
    if let Some(form) = model.submitting_mut() {
        form.step(by);
    }
    Vec::new()
}
