//! What commands take that may cost something, or that want a yes.

use super::Failed;
use crate::request::Request;
use clap::Args;

/// What a command takes that may cost something.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(super) struct Spending {
    /// Send nothing that may bring the cost of this run above N
    #[arg(long, value_name = "N")]
    pub(super) max_cost: Option<u64>,
    /// Say what it would cost, and send nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// What a command takes that asks for something which may want a yes, and prints JSON.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Agreed {
    /// Send it also where others can see it, nobody can take it back, or it may have arrived before; without --yes that is refused
    #[arg(long)]
    yes: bool,
    /// Print JSON, as it is always done; a dry run prints it too
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) spending: Spending,
}

impl Agreed {
    /// Whether it may be sent: a question that warns wants a yes.
    pub(super) fn check(self, request: &Request) -> Result<(), Failed> {
        self.check_warned(request.warning().as_deref())
    }

    /// The same for what was found out about it.
    pub(super) fn check_warned(self, why: Option<&str>) -> Result<(), Failed> {
        match why {
            Some(why) if !self.yes => Err(Failed::usage(format!("nothing was sent. {why} --yes sends it"))),
            _ => Ok(()),
        }
    }
}
