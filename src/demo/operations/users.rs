//! The user behind the key, quotas and usage (§8.3).

use jiff::ToSpan;
use jiff::civil::Date;
use serde_json::json;

use super::Context;
use crate::demo::answers::{Answer, AnswerResult};
use crate::demo::counters::GROUP;

/// The most days a usage call covers, and how many days back it reaches.
const MAX_DAYS: i32 = 30;
const DAYS_RECORDED: i32 = 60;

pub(super) fn user(id: &str, context: &Context) -> AnswerResult {
    check(id, context)?;
    let name = &context.service.options.user;
    let attributes = json!({
        // As the service does: a client that reads this object has the key already.
        "apikey": context.service.key,
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
    Ok(Answer::object("user", name, &context.link(&format!("users/{name}")), &attributes))
}

pub(super) fn quotas(id: &str, context: &Context) -> AnswerResult {
    check(id, context)?;
    Ok(Answer::json(context.state.counters.quotas(context.service.options.licence).to_string()))
}

pub(super) fn usage(id: &str, context: &Context) -> AnswerResult {
    check(id, context)?;
    let today = context.state.clock.now().date();
    let last = day("end_date", context)?.unwrap_or(today);
    let first = day("start_date", context)?.unwrap_or_else(|| last.saturating_sub((MAX_DAYS - 1).days()));
    let days = (last - first).get_days() + 1;
    if !(1..=MAX_DAYS).contains(&days) {
        return Err(Answer::bad_argument(format!("a call covers 1 to {MAX_DAYS} days")));
    }
    let earliest = today.saturating_sub(DAYS_RECORDED.days());
    Ok(Answer::json(context.state.counters.usage(first.max(earliest), last).to_string()))
}

fn day(name: &str, context: &Context) -> Result<Option<Date>, Answer> {
    let parse = |text: &str| {
        Date::strptime("%Y%m%d", text).map_err(|_| Answer::bad_argument(format!("\"{text}\" is not YYYYMMDD")))
    };
    context.call.value(name).map(parse).transpose()
}

/// A user is named by name or by key, and only sees itself.
fn check(id: &str, context: &Context) -> Result<(), Answer> {
    let is_self = id == context.service.options.user || id == context.service.key;
    if is_self { Ok(()) } else { Err(Answer::error(404, "NotFoundError", "User not found")) }
}
