//! A terminal's late reply to an earlier program comes as keys, one of which buys: none spends.

use super::harness::Terminal;
use std::time::Duration;

/// Replies to programs' queries of terminals; their letters are keys that move, ask and pay.
const REPLIES: &[&str] = &[
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
    let mut found = None;
    terminal.wait_until("it is never settled", || {
        let text = terminal.text();
        let line = text.lines().find_map(|line| line.split_once("spent this session: "));
        let spent = line.map(|(_, spent)| spent.trim().trim_end_matches(" (demo)").to_owned());
        found = spent.filter(|spent| spent.chars().all(|c| c.is_ascii_digit()));
        found.is_some()
    });
    found.unwrap()
}

/// Whether the program still ends by its key, and nothing was spent.
fn assert_nothing_was_spent(terminal: &mut Terminal, before: &str) {
    // A reply may have opened something, and crossterm waits for the rest of one of its own.
    terminal.press("u");
    for _ in 0..8 {
        terminal.press("\u{1b}");
        std::thread::sleep(Duration::from_millis(40));
    }
    terminal.wait_for("Sandboxes 4 of 6");
    assert_eq!(spent(terminal), before);
    terminal.press("\u{3}");
    assert_eq!(terminal.wait_for_end(), 0);
    terminal.assert_given_back();
}

#[test]
fn replies_in_one_burst_spend_nothing() {
    let mut terminal = Terminal::demo();
    let before = spent(&terminal);
    terminal.press(&REPLIES.concat());
    assert_nothing_was_spent(&mut terminal, &before);
}

#[test]
fn reply_whole_or_in_pieces_spends_nothing() {
    // The time goes into waiting.
    std::thread::scope(|scope| {
        for some in REPLIES.chunks(6) {
            scope.spawn(|| some.iter().for_each(|reply| assert_reply_spends_nothing(reply)));
        }
    });
}

fn assert_reply_spends_nothing(reply: &str) {
    let mut terminal = Terminal::demo();
    let before = spent(&terminal);
    terminal.press(reply);
    std::thread::sleep(Duration::from_millis(40));
    let middle = (reply.len() / 2..reply.len()).find(|at| reply.is_char_boundary(*at)).unwrap();
    let (start, end) = reply.split_at(middle);
    terminal.press(start);
    std::thread::sleep(Duration::from_millis(40));
    terminal.press(end);
    assert_nothing_was_spent(&mut terminal, &before);
}

#[test]
fn typed_key_beside_a_reply_counts() {
    let mut terminal = Terminal::demo();
    terminal.press("f");
    terminal.wait_for("Which file?");
    terminal.press("a\u{1b}[?62;4cb");
    terminal.wait_for("62 to go");
    terminal.press("\u{1b}");
    terminal.press("\u{3}");
    assert_eq!(terminal.wait_for_end(), 0);
}
