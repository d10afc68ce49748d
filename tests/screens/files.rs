//! Reports that were saved by any tool, opened in the same screens.

use crate::harness::TuiHarness;
use crate::{above_bar, screen};
use behaview::app::LoadedReport;
use behaview::report::Body;
use behaview::report::identifier::Identifier;

fn opened(json: &str) -> TuiHarness {
    TuiHarness::documents(&[("report.json", json)])
}

#[test]
fn command_line_is_assigned_only_if_unambiguous() {
    let report = |tree: &str, commands: &str| {
        format!(
            r#"{{"data":{{"type":"x_file_behaviour","attributes":{{"processes_tree":[{tree}],"command_executions":[{commands}]}}}}}}"#
        )
    };
    let explorer =
        r#"{"name":"%WINDIR%\\explorer.exe","process_id":"1"},{"name":"C:\\Windows\\explorer.exe","process_id":"2"}"#;
    let cmd = r#"{"name":"C:\\W\\cmd.exe","process_id":"3"}"#;
    let shown = |tree: &str, commands: &str| {
        let mut tui = opened(&report(tree, commands));
        tui.keys("1 g enter");
        tui.screen()
    };
    let one = shown(cmd, r#""cmd.exe /c x""#);
    assert!(one.contains("→ command line: cmd.exe /c x"), "{one}");
    // Two processes of the name, and one command: nobody says whose it is.
    let of_two = shown(explorer, r#""C:\\Windows\\explorer.exe --mine""#);
    assert!(of_two.contains("→ may be its command line: C:\\Windows\\explorer.exe --mine"), "{of_two}");
    // The ending may be left out, with and without marks around.
    let bare = shown(cmd, r#""\"cmd\" /c powershell -Command y","C:\\W\\CMD.EXE /c z""#);
    assert!(bare.contains(r#"→ may be its command line: "cmd" /c powershell"#), "{bare}");
    assert!(bare.contains("CMD.EXE /c z"), "{bare}");
}

/// Rows of words and of records that name a process, and none by its number alone.
const RUN: &str = r#"{"processes_tree":[{"name":"C:\\Program Files\\Lab Tools\\run it.exe","process_id":"7"},
    {"name":"powershell.exe","process_id":"8"},{"name":"cmd.exe","process_id":"9"}],
    "processes_injected":["C:\\Program Files\\Lab Tools\\run it.exe",{"name":"cmd.exe"},"{\"process_id\":\"8\"}"],
    "processes_created":["C:\\Program Files\\Lab Tools\\Run it.exe /q","cmd /c C:\\W\\powershell.exe","nobody.exe C:\\W\\cmd.exe"]}"#;

#[test]
fn row_leads_to_the_process_it_names() {
    let ways = [("3", "1/9"), ("4", "3/9"), ("5", "2/9"), ("6", "1/9"), ("7", "3/9")];
    for (row, process) in ways {
        let mut tui = opened(RUN);
        tui.keys("1 g");
        for _ in 0..row.parse().unwrap() {
            tui.keys("j");
        }
        tui.keys("^");
        assert!(tui.screen().contains(process), "{row}:\n{}", tui.screen());
    }
    let mut tui = opened(RUN);
    tui.keys("1 G ^");
    assert!(tui.screen().contains("The process tree has no process that the row names."), "{}", tui.screen());
    // How it was created is known of a process, too.
    tui.keys("g enter");
    assert!(tui.screen().contains(r"→ command line: C:\Program Files\Lab Tools\Run it.exe /q"), "{}", tui.screen());
}

#[test]
fn invisible_parts_of_a_value_are_described() {
    let shown = |row: &str| {
        let mut tui = opened(&format!(r#"{{"data":{{"files_opened":[{row}]}}}}"#));
        tui.keys("4 g enter");
        tui.screen()
    };
    assert!(shown(r#""C:\\trailing ""#).contains("value: ends with a blank"), "{}", shown(r#""C:\\trailing ""#));
    assert!(shown(r#"" C:\\a""#).contains("value: begins with a blank"));
    assert!(shown(r#""""#).contains("value: is empty"));
    assert!(!shown(r#""C:\\a b""#).contains("blank"));
}

#[test]
fn a_behaviour_summary() {
    let tui = opened(
        r#"{"data":{"tags":["RUNTIME_MODULES"],"files_opened":["C:\\a"],"verdicts":["CLEAN"],"new":{"k":"v"}}}"#,
    );
    above_bar!("document_summary", tui);
}

#[test]
fn foreign_document_is_named_in_place_of_rows() {
    let tui = opened(
        r#"{"data":{"id":"x","type":"private_file","attributes":{"tags":["text"],"size":5,"names":["a.txt"]}}}"#,
    );
    above_bar!("document_of_another_kind", tui);
    let mut both = TuiHarness::documents(&[("a", r#"{"data":{"tags":["A"]}}"#), ("b", r#"{"data":{"x":1}}"#)]);
    both.keys("j");
    assert!(
        both.session.model.focused().is_none() && both.screen().contains("not a behaviour report"),
        "{}",
        both.screen()
    );
    let trees = r#"{"data":{"Box":{"tactics":[{"id":"TA0005"}]}}}"#;
    let screen = opened(trees).screen();
    assert!(screen.contains(" no behaviour report ") && !screen.contains("2 Tags"), "{screen}");
    let named = r#""techniques":[{"id":"T1055","signatures":[{"severity":"LOW","description":"Starts"}]}]"#;
    let screen = opened(&trees.replace(r#""id":"TA0005""#, &format!("{named}}},{{{named}"))).screen();
    let row = "Defense Evasion LOW · T1055 Process Injection · Starts · by Box";
    assert!(
        screen.contains("ATT&CK 1")
            && screen.lines().filter(|line| !line.starts_with(' ') && line.contains("T1055")).count() == 1,
        "{screen}"
    );
    assert!(screen.contains(row.get(..40).unwrap()), "{screen}");
    let empty = opened(r#"{"data":{"id":"x","type":"file_behaviour","attributes":{}}}"#).screen();
    assert!(!empty.contains("no behaviour report") && empty.contains("2 Tags"), "{empty}");
}

#[test]
fn truncated_document_shows_its_received_rows() {
    let tui = opened(r#"{"data":{"id":"x","attributes":{"tags":["A","B"],"files_opened":["C:\\a","C:\\hal"#);
    above_bar!("document_cut", tui);
}

#[test]
fn match_in_a_hidden_part_is_scrolled_into_view() {
    let path = format!("C:\\\\one\\\\needle\\\\{}", "long\\\\".repeat(40));
    let url = format!("https://a.example/{}needle", "long/".repeat(40));
    let mut tui = opened(&format!(r#"{{"files_opened":["{path}end.txt"],"text_decoded":["{url}"]}}"#));
    for pane in ["4", "t"] {
        tui.keys(pane);
        let is_in_pane = |screen: &str| {
            screen.lines().any(|line| line.contains("needle") && line.contains("long") && !line.starts_with(' '))
        };
        assert!(!is_in_pane(&tui.screen()), "{}", tui.screen());
        tui.keys("/ n e e d l e enter");
        assert!(is_in_pane(&tui.screen()), "{}", tui.screen());
        tui.keys("esc");
    }
}

/// A tree whose processes say who they are behind their children.
const TOLD_BEHIND: &str = r#"{"processes_tree":[{"children":[{"name":"C:\\W\\cmd.exe","process_id":"7"}],
    "process_id":"3316","name":"C:\\W\\WINWORD.EXE"}],
    "files_dropped":[{"path":"C:\\a.txt","process_name":"WINWORD.EXE","process_id":"3316"}]}"#;

#[test]
fn finding_below_a_late_named_parent_is_marked() {
    let mut tui = opened(TOLD_BEHIND);
    tui.keys("1 down enter");
    assert!(tui.screen().contains("An Office program starts"), "{}", tui.screen());
    tui.keys("esc");
    let row = tui.screen().lines().find(|line| line.contains("cmd.exe")).unwrap_or_default().to_owned();
    assert!(row.contains('!'), "{}", tui.screen());
}

#[test]
fn rows_of_several_documents_name_their_source() {
    let report = |tag: &str| format!(r#"{{"tags":["{tag}","BOTH"]}}"#);
    let (one, two) = (report("ONE"), report("TWO"));
    let long = "a-name-that-is-too-long-for-the-list-of-reports.json";
    let mut tui = TuiHarness::documents(&[("first.json", &one), ("b\u{1b}[31m\u{202e}.json", &two), (long, &one)]);
    above_bar!("documents", tui);
    tui.keys("j j");
    assert!(tui.screen().contains("· a-name-that-is-too-long-for-the-list-of"), "{}", tui.screen());
    tui.keys("c");
    screen!("documents_compared", tui);
}

#[test]
fn unreadable_report_leaves_others_in_every_list() {
    let report = r#"{"data":{"id":"x_Box-1","type":"x_file_behaviour","attributes":{"dns_lookups":[{"hostname":"a.example"}],
        "mutexes_created":["Global\\one"],"registry_keys_set":[{"key":"HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Run\\x"}]}}}"#;
    for broken in ["<html>no report", "[1, 2]", &report[..report.len() / 2]] {
        let mut tui = TuiHarness::documents(&[("a.json", report), ("b.json", broken), ("c.json", report)]);
        for (key, row) in [("i", "a[.]example"), ("!", "by 1 rule"), ("c", "a.example")] {
            tui.keys(&format!("esc esc {key}"));
            let screen = tui.screen();
            assert!(screen.contains("1 of 3 could not be read whole") && screen.contains(row), "{broken}: {screen}");
        }
    }
}

#[test]
fn document_read_before_it_is_opened_has_all_reports() {
    let first = r#"{"id":"one","attributes":{"tags":["FIRST"]}}"#;
    let (body, rest) = Body::begun(first.as_bytes().to_vec());
    rest.finish(format!(r#"{first}{{"id":"two","attributes":{{"tags":["SECOND"]}}}}"#).into_bytes());
    let mut tui = TuiHarness::without_key();
    let (report, identifier) =
        (LoadedReport::new(jiff::Timestamp::UNIX_EPOCH, body, None), Identifier::from_input("one"));
    tui.session.model.open_documents(vec![("two.json".to_owned(), vec![(identifier, report)])]);
    tui.later(0);
    tui.rest();
    assert!(tui.screen().contains("Sandboxes 2"), "{}", tui.screen());
}

/// Three processes of one name, and rows with the number of one, of another, and of none.
const NAMESAKES: &str = r#"{"processes_tree":[{"name":"C:\\W\\svchost.exe","process_id":"1188"},
    {"name":"C:\\W\\svchost.exe","process_id":"1044"},{"name":"C:\\T\\svchost.exe","process_id":"77"}],
    "files_dropped":[{"path":"C:\\a.txt","process_name":"svchost.exe","process_id":"1044"},
    {"path":"C:\\b.txt","process_name":"svchost.exe"},{"path":"C:\\c.txt","process_name":"svchost.exe","process_id":"77"}]}"#;

#[test]
fn rows_with_another_pid_are_not_of_this_process() {
    let mut tui = opened(NAMESAKES);
    tui.keys("1 j e");
    screen!("process_of_several", tui);
    tui.keys("backspace");
    let screen = tui.screen();
    assert!(screen.contains("svchost.ex▏") && screen.contains("6 hits") && !screen.contains("1044, or"), "{screen}");
}

#[test]
fn a_row_that_may_mean_several_processes_lists_them() {
    let mut tui = opened(NAMESAKES);
    tui.keys("4 g ^ y");
    assert!(tui.screen().contains("2/3"), "by its number:\n{}", tui.screen());
    tui.keys("4 g j ^");
    screen!("processes_meant", tui);
    tui.keys("j j enter");
    assert!(tui.screen().contains("3/3"), "{}", tui.screen());
}
