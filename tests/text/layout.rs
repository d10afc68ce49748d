//! Cutting, scrolling and wrapping: never too wide, nothing lost.

use behaview::text::{Untrusted, Visible};
use proptest::prelude::*;

use super::support::{check_width, hostile};

fn concat(pieces: &[Visible]) -> String {
    pieces.iter().map(Visible::as_str).collect()
}

#[test]
fn a_cut_drops_whole_units() {
    let text = Untrusted::from("ab\u{1b}日x\u{301}");
    for (columns, cut) in [
        (0, ""),
        (1, "…"),
        (2, "a…"),
        (3, "ab…"),
        (6, "ab…"),
        (7, r"ab\x1b…"),
        (8, r"ab\x1b…"),
        (9, "ab\\x1b日x\u{301}"),
    ] {
        assert_eq!(text.visible_cut(columns).as_str(), cut, "{columns}");
    }
}

#[test]
fn lines_end_when_full_and_after_a_line_feed() {
    let text = Untrusted::from("0123456789ab\ncd\u{10ffff}");
    let lines: Vec<_> = text.lines(10).collect();
    let lines: Vec<_> = lines.iter().map(Visible::as_str).collect();
    assert_eq!(lines, ["0123456789", r"ab\x0a", "cd", r"\u{10ffff}"]);
    assert_eq!(Untrusted::from("").lines(80).count(), 0);
}

/// Would take hours, were the whole string looked at each time.
#[test]
fn layout_cost_is_independent_of_hidden_length() {
    let long = Untrusted::from("\\\u{1b}日e\u{301}".repeat(1 << 20));
    for columns in 0..200 {
        assert!(long.visible_cut(columns).width() <= columns);
        assert_eq!(long.visible_window(columns, 80).width(), 80);
        assert!(long.lines(80).nth(3).is_some());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn a_cut_fits_and_is_the_start(bytes in hostile(), columns in 0_usize..60) {
        let text = Untrusted::from(bytes);
        let (whole, cut) = (text.visible(), text.visible_cut(columns));
        check_width(&cut);
        prop_assert!(cut.width() <= columns);
        if whole.width() <= columns {
            prop_assert_eq!(cut, whole);
        } else if columns > 0 {
            let kept = cut.as_str().strip_suffix('…').unwrap();
            prop_assert!(whole.as_str().starts_with(kept));
        }
    }

    #[test]
    fn a_window_is_exactly_as_wide_as_what_is_left(
        bytes in hostile(), skip in 0_usize..80, columns in 0_usize..60,
    ) {
        let text = Untrusted::from(bytes);
        let (whole, window) = (text.visible(), text.visible_window(skip, columns));
        check_width(&window);
        prop_assert_eq!(window.width(), columns.min(whole.width().saturating_sub(skip)));
        prop_assert!(whole.as_str().contains(window.as_str().trim_matches(' ')));
    }

    #[test]
    fn windows_side_by_side_are_the_whole(bytes in hostile(), columns in 1_usize..30) {
        let text = Untrusted::from(Untrusted::from(bytes).visible_ascii().as_str());
        let whole = text.visible();
        let skips = (0..whole.width()).step_by(columns);
        let windows: Vec<_> = skips.map(|skip| text.visible_window(skip, columns)).collect();
        prop_assert_eq!(concat(&windows), whole.as_str());
    }

    #[test]
    fn lines_one_after_another_are_the_whole(bytes in hostile(), columns in 0_usize..60) {
        let text = Untrusted::from(bytes);
        let lines: Vec<_> = text.lines(columns).collect();
        lines.iter().for_each(check_width);
        prop_assert_eq!(concat(&lines), text.visible().to_string());
        prop_assert!(lines.iter().all(|line| line.width() <= columns.max(10)));
        prop_assert!(lines.iter().all(|line| !line.is_empty()));
        prop_assert_eq!(text.lines(columns).count(), lines.len());
    }
}
