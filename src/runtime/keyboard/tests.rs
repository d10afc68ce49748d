use super::Input;
use super::decoder::Decoder;
use crate::app::Key;
use crate::app::keys::key::Named;
use crate::app::keys::pointer::{Does, Pointer};
use proptest::prelude::*;

/// What some bytes come to, with silence behind them.
fn decoded(pieces: &[&[u8]]) -> Vec<Input> {
    decoded_after_silences(&[&pieces.concat()])
}

/// What some bytes come to, with silence behind each piece.
fn decoded_after_silences(pieces: &[&[u8]]) -> Vec<Input> {
    let mut decoder = Decoder::default();
    let mut found = Vec::new();
    for piece in pieces {
        found.extend(piece.iter().filter_map(|byte| decoder.feed(*byte)));
        while decoder.patience().is_some() {
            found.extend(decoder.silence());
        }
    }
    found
}

/// The names of the keys in it; what is none by its form.
fn keys(bytes: &str) -> Vec<String> {
    keys_after_silences(&[bytes])
}

fn keys_after_silences(pieces: &[&str]) -> Vec<String> {
    let name = |input| match input {
        Input::Key(key) => key.to_string(),
        other => format!("{other:?}"),
    };
    let pieces: Vec<_> = pieces.iter().map(|piece| piece.as_bytes()).collect();
    decoded_after_silences(&pieces).into_iter().map(name).collect()
}

#[test]
fn keys_are_read_as_terminals_send_them() {
    for (bytes, names) in [
        ("aé世", &["a", "é", "世"][..]),
        ("\r\t\u{7f}\u{3}\n\u{0}\u{1f}", &["enter", "tab", "backspace", "ctrl-c", "ctrl-j", "ctrl- ", "ctrl-7"]),
        ("\u{1b}", &["esc"]),
        ("\u{1b}\u{1b}", &["esc", "esc"]),
        ("\u{1b}x\u{1b}é\u{1b}\u{1}", &["alt-x", "alt-é", "ctrl-a"]),
        ("\u{1b}]", &["alt-]"]),
        ("\u{1b}[", &["alt-["]),
        ("\u{1b}O", &["alt-O"]),
        ("\u{1b}[A\u{1b}[B\u{1b}OC\u{1b}[1;5D", &["up", "down", "right", "left"]),
        ("\u{1b}[H\u{1b}OF\u{1b}[1~\u{1b}[4~\u{1b}[7~\u{1b}[8~", &["home", "end", "home", "end", "home", "end"]),
        ("\u{1b}[2~\u{1b}[3~\u{1b}[5~\u{1b}[6;2~\u{1b}[Z", &["insert", "delete", "pgup", "pgdn", "shift-tab"]),
        ("\u{1b}OP\u{1b}[[E\u{1b}[15~\u{1b}[17~\u{1b}[24~\u{1b}[34~", &["f1", "f5", "f5", "f6", "f12", "f20"]),
        ("\u{1b}[97;5u\u{1b}[97;3u\u{1b}[97;2u\u{1b}[13u\u{1b}[9;2u", &["ctrl-a", "alt-a", "A", "enter", "shift-tab"]),
        ("\u{1b}[200~q\u{1b}[31m\r\u{1b}[201~z", &["Paste(\"q\\u{1b}[31m\\r\")", "z"]),
    ] {
        assert_eq!(keys(bytes), names, "{bytes:?}");
    }
}

#[test]
fn the_mouse_says_where_and_what() {
    let at = |x, y, does| Input::Pointer(Pointer { x, y, does });
    let found = decoded(&[
        b"\x1b[<0;5;7M\x1b[<32;6;7M\x1b[<0;6;7m\x1b[<65;1;1M\x1b[<20;1;1M\x1b[<2;1;1M\x1b[32;5;7M\x1b[M abq",
    ]);
    assert_eq!(
        found,
        [
            at(4, 6, Does::Press),
            at(5, 6, Does::Drag),
            at(5, 6, Does::Release),
            at(0, 0, Does::Down),
            at(0, 0, Does::Press),
            at(4, 6, Does::Press),
            Input::Key(Key::Char('q')),
        ]
    );
}

#[test]
fn an_answer_says_what_it_is() {
    let found = decoded(&[b"\x1b]11;rgb:1c/1c/1c\x1b\\\x1b]11;rgb:0/0/0\x07\x1b[?62;22c\x1b[>0;276;0c"]);
    let answers = [&b"11;rgb:1c/1c/1c"[..], b"11;rgb:0/0/0", b"?62;22c", b">0;276;0c"];
    assert_eq!(found, answers.map(|answer| Input::Answer(answer.to_vec())));
}

/// Something that a terminal may say of itself.
fn answer() -> impl Strategy<Value = Vec<u8>> {
    let text = prop::collection::vec(prop_oneof![0x20..0x7f_u8, Just(b'\r'), Just(b'\n'), Just(0xc3)], 1..60);
    let string = (prop::sample::select(vec!["\x1b]", "\x1bP", "\x1bX", "\x1b^", "\x1b_", "\u{9d}", "\u{90}"]), text)
        .prop_map(|(start, text)| [start.as_bytes(), &text, b"\x1b\\"].concat());
    let report = (
        prop::sample::select(vec!["?", ">", "=", ""]),
        prop::collection::vec(2..9999_u16, 1..5),
        prop::sample::select(vec!["c", "n", "R", "t", "$y", "x", "\"q", "*y"]),
    );
    let report = report.prop_map(|(mark, numbers, last)| {
        let numbers: Vec<_> = numbers.iter().map(u16::to_string).collect();
        format!("\x1b[{mark}{}{last}", numbers.join(";")).into_bytes()
    });
    prop_oneof![string, report, Just(b"\x1b[I".to_vec()), Just(b"\x1b]11;rgb:ffff/ffff/ffff\x07".to_vec())]
}

#[test]
fn a_paste_that_loses_its_end_leaves_the_keys() {
    for (key, name) in [("\u{3}", "ctrl-c"), ("é", "é"), ("\u{1b}", "esc"), ("\u{1b}[A", "up")] {
        assert_eq!(keys_after_silences(&["\u{1b}[200~abc", key, "q"]), ["Paste(\"abc\")", name, "q"], "{name}");
    }
}

#[test]
fn a_paste_takes_so_much_and_no_more_and_ends_all_the_same() {
    let most = 64 << 20;
    // Bytes that stand in the end of a paste, and the end itself where the last byte has its place.
    for (piece, length) in [(&b"\x1b[20~\x1b[201"[..], most + 100_000), (b"x", most - 3)] {
        let mut decoder = Decoder::default();
        let bytes = b"\x1b[200~".iter().chain(piece.iter().cycle().take(length)).chain(b"\x1b[201~q");
        let found: Vec<_> = bytes.filter_map(|byte| decoder.feed(*byte)).collect();
        let [Input::Paste(pasted), Input::Key(Key::Char('q'))] = &found[..] else { panic!("{} came", found.len()) };
        assert_eq!(pasted.len(), length.min(most));
    }
}

#[test]
fn a_paste_on_a_slow_way_is_a_paste_to_its_end() {
    let pieces = ["\u{1b}[200~ab", "R\r", "y\u{1b}[201~", "q"];
    assert_eq!(keys_after_silences(&pieces), ["Paste(\"ab\")", "Paste(\"R\\r\")", "Paste(\"y\")", "q"]);
}

proptest! {
    #[test]
    fn no_answer_is_ever_a_key(answers in prop::collection::vec(answer(), 1..4)) {
        let bytes = [answers.concat(), b"x".to_vec()].concat();
        let found: Vec<_> = decoded(&[&bytes]).into_iter().filter(|input| !matches!(input, Input::Answer(_))).collect();
        prop_assert_eq!(found, [Input::Key(Key::Char('x'))]);
    }

    #[test]
    fn after_whatever_came_a_key_is_a_key_again(noise: Vec<u8>) {
        let mut decoder = Decoder::default();
        noise.iter().for_each(|byte| drop(decoder.feed(*byte)));
        // What follows a paste in one go is more of it.
        b"\x1b[201~".iter().for_each(|byte| drop(decoder.feed(*byte)));
        while decoder.patience().is_some() {
            decoder.silence();
        }
        prop_assert_eq!(decoder.feed(b'\r'), Some(Input::Key(Key::Named(Named::Enter))));
    }
}
