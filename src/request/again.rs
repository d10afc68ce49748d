//! The cost of fetching deleted items again.

use super::Request;
use crate::quota::{Entitlements, price};
use crate::report::{Held, Holding, Retention};
use crate::text::{count, thousands};
use jiff::Timestamp;

/// The hint for imports, which do not come from a service.
const IMPORTED: &str = "What was imported is had again by importing it: the service is not asked.";

/// The cost of fetching these things again: reports are fetched one by one.
pub fn again(things: &[&Holding], entitlements: &Entitlements, now: Timestamp) -> String {
    let reports = || things.iter().copied().filter(|thing| thing.report().is_some());
    let fetched: Vec<_> = reports().filter(|thing| !thing.is_import()).collect();
    let has_imported = reports().any(|thing| thing.is_import());
    let has_others = things.iter().any(|thing| matches!(thing.what, Held::Answer { .. }));
    let fetching = (!fetched.is_empty()).then(|| fetching(&fetched, entitlements, now));
    let asking = match (&fetching, has_others) {
        (_, false) => None,
        (None, true) => Some("To ask the same again costs what it costs.".to_owned()),
        (Some(_), true) => Some("To ask for the other answers again costs what it costs, beside that.".to_owned()),
    };
    let words = fetching.into_iter().chain(asking).chain(has_imported.then(|| IMPORTED.to_owned()));
    words.collect::<Vec<_>>().join(" ")
}

fn fetching(reports: &[&Holding], entitlements: &Entitlements, now: Timestamp) -> String {
    let units = |thing: &&Holding| {
        let identifier = thing.report()?.clone();
        price(&Request::Behaviour { identifier }.operation(), entitlements).units.max
    };
    let units = reports.iter().filter_map(units).fold(0, u64::saturating_add);
    let is_gone = |thing: &&&Holding| matches!(thing.retention(now), Some(Retention::Gone(_)));
    let gone = reports.iter().filter(is_gone).count();
    // One list may return several of them.
    let most = if reports.len() > 1 { "at most " } else { "" };
    let requests = count(units, "request");
    match gone {
        0 => format!("To fetch again: {most}{requests}, if the service still has it."),
        all if all == reports.len() => "The service has deleted all of it: it cannot be fetched again.".to_owned(),
        gone => format!(
            "To fetch again: {most}{requests}, if the service still has it; {} it has deleted for certain.",
            thousands(gone as u64)
        ),
    }
}
