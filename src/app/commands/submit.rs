//! Commands on several files, on a running scan, on a file to submit or delete.

use crate::app::commands::Act::Local;
use crate::app::commands::context::A_SERVICE;
use crate::app::commands::{Act, When};
use crate::app::keys::place::{FILE, FOLLOWED, FORM, LIST, OPEN};
use crate::app::keys::{BACK_TAB, DOWN, ENTER, TAB, UP, key};
use crate::app::scan::SubmitForm;
use crate::app::scan::follow::followed;
use crate::app::{Command, Model, Place};
use crate::quota::Kind;
use crate::request::Request;

const SEVERAL_FILES: When = When::Has("several files that are open", |m| m.files.are_several());
const NOT_SENT: When = When::Has("a form that is not under way", |m| m.submitting().is_some() && !m.is_form_sent());
const A_FILE: When = When::Has("a file of the service's", |m| m.file().is_some());

commands! {
    "next-file" [key('J')] "next file", 8, FILE,
        "Show the next of the files that are open, as it was left"
        if SEVERAL_FILES => Local(|m| m.step_file(1));
    "file-before" [key('K')] "file before", 0, FILE,
        "Show the file before this one, among those that are open"
        if SEVERAL_FILES => Local(|m| m.step_file(-1));
    "close-file" [key('Q')] "close file", 0, FILE,
        "Close this file, and show another that is open; what is held stays held"
        if A_FILE => Local(Model::close_file);
    "follow" [key('W')] "follow", 5, LIST,
        "Follow the file's scan until its reports are there: a look now and then, each at a price, up to a limit"
        if When::Has("a file of which no sandbox is listed, and which is not followed", |m| {
            can_follow(m) && !has_sandboxes(m)
        }) => Act::Each { requests: followed, price: Model::follow_price, begin: Model::follow_if_cheap };
    "follow-on" [key('W')] "follow", 5, LIST,
        "Follow the file's scan though some of its reports are listed: says what that costs first"
        if When::Has("a file with sandboxes that is not followed", |m| can_follow(m) && has_sandboxes(m))
        => Act::Leads { to: Model::ask_to_follow, price: Model::follow_price };
    "following" [key('W')] "how far", 3, FILE,
        "Show how far the scan is that is followed: each sandbox, the next look, what it may still cost"
        if When::Has("a scan that is followed", |m| m.following().is_some())
        => Local(Model::show_following);
    "stop-following" [key('s')] "stop", 1, FOLLOWED,
        "Stop following the file's scan: nothing further is sent"
        if When::Has("a scan that is followed", |m| {
            let is_there = m.place() != Place::Sheet || m.shows_following();
            is_there && m.batch.is_none() && m.following().is_some()
        }) => Local(Model::stop_following);
    "submit-file" [key('U')] "submit", 7, OPEN,
        "Submit a file of this machine for a private scan: say which, and what the sandboxes are told; nothing is sent before its price is shown"
        if A_SERVICE => Act::Leads {
            to: |m| m.over.put(SubmitForm::empty()),
            price: |m| m.price_of_one(Kind::PrivateScan),
        };
    "next-field" [TAB, DOWN] "next field", 2, FORM,
        "Go to the next field of the form" if NOT_SENT => Local(|m| m.with_over(|form: &mut SubmitForm| form.step(1)));
    "field-before" [BACK_TAB, UP] "field before", 0, FORM,
        "Go to the field before" if NOT_SENT => Local(|m| m.with_over(|form: &mut SubmitForm| form.step(-1)));
    "look-at-file" [ENTER] "look at the file", 1, FORM,
        "Look at the file that is typed, and say what it would cost; nothing is sent"
        if When::Has("a file that has not been looked at", |m| {
            m.submitting().is_some() && m.direct_scan().is_none() && m.large_scan().is_none()
        }) => Local(Model::look_at_file);
    "submit" [ENTER] "submit it", 1, FORM,
        "Upload the file for a private scan"
        if When::Has("a file that has been looked at", |m| m.direct_scan().is_some())
        => Act::ask_anew(Model::direct_scan);
    "submit-large" [ENTER] "submit it", 1, FORM,
        "Ask for an address that takes a large file, and upload it there for a private scan"
        if When::Has("a large file that has been looked at, and no other that is being sent", |m| {
            m.large_scan().is_some() && !m.calls.has(&Request::UploadAddress) && !m.is_form_sent()
        })
        => Act::Each { requests: Model::large_requests, price: Model::large_price, begin: Model::submit_large };
    "delete-at-service" [key('E')] "delete", 8, LIST,
        "Delete the file at the service, with its reports or without, after a yes; what is held here stays"
        if A_FILE
        => Act::Leads { to: Model::delete_at_service, price: |m| m.price_of_one(Kind::PrivateDelete) };
}

fn can_follow(model: &Model) -> bool {
    model.file().is_some() && model.following().is_none()
}

fn has_sandboxes(model: &Model) -> bool {
    model.list().is_some_and(|list| !list.entries().is_empty())
}
