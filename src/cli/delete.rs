//! `behaview delete`: the end of a private file at the service.

use super::asking::{get, runtime, say_cost};
use super::output::print_json;
use super::{Agreed, Common, dry, parse_sha256, setup_to_spend};
use crate::request::Request;
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  file=57874b32c2596f25db81f780cb7ae5bd2277ff9ca0176b87fecf2352ec56938c
  behaview delete --dry-run $file
  behaview delete --yes --file-only $file

What is held on this machine stays; behaview held deletes that.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Delete {
    /// SHA-256 of the private file
    sha256: String,
    /// Delete the file alone: its reports and scans stay at the service until they expire
    #[arg(long)]
    file_only: bool,
    #[command(flatten)]
    agreed: Agreed,
}

impl Delete {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let (file, only_from_storage) = (parse_sha256(&self.sha256)?, self.file_only);
        let request = Request::PrivateDelete { file, only_from_storage };
        let setup = setup_to_spend(common, self.agreed.spending)?;
        if self.agreed.spending.dry_run {
            return dry::print(&setup, vec![request], true, None, self.agreed.json);
        }
        self.agreed.check(&request)?;
        runtime()?.block_on(get(&setup, &request, true))?;
        say_cost(&setup.gate)?;
        let deleted = if only_from_storage { "file" } else { "file and reports" };
        print_json(&serde_json::json!({ "file": self.sha256.trim().to_ascii_lowercase(), "deleted": deleted }))
    }
}
