//! `behaview call`: any question of the service that is typed in full.

use super::asking::{get, runtime, say_cost};
use super::output::{print_body, print_json};
use super::{Agreed, Common, FailureKind, Setup, dry, setup_to_spend};
use crate::app::{ASKS, Ask};
use crate::gate::submission::look_at;
use crate::quota::Entitlements;
use crate::request::{Request, UploadLimit};
use crate::text::moment;
use clap::Args;
use std::io::Read;

/// The longest list of what is asked about that is taken, in bytes.
const LONGEST_INPUT: u64 = 1 << 20;

#[derive(Debug, Args)]
#[command(after_help = names())]
pub(super) struct Call {
    /// Name of the question
    name: String,
    /// What it asks about: hashes, an identifier, a path; - for standard input
    input: Vec<String>,
    /// Ask the service even if the answer is held
    #[arg(long)]
    refresh: bool,
    #[command(flatten)]
    agreed: Agreed,
}

/// The questions by name, for the help.
fn names() -> String {
    let rows = ASKS.iter().map(|ask| {
        format!("  {:<20} {}: {}\n", ask.name, ask.help, if ask.input.is_empty() { "nothing" } else { ask.input })
    });
    format!(
        "Into a file or pipe goes the answer as it was received, the key redacted.\n\nQuestions, with what each is asked about:\n{}\nExamples:\n  behaview call v3-quotas\n  behaview call v2-file-report --dry-run d41d8cd98f00b204e9800998ecf8427e",
        rows.collect::<String>()
    )
}

impl Call {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let known = || ASKS.iter().map(|ask| ask.name).collect::<Vec<_>>().join(", ");
        let ask = Ask::named(&self.name)
            .ok_or_else(|| FailureKind::Usage.error(format!("there is no such question; there are {}", known())))?;
        if ask.input.is_empty() && !self.input.is_empty() {
            fail!(Usage, "nothing was sent. {} is asked about nothing: leave out what stands behind it", ask.name);
        }
        let setup = setup_to_spend(common, self.agreed.spending)?;
        let request = (ask.make)(&self.typed()?, setup.gate.now());
        let request = request.map_err(|why| FailureKind::Usage.error(format!("{}: {why}", ask.name)))?;
        let request = looked_at(&setup, request);
        if let Some(when) = request.publishes().map(|_| setup.gate.unanswered(&request)).transpose()?.flatten() {
            let when = moment(when);
            super::store::say(&[format!(
                "the same was sent on {when} already: it may have arrived, and been charged. This sends it again."
            )]);
        }
        if self.agreed.spending.dry_run {
            return dry::print(&setup, vec![request], self.refresh, None, self.agreed.json);
        }
        self.agreed.check(&request)?;
        let answer = runtime()?.block_on(get(&setup, &request, self.refresh))?;
        say_cost(&setup.gate)?;
        if request == Request::User {
            // The user object holds the key: nothing but the privileges is printed.
            let user = serde_json::from_slice(&answer.body);
            let user = user.map_err(|_| FailureKind::BadAnswer.error("the answer is no user object"))?;
            let found = Entitlements::from_user(&user);
            return print_json(&serde_json::json!({
                "premium_api": found.premium_api.held(),
                "premium_intelligence": found.premium_intelligence.held(),
            }));
        }
        print_body(&answer.body)
    }

    /// What was typed behind the name.
    fn typed(&self) -> anyhow::Result<String> {
        if self.input != ["-"] {
            return Ok(self.input.join(" "));
        }
        let mut text = String::new();
        std::io::stdin().lock().take(LONGEST_INPUT + 1).read_to_string(&mut text)?;
        if text.len() as u64 > LONGEST_INPUT {
            let most = crate::text::bytes(LONGEST_INPUT);
            fail!(Usage, "standard input gives more than {most}, which names nothing");
        }
        Ok(text.trim().to_owned())
    }
}

/// The same of a file as it is now, by which it is known whether it was sent before. Of one that cannot be sent the gate says why.
fn looked_at(setup: &Setup, request: Request) -> Request {
    let Request::V2Scan { path, file: None } = request else { return request };
    let file = look_at(&path, setup.gate.client().profile().largest(UploadLimit::Direct), &|| true).ok();
    Request::V2Scan { path, file }
}
