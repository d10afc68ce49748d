//! The user behind the key, quotas and usage (§8.3).

use jiff::ToSpan;
use jiff::civil::Date;
use serde_json::json;

use super::Context;
use crate::demo::answers::{self, Answer, Refusal};
use crate::demo::counters::GROUP;

/// The longest stretch a usage call covers, in days, and how many days back it reaches.
const LONGEST_STRETCH: i32 = 30;
const KEPT: i32 = 60;

pub(super) fn user(id: &str, context: &Context) -> Result<Answer, Refusal> {
    check(id, context)?;
    let name = context.service.user();
    let attributes = json!({
        // As the service does: who reads this object holds the key in hand.
        "apikey": context.service.key(),
        "first_name": "Robin",
        "last_name": "Example",
        "status": "active",
        "user_since": 1_704_103_200,
        "reputation": 1,
        "privileges": {
            "private": { "granted": true, "inherited_from": GROUP },
            "intelligence": { "granted": true, "inherited_from": GROUP },
            "privatescan": { "granted": context.service.options.licence },
            "admin": { "granted": false },
        },
    });
    Ok(answers::object("user", name, &context.link(&format!("users/{name}")), &attributes))
}

pub(super) fn quotas(id: &str, context: &Context) -> Result<Answer, Refusal> {
    check(id, context)?;
    Ok(answers::json(&context.books.counters.quotas(context.service.options.licence)))
}

pub(super) fn usage(id: &str, first: Option<Date>, last: Option<Date>, context: &Context) -> Result<Answer, Refusal> {
    check(id, context)?;
    let today = context.books.clock.now().date();
    let last = last.unwrap_or(today);
    let first = first.unwrap_or_else(|| last.saturating_sub((LONGEST_STRETCH - 1).days()));
    let days = (last - first).get_days() + 1;
    if !(1..=LONGEST_STRETCH).contains(&days) {
        return Err(Refusal::bad_argument(format!("a call covers 1 to {LONGEST_STRETCH} days")));
    }
    let kept = today.saturating_sub(KEPT.days());
    Ok(answers::json(&context.books.counters.usage(first.max(kept), last)))
}

/// A user is named by name or by key, and only sees itself.
fn check(id: &str, context: &Context) -> Result<(), Refusal> {
    let is_self = id == context.service.user() || id == context.service.key();
    if is_self { Ok(()) } else { Err(Refusal::new(404, "NotFoundError", "User not found")) }
}
