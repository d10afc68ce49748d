//! Finding: filters, hits over all panes and over everything that is held, and the way there and back.

pub mod finder;
pub mod finding;
pub(super) mod returning;
pub mod sought;
