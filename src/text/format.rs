//! Formats numbers, sizes and times for people, measures and wraps text, and names the values of enums.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A number with commas between its thousands: `1,204`.
pub fn thousands(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", thousands(number / 1000), number % 1000),
    }
}

/// A count with its noun, given in the singular: `1 report`, `1,204 reports`, `2 entries`, `2 hashes`.
pub fn count(number: u64, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{} {}", thousands(number), plural(one)) }
}

/// The plural of a noun: with "s", "es" after a sibilant, "ries" for "ry".
pub fn plural(one: &str) -> String {
    match one.strip_suffix("ry") {
        Some(stem) => format!("{stem}ries"),
        None if ["sh", "ch", "ss"].iter().any(|hiss| one.ends_with(hiss)) => format!("{one}es"),
        None => format!("{one}s"),
    }
}

/// A duration in its two largest units: `45 s`, `9 min 30 s`, `2 h 05 min`.
pub fn lasting(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, seconds) => format!("{minutes} min {seconds:02} s"),
        (hours @ ..48, minutes, _) => format!("{hours} h {minutes:02} min"),
        (hours, ..) => format!("{} d {} h", thousands(hours / 24), hours % 24),
    }
}

/// Units of size above the byte, each a thousand of the one before.
const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];

/// A size in bytes, rounded to a tenth of a decimal unit: `1.5 MB`.
pub fn bytes(size: u64) -> String {
    let mut shown = format!("{size} B");
    let mut scale = 1_u128;
    let mut tenths = u128::from(size) * 10;
    for unit in UNITS {
        // Decided after rounding, so that no size reads "1000.0 kB".
        if tenths < 10_000 {
            break;
        }
        scale *= 1000;
        tenths = (u128::from(size) * 10 + scale / 2) / scale;
        shown = format!("{}.{} {unit}", tenths / 10, tenths % 10);
    }
    shown
}

/// Bytes as two hexadecimal digits each.
pub fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A time to the minute: `2026-11-20 10:00 UTC`.
pub fn moment(at: jiff::Timestamp) -> String {
    at.strftime("%F %R UTC").to_string()
}

/// The known name nearest to a misspelt one, if any is near.
pub fn nearest<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (distance, name) = known.map(|name| (strsim::osa_distance(typed, name), name)).min()?;
    (distance <= name.len().div_ceil(4)).then_some(name)
}

/// The part of a path after its last separator.
pub fn last_part(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| matches!(byte, b'\\' | b'/')).next().unwrap_or(path)
}

/// Declares an enum whose values have a name for files, exports and the command line; and a second text, if named.
macro_rules! names {
    ($(#[$about:meta])* $type:ident $more:ident { $($(#[$doc:meta])* $value:ident $name:literal $word:literal,)* }) => {
        names! { $(#[$about])* $type { $($(#[$doc])* $value $name,)* } }

        impl $type {
            pub fn $more(self) -> &'static str {
                match self { $(Self::$value => $word,)* }
            }
        }
    };
    ($(#[$about:meta])* $type:ident { $($(#[$doc:meta])* $value:ident $name:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        pub enum $type {
            $($(#[$doc])* #[serde(rename = $name)] $value,)*
        }

        impl $type {
            /// Every value, in the order in which they are declared.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$value),*];

            pub fn name(self) -> &'static str {
                match self { $(Self::$value => $name,)* }
            }

            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.name() == name)
            }
        }
    };
}
pub(crate) use names;

/// Columns of a text on a terminal.
pub(crate) trait ColumnWidth {
    fn columns(&self) -> usize;
}

impl ColumnWidth for str {
    fn columns(&self) -> usize {
        self.width()
    }
}

/// Wraps words in rows of `columns`; breaks a longer word.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = String::new();
    let mut taken = 0;
    for word in text.split(' ') {
        if !row.is_empty() && taken + 1 + word.columns() > columns {
            rows.push(std::mem::take(&mut row));
            taken = 0;
        }
        if !row.is_empty() {
            row.push(' ');
            taken += 1;
        }
        for character in word.chars() {
            let width = character.width().unwrap_or(0);
            if !row.is_empty() && taken + width > columns {
                rows.push(std::mem::take(&mut row));
                taken = 0;
            }
            row.push(character);
            taken += width;
        }
    }
    rows.push(row);
    rows
}

/// Wraps words in at most `most` rows; the last one ends with `…` if words are omitted.
pub fn wrap_cut(text: &str, columns: usize, most: usize) -> Vec<String> {
    let rows = wrap(text, columns);
    if rows.len() <= most {
        return rows;
    }
    // One column less leaves space for the sign.
    let mut rows = wrap(text, columns.saturating_sub(1).max(1));
    rows.truncate(most);
    rows.last_mut().into_iter().for_each(|row| row.push('…'));
    rows
}

#[cfg(test)]
mod tests {
    use super::{bytes, lasting, thousands};

    #[test]
    fn what_lasts_is_told_in_two_units() {
        for (seconds, shown) in [(0, "0 s"), (59, "59 s"), (60, "1 min"), (569, "9 min 29 s"), (7_500, "2 h 05 min")] {
            assert_eq!(lasting(seconds), shown);
        }
    }

    #[test]
    fn thousands_stand_apart() {
        for (number, shown) in [
            (0, "0"),
            (999, "999"),
            (1204, "1,204"),
            (60_000_000_000, "60,000,000,000"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(thousands(number), shown);
        }
    }

    #[test]
    fn sizes_are_rounded_into_the_right_unit() {
        for (size, shown) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (1049, "1.0 kB"),
            (1050, "1.1 kB"),
            (999_949, "999.9 kB"),
            (999_950, "1.0 MB"),
            (1_500_000, "1.5 MB"),
            (u64::MAX, "18.4 EB"),
        ] {
            assert_eq!(bytes(size), shown);
        }
    }
}

#[cfg(test)]
mod row_tests {
    use super::*;

    #[test]
    fn rows_break_between_words() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("indivisible x", 4), ["indi", "visi", "ble", "x"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap_cut("one two three", 8, 2), ["one two", "three"]);
        assert_eq!(wrap_cut("one two three", 7, 1), ["one…"]);
        assert_eq!(wrap_cut("one", 7, 0), [""; 0]);
    }
}
