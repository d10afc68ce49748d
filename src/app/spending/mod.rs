//! What asks the service: its price before, the limit on it, the yes to it, what is under way, and what was spent.

pub mod allowance;
pub(super) mod asking;
pub mod asks;
pub mod batch;
pub mod calls;
pub mod confirm;
pub(super) mod counters;
pub mod figures;
pub(super) mod large;
pub mod ledger;
pub(super) mod offers;
pub mod planner;
pub mod price;
pub mod prompt;
pub mod questions;
