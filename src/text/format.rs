//! Formats numbers, sizes and times for people; measures and wraps text; names enum values.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns a number with commas between its thousands: `1,204`.
pub fn thousands(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", thousands(number / 1000), number % 1000),
    }
}

/// Formats a count with its noun, given in the singular: `1 report`, `1,204 reports`, `2 hashes`.
pub fn count(number: u64, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{} {}", thousands(number), plural(one)) }
}

/// Returns the plural of a noun: with "s", "es" after a sibilant, "ries" for "ry".
pub fn plural(one: &str) -> String {
    match one.strip_suffix("ry") {
        Some(stem) => format!("{stem}ries"),
        None if ["sh", "ch", "ss", "x"].iter().any(|hiss| one.ends_with(hiss)) => format!("{one}es"),
        None => format!("{one}s"),
    }
}

/// Returns a duration in its two largest units: `45 s`, `9 min 30 s`, `2 h 05 min`.
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

/// Returns a size in bytes, rounded to a tenth of a decimal unit: `1.5 MB`.
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

/// Returns bytes as two hexadecimal digits each.
pub fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a time to the minute: `2026-11-20 10:00 UTC`.
pub fn moment(at: jiff::Timestamp) -> String {
    at.strftime("%F %R UTC").to_string()
}

/// Returns the known name nearest to a misspelt one, if any is near.
pub fn nearest<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (distance, name) = known.map(|name| (strsim::osa_distance(typed, name), name)).min()?;
    (distance <= name.len().div_ceil(4)).then_some(name)
}

/// Returns the part of a path after its last separator.
pub fn last_part(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| matches!(byte, b'\\' | b'/')).next().unwrap_or(path)
}

/// Declares an enum whose values have a name for files and command line, and a text if declared.
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

/// Minimum width of a wide cell, as long as other columns can be left out.
const READABLE: usize = 20;

/// Formats a table of escaped cells in at most `columns` columns; wraps wide cells. A heading with
/// `>` aligns to the right. If not all fit, empty columns are left out; then those with `-`, those
/// with most of them first and of these the last, which are returned.
pub fn table(heading: &[&str], rows: Vec<Vec<String>>, columns: usize) -> (String, Vec<String>) {
    let [right, mut spare] =
        ['>', '-'].map(|sign| heading.iter().map(|cell| cell.matches(sign).count()).collect::<Vec<_>>());
    let is_empty = |at| rows.iter().all(|row| row.get(at).is_none_or(String::is_empty));
    (0..).zip(&mut spare).filter(|(at, _)| is_empty(*at)).for_each(|(_, spare)| *spare = usize::MAX);
    let heading: Vec<_> = heading.iter().map(|cell| cell.trim_start_matches(['-', '>']).to_owned()).collect();
    let rows: Vec<_> = std::iter::once(heading.clone()).chain(rows).collect();
    let width = |text: &str| text.chars().filter_map(UnicodeWidthChar::width).sum::<usize>();
    let widest = |part: &dyn Fn(&String) -> usize| -> Vec<usize> {
        (0..heading.len()).map(|at| rows.iter().filter_map(|row| row.get(at)).map(part).max().unwrap_or(0)).collect()
    };
    let words = widest(&|cell| cell.split(' ').map(width).max().unwrap_or(0));
    let taken = |widths: &[usize]| widths.iter().filter(|wide| **wide > 0).map(|wide| wide + 2).sum::<usize>();
    let shrunk = |mut widths: Vec<usize>, least: &[usize]| {
        while taken(&widths) > columns.saturating_add(2) {
            let shrinking = widths.iter_mut().zip(least).filter(|(wide, least)| **wide > **least);
            *shrinking.max_by_key(|(wide, least)| **wide - **least)?.0 -= 1;
        }
        Some(widths)
    };
    let readable: Vec<_> = words.iter().map(|word| READABLE.max(*word)).collect();
    let mut widths = widest(&|cell| width(cell));
    let mut left_out = Vec::new();
    while shrunk(widths.clone(), &readable).is_none() {
        let columns = widths.iter_mut().zip(&heading).zip(&spare);
        let spare = columns.filter(|((wide, _), spare)| **wide > 0 && **spare > 0);
        let Some(((wide, name), spare)) = spare.max_by_key(|(_, spare)| **spare) else { break };
        *wide = 0;
        left_out.splice(..0, (*spare < usize::MAX).then(|| name.clone()));
    }
    // Breaks words if nothing else is enough.
    let [broken, narrow] = [READABLE, 4].map(|least| words.iter().map(|word| least.min(*word)).collect::<Vec<_>>());
    let all = [&readable, &words, &broken, &narrow];
    let widths = all.into_iter().find_map(|least| shrunk(widths.clone(), least)).unwrap_or(widths);
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).zip(&right).filter(|((_, wide), _)| **wide > 0);
        let wrap = |cell: &String, wide| if width(cell) > wide { wrap(cell, wide) } else { vec![cell.clone()] };
        let cells: Vec<_> = cells.map(|((cell, wide), right)| (wrap(cell, *wide), *wide, *right > 0)).collect();
        let line = |at: usize| {
            let padded = cells.iter().map(|(rows, wide, is_right)| {
                let cell = rows.get(at).map_or("", String::as_str);
                let blanks = " ".repeat(wide.saturating_sub(width(cell)));
                if *is_right { blanks + cell } else { cell.to_owned() + &blanks }
            });
            format!("{}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
        };
        (0..cells.iter().map(|(rows, ..)| rows.len()).max().unwrap_or(1)).map(line).collect::<String>()
    };
    (rows.iter().map(line).collect(), left_out)
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

    #[test]
    fn tables_break_words_only_if_nothing_else_is_enough() {
        let shown = |columns| table(&["x", ">y"], vec![vec!["a longer".into(), "indivisible".into()]], columns).0;
        assert_eq!(shown(19), format!("x{:17}y\na{:7}indivisible\nlonger\n", "", ""));
        assert!(shown(12).lines().all(|line| line.width() <= 12), "{}", shown(12));
    }
}
