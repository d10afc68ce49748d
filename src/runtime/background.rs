//! Asks the terminal whether its background is light, without waiting long.
//!
//! The question for the colour (OSC 11) is followed by one that every terminal answers (primary device attributes): when that
//! answer is there, no other will come. What comes later, or was asked by another program, the keyboard takes for no typing.

use super::keyboard::{Input, Keyboard};

/// What `COLORFGBG` says of the background: the last of its numbers is one of the sixteen colours.
pub(super) fn of_variable(value: &str) -> Option<bool> {
    let number: u8 = value.rsplit(';').next()?.parse().ok()?;
    (number < 16).then_some(matches!(number, 7 | 9..=15))
}

/// Whether the colour in an answer to OSC 11 is a light one; none where there is no such answer.
fn of_answer(answer: &[u8]) -> Option<bool> {
    let text = String::from_utf8_lossy(answer);
    let colours = text.strip_prefix("11;rgb")?.trim_start_matches('a').strip_prefix(':')?;
    let mut parts = colours.split('/').map(|part| {
        let most = 16_u32.checked_pow(u32::try_from(part.len()).ok()?)?.checked_sub(1).filter(|most| *most > 0)?;
        Some(f64::from(u32::from_str_radix(part, 16).ok()?) / f64::from(most))
    });
    let (red, green, blue) = (parts.next()??, parts.next()??, parts.next()??);
    Some(0.299 * red + 0.587 * green + 0.114 * blue > 0.5)
}

/// Asks the terminal. Says whether the background is light, if it answered, and what was typed meanwhile.
#[cfg(unix)]
pub(super) fn ask(keyboard: &mut Keyboard) -> std::io::Result<(Option<bool>, Vec<Input>)> {
    use std::io::Write;
    use std::time::{Duration, Instant};

    const PATIENCE: Duration = Duration::from_millis(150);
    let mut typed = Vec::new();
    // What stands there already answers another program's question.
    while let Some(input) = keyboard.next(Some(Instant::now()))? {
        typed.push(input);
    }
    let mut out = std::io::stdout();
    out.write_all(b"\x1b]11;?\x1b\\\x1b[c")?;
    out.flush()?;
    let (deadline, mut is_light) = (Instant::now() + PATIENCE, None);
    while let Some(input) = keyboard.next(Some(deadline))? {
        match input {
            Input::Answer(answer) if answer.starts_with(b"?") && answer.ends_with(b"c") => break,
            Input::Answer(answer) => is_light = is_light.or(of_answer(&answer)),
            input => typed.push(input),
        }
    }
    Ok((is_light, typed))
}

#[cfg(not(unix))]
pub(super) fn ask(_: &mut Keyboard) -> std::io::Result<(Option<bool>, Vec<Input>)> {
    Ok((None, Vec::new()))
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
