//! `behaview doctor`: looks for what may keep the program from working, and says what to do. Nothing is sent unless asked
//! for, and then only the free look at the service's counters.

use super::exit;
use super::output::{print_json, print_text};
use super::quota::ask_balances;
use super::table::Table;
use super::{Common, FailureKind, setup};
use crate::config::{Config, FILE_VARIABLE, Folders, SETTINGS};
use crate::environment::variable;
use crate::files;
use crate::log::Log;
use crate::quota::Entitlements;
use crate::runtime;
use crate::service::Way;
use crate::service::credential::{Configured, Credential, VARIABLES};
use crate::store::Store;
use crate::text::{self, bytes, said};
use crate::view::Depth;
use clap::Args;
use serde::Serialize;

/// Less free space than this, in bytes, is told.
const LITTLE_SPACE: u64 = 256 << 20;

/// A clock that differs more, in seconds, is told: the ledger's days and the service's would not be the same.
const MOST_BEHIND: i64 = 60;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  behaview doctor\n  behaview doctor --online --json\n\nWhere something is wrong, the exit code is \
                  that of the first such line: 3 without a key, 4 without a licence, 8 where the service cannot be reached, \
                  14 for the config, 1 for anything else."
)]
pub(super) struct Doctor {
    /// Ask for the service's counters too, which costs nothing, to see that key, licence, network and clock are right
    #[arg(long)]
    online: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Health {
    /// As it should be.
    Good,
    /// It works, but not as well as it could.
    Odd,
    /// It keeps something from working.
    Wrong,
}

/// What was looked at, and what to do.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    health: Health,
    found: String,
    /// Empty where nothing is to be done.
    advice: String,
    /// What kind of failure it is where it is wrong.
    #[serde(skip)]
    kind: FailureKind,
}

impl Check {
    fn good(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, health: Health::Good, found: found.into(), advice: String::new(), kind: FailureKind::Other }
    }

    fn odd(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { health: Health::Odd, advice: advice.into(), ..Self::good(name, found) }
    }

    fn wrong(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { health: Health::Wrong, advice: advice.into(), ..Self::good(name, found) }
    }

    /// The same as a failure of another kind.
    fn of_kind(self, kind: FailureKind) -> Self {
        Self { kind, ..self }
    }
}

impl Doctor {
    pub(super) fn run(&self, common: &Common) -> anyhow::Result<()> {
        let checks = self.look(common);
        if self.json {
            print_json(&checks)?;
        } else {
            print_text(&text(&checks))?;
        }
        let wrong: Vec<_> = checks.iter().filter(|check| check.health == Health::Wrong).collect();
        let Some(first) = wrong.first() else { return Ok(()) };
        let words = format!("{} of {} checks found something wrong, first: {}", wrong.len(), checks.len(), first.name);
        Err(first.kind.error(words).into())
    }

    fn look(&self, common: &Common) -> Vec<Check> {
        let mut checks = vec![Check::good("behaview", env!("CARGO_PKG_VERSION"))];
        let folders = match Folders::find() {
            Ok(folders) => folders,
            Err(error) => {
                checks.push(Check::wrong("config", error.to_string(), "set HOME"));
                return checks;
            }
        };
        match common.config() {
            Ok((_, config)) => {
                checks.extend([file(&folders), variables(), service(&config), key(&config), entitlements(&config)]);
                checks.extend(terminal_checks());
                checks.extend([store(&folders), log(&folders, &config), state(&folders)]);
                checks.extend(if self.online { online(common) } else { vec![clock()] });
            }
            Err(error) => {
                let advice = "correct it; until then nothing else runs";
                checks.push(Check::wrong("config", format!("{error:#}"), advice).of_kind(exit::kind_of(&error)));
                checks.extend(terminal_checks());
                checks.extend([store(&folders), state(&folders)]);
            }
        }
        checks
    }
}

fn file(folders: &Folders) -> Check {
    let path = text::path(&folders.config);
    let found = match Config::check(&folders.config) {
        Ok(_) if !folders.config.exists() => {
            format!("{path} is not there: defaults hold; behaview config init makes one")
        }
        Ok(found) => match found.first() {
            None => path.to_string(),
            Some(first) => {
                let found = format!("{path}:{}: {}", first.line, first.words);
                return Check::wrong("config", found, "behaview config check names every mistake")
                    .of_kind(FailureKind::Config);
            }
        },
        Err(error) => {
            return Check::wrong("config", error.to_string(), "see who may read it").of_kind(FailureKind::Config);
        }
    };
    Check::good("config", found)
}

/// A variable that looks like one of this program's and is none does nothing: a slip.
fn variables() -> Check {
    let known = |name: &str| {
        name == FILE_VARIABLE
            || VARIABLES.contains(&name)
            || SETTINGS.iter().any(|setting| setting.variable().as_deref() == Some(name))
    };
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let strange: Vec<_> = names.filter(|name| name.starts_with("BEHAVIEW_") && !known(name)).collect();
    match strange.as_slice() {
        [] => Check::good("variables", "none that is not known"),
        some => {
            Check::odd("variables", format!("{} is no setting", some.join(", ")), "behaview config show names them all")
        }
    }
}

fn service(config: &Config) -> Check {
    let checked = config
        .profile(None)
        .map_err(anyhow::Error::from)
        .and_then(|profile| Ok((profile.name.clone(), profile.check()?, Way::of(&profile, &profile.check()?))));
    match checked {
        Ok((name, url, Ok(Way::Direct))) => Check::good("service", format!("{name}: {url}")),
        Ok((name, url, Ok(way))) => Check::good("service", format!("{name}: {url}, {}", way.words())),
        Ok((name, url, Err(error))) => {
            Check::wrong("service", format!("{name}: {url}: {error}"), "correct the variable")
                .of_kind(FailureKind::Network)
        }
        Err(error) => {
            Check::wrong("service", error.to_string(), "correct it in the config file").of_kind(FailureKind::Config)
        }
    }
}

/// Where the key comes from. No command is run for it; a file that others may read is refused before this.
fn key(config: &Config) -> Check {
    let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
    let is_variable = VARIABLES.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if let Some(place) = config.key_place().filter(|_| !is_variable) {
        return Check::good("key", format!("from {place}"));
    }
    match Credential::find(crate::environment::variable, &Configured::default(), home.as_deref()) {
        Ok(Some(found)) => Check::good("key", format!("from {}", found.source())),
        Err(error) => Check::wrong("key", error.to_string(), "correct it there").of_kind(FailureKind::Key),
        Ok(None) => Check::wrong(
            "key",
            "there is none",
            "set BEHAVIEW_API_KEY, or api_key_command in the config file (behaview config init writes one to fill in); \
             behaview demo needs none",
        )
        .of_kind(FailureKind::Key),
    }
}

fn entitlements(config: &Config) -> Check {
    match config.entitlements().private_scanning.held() {
        Some(true) => Check::good("licence", "private scanning: yes, says the config"),
        None => Check::good("licence", "not set in the config; the service's counters tell (--online)"),
        Some(false) => {
            let advice = "without it private reports are refused; correct [entitlements] if it is there";
            Check::wrong("licence", "private scanning: no, says the config", advice).of_kind(FailureKind::Refused)
        }
    }
}

fn store(folders: &Folders) -> Check {
    let path = &folders.store;
    let may_write = files::may_write_in(path);
    if path.symlink_metadata().is_err() {
        let found = format!("{} is not there yet: nothing is held", text::path(path));
        return if may_write {
            Check::good("store", found)
        } else {
            only_read(&format!("{found}, and it cannot be made"))
        };
    }
    let store = match Store::open(path) {
        Ok(store) => store,
        Err(error) if !may_write => return only_read(&error.to_string()),
        Err(error) => return Check::wrong("store", error.to_string(), "see who may write there"),
    };
    let size = std::fs::metadata(store.path()).map_or(0, |about| about.len());
    let found = format!("{}, records {}", text::path(path), bytes(size));
    match (store.notice(), files::free_space(path)) {
        _ if store.is_read_only() || !may_write => only_read(&format!("{found}: it may only be read, or its folder")),
        (Some(notice), _) => Check::odd("store", notice.to_owned(), "behaview quota compares the ledger"),
        (_, Some(free)) if free < LITTLE_SPACE => Check::odd(
            "store",
            format!("{found}; {} free", bytes(free)),
            "make room: an answer that cannot be kept is paid for again",
        ),
        (_, Some(free)) => Check::good("store", format!("{found}; sound; {} free", bytes(free))),
        _ => Check::good("store", format!("{found}; sound")),
    }
}

/// A store that cannot be written to, and what does not work by that.
fn only_read(found: &str) -> Check {
    let found = found.trim_end_matches('.');
    let words = format!("{found}. What is held is shown if it can be read; nothing can be asked, imported or deleted");
    Check::wrong("store", words, "see who may write to it and to its folder, and whether its disk may only be read")
}

fn log(folders: &Folders, config: &Config) -> Check {
    match Log::open(&folders.logs(), config.log_level, "doctor") {
        Err(error) => Check::odd("log", format!("{}: {error}", text::path(folders.logs())), "see who may write there"),
        Ok(log) => match log.path() {
            None => Check::good("log", "off"),
            Some(path) if files::is_open_to_others(path) => {
                Check::odd("log", format!("{}: others may read it", text::path(path)), "chmod 600 it")
            }
            Some(path) => Check::good("log", format!("{}, from {} on", text::path(path), config.log_level.name())),
        },
    }
}

fn state(folders: &Folders) -> Check {
    let path = folders.state_file();
    match crate::state::read(&path) {
        (_, Some(words)) => Check::odd("state", words, "how the screen was left is forgotten; nothing else is lost"),
        _ => Check::good("state", text::path(path).to_string()),
    }
}

/// Whether the clock can be right at all.
fn clock() -> Check {
    let now = crate::clock::now();
    let found = format!("{} UTC; --online compares it with the service's", now.strftime("%F %T"));
    match now.as_second() {
        ..1_750_000_000 => Check::wrong("clock", found, "set it: certificates and quota days depend on it"),
        _ => Check::good("clock", found),
    }
}

/// The free request for the quota counters: key, licence, network and clock at once.
fn online(common: &Common) -> Vec<Check> {
    let asked = setup(common).and_then(|setup| ask_balances(&setup).map(|balances| (setup, balances)));
    let (setup, balances) = match asked {
        Ok(asked) => asked,
        Err(error) => {
            let advice = exit::advice(&error).unwrap_or_default();
            return vec![Check::wrong("online", format!("{error:#}"), advice).of_kind(exit::kind_of(&error))];
        }
    };
    let counters = balances.counters().len();
    let licence = match Entitlements::from_balances(&balances).updated(setup.entitled).private_scanning.held() {
        Some(true) => Check::good("licence now", "private scanning"),
        None => Check::good("licence now", "the counters do not tell of private scanning"),
        Some(false) => Check::wrong("licence now", "no private scanning", "ask the group's administrator")
            .of_kind(FailureKind::Refused),
    };
    let clock = match setup.gate.client().behind() {
        None => Check::odd("clock", "the service's answer told no time", ""),
        Some(behind) if behind.abs() > MOST_BEHIND => {
            let found = format!("{} s {} the service's", behind.abs(), if behind > 0 { "behind" } else { "ahead of" });
            Check::odd("clock", found, "set it: the ledger's days depend on it")
        }
        Some(_) => Check::good("clock", "as the service's"),
    };
    let answers = format!("the service answers and accepts the key; {counters} counters");
    vec![Check::good("online", answers), licence, clock]
}

fn text(checks: &[Check]) -> String {
    let mut table = Table::new(&["", "looked at", "found"], &[]);
    let visible = |text: &str| said(text).to_string();
    for check in checks {
        let sign = match check.health {
            Health::Good => "ok",
            Health::Odd => "odd",
            Health::Wrong => "WRONG",
        };
        table.row([sign.to_owned(), check.name.to_owned(), visible(&check.found)]);
        if !check.advice.is_empty() {
            table.row([String::new(), String::new(), format!("→ {}", visible(&check.advice))]);
        }
    }
    table.to_string()
}

/// Everything about the terminal.
fn terminal_checks() -> Vec<Check> {
    vec![terminal_size(variable("TERM").as_deref()), colours(&variable), characters(&variable), clipboard(&variable)]
}

fn terminal_size(term: Option<&str>) -> Check {
    let term = term.unwrap_or("no name");
    match runtime::terminal_size() {
        None => Check::good("terminal", "none here; the commands for scripts need none"),
        Some(_) if term == "dumb" => {
            Check::odd("terminal", "dumb", "the app says everything in lines there, as --plain does; set TERM for more")
        }
        Some((wide, high)) if wide < 40 || high < 10 => {
            Check::odd("terminal", format!("{term}, {wide} x {high}"), "40 x 10 is the least, 80 x 24 is enough")
        }
        Some((wide, high)) => Check::good("terminal", format!("{term}, {wide} x {high}")),
    }
}

fn colours(set: &impl Fn(&str) -> Option<String>) -> Check {
    let many = match Depth::of(set) {
        Depth::True => "16 million",
        Depth::Indexed => "256",
        Depth::Sixteen => "16",
        Depth::None => "none",
    };
    let said =
        ["CLICOLOR_FORCE", "NO_COLOR", "CLICOLOR", "COLORTERM", "TERM"].into_iter().filter(|name| set(name).is_some());
    let said = said.collect::<Vec<_>>().join(", ");
    Check::good("colours", if said.is_empty() { many.to_owned() } else { format!("{many}, as {said} has it") })
}

/// The first of the variables that decides about characters, as the system has it.
fn characters(set: &impl Fn(&str) -> Option<String>) -> Check {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default();
    let lower = locale.to_ascii_lowercase();
    if cfg!(windows) || lower.contains("utf-8") || lower.contains("utf8") {
        return Check::good("characters", if locale.is_empty() { "UTF-8".to_owned() } else { locale });
    }
    let found =
        if locale.is_empty() { "no locale is set".to_owned() } else { format!("the locale {locale} is not UTF-8") };
    Check::odd("characters", found, "set LANG=C.UTF-8, or borders and names may look wrong")
}

/// Copying goes by way of the terminal (OSC 52), which does not say whether it takes it.
fn clipboard(set: &impl Fn(&str) -> Option<String>) -> Check {
    if set("TMUX").is_some() {
        return Check::good(
            "clipboard",
            "into tmux's buffer, and on to its terminal unless tmux's set-clipboard is off",
        );
    }
    if set("STY").is_some() {
        return Check::good("clipboard", "by way of screen, which hands it on to a terminal that takes it (OSC 52)");
    }
    match set("TERM").as_deref() {
        Some("linux" | "dumb") => {
            Check::odd("clipboard", "this terminal has none", "save to a file in place of copying")
        }
        _ => Check::good("clipboard", "by way of the terminal (OSC 52), which may have to be allowed in its settings"),
    }
}
