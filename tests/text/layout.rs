//! Cutting, scrolling and wrapping: never too wide, nothing lost.

use behaview::text::{Untrusted, UntrustedStr, Visible};
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
    let lines = text.wrapped(10, 0..usize::MAX);
    let lines: Vec<_> = lines.iter().map(Visible::as_str).collect();
    assert_eq!(lines, ["0123456789", r"ab\x0a", "cd", r"\u{10ffff}"]);
    assert_eq!(Untrusted::from("").lines(80).count(), 0);
}

/// Would take hours, were the whole string looked at each time.
#[test]
fn the_length_of_a_string_costs_nothing_where_it_is_not_seen() {
    let long = Untrusted::from("\\\u{1b}日e\u{301}".repeat(1 << 20));
    for columns in 0..200 {
        assert!(long.visible_cut(columns).width() <= columns);
        assert_eq!(long.visible_window(columns, 80).width(), 80);
        assert_eq!(long.wrapped(80, 3..4).len(), 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn a_cut_fits_and_is_the_start(bytes in hostile(), columns in 0_usize..60) {
        let text = UntrustedStr::new(&bytes);
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
        let text = UntrustedStr::new(&bytes);
        let (whole, window) = (text.visible(), text.visible_window(skip, columns));
        check_width(&window);
        prop_assert_eq!(window.width(), columns.min(whole.width().saturating_sub(skip)));
        prop_assert!(whole.as_str().contains(window.as_str().trim_matches(' ')));
    }

    #[test]
    fn windows_side_by_side_are_the_whole(bytes in hostile(), columns in 1_usize..30) {
        let text = UntrustedStr::new(&bytes).ascii_only();
        let whole = text.visible();
        let skips = (0..whole.width()).step_by(columns);
        let windows: Vec<_> = skips.map(|skip| text.visible_window(skip, columns)).collect();
        prop_assert_eq!(concat(&windows), whole.as_str());
    }

    #[test]
    fn lines_one_after_another_are_the_whole(bytes in hostile(), columns in 0_usize..60) {
        let text = UntrustedStr::new(&bytes);
        let lines: Vec<_> = text.lines(columns).collect();
        lines.iter().for_each(check_width);
        prop_assert_eq!(concat(&lines), text.visible().to_string());
        prop_assert!(lines.iter().all(|line| line.width() <= columns.max(10)));
        prop_assert!(lines.iter().all(|line| !line.is_empty()));
        prop_assert_eq!(text.lines(columns).count(), lines.len());
    }

    #[test]
    fn a_range_of_lines_is_that_range(
        bytes in hostile(), columns in 10_usize..30, first in 0_usize..9, count in 0_usize..9,
    ) {
        let text = UntrustedStr::new(&bytes);
        let some = text.wrapped(columns, first..first + count);
        let all = text.lines(columns).skip(first).take(count);
        prop_assert_eq!(&some, &all.collect::<Vec<_>>());
        prop_assert_eq!(some.len(), text.lines(columns).count().saturating_sub(first).min(count));
    }
}
