//! A harness for the app: real loop, store and HTTP, demo service, cells, a stopped clock.

use crate::faults::arm;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use behaview::app::{Area, LoadedReport, Message, Model, Size, TerminalEvent};
use behaview::cli;
use behaview::demo::{Demo, ListContent, Options};
use behaview::gateway::Gateway;
use behaview::quota::{Budget, CONFIRM_ABOVE, SpentUnits};
use behaview::report::Body;
use behaview::report::identifier::Sha256;
use behaview::runtime::EventLoop;
use behaview::service::credential::{Credential, KeySource};
use behaview::service::{Client, Profile};
use behaview::store::Store;
use jiff::{SignedDuration, Timestamp};
use ratatui::backend::TestBackend;
use ratatui::layout::Rect;
use std::cell::{Cell, RefCell};
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// How long a test waits for the app to come to rest; only a broken app needs it.
const PATIENCE: Duration = Duration::from_secs(20);

/// The moment of every test: 2026-11-20 10:00 UTC.
const NOW: i64 = 1_795_168_800;

thread_local! {
    static LATER: Cell<i64> = const { Cell::new(0) };
    /// Words that this test has seen on a screen.
    static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn clock() -> Timestamp {
    Timestamp::from_second(NOW).unwrap() + SignedDuration::from_secs(LATER.get())
}

/// An app on a demo service.
pub struct TuiHarness {
    pub demo: Option<Demo>,
    pub session: EventLoop<TestBackend>,
    pub folder: TempDir,
    clipboard: Clipboard,
    profile: Profile,
    key: Option<String>,
    _threads: Runtime,
}

/// The bytes that reached the terminal beside the screen.
#[derive(Clone, Default)]
struct Clipboard(Arc<Mutex<Vec<u8>>>);

impl Write for Clipboard {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Options of a demo service that is the same at every run.
pub fn options() -> Options {
    Options { now: Some(NOW), key: Some("5ca1ab1e".repeat(8)), rows: 300, ..Options::default() }
}

/// The same, of a service whose lists bring no reports along.
pub fn identifiers() -> Options {
    Options { listing: ListContent::Identifiers, ..options() }
}

/// Hashes of the demo's public files.
pub fn public() -> Vec<String> {
    Demo::public_files().into_iter().map(|file| file.sha256).collect()
}

/// One of the demo's files, by a word of its title.
pub fn file(word: &str) -> Sha256 {
    let files = Demo::files();
    let found = files.iter().find(|file| file.title.contains(word)).expect("the demo has such a file");
    Sha256::parse(&found.sha256).unwrap()
}

/// The demo's main file.
pub fn main_file() -> Sha256 {
    Sha256::parse(&Demo::files()[0].sha256).unwrap()
}

impl TuiHarness {
    /// The app at its start screen, on a service with these options.
    pub fn new(options: Options) -> Self {
        Self::prepared(options, |_| ())
    }

    /// The same, where something goes wrong from the start.
    pub fn faulty(fault: &str) -> Self {
        Self::prepared(options(), |demo| arm(demo, fault))
    }

    fn prepared(options: Options, prepare: impl FnOnce(&Demo)) -> Self {
        let threads = Runtime::new().unwrap();
        let demo = threads.block_on(Demo::start(options)).unwrap();
        prepare(&demo);
        let profile = Profile::demo(demo.root().to_owned(), demo.user().to_owned());
        let key = Some(demo.key().to_owned());
        Self::on(threads, Some(demo), profile, key)
    }

    /// The app on another service, with this key.
    pub fn with_key(root: String, key: &str) -> Self {
        let profile = Profile { user: None, ..Profile::demo(root, String::new()) };
        Self::on(Runtime::new().unwrap(), None, profile, Some(key.to_owned()))
    }

    /// The app without a key.
    pub fn without_key() -> Self {
        Self::on(Runtime::new().unwrap(), None, Profile::default(), None)
    }

    /// The app with these documents open, without a key.
    pub fn documents(documents: &[(&str, &str)]) -> Self {
        let here = |json: &str| LoadedReport::new(clock(), Body::in_memory(json.as_bytes().to_vec()), None);
        let document = |(name, json): &(&str, &str)| ((*name).to_owned(), vec![(None, here(json))]);
        let mut tui = Self::without_key();
        tui.session.model.open_documents(documents.iter().map(document).collect());
        tui.size(100, 24).later(0);
        tui.rest();
        tui
    }

    /// The app on a service that is switched off.
    pub fn unreachable() -> Self {
        let profile = Profile::demo("http://127.0.0.1:1".to_owned(), "demo-analyst".to_owned());
        Self::on(Runtime::new().unwrap(), None, profile, Some("key".to_owned()))
    }

    fn on(threads: Runtime, demo: Option<Demo>, profile: Profile, key: Option<String>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clipboard = Clipboard::default();
        let mut session = session(&folder, &profile, key.as_deref());
        session.clipboard = behaview::runtime::Clipboard::Terminal(Box::new(clipboard.clone()));
        let mut tui = Self { demo, session, folder, clipboard, profile, key, _threads: threads };
        tui.session.begin();
        tui.rest();
        tui
    }

    /// The app with one of the demo's files open; nothing has been asked.
    pub fn at(file: Sha256, options: Options) -> Self {
        let mut tui = Self::new(options);
        tui.open(&file);
        tui
    }

    /// The app with the main file's list fetched.
    pub fn listed() -> Self {
        let mut tui = Self::at(main_file(), options());
        tui.keys("enter");
        tui
    }

    /// Pastes a hash and opens it.
    pub fn open(&mut self, file: &Sha256) {
        self.session.take(TerminalEvent::Paste(format!("sha256: {file}\n")));
        self.keys("enter");
    }

    /// Goes back to the start screen, and opens another file there.
    pub fn open_other(&mut self, file: &Sha256) {
        self.keys("esc f");
        self.open(file);
    }

    /// Ends the program and starts it again on the same store, with the service switched off.
    pub fn restart_without_service(mut self) -> Self {
        self.demo = None;
        self.restart()
    }

    /// Ends the program and starts it again on the same store.
    pub fn restart(mut self) -> Self {
        self.session = session(&self.folder, &self.profile, self.key.as_deref());
        self.session.begin();
        self.rest();
        self
    }

    /// Changes what is stored, as nothing but damage does.
    pub fn sql(&self, change: &str) {
        rusqlite::Connection::open(self.folder.path().join("store/records.db")).unwrap().execute_batch(change).unwrap();
    }

    /// What another program writes of the main file's first report.
    pub fn note_of_another(&self, text: &str) -> String {
        let file = main_file();
        format!(
            "INSERT INTO note VALUES (CAST('{file}_CAPE Sandbox-1794474845' AS BLOB), 0, x'', x'', '{file}', \
             CAST('{text}' AS BLOB), 0)"
        )
    }

    /// The files of stored responses whose names hold a word.
    fn stored(&self, word: &str) -> Vec<std::path::PathBuf> {
        let (mut found, mut folders) = (Vec::new(), vec![self.folder.path().join("store/reports")]);
        while let Some(folder) = folders.pop() {
            for path in folder.read_dir().into_iter().flatten().map(|entry| entry.unwrap().path()) {
                match path.is_dir() {
                    true => folders.push(path),
                    false if path.to_string_lossy().contains(word) => found.push(path),
                    false => {}
                }
            }
        }
        found
    }

    /// Deletes stored responses behind the program's back.
    pub fn delete_stored(&self, word: &str) {
        self.stored(word).into_iter().for_each(|path| std::fs::remove_file(path).unwrap());
    }

    /// Damages stored responses.
    pub fn damage_stored(&self, word: &str) {
        self.stored(word).into_iter().for_each(|path| std::fs::write(path, [0; 100]).unwrap());
    }

    /// Makes a file in the stage's folder; gives its path, which is as long as the system likes.
    pub fn sample(&self, name: &str, size: usize) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, vec![b'x'; size]).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Opens the line of a question by its name, and pastes this into it.
    pub fn type_question(&mut self, name: &str, text: &str) {
        self.keys(":");
        for letter in name.chars() {
            self.press(&letter.to_string());
        }
        self.keys("enter");
        self.session.take(TerminalEvent::Paste(text.to_owned()));
        self.rest();
    }

    /// Presses keys by their names, waiting for the app to come to rest after each.
    pub fn keys(&mut self, keys: &str) -> &mut Self {
        for key in keys.split(' ') {
            self.press(key);
            self.rest();
        }
        self
    }

    /// Presses a key, and waits for nothing.
    pub fn press(&mut self, key: &str) {
        self.session.press(key.parse().expect("a key's name"));
    }

    /// Waits until nothing is under way.
    pub fn rest(&mut self) {
        assert!(self.session.run_until_idle(PATIENCE).unwrap(), "the app did not come to rest");
    }

    /// Waits for these words on the screen, whatever is still under way.
    pub fn until(&mut self, words: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.drawn().screen().contains(words) {
            assert!(Instant::now() < deadline, "{words:?} did not come:\n{}", self.screen());
        }
    }

    /// Takes in what has come, and draws it.
    pub fn drawn(&mut self) -> &mut Self {
        self.session.run_until_idle(Duration::from_millis(50)).unwrap();
        self
    }

    /// Lets time pass, as the app sees it.
    pub fn later(&mut self, seconds: i64) {
        LATER.set(LATER.get() + seconds);
        self.session.take(Message::Tick);
        self.session.draw().unwrap();
    }

    /// Wants a yes for what costs more.
    pub fn confirm_above(&mut self, units: u64) {
        self.session.model.settings.confirm_above = units;
    }

    /// Allows this run so many units.
    pub fn budget(&mut self, units: u64) {
        let budget = Budget { session: Some(units), ..Budget::default() };
        self.session.model.quota_state.allowance.budget = budget;
        self.session.draw().unwrap();
    }

    /// Gives the terminal another size.
    pub fn size(&mut self, width: u16, height: u16) -> &mut Self {
        self.session.terminal.backend_mut().resize(width, height);
        self.session.take(TerminalEvent::Resize(Size { width, height }));
        self.session.draw().unwrap();
        self
    }

    /// The screen as text.
    pub fn screen(&self) -> String {
        self.text(self.session.terminal.backend().buffer().area)
    }

    /// All but the bar, which only its own tests show.
    pub fn without_bar(&self) -> String {
        let Area { y: height, width, .. } = self.session.model.layout().bar;
        self.text(Rect { x: 0, y: 0, width, height })
    }

    /// What the keys act on, with the message: an overlay, or the pane or list in focus.
    pub fn shown(&self) -> String {
        let (model, layout) = (&self.session.model, self.session.model.layout());
        let area = model.focused().map_or(layout.list, |pane| layout.pane(pane));
        if let Some(area) = area.filter(|_| model.overlays.is_empty() && model.list().is_some()) {
            return self.with_rows_below(area);
        }
        let screen = self.without_bar();
        let (_, overlay) = screen.rsplit_once("\n┏").expect("an overlay has a frame");
        let (overlay, end) = overlay.split_once("\n┗").expect("a frame has an end");
        format!("┏{overlay}\n┗{}\n{}", end.lines().next().unwrap(), self.with_rows_below(Area::default()))
    }

    /// What is said beside the list, where no report is open, and below it.
    pub fn beside_list(&self) -> String {
        self.with_rows_below(self.session.model.layout().beside_list)
    }

    /// A part of the screen, and the rows below all panes: what is under the cursor, or a message.
    fn with_rows_below(&self, Area { x, y, width, height }: Area) -> String {
        let layout = self.session.model.layout();
        let below = match layout.message.height {
            0 if self.session.model.overlays.is_empty() => layout.detail.y,
            0 => layout.bar.y,
            _ => layout.message.y,
        };
        let rows = Rect { x: 0, y: below, width: layout.bar.width, height: layout.bar.y - below };
        self.text(Rect { x, y, width, height: height.min(below.saturating_sub(y)) }) + &self.text(rows)
    }

    fn text(&self, area: Rect) -> String {
        let buffer = self.session.terminal.backend().buffer();
        let text = area.rows().map(|row| {
            let mut line = String::new();
            let mut hidden = 0;
            for symbol in row.columns().map(|cell| buffer[cell.as_position()].symbol()) {
                if hidden == 0 {
                    line += symbol;
                    hidden = unicode_width::UnicodeWidthStr::width(symbol).saturating_sub(1);
                } else {
                    hidden -= 1;
                }
            }
            line.trim_end().to_owned() + "\n"
        });
        without_port(text.collect())
    }

    /// Fails unless these words are on the screen.
    #[track_caller]
    pub fn assert_shows(&self, words: &str) {
        let screen = self.screen();
        assert!(screen.contains(words), "{words:?} is not on the screen:\n{screen}");
        SEEN.with_borrow_mut(|seen| seen.push(words.to_owned()));
    }

    /// Fails where a text is on the screen, or was never on it here: it may have been reworded.
    #[track_caller]
    pub fn assert_gone(&self, words: &str) {
        let screen = self.screen();
        assert!(!screen.contains(words), "{words:?} is on the screen:\n{screen}");
        let is_known = SEEN.with_borrow(|seen| seen.iter().any(|known| known.contains(words)));
        assert!(is_known, "before {words:?} can be gone, assert_shows has to see it");
    }

    /// What was copied since the last time; nothing but OSC 52 has reached the terminal.
    pub fn copied(&mut self) -> String {
        let bytes = std::mem::take(&mut *self.clipboard.0.lock().unwrap());
        let text = String::from_utf8(bytes).unwrap();
        let inside = text.strip_prefix("\u{1b}]52;c;").and_then(|rest| rest.strip_suffix("\u{1b}\\"));
        let inside = inside.unwrap_or_else(|| panic!("{text:?} is not one OSC 52"));
        String::from_utf8(STANDARD.decode(inside).unwrap()).unwrap()
    }

    /// Calls that the service received and charged for.
    pub fn paid_calls(&self) -> usize {
        self.demo.as_ref().map_or(0, |demo| demo.seen().iter().filter(|call| call.charged > 0).count())
    }

    /// What the bar says that this session has spent, of all units.
    pub fn spent(&self) -> SpentUnits {
        let model = &self.session.model;
        model.quota_state.spent_with(&model.calls).into_values().sum()
    }

    /// Calls that the service received for an operation.
    pub fn calls(&self, endpoint: behaview::demo::Endpoint) -> usize {
        self.demo.as_ref().map_or(0, |demo| demo.seen().iter().filter(|call| call.endpoint == Some(endpoint)).count())
    }
}

/// The demo's port differs at every run; its five digits do not matter.
fn without_port(screen: String) -> String {
    const ADDRESS: &str = "127.0.0.1:";
    let mut parts = screen.split(ADDRESS);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.chars().take_while(char::is_ascii_digit).count();
        text += &format!("{ADDRESS}{}{}", "0".repeat(digits), &part[digits..]);
    }
    text
}

fn session(folder: &TempDir, profile: &Profile, key: Option<&str>) -> EventLoop<TestBackend> {
    let store = Arc::new(Store::open(&folder.path().join("store")).unwrap());
    let credential = key.map(|key| Credential::new(key, KeySource::Demo).unwrap());
    let client = Client::new(profile.clone(), credential).unwrap();
    let gateway = Gateway::new(store, client, "session".to_owned(), clock);
    let mut model = Model::new(cli::service(&gateway), clock());
    model.size = Size { width: 120, height: 40 };
    model.settings.confirm_above = CONFIRM_ABOVE;
    EventLoop::new(TestBackend::new(120, 40), model, Some(Arc::new(gateway)), clock).unwrap()
}
