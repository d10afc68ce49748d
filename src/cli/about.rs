//! Commands about the program itself: `behaview config`, `doctor`, `keys`, `help`, `completions`
//! and `man`. They send nothing; `doctor` on request the free call for the service's counters.

use super::cost::known;
use super::counters::fetch_balances;
use super::output::page_text;
use super::*;
use crate::app::overlays::text_page::{TOPICS, Topic, lay_out};
use crate::app::{Command, Key, KeyContext, Keymap};
use crate::config::{ConfigProblem, EffectiveSetting, TEMPLATE};
use crate::service::ProxyRoute;
use crate::service::credential::{Credential, VARIABLES};
use clap::error::{ContextKind, ContextValue};
use clap_complete::Shell;
use clap_mangen::Man as Page;
use std::io::{ErrorKind, Write as _};

#[derive(Debug, Subcommand)]
#[command(mut_subcommands(short_help), after_help = examples("config"))]
pub(super) enum ConfigCommand {
    /// Print the paths of config, store, cache, state and logs
    #[command(after_help = examples("config path"))]
    Path(FormatFlags),
    /// Print every setting with its value and origin: flag, variable, file or default; secrets are
    /// left out
    #[command(after_help = examples("config show"))]
    Show(FormatFlags),
    #[command(after_help = examples("config init"))]
    /// Write a config file with every setting commented out; an existing one stays
    Init,
    /// List every mistake in the config file, with its line
    #[command(after_help = examples("config check"))]
    Check(FormatFlags),
}

impl ConfigCommand {
    pub(super) fn run(&self, common: &Common) -> Result<()> {
        match self {
            Self::Path(form) => paths(form),
            Self::Show(form) => show(form, common),
            Self::Init => init(),
            Self::Check(form) => check(form),
        }
    }
}

fn paths(form: &FormatFlags) -> Result<()> {
    let folders = Folders::find()?;
    let paths = [&folders.config, &folders.store, &folders.cache, &folders.state_file(), &folders.logs()];
    let [config, store, cache, state, logs] = paths.map(|path| text::path(path).to_string());
    let shown = json!({"config": config, "store": store, "cache": cache, "state": state, "logs": logs});
    print(form.json, &shown, || {
        format!("config  {config}\nstore   {store}\ncache   {cache}\nstate   {state}\nlogs    {logs}\n")
    })
}

fn show(form: &FormatFlags, common: &Common) -> Result<()> {
    let (folders, config) = common.config()?;
    let settings = &config.effective();
    let known = known(&folders, &config).map(|(known, _)| known).unwrap_or_default();
    let read = known.user_read.map(|at| {
        let [api, intelligence] = [known.premium_api, known.premium_intelligence].map(|known| known.is_granted());
        json!({"premium_api": api, "premium_intelligence": intelligence, "read_at": at})
    });
    let shown = json!({"file": text::path(&folders.config).to_string(), "settings": settings, "user_object": read});
    print(form.json, &shown, || {
        let rows = settings.iter().map(|EffectiveSetting { name, value, origin, .. }| {
            [visible(name), value.as_deref().map_or_else(|| "-".to_owned(), visible), origin.to_string()]
        });
        table(["setting", "value", "from"], rows)
            + &read.iter().map(|_| format!("\n{}\n", known.label())).collect::<String>()
    })
}

fn init() -> Result<()> {
    let path = Folders::find()?.config;
    let shown = text::path(&path).to_string();
    let mut file = files::make_new(&path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => anyhow::anyhow!("{shown} already exists and was not changed"),
        _ => anyhow::anyhow!("{shown} cannot be created: {error}"),
    })?;
    file.write_all(TEMPLATE.as_bytes()).with_context(|| format!("{shown} cannot be written"))?;
    print_text(&format!("{shown}\n"))
}

fn check(form: &FormatFlags) -> Result<()> {
    let folders = Folders::find()?;
    let path = folders.to_read()?;
    let place = text::path(path).to_string();
    let found = &Config::check(path)?;
    print(form.json, &json!({"file": place, "problems": found}), || {
        let lines = found.iter().map(|ConfigProblem { line, message }| {
            format!("{place}:{line}: {}\n", Untrusted::from(message.as_str()).visible())
        });
        if found.is_empty() { format!("{place}: nothing is wrong\n") } else { lines.collect() }
    })?;
    match found.len() as u64 {
        0 => Ok(()),
        mistakes => fail!(Config, "the config has {}", count(mistakes, "mistake")),
    }
}

#[derive(Debug, Args)]
#[command(after_help = examples("keys"))]
pub(super) struct KeysArgs {
    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print a table in Markdown
    #[arg(long)]
    markdown: bool,
}

#[derive(Serialize)]
struct KeyRow {
    command: &'static str,
    keys: Vec<String>,
    default_keys: Vec<String>,
    contexts: Vec<KeyContext>,
    help: &'static str,
    #[serde(skip)]
    place: String,
    /// Whether it sends a request, and so may cost something.
    sends: bool,
    /// Whether the screen that it opens sends requests.
    opens_paid: bool,
}

impl KeysArgs {
    pub(super) fn run(&self, common: &Common) -> Result<()> {
        let map = common.config()?.1.keymap;
        let rows: Vec<_> = Command::all().map(|command| key_row(command, &map)).collect();
        print(self.json, &rows, || if self.markdown { keys_markdown(&rows) } else { keys_text(&rows) })
    }
}

impl KeyRow {
    fn price(&self) -> &'static str {
        match (self.sends, self.opens_paid) {
            (true, _) => "at the price in the bar",
            (_, true) => "in what it opens, at the price in the bar",
            _ => "",
        }
    }
}

fn key_row(command: &'static Command, map: &Keymap) -> KeyRow {
    let names = |keys: &[Key]| keys.iter().map(ToString::to_string).collect();
    KeyRow {
        command: command.name,
        keys: names(map.of(command)),
        default_keys: names(command.keys),
        contexts: command.contexts.each().collect(),
        place: command.contexts.label(),
        help: command.help,
        sends: command.sends(),
        opens_paid: command.can_cost() && !command.sends(),
    }
}

fn keys_text(rows: &[KeyRow]) -> String {
    let rows = rows.iter().map(|row| {
        let price =
            if row.sends || row.opens_paid { format!("; sends a request {}", row.price()) } else { String::new() };
        let keys = if row.keys.is_empty() { "none".to_owned() } else { row.keys.join(" ") };
        [keys, row.command.to_owned(), row.place.clone(), format!("{}{price}", row.help)]
    });
    table(["keys", "command", "where it works", "what it does"], rows)
}

fn keys_markdown(rows: &[KeyRow]) -> String {
    let heading = "| keys | command | where it works | what it does | price |\n|---|---|---|---|---|\n";
    let rows = rows.iter().map(|row| {
        let keys: Vec<_> = row.keys.iter().map(|key| format!("`{}`", key.replace('|', "\\|"))).collect();
        format!("| {} | {} | {} | {} | {} |\n", keys.join(" "), row.command, row.place, row.help, row.price())
    });
    std::iter::once(heading.to_owned()).chain(rows).collect()
}

fn names() -> Vec<&'static str> {
    TOPICS.iter().map(|topic| topic.name).collect()
}

fn topics() -> String {
    let topics = text::wrap(&names().join(" "), 78).join("\n  ");
    format!("Topics:\n  {topics}\n\nExamples:\n  behaview help\n  behaview help pricing\n  behaview help list")
}

#[derive(Debug, Args)]
#[command(after_help = topics())]
pub(super) struct HelpArgs {
    /// A topic of the manual, or a command, such as store import
    topic: Vec<String>,
}

impl HelpArgs {
    pub(super) fn run(&self, common: &Common) -> Result<()> {
        let [name, ..] = self.topic.as_slice() else {
            return print_text(&format!("{}\n{}\n", grammar_with_files().render_help(), topics()));
        };
        // Topics take precedence; a command with the same name still has --help.
        match TOPICS.iter().find(|topic| topic.name == name) {
            Some(Topic { text, .. }) if self.topic.len() == 1 => {
                let shown = room().map(|room| lay_out(text, room.min(100)));
                page_text(shown.as_deref().unwrap_or(text), common.plain)
            }
            _ => Err(help_of(&self.topic).downcast().map_or_else(std::convert::identity, |mut error: clap::Error| {
                let tip = format!("topics of the manual: {}", names().join(" "));
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
                error.into()
            })),
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = examples("completions"))]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl CompletionsArgs {
    pub(super) fn run(&self, _: &Common) -> Result<()> {
        let mut text = Vec::new();
        let mut grammar = Cli::command();
        grammar.build();
        let commands = grammar.get_subcommands().map(|command| command.get_name().to_owned());
        let names: Vec<_> = names().into_iter().map(str::to_owned).chain(commands).collect();
        let topic = |topic: Arg| topic.value_parser(PossibleValuesParser::new(names));
        let mut grammar = grammar.mut_subcommand("help", |help| help.mut_arg("topic", topic));
        clap_complete::generate(self.shell, &mut grammar, NAME, &mut text);
        print_text(&String::from_utf8(text)?)
    }
}

#[derive(Debug, Args)]
#[command(after_help = examples("man"))]
pub(super) struct ManArgs {
    /// The page of one command, such as store import; that of the program unless given
    command: Vec<String>,
    /// Write every page into this folder instead, as behaview.1, behaview-list.1 and so on
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    into: Option<PathBuf>,
}

impl ManArgs {
    pub(super) fn run(&self, _: &Common) -> Result<()> {
        let mut grammar = grammar_with_files();
        grammar.build();
        if let Some(folder) = &self.into {
            return write_all(&grammar, folder);
        }
        let page = self.command.iter().try_fold(grammar, |above, name| above.find_subcommand(name).cloned());
        print_text(&String::from_utf8(man_page(page.ok_or_else(|| help_of(&self.command))?)?)?)
    }
}

/// Returns the help of a command, or an error that names those that exist.
fn help_of(words: &[String]) -> anyhow::Error {
    let mut command = Cli::command();
    command.build();
    let find = |word: &&String| command.find_subcommand(word).cloned().map(|below| command = below).is_some();
    let is_topic = words.first().is_some_and(|first| names().contains(&first.as_str()));
    let depth = words.iter().take_while(find).count().max(usize::from(is_topic));
    // For an unknown first word, clap suggests a similar command.
    if let Some(word) = words.get(depth).filter(|_| depth > 0) {
        let known: Vec<_> = command.get_subcommands().map(clap::Command::get_name).collect();
        let word = to_visible(word);
        let name = command.get_name();
        let known = if known.is_empty() { "no further command".to_owned() } else { known.join(", ") };
        return FailureKind::Usage.error(format!("unknown command \"{word}\": {name} has {known}")).into();
    }
    clap_output(&words.iter().map(String::as_str).chain(["--help"]).collect::<Vec<_>>())
}

fn man_page(command: clap::Command) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    Page::new(command).source(concat!("behaview ", env!("CARGO_PKG_VERSION"))).render(&mut text)?;
    Ok(text)
}

fn write_all(command: &clap::Command, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be created", crate::text::path(folder)))?;
    let path = folder.join(format!("{}.1", command.get_display_name().unwrap_or(NAME)));
    if path.is_symlink() {
        anyhow::bail!("{} is a link, which is not followed", crate::text::path(&path));
    }
    let text = man_page(command.clone())?;
    std::fs::write(&path, text).with_context(|| format!("{} cannot be written", crate::text::path(&path)))?;
    command.get_subcommands().try_for_each(|command| write_all(command, folder))
}

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
            Ok((_, config)) => vec![check_file(&folders), check_service(config), check_key(config)],
            Err(error) => {
                let advice = "correct it; until then nothing else runs";
                vec![wrong("config", output::kind_of(error), format!("{error:#}"), advice)]
            }
        };
        checks.extend([check_terminal(), check_store(&folders)]);
        checks.extend(config.iter().flat_map(|(_, config)| super::team::checks(config, self.online)));
        if config.is_ok() && self.online {
            checks.extend(check_online(common));
        }
        checks
    }
}

/// Prints checks; fails if one found something wrong.
pub(super) fn print_checks(as_json: bool, checks: &[Check]) -> Result<()> {
    print(as_json, &checks, || checks_text(checks))?;
    let wrong: Vec<_> = checks.iter().filter(|check| check.status == Health::Error).collect();
    let Some(first) = wrong.first() else { return Ok(()) };
    let message = format!("{} of {} checks found something wrong, first: {}", wrong.len(), checks.len(), first.name);
    Err(first.kind.error(message).into())
}

fn check_file(folders: &Folders) -> Check {
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

fn check_service(config: &Config) -> Check {
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
fn check_key(config: &Config) -> Check {
    let is_variable = VARIABLES.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if let Some(place) = config.key_place().filter(|_| !is_variable) {
        return good("key", format!("from {place}"));
    }
    match Credential::find(&variable, None, None, crate::config::home().as_deref()) {
        Ok(Some(found)) => good("key", format!("from {}", found.source)),
        Err(error) => wrong("key", FailureKind::Key, error.to_string(), "correct it there"),
        Ok(None) => {
            let advice = "set BEHAVIEW_API_KEY, or api_key_command in the config file (behaview config init writes one to \
                          fill in); behaview demo needs none";
            wrong("key", FailureKind::Key, "there is none", advice)
        }
    }
}

fn check_store(folders: &Folders) -> Check {
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
fn check_online(common: &Common) -> Vec<Check> {
    let online = setup(common, Spending::default()).and_then(|setup| Ok((fetch_balances(&setup)?, setup)));
    let (balances, setup) = match online {
        Ok(online) => online,
        Err(error) => {
            let advice = output::advice(&error).unwrap_or_default();
            return vec![wrong("online", output::kind_of(&error), format!("{error:#}"), &advice)];
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

fn checks_text(checks: &[Check]) -> String {
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

fn check_terminal() -> Check {
    match runtime::terminal_size() {
        None => good("terminal", "none here; the commands for scripts need none"),
        Some((wide, high)) if wide < 40 || high < 10 => {
            warning("terminal", format!("{wide} x {high}"), "40 x 10 is the least, 80 x 24 is enough")
        }
        Some((wide, high)) => good("terminal", format!("{wide} x {high}")),
    }
}
