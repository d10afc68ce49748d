//! Reports that were saved by any tool, opened in the same screens.

use crate::screen;
use behaview::app::message::Here;
use behaview::app::{Model, Size};
use behaview::report::Body;
use behaview::runtime::{Backing, Session};
use jiff::Timestamp;
use ratatui::backend::TestBackend;
use std::time::Duration;

struct Opened(Session<TestBackend>);

impl Opened {
    fn new(json: &str) -> Self {
        let mut model = Model::new(Default::default(), Timestamp::UNIX_EPOCH);
        model.size = Size { width: 100, height: 24 };
        let body = Body::in_memory(json.as_bytes().to_vec());
        let here = Here { received: Timestamp::UNIX_EPOCH, body, unkept: None };
        let first = model.open_document("report.json".to_owned(), vec![(None, here)]);
        let mut session = Session::new(TestBackend::new(100, 24), model, Backing::Document, || Timestamp::UNIX_EPOCH);
        session.begin(first);
        assert!(session.run_until_idle(Duration::from_secs(20)).unwrap());
        Self(session)
    }

    fn keys(&mut self, keys: &str) {
        for key in keys.split(' ') {
            self.0.press(key.parse().expect("a key's name"));
            assert!(self.0.run_until_idle(Duration::from_secs(20)).unwrap());
        }
    }

    fn screen(&self) -> String {
        let buffer = self.0.terminal().backend().buffer();
        let rows = buffer.content().chunks(usize::from(buffer.area.width));
        rows.map(|row| row.iter().map(ratatui::buffer::Cell::symbol).collect::<String>().trim_end().to_owned() + "\n")
            .collect()
    }
}

#[test]
fn a_behaviour_summary() {
    let opened = Opened::new(
        r#"{"data":{"tags":["RUNTIME_MODULES"],"files_opened":["C:\\a"],"verdicts":["CLEAN"],"new":{"k":"v"}}}"#,
    );
    screen!("document_summary", opened);
}

#[test]
fn a_document_that_is_cut_shows_what_came() {
    let opened = Opened::new(r#"{"data":{"id":"x","attributes":{"tags":["A","B"],"files_opened":["C:\\a","C:\\hal"#);
    screen!("document_cut", opened);
}

/// A tree whose processes say who they are behind their children.
const TOLD_BEHIND: &str = r#"{"processes_tree":[{"children":[{"name":"C:\\W\\cmd.exe","process_id":"7"}],
    "process_id":"3316","name":"C:\\W\\WINWORD.EXE"}],
    "files_dropped":[{"path":"C:\\a.txt","process_name":"WINWORD.EXE","process_id":"3316"}]}"#;

#[test]
fn the_way_to_a_process_that_says_who_it_is_behind_its_children() {
    let mut opened = Opened::new(TOLD_BEHIND);
    opened.keys("4 ^ enter");
    let screen = opened.screen();
    assert!(screen.contains("→ dropped") && screen.contains("→ started"), "{screen}");
}

#[test]
fn what_deserves_a_look_below_a_process_that_says_who_it_is_behind_its_children() {
    let mut opened = Opened::new(TOLD_BEHIND);
    opened.keys("1 down enter");
    assert!(opened.screen().contains("An Office program starts"), "{}", opened.screen());
    opened.keys("esc");
    let row = opened.screen().lines().find(|line| line.contains("cmd.exe")).unwrap_or_default().to_owned();
    assert!(row.contains('!'), "{}", opened.screen());
}

#[test]
fn what_a_conversation_is_about_is_its_address_and_not_how_it_was_asked_for() {
    let report = r#"{"data":{"attributes":{"http_conversations":[{"request_method":"GET","url":"http://c2.example/a"}],
        "tls":[{"sni":"","version":"TLSv1.3","thumbprint":"ab12cd"}],"memory_pattern_urls":["http://c2.example/a"]}}}"#;
    let mut opened = Opened::new(report);
    opened.keys("5 g e");
    assert!(
        opened.screen().contains("http://c2.example/a▏") && opened.screen().contains("2 hits"),
        "{}",
        opened.screen()
    );
    let mut opened = Opened::new(report);
    opened.keys("5 g j e");
    assert!(opened.screen().contains("ab12cd▏"), "{}", opened.screen());
}
