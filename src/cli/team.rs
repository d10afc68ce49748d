//! `behaview team`: sets up and checks the team store, and prints its contents. Calls no service.

use super::about::{Check, good, print_checks, warning, wrong};
use super::output::kind_of_team;
use super::store::age;
use super::*;
use crate::quota::{GroupBudget, Period};
use crate::team::{RemovedResponses, Team, TeamError, TeamRetention, TeamRole, TeamShare};
use clap::ArgGroup;

#[derive(Debug, Args)]
#[command(mut_subcommands(short_help), after_help = examples("team"))]
pub(super) struct TeamArgs {
    #[command(subcommand)]
    command: TeamCommand,
}

#[derive(Debug, Subcommand)]
enum TeamCommand {
    /// Make the tables and roles in the database of team.url, or update them; its user must be
    /// allowed to
    Init,
    /// Check the connection, the tables, and the user's role, and give advice
    #[command(after_help = examples("team check"))]
    Check(FormatFlags),
    /// Print what is shared: responses, reports and sizes by person
    Status(FormatFlags),
    /// Print what the group may spend in a day and a month, or set it as a lead
    #[command(after_help = examples("team budget"))]
    Budget(BudgetArgs),
    /// Remove the oldest shared responses, as a lead
    #[command(after_help = examples("team remove"))]
    Remove(RetentionArgs),
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("items").required(true).args(["older_than", "down_to_mib"]))]
struct RetentionArgs {
    /// Remove what was shared earlier, such as 90d or 12h
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Option<SignedDuration>,
    /// Remove all but the newest, up to this size
    #[arg(long, value_name = "MIB")]
    down_to_mib: Option<u32>,
    #[command(flatten)]
    form: FormatFlags,
    /// Remove them; without it nothing is removed
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, Args)]
struct BudgetArgs {
    /// The budget to set: day or month (UTC)
    #[arg(value_parser = PossibleValuesParser::new([Period::Daily, Period::Monthly].map(Period::noun)), requires = "units")]
    period: Option<String>,
    /// Units that the group may spend in it, or none for no limit
    units: Option<String>,
    /// Of these, units that are spent for incidents only
    #[arg(long, value_name = "N", requires = "units", default_value_t = 0)]
    reserve: u64,
    #[command(flatten)]
    form: FormatFlags,
}

impl TeamArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let (folders, config) = common.config()?;
        match self.command {
            TeamCommand::Check(form) => print_checks(form.json, &checks(&config, true)),
            TeamCommand::Init => init(&team(&config)?),
            TeamCommand::Budget(arguments) => arguments.run(&team(&config)?, &service_of(&config.profile()?)),
            TeamCommand::Remove(args) => args.run(&team(&config)?),
            TeamCommand::Status(form) => status(form.json, &team(&config)?, &folders, &config),
        }
    }
}

impl RetentionArgs {
    fn run(&self, team: &Team) -> Result<()> {
        let retention = match (self.older_than, self.down_to_mib) {
            (Some(age), _) => TeamRetention::Before(crate::clock::now().saturating_sub(age)?),
            (None, most) => TeamRetention::DownTo(u64::from(most.unwrap_or(u32::MAX)) << 20),
        };
        let runtime = runtime()?;
        let removed = runtime.block_on(team.find_removed(retention))?;
        if self.yes {
            runtime.block_on(team.remove(removed))?;
        }
        let RemovedResponses { responses, bytes: size, .. } = removed;
        let shown = json!({"done": self.yes, "responses": responses, "bytes": size});
        print(self.form.json, &shown, || {
            let verb = if self.yes { "Removed" } else { "Would be removed" };
            format!("{verb} from {}: {}, {}\n", team.label(), count(responses, "response"), bytes(size))
        })?;
        if !self.yes {
            fail!(Usage, "nothing was removed: --yes removes them");
        }
        Ok(())
    }
}

pub(super) fn team(config: &Config) -> Result<Team> {
    config.team()?.ok_or_else(|| FailureKind::Usage.error("team.url is not set; behaview help team").into())
}

fn init(team: &Team) -> Result<()> {
    let version = runtime()?.block_on(team.init())?;
    print_text(&format!(
        "{}: the tables have version {version}. Give each person a role, in the database:\n  CREATE ROLE ana LOGIN PASSWORD '...' IN \
         ROLE behaview_analyst;\nThe other roles: behaview_reader reads only, behaview_lead sees what everyone spent.\n",
        team.label()
    ))
}

/// Returns the checks of the team store; without `connects` only those of the config.
pub(super) fn checks(config: &Config, connects: bool) -> Vec<Check> {
    let team = match config.team() {
        Err(error) => return vec![wrong("team", kind_of_team(&error), error.to_string(), "behaview help team")],
        Ok(None) => return vec![good("team", "none: nothing is shared (team.url is not set)")],
        Ok(Some(team)) => team,
    };
    let is_shared = config.profile().is_ok_and(|profile| profile.share) && config.is_persistent();
    let label = team.label();
    let address = match is_shared {
        true => good("team", label),
        false => warning(
            "team",
            format!("{label}; this profile shares nothing"),
            "share = true and store.persist = true share",
        ),
    };
    if !connects {
        return vec![address];
    }
    let role = runtime().map_err(|error| TeamError::Failed(error.to_string()));
    let (role, is_older) = match role.and_then(|runtime| runtime.block_on(team.role())) {
        Ok(found) => found,
        Err(error) => {
            return vec![address, wrong("team store", kind_of_team(&error), error.to_string(), advice(&error))];
        }
    };
    let found = format!("role {}: {}", role.name(), role.label());
    let role = match role {
        TeamRole::Nothing => wrong("team store", FailureKind::Refused, found, ASK_FOR_ROLE),
        TeamRole::Reader => warning("team store", found, ASK_FOR_ROLE),
        TeamRole::Analyst | TeamRole::Lead if is_older => warning(
            "team store",
            format!("{found}; its tables are older than this program"),
            "behaview team init updates them",
        ),
        TeamRole::Analyst | TeamRole::Lead => good("team store", found),
    };
    vec![address, role]
}

const ASK_FOR_ROLE: &str = "to share, ask for GRANT behaview_analyst TO the user";

fn advice(error: &TeamError) -> &'static str {
    match error {
        TeamError::Unreachable(_) => {
            "see that the server runs and its certificate is for this host: team.ca_file trusts an authority of your own"
        }
        TeamError::Rejected(_) => "see user, database and password: in team.url, PGPASSWORD or ~/.pgpass",
        TeamError::Denied(_) => ASK_FOR_ROLE,
        TeamError::NoSchema => "behaview team init makes the tables, as a user who may",
        _ => "behaview help team",
    }
}

impl BudgetArgs {
    fn run(self, team: &Team, service: &str) -> Result<()> {
        let runtime = runtime()?;
        if let Some((period, units)) = self.period.zip(self.units) {
            let limit = units.parse::<u64>().ok();
            if limit.map_or(units != "none", |limit| limit < self.reserve) {
                fail!(Usage, "expected a number of units, not less than the reserve, or none");
            }
            let period = if period == Period::Monthly.noun() { Period::Monthly } else { Period::Daily };
            runtime.block_on(team.set_budget(service, period, limit.map(|limit| (limit, self.reserve))))?;
        }
        let budgets = runtime.block_on(team.budgets(service))?;
        print(self.form.json, &json!({"budgets": budgets}), || {
            let cells = |budget: &GroupBudget| {
                let GroupBudget { limit, reserve, spent, .. } = *budget;
                let [limit, reserve, spent, left] = [limit, reserve, spent, limit.saturating_sub(spent)].map(thousands);
                [budget.period.noun().to_owned(), limit, reserve, spent, left]
            };
            match budgets.is_empty() {
                true => "The group has no budget; a lead sets it: behaview team budget month 1000\n".to_owned(),
                false => table(["period", ">limit", ">for incidents", ">spent", ">left"], budgets.iter().map(cells)),
            }
        })
    }
}

fn status(as_json: bool, team: &Team, folders: &Folders, config: &Config) -> Result<()> {
    let shares = runtime()?.block_on(team.shares())?;
    let waiting = open_for_reading(&folders.store)?.unshared(&service_of(&config.profile()?))?.len() as u64;
    let sum = |of: fn(&TeamShare) -> u64| shares.iter().map(of).sum::<u64>();
    let responses = sum(|share| share.responses);
    let reports = sum(|share| share.reports);
    let size = sum(|share| share.bytes);
    let shown = json!({
        "store": team.label(),
        "responses": responses,
        "reports": reports,
        "bytes": size,
        "people": shares,
        "latest_at": shares.first().map(|share| share.latest),
        // Responses of this machine that are shared with the next call.
        "waiting": waiting,
    });
    print(as_json, &shown, || {
        let row = |share: &TeamShare| {
            [
                share.person.visible().to_string(),
                thousands(share.responses),
                thousands(share.reports),
                bytes(share.bytes),
                share.latest.strftime("%F %H:%M").to_string(),
            ]
        };
        let rows = table(["person", ">responses", ">reports", ">size", "latest (UTC)"], shares.iter().map(row));
        let rows = if shares.is_empty() { "Nothing is shared yet.\n".to_owned() } else { rows };
        let all = format!("{}, {}, {}", count(responses, "response"), count(reports, "report"), bytes(size));
        format!("{rows}{}: {all}; {waiting} of this machine to be shared\n", team.label())
    })
}
