//! What every call costs, by which rule, and what it leaves to the user and the group.
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
//! | [`Operation`] | something that can be asked of the service, with the numbers its price needs |
//! | [`Choice`] | one row of [`OPTIONS`]: an option that gives operations a number, in the planner and on the command line |
//! | [`Entitlements`] | what the user has bought, as far as it is known |
//! | [`Rule`] | one row of [`RULES`]: one sentence or table cell of §8 of the specification |
//! | [`Price`] | units of one pool, before the call: exact, a range, or so many per item returned |
//! | [`Settled`] | the same as a number, after the call |
//! | [`Balances`] | the service's own counters, for the user and the group |
//! | [`Plan`] | several operations added up, to be compared with the balances |
//! | [`Budget`] | what the user wants to spend at most |
//! | [`audit::Window`] | the time between two looks at a counter: what was predicted beside what was counted |
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
pub use balance::{Balance, Balances, Counter, Limit, PRACTICALLY_UNLIMITED, Remainder, SetAside};
pub use budget::{Budget, OverBudget, Span, Spent, in_units};
pub use entitlement::{Entitlement, Entitlements, Source, Uploads};
pub use numbers::Numbers;
pub use operation::{Kind, Operation};
pub use options::{Choice, OPTIONS};
pub use plan::{Fit, Forecast, Item, Line, Plan, Total};
pub use pool::{Holder, Period, Pool, Unit};
pub use price::{Allowed, Basis, Outcome, Price, Returned, Settled, Units, Verdict};
pub use pricing::{price, rule_for};
pub use rules::{Effect, RULES, Rule, rule};
pub use usage::Usage;

#[cfg(test)]
mod tests;
