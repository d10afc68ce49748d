//! What is shown, what is escaped, and that the two cannot be confused.

use std::ops::RangeInclusive;

use behaview::text::{Untrusted, Visible};
use icu_properties::props::{
    BidiControl, DefaultIgnorableCodePoint, EmojiModifier, GeneralCategory as Category, RegionalIndicator,
    VariationSelector, WhiteSpace,
};
use icu_properties::{CodePointMapData, CodePointSetData};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::support::{check_width, generalised_utf8, hostile, read_back};

fn shown(text: &str) -> String {
    Untrusted::from(text).visible().into()
}

#[test]
fn text_is_escaped_where_it_hides_or_misleads() {
    for text in [
        "",
        r"C:\Users\admin\AppData\x.exe",
        r"\\server\share\u\{4}",
        "grüße, Москва, 日本語, 한국어, ไทยน้ำ, हिन्दी, العربية",
        "x\u{301}\u{302}\u{303}",
        "👍 ❤",
    ] {
        assert_eq!(shown(text), text);
    }
    for (text, visible) in [
        // What cannot be seen.
        ("\0\t\n\r\u{1b}\u{7f}", r"\x00\x09\x0a\x0d\x1b\x7f"),
        ("\u{80}\u{9b}", r"\u{80}\u{9b}"),
        ("\u{ad}\u{200b}\u{feff}", r"\u{ad}\u{200b}\u{feff}"),
        ("\u{202e}\u{2066}\u{61c}", r"\u{202e}\u{2066}\u{61c}"),
        ("\u{2028}\u{2029}", r"\u{2028}\u{2029}"),
        ("\u{e000}\u{10fffd}", r"\u{e000}\u{10fffd}"),
        ("\u{378}\u{fdd0}\u{10ffff}", r"\u{378}\u{fdd0}\u{10ffff}"),
        ("\u{3164}\u{115f}\u{34f}", r"\u{3164}\u{115f}\u{34f}"),
        ("\u{2800}\u{1d159}", r"\u{2800}\u{1d159}"),
        ("a\u{fe0f}\u{e0100}", r"a\u{fe0f}\u{e0100}"),
        ("\u{e0001}\u{e0041}", r"\u{e0001}\u{e0041}"),
        ("a\u{a0}b\u{3000}\u{1680}", r"a\u{a0}b\u{3000}\u{1680}"),
        ("\u{1f1e9}\u{1f1ea}", r"\u{1f1e9}\u{1f1ea}"),
        ("👍\u{1f3fd}", r"👍\u{1f3fd}"),
        ("\u{1100}\u{1161}\u{11a8}", r"\u{1100}\u{1161}\u{11a8}"),
        ("ｶ\u{ff9e}", r"ｶ\u{ff9e}"),
        ("\u{17d8}", r"\u{17d8}"),
        // A mark needs a base, and has two companions at most.
        ("\u{301}e", r"\u{301}e"),
        (" \u{301}", r" \u{301}"),
        ("\u{1b}\u{301}", r"\x1b\u{301}"),
        ("x\u{301}\u{301}\u{301}\u{301}", "x\u{301}\u{301}\u{301}\\u{301}"),
        ("e\u{200d}\u{301}", r"e\u{200d}\u{301}"),
        ("\u{e33}", r"\u{e33}"),
        // Texts that would look the same.
        ("a.exe ", r"a.exe\x20"),
        ("a b  ", r"a b \x20"),
        (" ", r"\x20"),
        (r"a\x20", r"a\x5cx20"),
        (r"a\x20b", r"a\x20b"),
        ("caf\u{e9}", "caf\u{e9}"),
        ("cafe\u{301}", r"cafe\u{301}"),
        ("\u{c5}", "\u{c5}"),
        ("A\u{30a}", r"A\u{30a}"),
        ("\u{212b}", r"\u{212b}"),
        ("x\u{301}\u{323}", "x\u{301}\\u{323}"),
        ("x\u{323}\u{301}", "x\u{323}\u{301}"),
        // A backslash, only where it reads as an escape.
        (r"\x1b", r"\x5cx1b"),
        (r"\x1B\x7f", r"\x5cx1B\x5cx7f"),
        (r"C:\x64\x86\xFF\x41", r"C:\x64\x86\xFF\x41"),
        (r"\x{ff}\x{FF}", r"\x5cx{ff}\x5cx{FF}"),
        (r"\x{41}\x{f}\x{100}", r"\x{41}\x{f}\x{100}"),
        (r"\u{202E}", r"\x5cu{202E}"),
        (r"\u{10FFFF}", r"\x5cu{10FFFF}"),
        (r"\\x1b", r"\\x5cx1b"),
        (r"\x5cx1b", r"\x5cx5cx1b"),
        (r"\x1", r"\x1"),
        (r"\xg0", r"\xg0"),
        (r"\u{}", r"\u{}"),
        (r"\u{1234567}", r"\u{1234567}"),
        ("\\\u{1b}", r"\\x1b"),
    ] {
        assert_eq!(shown(text), visible);
    }
}

#[test]
fn bytes_and_code_points_are_distinguished() {
    for (bytes, visible) in [
        (&b"\x80\xff"[..], r"\x{80}\x{ff}"),
        (b"\xc2\x80", r"\u{80}"),
        (b"\xed\xa0\xbd", r"\u{d83d}"),
        (b"\xed\xa0\xbd\xed\xb8\x80", r"\u{d83d}\u{de00}"),
        (b"\xf0\x9f\x98\x80", "😀"),
        (b"\xe2\x82", r"\x{e2}\x{82}"),
        (b"\xc0\xaf\xf5", r"\x{c0}\x{af}\x{f5}"),
    ] {
        assert_eq!(Untrusted::from(bytes).visible().as_str(), visible);
    }
}

#[test]
fn ascii_mode_escapes_all_else_and_so_does_debug() {
    let text = Untrusted::from("né\u{301} 日\n");
    assert_eq!(text.visible_ascii().as_str(), r"n\u{e9}\u{301} \u{65e5}\x0a");
    assert_eq!(format!("{:?}", Untrusted::from("\u{1b}c")), r"Untrusted(\x1bc)");
}

/// The reason no character of this kind may be seen, if there is one.
fn forbidden(character: char) -> Option<&'static str> {
    let category = CodePointMapData::<Category>::new().get(character);
    match category {
        Category::Control | Category::Format | Category::Surrogate => Some("control"),
        Category::PrivateUse | Category::Unassigned => Some("no agreed meaning"),
        _ if character == ' ' => None,
        _ if CodePointSetData::new::<WhiteSpace>().contains(character) => Some("space"),
        _ if CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(character) => Some("ignorable"),
        _ if CodePointSetData::new::<BidiControl>().contains(character) => Some("direction"),
        _ if CodePointSetData::new::<VariationSelector>().contains(character) => Some("variation"),
        _ if CodePointSetData::new::<RegionalIndicator>().contains(character) => Some("flag"),
        _ if CodePointSetData::new::<EmojiModifier>().contains(character) => Some("modifier"),
        _ => None,
    }
}

fn is_mark(character: char) -> bool {
    use icu_properties::props::GeneralCategoryGroup as Group;
    Group::Mark.contains(CodePointMapData::<Category>::new().get(character))
}

fn check_characters(text: &str) {
    let mut marks = 3;
    for character in text.chars() {
        assert_eq!(forbidden(character), None, "{character:?} in {text:?}");
        marks = match character {
            ' ' => 3,
            _ if is_mark(character) => marks + 1,
            _ => 0,
        };
        assert!(marks <= 3, "loose mark in {text:?}");
    }
}

fn check(bytes: &[u8]) {
    let visible = Untrusted::from(bytes).visible();
    check_characters(visible.as_str());
    check_width(&visible);
    assert_eq!(read_back(visible.as_str()), bytes, "{visible}");
}

/// The escape of a code point that may not be shown.
fn escape_of(code: u32) -> Option<String> {
    match char::from_u32(code) {
        Some(character @ ..='\x7f') => forbidden(character).map(|_| format!(r"\x{code:02x}")),
        Some(character) => forbidden(character).map(|_| format!(r"\u{{{code:x}}}")),
        None => Some(format!(r"\u{{{code:x}}}")),
    }
}

#[test]
fn every_code_point_alone_and_in_a_frame() {
    for code in 0..=0x10ffff {
        let alone = generalised_utf8(code);
        let framed = ["\u{2502}a".as_bytes(), &alone, "\u{2502}".as_bytes()].concat();
        let Some(escape) = escape_of(code) else {
            check(&alone);
            check(&framed);
            continue;
        };
        let visible = Untrusted::from(&framed[..]).visible();
        assert_eq!(visible.as_str(), format!("\u{2502}a{escape}\u{2502}"));
        assert_eq!(visible.width(), 3 + escape.len());
    }
}

/// Places in which a code point could join, hide or push its neighbours.
const NEIGHBOURS: [(&str, &str); 10] = [
    ("a", "\u{301}"),
    ("\u{644}", "\u{627}"),
    ("\u{915}\u{94d}", "\u{94d}\u{937}"),
    ("\u{17d2}", "\u{1780}"),
    ("\u{ac00}", "\u{ac01}"),
    ("\u{1f469}", "\u{1f469}"),
    ("\u{2d4f}", "\u{2d3e}"),
    ("\u{a4f9}", "\u{a4fc}"),
    ("\u{16d63}", "\u{16d67}"),
    ("<", "\u{338}"),
];

/// Scripts of thousands of characters that behave alike: ideographs and Hangul syllables.
const ALIKE: [RangeInclusive<char>; 4] =
    ['\u{3400}'..='\u{9fff}', '\u{ac00}'..='\u{d7a3}', '\u{17000}'..='\u{18cff}', '\u{20000}'..='\u{3ffff}'];

/// Every character that can be shown; of those that are alike, one in a hundred.
fn shown_characters() -> impl Iterator<Item = char> {
    let is_sampled = |character: &char| {
        let is_alike = ALIKE.iter().any(|range| range.contains(character));
        !is_alike || u32::from(*character).is_multiple_of(100)
    };
    let characters = (' '..=char::MAX).filter(is_sampled);
    characters.filter(|character| forbidden(*character).is_none())
}

#[test]
fn character_width_is_independent_of_neighbours() {
    for character in shown_characters() {
        let places = NEIGHBOURS.map(|(before, after)| format!("{before}{character}{character}{after}"));
        let text = Untrusted::from(places.concat());
        check_width(&text.visible());
    }
}

/// Draws the text between two bars and returns where the second one lands.
fn draw_framed(visible: &Visible) -> (Buffer, u16) {
    let right = visible.width() as u16 + 1;
    let mut buffer = Buffer::empty(Rect::new(0, 0, right + 1, 1));
    let framed = format!("\u{2502}{visible}\u{2502}");
    buffer.set_string(0, 0, framed, Style::new());
    (buffer, right)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn any_bytes_can_be_seen_and_read_back(bytes in hostile()) {
        check(&bytes);
    }

    #[test]
    fn ascii_mode_is_ascii_and_can_be_read_back(bytes in hostile()) {
        let visible = Untrusted::from(&bytes[..]).visible_ascii();
        prop_assert!(visible.as_str().bytes().all(|byte| matches!(byte, b' '..=b'~')));
        prop_assert_eq!(visible.width(), visible.as_str().len());
        prop_assert_eq!(read_back(visible.as_str()), bytes);
    }

    #[test]
    fn a_frame_around_it_stays_whole(bytes in hostile()) {
        let (buffer, right) = draw_framed(&Untrusted::from(&bytes[..]).visible());
        prop_assert_eq!(buffer[(0, 0)].symbol(), "\u{2502}");
        prop_assert_eq!(buffer[(right, 0)].symbol(), "\u{2502}");
    }

    #[test]
    fn defanging_twice_changes_nothing(bytes in hostile(), joints in "[a-z.:@/\\[\\]]{0,12}") {
        let text = [joints.as_bytes(), &bytes, joints.as_bytes()].concat();
        let once = Untrusted::from(&text[..]).visible().defanged();
        check_characters(once.as_str());
        check_width(&once);
        prop_assert_eq!(once.defanged(), once);
    }

    #[test]
    fn defanged_addresses_have_no_bare_joint(url in "(http|HTTPS|ftp)://[a-z@.:/]{0,20}") {
        let once = Untrusted::from(url).visible().defanged().to_string();
        let bare = once.replace("[.]", "").replace("[:]", "").replace("[@]", "");
        prop_assert!(!bare.contains(['.', ':', '@']), "{}", once);
        prop_assert!(once.starts_with("hxxp") || once.starts_with("fxp"), "{}", once);
    }
}
