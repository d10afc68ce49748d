//! What the terminal answers, to this program or to another that asked before it, is never taken for keys: one of them buys.

use super::stage::Terminal;
use std::time::Duration;

/// Answers to the questions that programs ask terminals; their letters are keys that move, ask and pay.
const ANSWERS: &[&str] = &[
    "\u{1b}]11;rgb:ffff/ffff/ffff\u{1b}\\",
    "\u{1b}]11;rgba:ffff/ffff/ffff/ffff\u{7}",
    "\u{1b}]4;1;rgb:ffff/0000/0000\u{1b}\\",
    "\u{1b}]10;rgb:0000/0000/0000\u{7}\u{1b}]11;rgb:ffff/ffff/ffff\u{7}",
    "\u{1b}]52;c;cnJycnI=\u{7}",
    "\u{1b}]lrrr AAA fff\u{1b}\\",
    "\u{1b}P1+r696e646e=1b\u{1b}\\",
    "\u{1b}P>|terminal(1.0 rRA)\u{1b}\\",
    "\u{1b}P1$r0;1mrR\u{1b}\\",
    "\u{1b}_Gi=31;OKrrr\u{1b}\\",
    "\u{1b}^rRA\u{1b}\\",
    "\u{1b}[?62;22c",
    "\u{1b}[>0;276;0c",
    "\u{1b}[=1;2c",
    "\u{1b}[?2026;2$y",
    "\u{1b}[?1u",
    "\u{1b}[24;80R",
    "\u{1b}[8;40;120t",
    "\u{1b}[0n",
    "\u{1b}[I\u{1b}[O",
    "\u{1b}[M #!",
    "\u{9d}11;rgb:ffff/ffff/ffff\u{1b}\\",
];

/// What was spent, once that is settled: until then it is a range.
fn spent(terminal: &Terminal) -> String {
    for _ in 0..1000 {
        let text = terminal.text();
        let line = text.lines().find_map(|line| line.split_once("spent this session: "));
        let spent = line.map(|(_, spent)| spent.trim().to_owned());
        if let Some(spent) = spent.filter(|spent| spent.chars().all(|c| c.is_ascii_digit())) {
            return spent;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it is never settled:\n{}", terminal.text())
}

/// The program with a report open, on its list, where a key asks again.
fn demo() -> Terminal {
    let terminal = Terminal::start(&["demo"]);
    terminal.wait_for("Sandboxes 4 of 6");
    terminal.wait_for("CREATES_SCHEDULED_TASK");
    terminal
}

/// Whether a key still does what it does, and nothing else was done.
fn assert_nothing_was_typed(terminal: &mut Terminal, before: &str) {
    terminal.press("?");
    terminal.wait_for("Keys that apply here");
    terminal.press("\u{1b}");
    terminal.wait_for("Sandboxes 4 of 6");
    assert_eq!(spent(terminal), before);
    terminal.press("\u{3}");
    assert_eq!(terminal.wait_for_end(), 0);
    terminal.assert_given_back();
}

#[test]
fn no_answer_is_typed_whoever_asked_for_it_and_however_often_it_comes() {
    let mut terminal = demo();
    let before = spent(&terminal);
    for answer in ANSWERS {
        terminal.press(answer);
    }
    terminal.press(&ANSWERS.concat());
    assert_nothing_was_typed(&mut terminal, &before);
}

#[test]
fn an_answer_in_pieces_is_one_answer() {
    let mut terminal = demo();
    let before = spent(&terminal);
    for answer in ANSWERS {
        // The line between the terminal and the program may be cut anywhere but right behind an escape, which is a key by itself.
        let middle = answer.len() / 2;
        let cut = (middle..answer.len()).find(|at| answer.is_char_boundary(*at) && !answer[..*at].ends_with('\u{1b}'));
        let (start, end) = answer.split_at(cut.unwrap());
        terminal.press(start);
        std::thread::sleep(Duration::from_millis(40));
        terminal.press(end);
    }
    assert_nothing_was_typed(&mut terminal, &before);
}

#[test]
fn what_is_typed_beside_an_answer_counts() {
    let mut terminal = demo();
    terminal.press("f");
    terminal.wait_for("Which file?");
    terminal.press("a\u{1b}]11;rgb:ffff/ffff/ffff\u{1b}\\\u{1b}[?62;4cb");
    terminal.wait_for("62 to go");
    terminal.press("\u{1b}");
    terminal.press("\u{3}");
    assert_eq!(terminal.wait_for_end(), 0);
}
