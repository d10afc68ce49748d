//! Pages that lead to the pages of a table, made anew where they are lost: without them nothing is found that stands below.
//!
//! ```text
//! 5 · no gap · cells · where they begin · 0 │ last page below │ where each cell is │ nothing │ page below and its last row, …
//! ```
//! The database's map says below which page each one is, and each page what its last row is. What stood on a lost page by itself
//! is lost: of a table with few rows, or of an index.

use super::heads::{BELOW, FIRST, File, Kind, PAGE};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The most levels of a tree that are gone down: each has hundreds of times the pages of the one above.
const DEEPEST: usize = 12;

/// Makes the lost ways of a database's tables anew; it is open nowhere, and its heads are mended.
///
/// # Errors
/// What the system said.
pub(super) fn mend(path: &Path) -> io::Result<()> {
    let mut file = File::open(path)?;
    if !file.has_map()? {
        return Ok(());
    }
    let (mut trees, mut below) = (Vec::new(), BTreeMap::<usize, Vec<usize>>::new());
    file.each_mapped(|_, number, kind, above| {
        if [FIRST, BELOW].contains(&kind) {
            trees.push(number);
        }
        if kind == BELOW {
            below.entry(above).or_default().push(number);
        }
        Ok(())
    })?;
    for (lost, below) in trees.into_iter().filter_map(|number| Some((number, below.get(&number)?))) {
        if file.page(lost)?.is_sound() {
            continue;
        }
        let mut rows = BTreeMap::new();
        for number in below {
            if let Some(last) = last_row(&mut file, *number)? {
                rows.insert(last, *number);
            }
        }
        if let Some(page) = way(rows) {
            file.write(lost, &page)?;
        }
    }
    Ok(())
}

/// The last row on a page, or below it; none where that cannot be read, or it is of no table.
fn last_row(file: &mut File, mut number: usize) -> io::Result<Option<i64>> {
    for _ in 0..DEEPEST {
        let page = file.page(number)?;
        match page.kind().filter(|_| page.is_sound()) {
            Some(Kind::Leaf) => return Ok(page.last_row()),
            Some(Kind::Way) => match page.last_below() {
                Some(below) => number = below,
                None => break,
            },
            None => break,
        }
    }
    Ok(None)
}

/// A page that leads to these; none where there are none, or more than can have been on it.
fn way(mut rows: BTreeMap<i64, usize>) -> Option<Vec<u8>> {
    let number = |page: usize| u32::try_from(page).ok().map(u32::to_be_bytes);
    let (_, last) = rows.pop_last()?;
    let (mut places, mut cells) = (Vec::new(), Vec::new());
    for (row, page) in rows {
        let cell = [&number(page)?[..], &written(row)?].concat();
        // The first cell is the last on the page.
        cells.splice(0..0, cell);
        places.extend(u16::try_from(PAGE.checked_sub(cells.len())?).ok()?.to_be_bytes());
    }
    let begin = PAGE.checked_sub(cells.len())?;
    let count = u16::try_from(places.len() / 2).ok()?.to_be_bytes();
    let start = u16::try_from(begin).ok()?.to_be_bytes();
    let mut page = [&[Kind::Way as u8, 0, 0][..], &count, &start, &[0], &number(last)?, &places].concat();
    if page.len() > begin {
        return None;
    }
    page.resize(begin, 0);
    page.extend(cells);
    Some(page)
}

/// A row's number as a cell has it: seven bits to a byte, all but the last marked. No row of these tables has a number that takes
/// nine.
fn written(row: i64) -> Option<Vec<u8>> {
    let mut left = u64::try_from(row).ok().filter(|row| *row < 1 << 56)?;
    let mut bytes = vec![u8::try_from(left & 0x7f).ok()?];
    while left > 0x7f {
        left >>= 7;
        bytes.insert(0, u8::try_from(left & 0x7f).ok()? | 0x80);
    }
    Some(bytes)
}
