//! Pages that lead to the pages of a table, made anew where they are lost: without them nothing is found that stands below.
//!
//! ```text
//! 5 · no gap · cells · where they begin · 0 │ last page below │ where each cell is │ nothing │ page below and its last row, …
//! ```
//! The database's map says below which page each one is, and each page what its last row is. What stood on a lost page by itself
//! is lost: of a table with few rows, or of an index.

use super::heads::{BELOW, FIRST, File, Kind, PAGE, Page};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The most levels of a tree that are gone down: each has hundreds of times the pages of the one above.
const DEEPEST: usize = 12;

/// Makes the lost ways of a database's tables anew; it is open nowhere, and its heads are mended. A page that has what stands on
/// another one, as sound as it may be, has lost its own.
pub(super) fn mend(path: &Path) -> io::Result<()> {
    let mut file = File::open(path)?;
    if !file.has_map()? {
        return Ok(());
    }
    let mut trees = Trees::of(&mut file)?;
    // What leads to a page that is made anew is made anew after it.
    for _ in 0..DEEPEST {
        if !trees.mend_once(&mut file)? {
            break;
        }
    }
    Ok(())
}

/// Which page is below which.
struct Trees {
    above: BTreeMap<usize, usize>,
    below: BTreeMap<usize, Vec<usize>>,
    /// By what stands on each page.
    leads: BTreeMap<usize, Vec<usize>>,
}

impl Trees {
    fn of(file: &mut File) -> io::Result<Self> {
        let (mut above, mut below, mut leads) = (BTreeMap::new(), BTreeMap::<_, Vec<_>>::new(), BTreeMap::new());
        file.each_mapped(|file, number, kind, parent| {
            if kind == BELOW {
                above.insert(number, parent);
                below.entry(parent).or_default().push(number);
            }
            if [FIRST, BELOW].contains(&kind) {
                leads.insert(number, file.page(number)?.below());
            }
            Ok(())
        })?;
        Ok(Self { above, below, leads })
    }

    /// Makes each way anew that has lost a page below it; says whether anything has changed.
    fn mend_once(&mut self, file: &mut File) -> io::Result<bool> {
        let mut has_changed = false;
        let trees: Vec<_> = self.below.keys().copied().filter(|page| self.leads.contains_key(page)).collect();
        for lost in trees.into_iter().filter(|page| self.is_lost(*page)).collect::<Vec<_>>() {
            let mut rows = BTreeMap::new();
            for number in self.below.get(&lost).into_iter().flatten() {
                if let Some(last) = last_row(file, *number)? {
                    rows.insert(last, *number);
                }
            }
            let found = file.page(lost)?;
            if let Some(page) = way(rows).filter(|page| page != found.bytes()) {
                self.give_back(file, lost, &found)?;
                self.write(file, lost, &page)?;
                has_changed = true;
            }
        }
        Ok(has_changed)
    }

    /// Whether the map has a page below this one to which nothing leads. Where only the map is damaged, another way leads there,
    /// and to others that the map has below it.
    fn is_lost(&self, page: usize) -> bool {
        let leads = |from: usize, to: &usize| self.leads.get(&from).is_some_and(|below| below.contains(to));
        let is_way =
            |from: &usize| self.leads.get(from).is_some_and(|below| below.iter().any(|one| self.is_below(*one, *from)));
        let is_led_to = |to: &usize| leads(page, to) || self.leads.keys().any(|from| leads(*from, to) && is_way(from));
        self.below.get(&page).is_some_and(|below| !below.iter().all(is_led_to))
    }

    fn is_below(&self, page: usize, above: usize) -> bool {
        self.above.get(&page) == Some(&above)
    }

    /// Where two pages stand in each other's places, gives the other one back what stood here.
    fn give_back(&mut self, file: &mut File, lost: usize, found: &Page) -> io::Result<()> {
        let is_mine = |below: &Vec<usize>| below.iter().any(|one| self.is_below(*one, lost));
        let other = self.leads.iter().find(|(page, below)| **page != lost && is_mine(below));
        match other.map(|(page, _)| *page).filter(|page| !self.below.contains_key(page)) {
            Some(other) if found.is_sound() => self.write(file, other, found.bytes()),
            _ => Ok(()),
        }
    }

    fn write(&mut self, file: &mut File, number: usize, page: &[u8]) -> io::Result<()> {
        file.write(number, page)?;
        self.leads.insert(number, file.page(number)?.below());
        Ok(())
    }
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
