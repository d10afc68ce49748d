//! Starts the app on a service, on the embedded demo service, or on reports saved in files.

use super::query::session;
use super::show;
use super::*;
use crate::app::message::DocumentReports;
use crate::app::model::{Service, Settings};
use crate::app::{LoadedReport, Model, SavedScreen};
use crate::config::EffectiveSetting;
use crate::demo::{Demo, ListContent, Options};
use crate::quota::{CONFIRM_ABOVE, Period, SpentUnits};
use crate::report::rules::Rules;
use crate::request::UploadLimit;
use crate::runtime::{Display, RunExit, Signals};
use crate::service::credential::{Credential, KeySource, key_help};
use crate::service::{Client, Profile};
use crate::store::service_id;
use crate::view::ColorDepth;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::time::Duration;

/// Runs the app on the service, opened at a stored report or the first file named.
pub(super) fn run(sha256: &[String], common: &Common) -> Result<()> {
    let named = sha256.iter().map(|text| named(text, common)).collect::<Result<Vec<_>>>()?;
    let report = named.iter().find_map(|(file, report)| Some((file.clone(), report.clone()?)));
    let is_beside = |file: &Sha256| report.as_ref().is_none_or(|(shown, _)| shown != file);
    let files: Vec<_> = named.into_iter().map(|(file, _)| file).filter(is_beside).collect();
    let (folders, config) = common.config()?;
    need_terminal(display(&config))?;
    let setup = Setup::new(common, &folders, &config, Spending::default())?;
    let deleted = if config.offline { Vec::new() } else { setup.apply_retention()? };
    let Setup { gateway, entitled, remarks, .. } = setup;
    let mut model = model(&gateway);
    model.quota_state.entitlements = entitled;
    model.settings = settings(&config);
    let exit = browse(model, Some(Arc::new(gateway)), (&folders, &config), [remarks, deleted].concat(), |model| {
        model.open_files(&files);
        if let Some((file, report)) = report {
            model.open_report(file, report);
        }
    })?;
    match exit {
        RunExit::Demo => DemoArgs::default().run(common),
        other => output::app_result(other),
    }
}

/// Parses a file or stored report in a command's place; a misspelt command is clap's error.
fn named(text: &str, common: &Common) -> Result<(Sha256, Option<Identifier>)> {
    if let Some(file) = Sha256::parse(text) {
        return Ok((file, None));
    }
    if Path::new(text).is_file() {
        // The path of a file is not a key, so it is shown completely.
        fail!(
            Usage,
            "{text} is a file of this machine: behaview open shows a saved report, behaview submit has it scanned"
        );
    }
    let is_word = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    if let Some(identifier) = Identifier::from_input(text).filter(|_| !is_word)
        && let Some(stored) = show::stored_only(&identifier, common)?
    {
        match stored.file.or_else(|| identifier.parts().file) {
            Some(file) => return Ok((file, Some(identifier))),
            None => fail!(Usage, "the file of this report is not known: behaview open shows it by itself"),
        }
    }
    if text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return parse_sha256(text).map(|file| (file, None));
    }
    Err(clap_output(&[text]))
}

/// Runs the app with the saved state of the screen, and saves that state at the end.
fn browse(
    mut model: Model,
    gateway: Option<Arc<Gateway>>,
    (folders, config): (&Folders, &Config),
    mut remarks: Vec<String>,
    open: impl FnOnce(&mut Model),
) -> Result<RunExit> {
    let path = config.is_persistent().then(|| folders.state_file());
    let (before, remark) = path.as_deref().map(read_state).unwrap_or_default();
    remarks.extend(remark);
    model.resume(before.clone());
    open(&mut model);
    if !remarks.is_empty() {
        model.warn(remarks.join(" "));
    }
    let (exit, remembered) = runtime::run(model, gateway, display(config), Signals::listen()?, crate::clock::now)?;
    if let Some(path) = path.filter(|_| remembered != before)
        && let Err(error) = write_state(&remembered, &path)
    {
        warn(format!("the state of the screen cannot be saved: {error}"));
    }
    Ok(exit)
}

/// Maximum size of the file with the state of the screen, in bytes.
const MAX_STATE_BYTES: u64 = 16 << 20;

/// Reads the saved state, or defaults and a remark; a damaged file is renamed.
fn read_state(path: &Path) -> (SavedScreen, Option<String>) {
    let bytes = match files::read(path, MAX_STATE_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return (SavedScreen::default(), None),
        Err(error) => return (SavedScreen::default(), Some(format!("{} cannot be read: {error}", text::path(path)))),
    };
    if let Ok(remembered) = serde_json::from_slice(&bytes) {
        return (remembered, None);
    }
    let aside = path.with_extension("damaged");
    let problem = match files::set_mode(path, 0o600).and_then(|()| std::fs::rename(path, &aside)) {
        Ok(()) => format!("The state file was damaged; it was renamed to {}.", text::path(&aside)),
        Err(error) => format!("{} is damaged, and cannot be renamed: {error}", text::path(path)),
    };
    (SavedScreen::default(), Some(problem))
}

/// Writes the state to a file that only its owner can read.
fn write_state(remembered: &SavedScreen, path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), files::own_folder)?;
    files::replace(path, &serde_json::to_vec_pretty(remembered)?)
}

fn settings(config: &Config) -> Settings {
    Settings {
        keys: config.keymap.clone(),
        confirm_above: config.budget.confirm_above.unwrap_or(CONFIRM_ABOVE),
        pace: config.pace(),
        forgets: (!config.is_persistent()).then_some("store.persist is false"),
        rules_file: rules_file(),
        in_effect: config.effective().iter().map(EffectiveSetting::label).collect(),
        ..Settings::default()
    }
}

/// Returns the path of the user's own rules; `None` if the system has no home folder.
fn rules_file() -> Option<PathBuf> {
    Folders::find().ok().map(|folders| folders.config.with_file_name("rules.toml"))
}

/// Returns the rules with the user's own, and prints the problems of these.
pub(super) fn own_rules() -> Arc<Rules> {
    let (rules, problems) = runtime::read_rules(rules_file().as_deref());
    problems.iter().for_each(warn);
    rules
}

/// Returns the model of a gateway. Today's spending is read only if it is limited.
fn model(gateway: &Gateway) -> Model {
    let mut model = Model::new(service(gateway), crate::clock::now());
    let spent = gateway.budget.daily.and_then(|_| gateway.spent_in(Period::Daily).ok());
    model.quota_state.allowance.budget = gateway.budget;
    model.quota_state.allowance.count(spent.unwrap_or_default(), SpentUnits::default(), model.now);
    model
}

pub fn service(gateway: &Gateway) -> Service {
    let client = &gateway.client;
    Service {
        name: client.profile().name.clone(),
        id: service_id(&client.profile().place()),
        has_key: !gateway.is_offline && client.credential().is_some(),
        key_help: key_help(&client.profile().root),
        is_offline: gateway.is_offline,
        has_team: gateway.team.is_some(),
        listing: client.profile().listing,
        upload_direct: client.profile().largest(UploadLimit::Direct),
        upload_largest: client.profile().largest(UploadLimit::Large),
    }
}

#[derive(Debug, Args)]
#[command(after_help = examples("open"))]
pub(super) struct OpenArgs {
    /// Each a report, an envelope, a list page or a summary as JSON, or the identifier of a stored
    /// report; - for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<OsString>,
}

impl OpenArgs {
    /// Runs the app on documents, with remarks on those that cannot be read.
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let (folders, config) = common.config()?;
        need_terminal(display(&config))?;
        let mut documents = Vec::new();
        let mut remarks = Vec::new();
        for file in &self.files {
            match load(file, self.files.len() == 1, common, &mut remarks) {
                Ok(document) => documents.push(document),
                Err(why) if self.files.len() == 1 => return Err(why),
                Err(why) => remarks.push(format!("Not opened: {}.", to_visible(format!("{why:#}")))),
            }
        }
        if documents.is_empty() {
            remarks.iter().for_each(warn);
            fail!(Malformed, "none of {} documents can be opened", self.files.len());
        }
        let mut model = Model::new(Service::default(), crate::clock::now());
        model.settings = Settings { keys: config.keymap.clone(), rules_file: rules_file(), ..Settings::default() };
        let open = |model: &mut Model| model.open_documents(documents);
        output::app_result(browse(model, None, (&folders, &config), remarks, open)?)
    }
}

/// Reads a document, or the stored report of an identifier; returns its title and reports.
fn load(file: &OsStr, is_alone: bool, common: &Common, remarks: &mut Vec<String>) -> Result<(String, DocumentReports)> {
    let name = document::as_service_name(file).filter(|name| Sha256::parse(name).is_none());
    if let Some(identifier) = name.and_then(Identifier::from_input)
        && let Some(stored) = show::stored_only(&identifier, common)?
    {
        let report = LoadedReport::new(stored.received, stored.body()?, None);
        return Ok((identifier.text().unicode(), vec![(Some(identifier), report)]));
    }
    if let Some(begun) = document::begin(Path::new(file)).filter(|_| is_alone) {
        return Ok(begun);
    }
    let document = document::read(file)?;
    remarks.extend(document.remarks.iter().map(|remark| format!("{remark}.")));
    Ok((document.titled(), document.reports))
}

#[derive(Debug, Default, Args)]
#[command(after_help = examples("demo"))]
pub(super) struct DemoArgs {
    /// Run the service alone, for any client; prints its address, a key and the hashes of its files
    #[arg(long)]
    serve: bool,
    /// Port on 127.0.0.1; any free one unless given
    #[arg(long)]
    port: Option<u16>,
    /// Rows of the generated report; 2000 unless given
    #[arg(long)]
    rows: Option<u64>,
    /// Content of the responses to list requests; reports unless given
    #[arg(long, value_name = "WHAT", value_parser = ["reports", "identifiers"])]
    list: Option<String>,
    /// Delay of every response, in milliseconds
    #[arg(long, default_value_t = 0, value_name = "MS")]
    delay: u64,
    /// Refuse calls that need a private scanning licence
    #[arg(long)]
    no_licence: bool,
    /// Daily request quota of the demo user
    #[arg(long, value_name = "N")]
    daily: Option<u64>,
}

impl DemoArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let threads = runtime::threads(2)?;
        let (_, config) = common.config()?;
        if common.offline {
            fail!(Usage, "the demo has nothing stored, and calls a service of its own: leave --offline out");
        }
        let display = display(&config);
        if !self.serve {
            need_terminal(display)?;
        }
        let mut options = Options {
            port: self.port,
            rows: self.rows.unwrap_or(2_000),
            listing: match self.list.as_deref() {
                Some("identifiers") => ListContent::Identifiers,
                _ => ListContent::Attributes,
            },
            delay: Duration::from_millis(self.delay),
            licence: !self.no_licence,
            ..Options::default()
        };
        options.user_limits.daily = self.daily.unwrap_or(options.user_limits.daily);
        let demo = threads.block_on(Demo::start(options)).context("the demo service cannot start")?;
        if self.serve { threads.block_on(serve(&demo)) } else { browse_demo(&demo, &config, display, !self.no_licence) }
    }
}

/// Runs the app on the demo with a temporary store: it leaves no files behind.
fn browse_demo(demo: &Demo, config: &Config, display: Display, is_licensed: bool) -> Result<()> {
    // From here on a signal ends the program in an orderly way, so that the folder is removed.
    let signals = Signals::listen()?;
    let folder = tempfile::Builder::new().prefix("behaview-demo-").tempdir();
    let folder = folder.context("no temporary folder: set TMPDIR")?;
    let store = Arc::new(Store::open(&folder.path().join("store"))?);
    let profile = Profile::demo(demo.root().to_owned(), demo.user().to_owned());
    let client = Client::new(profile, Some(Credential::new(demo.key(), KeySource::Demo)?))?;
    let now = crate::clock::now();
    let mut files = Vec::new();
    for (age, file) in (1..).zip(Demo::files()) {
        let sha256 = Sha256::parse(&file.sha256).context("a demo file's hash is not a SHA-256")?;
        let opened = now.checked_sub(jiff::SignedDuration::from_secs(age)).unwrap_or(now);
        store.record_file(&service_id(&client.profile().place()), &sha256, Some(file.title), opened)?;
        files.push(sha256);
    }
    let gateway = Gateway::new(store, client, session(), crate::clock::now).with_budget(config.budget());
    let mut model = model(&gateway);
    model.settings =
        Settings { forgets: Some("This is the demo"), is_demo: true, lists_at_once: true, ..settings(config) };
    model.open_files(files.get(..1).unwrap_or_default());
    // A refused call is not charged.
    let lists = if is_licensed { "It lists this file by itself, for 1 of that quota. " } else { "" };
    let other = model.key_label("open-file");
    let keys = model.key_label("help");
    model.say(format!(
        "This is the demo: made-up reports, make-believe quota. {lists}{other} shows the other files, {keys} the keys."
    ));
    output::app_result(runtime::run(model, Some(Arc::new(gateway)), display, signals, crate::clock::now)?.0)
}

async fn serve(demo: &Demo) -> Result<()> {
    {
        let mut out = std::io::stdout().lock();
        writeln!(out, "address  {}\nkey      {}\nuser     {}", demo.root(), demo.key(), demo.user())?;
        for file in Demo::files() {
            writeln!(out, "file     {}  {}: {}", file.sha256, file.title, file.about)?;
        }
        writeln!(
            out,
            "\nIn the config file that behaview config path names, readable by you alone, these lines use it:\n"
        )?;
        writeln!(out, "profile = \"demo\"\napi_key = {:?}\n[profiles.demo]\nroot = {:?}", demo.key(), demo.root())?;
        out.flush()?;
    }
    tokio::signal::ctrl_c().await?;
    Ok(())
}

/// Shows only ASCII if flag, locale or config requires it. Without a locale, UTF-8 is assumed.
pub(super) fn choose_charset(common: &Common) {
    if common.ascii || !is_utf8(variable) || common.config().is_ok_and(|(_, config)| config.ui.ascii) {
        text::show_ascii_alone();
    }
}

fn need_terminal(display: Display) -> Result<()> {
    if !display.is_plain && !std::io::IsTerminal::is_terminal(&std::io::stdout()) {
        fail!(
            Usage,
            "behaview needs a terminal for its screens. Without one, use the commands for scripts: behaview list <sha256>, \
             behaview show <identifier>, behaview demo --serve; behaview --help names them all"
        );
    }
    Ok(())
}

fn display(config: &Config) -> Display {
    let ui = config.ui;
    let is_dumb = variable("TERM").is_some_and(|term| term == "dumb");
    Display { theme: ui.theme, depth: ColorDepth::of(variable), takes_mouse: ui.mouse, is_plain: ui.plain || is_dumb }
}

/// Returns whether the first of the locale's variables that is set names UTF-8.
fn is_utf8(variable: impl Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable);
    locale.is_none_or(|locale| locale.to_lowercase().replace('-', "").contains("utf8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_tells_the_encoding() {
        let utf8 = |pairs: &[(&str, &str)]| {
            is_utf8(|name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        assert!(utf8(&[]) && utf8(&[("LANG", "de_DE.UTF-8")]) && utf8(&[("LC_ALL", "C.utf8"), ("LANG", "C")]));
        assert!(!utf8(&[("LANG", "C")]) && !utf8(&[("LC_CTYPE", "de_DE.ISO-8859-1"), ("LANG", "en_GB.UTF-8")]));
    }

    #[test]
    fn state_damaged_is_renamed_and_defaults_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state").join("state.json");
        assert_eq!(read_state(&path), (SavedScreen::default(), None));
        let mut remembered = SavedScreen::default();
        remembered.sizes.list = Some(30);
        write_state(&remembered, &path).unwrap();
        assert_eq!(read_state(&path), (remembered, None));
        std::fs::write(&path, "{\"sizes\": 7}").unwrap();
        files::set_mode(&path, 0o644).unwrap();
        let (found, words) = read_state(&path);
        assert!(found == SavedScreen::default() && words.unwrap().contains("damaged"));
        assert!(!path.exists() && !files::is_open_to_others(&path.with_extension("damaged")));
        assert_eq!(std::fs::read(path.with_extension("damaged")).unwrap(), b"{\"sizes\": 7}");
    }

    #[cfg(unix)]
    #[test]
    fn state_folder_with_invalid_unicode_is_escaped() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(std::ffi::OsStr::from_bytes(b"st\xffte\x1b")).join("state.json");
        let mut remembered = SavedScreen::default();
        remembered.sizes.list = Some(30);
        write_state(&remembered, &path).unwrap();
        assert_eq!(read_state(&path), (remembered, None));
        std::fs::write(&path, "no state").unwrap();
        let words = read_state(&path).1.unwrap();
        assert!(words.contains(r"st\x{ff}te\x1b") && !words.contains(char::REPLACEMENT_CHARACTER), "{words}");
        assert!(path.with_extension("damaged").exists());
    }
}
