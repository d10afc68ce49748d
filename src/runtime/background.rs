//! Asks the terminal whether its background is light, without waiting for the answer: what it says is put on the screen when it
//! is there. An answer is never typing, whoever asked for it: see the keyboard.

/// What `COLORFGBG` says of the background: the last of its numbers is one of the sixteen colours.
pub(super) fn of_variable(value: &str) -> Option<bool> {
    let number: u8 = value.rsplit(';').next()?.parse().ok()?;
    (number < 16).then_some(matches!(number, 7 | 9..=15))
}

/// Whether the colour in an answer to OSC 11 is a light one; none where there is no such answer.
pub(super) fn of_answer(answer: &[u8]) -> Option<bool> {
    let text = String::from_utf8_lossy(answer);
    let colours = text.strip_prefix("11;rgb")?.trim_start_matches('a').strip_prefix(':')?;
    let mut parts = colours.split('/').map(|part| {
        let most = 16_u32.checked_pow(u32::try_from(part.len()).ok()?)?.checked_sub(1).filter(|most| *most > 0)?;
        Some(f64::from(u32::from_str_radix(part, 16).ok()?) / f64::from(most))
    });
    let (red, green, blue) = (parts.next()??, parts.next()??, parts.next()??);
    Some(0.299 * red + 0.587 * green + 0.114 * blue > 0.5)
}

/// Asks the terminal.
#[cfg(unix)]
pub(super) fn ask() -> std::io::Result<()> {
    use std::io::Write;
    super::output::Output::terminal().write_all(b"\x1b]11;?\x1b\\")
}

#[cfg(not(unix))]
pub(super) fn ask() -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backgrounds_are_told_apart() {
        assert_eq!(
            (of_variable("15;0"), of_variable("0;15"), of_variable("0;default;7")),
            (Some(false), Some(true), Some(true))
        );
        assert_eq!((of_variable(""), of_variable("0;default")), (None, None));
        assert_eq!(of_answer(b"11;rgb:ffff/ffff/dddd"), Some(true));
        assert_eq!(of_answer(b"11;rgb:1c/1c/1c"), Some(false));
        assert_eq!(of_answer(b"11;rgba:0000/2b2b/3636/ffff"), Some(false));
        for odd in
            [&b""[..], b"?62c", b"11;rgb:", b"11;rgb://", b"11;rgb:zz/1/1", b"10;rgb:ff/ff/ff", b"11;rgb:fffffffff/1/1"]
        {
            assert_eq!(of_answer(odd), None);
        }
    }
}
