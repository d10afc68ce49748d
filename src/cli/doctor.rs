//! `behaview doctor`: checks config, key, store and terminal, and gives advice. Sends nothing
//! except, on request, the free call for the service's counters.

use super::counters::ask_balances;
use super::output::{Table, print_json, print_text};
use super::{Common, FailureKind, exit, setup};
use crate::config::{Config, FILE_VARIABLE, Folders, SETTINGS};
use crate::environment::variable;
use crate::files;
use crate::quota::Entitlements;
use crate::runtime;
use crate::service::ProxyRoute;
use crate::service::credential::{Configured, Credential, VARIABLES};
use crate::store::Store;
use crate::text::{self, bytes, said};
use clap::Args;
use serde::Serialize;

/// Minimum free space without a remark, in bytes.
const LITTLE_SPACE: u64 = 256 << 20;

/// Maximum clock difference without a remark, in seconds: with more, the days of ledger and service
/// would differ.
const MOST_BEHIND: i64 = 60;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  behaview doctor\n  behaview doctor --online --json\n\nWhere something is wrong, the exit code is \
                  that of the first such line: 3 without a key, 4 without a licence, 8 where the service cannot be reached, \
                  14 for the config, 1 for anything else."
)]
pub(super) struct DoctorArgs {
    /// Ask for the service's counters too, which costs nothing, to see that key, licence, network and clock are right
    #[arg(long)]
    online: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How a check turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Health {
    Good,
    /// It works, but not optimally.
    Odd,
    /// It prevents a feature from working.
    Wrong,
}

/// One line of the output.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    #[serde(flatten)]
    finding: CheckResult,
}

/// The result of a check.
#[derive(Debug, Serialize)]
struct CheckResult {
    health: Health,
    found: String,
    /// Empty if there is nothing to do.
    advice: String,
    /// Kind of failure if something is wrong.
    #[serde(skip)]
    kind: FailureKind,
}

fn good(found: impl Into<String>) -> CheckResult {
    CheckResult { health: Health::Good, found: found.into(), advice: String::new(), kind: FailureKind::Other }
}

fn odd(found: impl Into<String>, advice: impl Into<String>) -> CheckResult {
    CheckResult { health: Health::Odd, advice: advice.into(), ..good(found) }
}

fn wrong(kind: FailureKind, found: impl Into<String>, advice: impl Into<String>) -> CheckResult {
    CheckResult { health: Health::Wrong, kind, ..odd(found, advice) }
}

impl DoctorArgs {
    pub(super) fn run(&self, common: &Common) -> anyhow::Result<()> {
        let check = |(name, finding)| Check { name, finding };
        let checks: Vec<_> = self.checks(common).into_iter().map(check).collect();
        if self.json {
            print_json(&checks)?;
        } else {
            print_text(&text(&checks))?;
        }
        let wrong: Vec<_> = checks.iter().filter(|check| check.finding.health == Health::Wrong).collect();
        let Some(first) = wrong.first() else { return Ok(()) };
        let words = format!("{} of {} checks found something wrong, first: {}", wrong.len(), checks.len(), first.name);
        Err(first.finding.kind.error(words).into())
    }

    fn checks(&self, common: &Common) -> Vec<(&'static str, CheckResult)> {
        let mut checks = vec![("behaview", good(env!("CARGO_PKG_VERSION")))];
        let folders = match Folders::find() {
            Ok(folders) => folders,
            Err(error) => {
                checks.push(("config", wrong(FailureKind::Other, error.to_string(), "set HOME")));
                return checks;
            }
        };
        let config = common.config().map(|(_, config)| config);
        match &config {
            Ok(config) => checks.extend([
                ("config", file(&folders)),
                ("variables", variables()),
                ("service", service(config)),
                ("key", key(config)),
                ("licence", entitlements(config)),
            ]),
            Err(error) => {
                let advice = "correct it; until then nothing else runs";
                checks.push(("config", wrong(exit::kind_of(error), format!("{error:#}"), advice)));
            }
        }
        let term = variable("TERM");
        checks.extend([
            ("terminal", terminal_size(term.as_deref())),
            ("characters", characters()),
            ("clipboard", clipboard(term.as_deref())),
            ("store", store(&folders)),
        ]);
        if config.is_ok() && self.online {
            checks.extend(online(common));
        }
        checks
    }
}

fn file(folders: &Folders) -> CheckResult {
    let path = text::path(&folders.config);
    match Config::check(&folders.config).as_deref() {
        Ok([]) if folders.config.exists() => good(path.to_string()),
        Ok([]) => good(format!("{path} is not there: defaults hold; behaview config init makes one")),
        Ok([first, ..]) => {
            let found = format!("{path}:{}: {}", first.line, first.words);
            wrong(FailureKind::Config, found, "behaview config check names every mistake")
        }
        Err(error) => wrong(FailureKind::Config, error.to_string(), "see who may read it"),
    }
}

/// Finds misspelt variables of this program, which have no effect.
fn variables() -> CheckResult {
    let known = |name: &str| {
        name == FILE_VARIABLE
            || VARIABLES.contains(&name)
            || SETTINGS.iter().any(|setting| setting.variable().as_deref() == Some(name))
    };
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let strange: Vec<_> = names.filter(|name| name.starts_with("BEHAVIEW_") && !known(name)).collect();
    match strange.as_slice() {
        [] => good("none that is not known"),
        some => odd(format!("{} is no setting", some.join(", ")), "behaview config show names them all"),
    }
}

fn service(config: &Config) -> CheckResult {
    let checked = config
        .profile(None)
        .map_err(anyhow::Error::from)
        .and_then(|profile| Ok((profile.name.clone(), profile.check()?, ProxyRoute::of(&profile, &profile.check()?))));
    match checked {
        Ok((name, url, Ok(ProxyRoute::Direct))) => good(format!("{name}: {url}")),
        Ok((name, url, Ok(way))) => good(format!("{name}: {url}, {}", way.words())),
        Ok((name, url, Err(error))) => {
            wrong(FailureKind::Network, format!("{name}: {url}: {error}"), "correct the variable")
        }
        Err(error) => wrong(FailureKind::Config, error.to_string(), "correct it in the config file"),
    }
}

/// The source of the key. Does not run a command for it; a file that others may read was rejected
/// before.
fn key(config: &Config) -> CheckResult {
    let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
    let is_variable = VARIABLES.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if let Some(place) = config.key_place().filter(|_| !is_variable) {
        return good(format!("from {place}"));
    }
    match Credential::find(crate::environment::variable, &Configured::default(), home.as_deref()) {
        Ok(Some(found)) => good(format!("from {}", found.source())),
        Err(error) => wrong(FailureKind::Key, error.to_string(), "correct it there"),
        Ok(None) => wrong(
            FailureKind::Key,
            "there is none",
            "set BEHAVIEW_API_KEY, or api_key_command in the config file (behaview config init writes one to fill in); \
             behaview demo needs none",
        ),
    }
}

fn entitlements(config: &Config) -> CheckResult {
    match config.entitlements().private_scanning.held() {
        Some(true) => good("private scanning: yes, says the config"),
        None => good("not set in the config; the service's counters tell (--online)"),
        Some(false) => {
            let advice = "without it private reports are refused; correct [entitlements] if it is there";
            wrong(FailureKind::Refused, "private scanning: no, says the config", advice)
        }
    }
}

fn store(folders: &Folders) -> CheckResult {
    let path = &folders.store;
    let may_write = files::may_write_in(path);
    if path.symlink_metadata().is_err() {
        let found = format!("{} is not there yet: nothing is held", text::path(path));
        return if may_write { good(found) } else { only_read(&format!("{found}, and it cannot be made")) };
    }
    let store = match Store::open(path) {
        Ok(store) => store,
        Err(error) if !may_write => return only_read(&error.to_string()),
        Err(error) => return wrong(FailureKind::Other, error.to_string(), "see who may write there"),
    };
    let size = std::fs::metadata(store.path()).map_or(0, |about| about.len());
    let found = format!("{}, records {}", text::path(path), bytes(size));
    match (store.notice(), files::free_space(path)) {
        _ if store.is_read_only() || !may_write => only_read(&format!("{found}: it may only be read, or its folder")),
        (Some(notice), _) => odd(notice.to_owned(), "behaview quota compares the ledger"),
        (_, Some(free)) if free < LITTLE_SPACE => {
            odd(format!("{found}; {} free", bytes(free)), "make room: an answer that cannot be kept is paid for again")
        }
        (_, Some(free)) => good(format!("{found}; sound; {} free", bytes(free))),
        _ => good(format!("{found}; sound")),
    }
}

/// A store that is not writable, and the features that do not work because of it.
fn only_read(found: &str) -> CheckResult {
    let found = found.trim_end_matches('.');
    let words = format!("{found}. What is held is shown if it can be read; nothing can be asked, imported or deleted");
    wrong(FailureKind::Other, words, "see who may write to it and to its folder, and whether its disk may only be read")
}

/// Sends the free request for the quota counters, which tests key, licence, network and clock at
/// once.
fn online(common: &Common) -> Vec<(&'static str, CheckResult)> {
    let asked = setup(common).and_then(|setup| ask_balances(&setup).map(|balances| (setup, balances)));
    let (setup, balances) = match asked {
        Ok(asked) => asked,
        Err(error) => {
            let advice = exit::advice(&error).unwrap_or_default();
            return vec![("online", wrong(exit::kind_of(&error), format!("{error:#}"), advice))];
        }
    };
    let counters = balances.counters().len();
    let licence = match Entitlements::from_balances(&balances).updated(setup.entitled).private_scanning.held() {
        Some(true) => good("private scanning"),
        None => good("the counters do not tell of private scanning"),
        Some(false) => wrong(FailureKind::Refused, "no private scanning", "ask the group's administrator"),
    };
    let clock = match setup.gateway.behind().map(|behind| behind.as_secs()) {
        None => odd("the service's answer told no time", ""),
        Some(behind) if behind.abs() > MOST_BEHIND => {
            let found = format!("{} s {} the service's", behind.abs(), if behind > 0 { "behind" } else { "ahead of" });
            odd(found, "set it: the ledger's days depend on it")
        }
        Some(_) => good("as the service's"),
    };
    let answers = format!("the service answers and accepts the key; {counters} counters");
    vec![("online", good(answers)), ("licence now", licence), ("clock", clock)]
}

fn text(checks: &[Check]) -> String {
    let mut table = Table::new(&["", "looked at", "found"], &[]);
    let visible = |text: &str| said(text).to_string();
    for check in checks {
        let sign = match check.finding.health {
            Health::Good => "ok",
            Health::Odd => "odd",
            Health::Wrong => "WRONG",
        };
        table.row([sign.to_owned(), check.name.to_owned(), visible(&check.finding.found)]);
        if !check.finding.advice.is_empty() {
            table.row([String::new(), String::new(), format!("→ {}", visible(&check.finding.advice))]);
        }
    }
    table.to_string()
}

fn terminal_size(term: Option<&str>) -> CheckResult {
    let term = term.unwrap_or("no name");
    match runtime::terminal_size() {
        None => good("none here; the commands for scripts need none"),
        Some(_) if term == "dumb" => {
            odd("dumb", "the app says everything in lines there, as --plain does; set TERM for more")
        }
        Some((wide, high)) if wide < 40 || high < 10 => {
            odd(format!("{term}, {wide} x {high}"), "40 x 10 is the least, 80 x 24 is enough")
        }
        Some((wide, high)) => good(format!("{term}, {wide} x {high}")),
    }
}

/// The first of the locale variables that is set, which determines the character set.
fn characters() -> CheckResult {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable).unwrap_or_default();
    let lower = locale.to_ascii_lowercase();
    if cfg!(windows) || lower.contains("utf-8") || lower.contains("utf8") {
        return good(if locale.is_empty() { "UTF-8".to_owned() } else { locale });
    }
    let found =
        if locale.is_empty() { "no locale is set".to_owned() } else { format!("the locale {locale} is not UTF-8") };
    odd(found, "set LANG=C.UTF-8, or borders and names may look wrong")
}

/// Copying uses the terminal (OSC 52), which does not report whether it accepts the text.
fn clipboard(term: Option<&str>) -> CheckResult {
    if variable("TMUX").is_some() {
        return good("into tmux's buffer, and on to its terminal unless tmux's set-clipboard is off");
    }
    if variable("STY").is_some() {
        return good("by way of screen, which hands it on to a terminal that takes it (OSC 52)");
    }
    match term {
        Some("linux" | "dumb") => odd("this terminal has none", "save to a file in place of copying"),
        _ => good("by way of the terminal (OSC 52), which may have to be allowed in its settings"),
    }
}
