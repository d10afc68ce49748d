//! `behaview doctor`: checks config, key, store and terminal, and gives advice. Sends nothing
//! except, on request, the free call for the service's counters.

use super::counters::fetch_balances;
use super::*;
use crate::service::ProxyRoute;
use crate::service::credential::{Credential, VARIABLES};

/// Maximum clock difference without a remark, in seconds.
const MAX_CLOCK_DIFFERENCE_S: i64 = 60;

#[derive(Debug, Args)]
#[command(after_help = examples("doctor"))]
pub(super) struct DoctorArgs {
    /// Fetch the service's counters too (free), to check key, licence, network and clock; connect
    /// to the team store
    #[arg(long)]
    online: bool,
    #[command(flatten)]
    form: FormatFlags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Health {
    Ok,
    Warning,
    /// It prevents a feature from working.
    Error,
}

#[derive(Debug, Serialize)]
pub(super) struct Check {
    name: &'static str,
    status: Health,
    text: String,
    advice: Option<String>,
    #[serde(skip)]
    kind: FailureKind,
}

pub(super) fn good(name: &'static str, text: impl Into<String>) -> Check {
    Check { name, status: Health::Ok, text: text.into(), advice: None, kind: FailureKind::Other }
}

pub(super) fn warning(name: &'static str, text: impl Into<String>, advice: &str) -> Check {
    Check { status: Health::Warning, advice: Some(advice.to_owned()), ..good(name, text) }
}

pub(super) fn wrong(name: &'static str, kind: FailureKind, text: impl Into<String>, advice: &str) -> Check {
    Check { status: Health::Error, kind, ..warning(name, text, advice) }
}

impl DoctorArgs {
    pub(super) fn run(&self, common: &Common) -> Result<()> {
        print_checks(self.form.json, &self.checks(common))
    }

    fn checks(&self, common: &Common) -> Vec<Check> {
        let folders = match Folders::find() {
            Ok(folders) => folders,
            Err(error) => return vec![wrong("config", FailureKind::Other, error.to_string(), "set HOME")],
        };
        let config = common.config();
        let mut checks = match &config {
            Ok((_, config)) => vec![file(&folders), service(config), key(config)],
            Err(error) => {
                let advice = "correct it; until then nothing else runs";
                vec![wrong("config", exit::kind_of(error), format!("{error:#}"), advice)]
            }
        };
        checks.extend([terminal(), store(&folders)]);
        checks.extend(config.iter().flat_map(|(_, config)| super::team::checks(config, self.online)));
        if config.is_ok() && self.online {
            checks.extend(online(common));
        }
        checks
    }
}

/// Prints checks; fails if one found something wrong.
pub(super) fn print_checks(as_json: bool, checks: &[Check]) -> Result<()> {
    print(as_json, &checks, || text(checks))?;
    let wrong: Vec<_> = checks.iter().filter(|check| check.status == Health::Error).collect();
    let Some(first) = wrong.first() else { return Ok(()) };
    let message = format!("{} of {} checks found something wrong, first: {}", wrong.len(), checks.len(), first.name);
    Err(first.kind.error(message).into())
}

fn file(folders: &Folders) -> Check {
    let path = text::path(&folders.config);
    match Config::check(&folders.config).as_deref() {
        Ok([]) if folders.config.exists() => good("config", path.to_string()),
        Ok([]) => good("config", format!("{path} is not there: defaults hold; behaview config init makes one")),
        Ok([first, ..]) => {
            let found = format!("{path}:{}: {}", first.line, first.message);
            wrong("config", FailureKind::Config, found, "behaview config check names every mistake")
        }
        Err(error) => wrong("config", FailureKind::Config, error.to_string(), "see who may read it"),
    }
}

fn service(config: &Config) -> Check {
    let checked = config.profile().map_err(anyhow::Error::from).and_then(|profile| {
        let url = profile.check()?;
        Ok((format!("{}: {url}", profile.name), ProxyRoute::of(&profile, &url)))
    });
    match checked {
        Ok((name, Ok(ProxyRoute::Direct))) => good("service", name),
        Ok((name, Ok(way))) => good("service", format!("{name}, {}", way.label())),
        Ok((name, Err(error))) => {
            wrong("service", FailureKind::Network, format!("{name}: {error}"), "correct the variable")
        }
        Err(error) => wrong("service", FailureKind::Config, error.to_string(), "correct it in the config file"),
    }
}

/// Returns the source of the key. Does not run a command for it.
fn key(config: &Config) -> Check {
    let is_variable = VARIABLES.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if let Some(place) = config.key_place().filter(|_| !is_variable) {
        return good("key", format!("from {place}"));
    }
    match Credential::find(&variable, None, None, crate::config::home().as_deref()) {
        Ok(Some(found)) => good("key", format!("from {}", found.source())),
        Err(error) => wrong("key", FailureKind::Key, error.to_string(), "correct it there"),
        Ok(None) => {
            let advice = "set BEHAVIEW_API_KEY, or api_key_command in the config file (behaview config init writes one to \
                          fill in); behaview demo needs none";
            wrong("key", FailureKind::Key, "there is none", advice)
        }
    }
}

fn store(folders: &Folders) -> Check {
    let path = &folders.store;
    let shown = text::path(path);
    let advice = "see who may write to it and to its folder, and whether its disk may only be read";
    if path.symlink_metadata().is_err() {
        let found = format!("{shown} does not exist yet: nothing is stored");
        let may_write = files::may_write_in(path);
        return if may_write { good("store", found) } else { wrong("store", FailureKind::Other, found, advice) };
    }
    match Store::open(path) {
        Err(error) => wrong("store", FailureKind::Other, error.to_string(), advice),
        Ok(Store { notice: Some(notice), .. }) => warning("store", notice, "behaview quota compares the ledger"),
        Ok(_) => good("store", format!("{shown}; sound")),
    }
}

/// Sends the free request for the quota counters, which tests key, licence, network and clock.
fn online(common: &Common) -> Vec<Check> {
    let online = setup(common, Spending::default()).and_then(|setup| Ok((fetch_balances(&setup)?, setup)));
    let (balances, setup) = match online {
        Ok(online) => online,
        Err(error) => {
            let advice = exit::advice(&error).unwrap_or_default();
            return vec![wrong("online", exit::kind_of(&error), format!("{error:#}"), &advice)];
        }
    };
    let licence = match Entitlements::from_balances(&balances).updated(setup.entitled).private_scanning.is_granted() {
        Some(false) => {
            let advice = "ask the group's administrator";
            return vec![wrong("online", FailureKind::Refused, "no private scanning licence", advice)];
        }
        Some(true) => "private scanning",
        None => "the counters do not show private scanning",
    };
    let clock = match setup.gateway.behind().map(|behind| behind.as_secs()) {
        None => good("clock", "the service's response had no time"),
        Some(behind) if behind.abs() > MAX_CLOCK_DIFFERENCE_S => {
            let found = format!("{} s {} the service's", behind.abs(), if behind > 0 { "behind" } else { "ahead of" });
            warning("clock", found, "set it: the ledger's days depend on it")
        }
        Some(_) => good("clock", "as the service's"),
    };
    vec![good("online", format!("the service accepts the key; {licence}")), clock]
}

fn text(checks: &[Check]) -> String {
    let rows = checks.iter().flat_map(|Check { name, status, text, advice, .. }| {
        let sign = match status {
            Health::Ok => "ok",
            Health::Warning => "warning",
            Health::Error => "WRONG",
        };
        let advice = advice.as_ref().map(|advice| [String::new(), String::new(), format!("→ {}", to_visible(advice))]);
        [[sign.to_owned(), (*name).to_owned(), to_visible(text).to_string()]].into_iter().chain(advice)
    });
    table(["", "check", "found"], rows)
}

fn terminal() -> Check {
    match runtime::terminal_size() {
        None => good("terminal", "none here; the commands for scripts need none"),
        Some((wide, high)) if wide < 40 || high < 10 => {
            warning("terminal", format!("{wide} x {high}"), "40 x 10 is the least, 80 x 24 is enough")
        }
        Some((wide, high)) => good("terminal", format!("{wide} x {high}")),
    }
}
