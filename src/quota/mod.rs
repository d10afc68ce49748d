//! Prices every call, names the rule that applies, and computes the quota left to the user and the
//! group.
//!
//! ```text
//!  Operation ──┐
//!              ├─ price() ── RULES ──> Price ── settle(outcome) ──> Settled
//!  Entitlements┘                         │
//!                                        v
//!  Balances (what the service counts) ─ Plan::forecast ──> fits, or is short of what, until when
//! ```
//!
//! | word | meaning |
//! |---|---|
//! | [`Operation`] | a request to the service, with the numbers its price needs |
//! | [`Choice`] | one row of [`OPTIONS`]: an option that gives operations a number, in the planner and on the command line |
//! | [`Entitlements`] | the licences and features of the user, as far as known |
//! | [`PriceRule`] | one row of [`RULES`]: one sentence or table cell of §8 of the specification |
//! | [`Price`] | units of one pool, before the call: exact, a range, or per item returned |
//! | [`Settled`] | the cost after the call |
//! | [`Balances`] | the service's own counters, for the user and the group |
//! | [`Plan`] | several operations added up, to be compared with the balances |
//! | [`Budget`] | the spending limits of the user |
//! | [`audit::Window`] | the time between two readings of a counter: predicted and counted units |
//!
//! Everything here is a pure function: no clock (time is an argument), no network, no files.
//! Money is `u64` and saturates; there are no floating-point numbers.

mod amount;
pub mod audit;
mod balance;
mod budget;
mod entitlement;
mod numbers;
mod operation;
mod options;
mod plan;
mod pool;
mod price;
mod pricing;
mod rules;
mod usage;

pub use amount::{Amount, words};
pub use balance::{Balance, Balances, Counter, Limit, MINUTE_LIMIT, PRACTICALLY_UNLIMITED, Remainder, SetAside};
pub use budget::{Budget, OverBudget, Span, Spent, in_units};
pub use entitlement::{Entitlement, EntitlementSource, Entitlements, Privileges, Uploads};
pub use numbers::Numbers;
pub use operation::{Kind, Operation};
pub use options::{Choice, OPTIONS};
pub use plan::{Fit, Forecast, ForecastLine, Plan, PlannedItem, Total};
pub use pool::{Holder, Period, Pool, Unit};
pub use price::{Allowed, Basis, Outcome, Price, Returned, Settled, Units, Verdict};
pub use pricing::{price, rule_for};
pub use rules::{NO_LICENCE, PriceRule, RULES, RuleEffect, rule};
pub use usage::Usage;

#[cfg(test)]
mod tests;
