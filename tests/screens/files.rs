//! Reports that were saved by any tool, opened in the same screens.

use crate::screen;
use behaview::app::message::LoadedReport;
use behaview::app::{Model, Size};
use behaview::report::Body;
use behaview::runtime::Session;
use jiff::Timestamp;
use ratatui::backend::TestBackend;
use std::time::Duration;

struct Opened(Session<TestBackend>);

impl Opened {
    fn new(json: &str) -> Self {
        Self::several(&[("report.json", json)])
    }

    fn several(documents: &[(&str, &str)]) -> Self {
        let mut model = Model::new(Default::default(), Timestamp::UNIX_EPOCH);
        model.size = Size { width: 100, height: 24 };
        let here = |json: &str| {
            let body = Body::in_memory(json.as_bytes().to_vec());
            LoadedReport::new(Timestamp::UNIX_EPOCH, body, None)
        };
        let document = |(name, json): &(&str, &str)| ((*name).to_owned(), vec![(None, here(json))]);
        model.open_documents(documents.iter().map(document).collect());
        let mut session = Session::new(TestBackend::new(100, 24), model, None, || Timestamp::UNIX_EPOCH).unwrap();
        session.begin();
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
        screen_of(&self.0)
    }
}

fn screen_of(session: &Session<TestBackend>) -> String {
    let buffer = session.terminal.backend().buffer();
    let rows = buffer.content().chunks(usize::from(buffer.area.width));
    rows.map(|row| row.iter().map(ratatui::buffer::Cell::symbol).collect::<String>().trim_end().to_owned() + "\n")
        .collect()
}

#[test]
fn a_command_line_is_a_processes_own_only_where_it_can_be_no_other() {
    let report = |tree: &str, commands: &str| {
        format!(
            r#"{{"data":{{"type":"x_file_behaviour","attributes":{{"processes_tree":[{tree}],"command_executions":[{commands}]}}}}}}"#
        )
    };
    let explorer =
        r#"{"name":"%WINDIR%\\explorer.exe","process_id":"1"},{"name":"C:\\Windows\\explorer.exe","process_id":"2"}"#;
    let cmd = r#"{"name":"C:\\W\\cmd.exe","process_id":"3"}"#;
    let said = |tree: &str, commands: &str| {
        let mut opened = Opened::new(&report(tree, commands));
        opened.keys("1 g enter");
        opened.screen()
    };
    let one = said(cmd, r#""cmd.exe /c x""#);
    assert!(one.contains("→ command line: cmd.exe /c x"), "{one}");
    // Two processes of the name, and one command: nobody says whose it is.
    let of_two = said(explorer, r#""C:\\Windows\\explorer.exe --mine""#);
    assert!(of_two.contains("→ may be its command line: C:\\Windows\\explorer.exe --mine"), "{of_two}");
    // The ending may be left out, with and without marks around.
    let bare = said(cmd, r#""\"cmd\" /c powershell -Command y","C:\\W\\CMD.EXE /c z""#);
    assert!(bare.contains(r#"→ may be its command line: "cmd" /c powershell"#), "{bare}");
    assert!(bare.contains("CMD.EXE /c z"), "{bare}");
}

/// Rows of words and of records that name a process, and none by its number alone.
const RUN: &str = r#"{"processes_tree":[{"name":"C:\\Program Files\\Lab Tools\\run it.exe","process_id":"7"},
    {"name":"powershell.exe","process_id":"8"},{"name":"cmd.exe","process_id":"9"}],
    "processes_injected":["C:\\Program Files\\Lab Tools\\run it.exe",{"name":"cmd.exe"},"{\"process_id\":\"8\"}"],
    "processes_created":["C:\\Program Files\\Lab Tools\\Run it.exe /q","cmd /c C:\\W\\powershell.exe","nobody.exe C:\\W\\cmd.exe"]}"#;

#[test]
fn from_a_row_that_tells_of_a_process_to_that_process() {
    let ways = [("3", "1/9"), ("4", "3/9"), ("5", "2/9"), ("6", "1/9"), ("7", "3/9")];
    for (row, process) in ways {
        let mut opened = Opened::new(RUN);
        opened.keys("1 g");
        (0..row.parse().unwrap()).for_each(|_| opened.keys("j"));
        opened.keys("^");
        assert!(opened.screen().contains(process), "{row}:\n{}", opened.screen());
    }
    let mut opened = Opened::new(RUN);
    opened.keys("1 G ^");
    assert!(opened.screen().contains("The process tree has no process that the row names."), "{}", opened.screen());
    // How it was created is known of a process, too.
    opened.keys("g enter");
    assert!(
        opened.screen().contains(r"→ command line: C:\Program Files\Lab Tools\Run it.exe /q"),
        "{}",
        opened.screen()
    );
}

#[test]
fn what_of_a_value_nobody_sees_is_said_below_the_row() {
    let said = |row: &str| {
        let mut opened = Opened::new(&format!(r#"{{"data":{{"files_opened":[{row}]}}}}"#));
        opened.keys("4 g enter");
        opened.screen()
    };
    assert!(said(r#""C:\\trailing ""#).contains("value: ends with a blank"), "{}", said(r#""C:\\trailing ""#));
    assert!(said(r#"" C:\\a""#).contains("value: begins with a blank"));
    assert!(said(r#""""#).contains("value: is empty"));
    assert!(!said(r#""C:\\a b""#).contains("blank"));
}

#[test]
fn a_behaviour_summary() {
    let opened = Opened::new(
        r#"{"data":{"tags":["RUNTIME_MODULES"],"files_opened":["C:\\a"],"verdicts":["CLEAN"],"new":{"k":"v"}}}"#,
    );
    screen!("document_summary", opened);
}

#[test]
fn a_document_of_another_kind_says_so_wherever_rows_of_a_report_would_stand() {
    let opened = Opened::new(
        r#"{"data":{"id":"x","type":"private_file","attributes":{"tags":["text"],"size":5,"names":["a.txt"]}}}"#,
    );
    screen!("document_of_another_kind", opened);
    let mut both = Opened::several(&[("a", r#"{"data":{"tags":["A"]}}"#), ("b", r#"{"data":{"x":1}}"#)]);
    both.keys("j");
    assert!(both.0.model.focused().is_none() && both.screen().contains("not a behaviour report"), "{}", both.screen());
    let trees = r#"{"data":{"Box":{"tactics":[{"id":"TA0005"}]}}}"#;
    let screen = Opened::new(trees).screen();
    assert!(screen.contains(" no behaviour report ") && !screen.contains("2 Tags"), "{screen}");
    let named = r#""techniques":[{"id":"T1055","signatures":[{"severity":"LOW","description":"Starts"}]}]"#;
    let screen = Opened::new(&trees.replace(r#""id":"TA0005""#, &format!("{named}}},{{{named}"))).screen();
    let row = "Defense Evasion LOW · T1055 Process Injection · Starts · by Box";
    assert!(
        screen.contains("ATT&CK 1")
            && screen.lines().filter(|line| !line.starts_with(' ') && line.contains("T1055")).count() == 1,
        "{screen}"
    );
    assert!(screen.contains(row.get(..40).unwrap()), "{screen}");
    let empty = Opened::new(r#"{"data":{"id":"x","type":"file_behaviour","attributes":{}}}"#).screen();
    assert!(!empty.contains("no behaviour report") && empty.contains("2 Tags"), "{empty}");
}

#[test]
fn a_document_that_is_cut_shows_what_came() {
    let opened = Opened::new(r#"{"data":{"id":"x","attributes":{"tags":["A","B"],"files_opened":["C:\\a","C:\\hal"#);
    screen!("document_cut", opened);
}

#[test]
fn what_a_filter_found_in_a_part_of_a_row_that_is_left_out_is_brought_into_sight() {
    let path = format!("C:\\\\one\\\\needle\\\\{}", "long\\\\".repeat(40));
    let url = format!("https://a.example/{}needle", "long/".repeat(40));
    let mut opened = Opened::new(&format!(r#"{{"files_opened":["{path}end.txt"],"text_decoded":["{url}"]}}"#));
    for pane in ["4", "t"] {
        opened.keys(pane);
        let is_in_pane = |screen: &str| {
            screen.lines().any(|line| line.contains("needle") && line.contains("long") && !line.starts_with(' '))
        };
        assert!(!is_in_pane(&opened.screen()), "{}", opened.screen());
        opened.keys("/ n e e d l e enter");
        assert!(is_in_pane(&opened.screen()), "{}", opened.screen());
        opened.keys("esc");
    }
}

/// A tree whose processes say who they are behind their children.
const TOLD_BEHIND: &str = r#"{"processes_tree":[{"children":[{"name":"C:\\W\\cmd.exe","process_id":"7"}],
    "process_id":"3316","name":"C:\\W\\WINWORD.EXE"}],
    "files_dropped":[{"path":"C:\\a.txt","process_name":"WINWORD.EXE","process_id":"3316"}]}"#;

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
fn of_several_documents_each_row_says_which_it_is_of() {
    let report = |tag: &str| format!(r#"{{"tags":["{tag}","BOTH"]}}"#);
    let (one, two) = (report("ONE"), report("TWO"));
    let long = "a-name-that-is-too-long-for-the-list-of-reports.json";
    let mut opened = Opened::several(&[("first.json", &one), ("b\u{1b}[31m\u{202e}.json", &two), (long, &one)]);
    screen!("documents", opened);
    opened.keys("j j");
    assert!(opened.screen().contains("· a-name-that-is-too-long-for-the-list-of"), "{}", opened.screen());
    opened.keys("c");
    screen!("documents_compared", opened);
}

#[test]
fn a_report_that_cannot_be_read_leaves_the_others_in_every_list() {
    let report = r#"{"data":{"id":"x_Box-1","type":"x_file_behaviour","attributes":{"dns_lookups":[{"hostname":"a.example"}],
        "mutexes_created":["Global\\one"],"registry_keys_set":[{"key":"HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Run\\x"}]}}}"#;
    for broken in ["<html>no report", "[1, 2]", &report[..report.len() / 2]] {
        let mut opened = Opened::several(&[("a.json", report), ("b.json", broken), ("c.json", report)]);
        for (key, row) in [("i", "a[.]example"), ("!", "by 1 rule"), ("c", "a.example")] {
            opened.keys(&format!("esc esc {key}"));
            let screen = opened.screen();
            assert!(screen.contains("1 of 3 could not be read whole") && screen.contains(row), "{broken}: {screen}");
        }
    }
}

/// Three processes of one name, and rows that name one of them: by its number, by another's, by none.
const NAMESAKES: &str = r#"{"processes_tree":[{"name":"C:\\W\\svchost.exe","process_id":"1188"},
    {"name":"C:\\W\\svchost.exe","process_id":"1044"},{"name":"C:\\T\\svchost.exe","process_id":"77"}],
    "files_dropped":[{"path":"C:\\a.txt","process_name":"svchost.exe","process_id":"1044"},
    {"path":"C:\\b.txt","process_name":"svchost.exe"},{"path":"C:\\c.txt","process_name":"svchost.exe","process_id":"77"}]}"#;

#[test]
fn of_several_processes_with_one_name_what_names_another_number_is_none_of_this_one() {
    let mut opened = Opened::new(NAMESAKES);
    opened.keys("1 j e");
    screen!("process_of_several", opened);
    opened.keys("backspace");
    let screen = opened.screen();
    assert!(screen.contains("svchost.ex▏") && screen.contains("6 hits") && !screen.contains("1044, or"), "{screen}");
}

#[test]
fn a_row_that_may_mean_several_processes_lists_them() {
    let mut opened = Opened::new(NAMESAKES);
    opened.keys("4 g ^ y");
    assert!(opened.screen().contains("2/3"), "by its number:\n{}", opened.screen());
    opened.keys("4 g j ^");
    screen!("processes_meant", opened);
    opened.keys("j j enter");
    assert!(opened.screen().contains("3/3"), "{}", opened.screen());
}
