//! Prices every call, names its rule, and computes the quota left to the user and the group.
//!
//! ```text
//!  Operation ──┐
//!              ├─ price() ── RULES ──> Price ── settle(outcome) ──> Settlement
//!  Entitlements┘                         │
//!                                        v
//!  Balances (the service's counters)  ─ Plan::forecast ──> fits, or is short of what, until when
//! ```
//!
//! | word | meaning |
//! |---|---|
//! | [`Operation`] | a request to the service, with the numbers its price needs |
//! | [`Choice`] | a row of [`OPTIONS`]: gives operations a number, in planner and commands |
//! | [`Entitlements`] | the licences and features of the user, as far as known |
//! | [`PriceRule`] | one row of [`RULES`]: one sentence or table cell of §8 of the specification |
//! | [`Units`] | an amount of one unit, from minimum to maximum: of a price, a sum, or a cost |
//! | [`Price`] | the units of one pool before the call, with their rule and assumptions |
//! | [`Settlement`] | the cost of a call, as in the ledger and in errors |
//! | [`Balances`] | the service's counters, for the user and the group |
//! | [`Plan`] | several operations, whose sum is compared with the balances |
//! | [`Budget`] | the spending limits of the user |
//! | [`GroupBudget`] | a spending limit of the team |
//! | [`CallCost`] | what calls cost by person, day, operation and project |
//! | [`Projection`] | the use of a monthly limit at the end of the month |
//! | [`audit::Window`] | the time between two readings of a counter: predicted and counted units |
//!
//! Everything here is a pure function: no clock (time is an argument), no network, no files.
//! Money is `u64` and saturates; there are no floating-point numbers.

pub mod audit;
mod balance;
mod budget;
mod entitlement;
mod operation;
mod plan;
mod pool;
mod price;
mod rules;

pub use balance::{Balance, Balances, Counter, Limit, MINUTE_LIMIT, Projection, UnparsedPart, Usage};
pub use budget::{
    Budget, BudgetPeriod, CONFIRM_ABOVE, CallCost, CostGrouping, CostSum, GroupBudget, OverBudget, SpentUnits,
    TeamOverride, in_units,
};
pub use entitlement::{Entitlement, EntitlementSource, Entitlements, Uploads};
pub use operation::{Amount, Choice, Kind, Numbers, OPTIONS, Operation, split_words};
pub use plan::{Fit, Forecast, ForecastLine, Plan, UnitTotal};
pub use pool::{Holder, Period, Pool, Unit};
pub use price::{Basis, Outcome, Price, Settlement, State, Units, price};
pub use rules::{NO_LICENCE, PriceRule, RULES};

#[cfg(test)]
mod tests;
