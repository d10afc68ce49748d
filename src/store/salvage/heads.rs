//! The heads of the pages of a damaged database, made anew: where a head is damaged, nothing of its page is read.
//!
//! ```text
//! kind · first gap · cells · where they begin · lost bytes  │  where each cell is  │  nothing  │  cells and gaps
//! ```
//! Each cell says how long it is and which row it has or leads to, and rows stand in order. So what the head of a table's page must
//! say follows from the rest of it, and whether it is damaged shows: all parts together are as long as the page. Where not even
//! that is left which says where cells are, rows are known by what they say of themselves. Indexes are left alone, as nothing is
//! read by them here.

use super::rows;
use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Bytes of a page.
pub(in crate::store) const PAGE: usize = 4096;

/// Most bytes of a row that stand on its page, and the least where there are more.
const MOST: u64 = PAGE as u64 - 35;
const LEAST: u64 = (PAGE as u64 - 12) * 32 / 255 - 23;

/// How many pages each page of the map tells of, and the kinds of those with cells on them: the first of a tree, and others.
const MAPPED: usize = PAGE / 5;
const WITH_CELLS: [u8; 2] = [FIRST, BELOW];
pub(super) const FIRST: u8 = 1;
pub(super) const BELOW: u8 = 5;

/// Makes the damaged heads of a database's tables anew; it is open nowhere, and gives pages back, so that it has a map of them.
pub(super) fn mend(path: &Path) -> io::Result<()> {
    let (mut file, mut ways) = (File::open(path)?, HashSet::new());
    file.each_mapped(|_, _, kind, above| {
        ways.extend((kind == BELOW).then_some(above));
        Ok(())
    })?;
    file.each_mapped(|file, number, kind, _| {
        let page = if WITH_CELLS.contains(&kind) { Some(file.page(number)?) } else { None };
        // What leads to others has no rows, though it may once have had some.
        let rows = |page: &Page| if ways.contains(&number) { None } else { rows::head(page) };
        let head = page.and_then(|page| page.mended().or_else(|| rows(&page)));
        head.map_or(Ok(()), |head| file.write(number, &head))
    })
}

/// The file of a database, page by page.
pub(super) struct File {
    file: fs::File,
    pages: usize,
}

impl File {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let pages = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX) / PAGE;
        Ok(Self { file, pages })
    }

    /// Whether it has a map: databases that give pages back have one, and say so.
    pub(super) fn has_map(&mut self) -> io::Result<bool> {
        const LAST_TREE: std::ops::Range<usize> = 52..56;
        Ok(self.page(1)?.bytes.get(LAST_TREE).is_some_and(|last| last.iter().any(|byte| *byte != 0)))
    }

    /// Goes through the pages that the map tells of: the number of each, its kind, and the page that it belongs to.
    pub(super) fn each_mapped(
        &mut self,
        mut visit: impl FnMut(&mut Self, usize, u8, usize) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut map = Vec::new();
        for number in 2..=self.pages {
            // A page of the map, and then those that it tells of.
            let among = (number - 2) % (MAPPED + 1);
            if among == 0 {
                map = self.page(number)?.bytes;
            } else if let Some((kind, above)) = map.get((among - 1) * 5..).and_then(<[u8]>::split_first)
                && let Some(above) =
                    above.first_chunk().and_then(|above| usize::try_from(u32::from_be_bytes(*above)).ok())
            {
                visit(self, number, *kind, above)?;
            }
        }
        Ok(())
    }

    pub(super) fn page(&mut self, number: usize) -> io::Result<Page> {
        let mut bytes = vec![0; PAGE];
        self.go_to(number)?;
        self.file.read_exact(&mut bytes)?;
        Ok(Page { bytes, pages: self.pages })
    }

    /// Writes to the beginning of a page.
    pub(super) fn write(&mut self, number: usize, bytes: &[u8]) -> io::Result<()> {
        self.go_to(number)?;
        self.file.write_all(bytes)
    }

    fn go_to(&mut self, number: usize) -> io::Result<()> {
        self.file.seek(SeekFrom::Start((number.saturating_sub(1) * PAGE) as u64)).map(|_| ())
    }
}

/// What a page of a table is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It has rows.
    Leaf = 13,
    /// It leads to other pages.
    Way = 5,
}

/// The first bytes of pages of tables, and of indexes: of their leaves, and of what leads to them.
pub(super) const OF_TABLES: [u8; 2] = [Kind::Leaf as u8, Kind::Way as u8];
pub(super) const OF_INDEXES: [u8; 2] = [10, 2];

impl Kind {
    /// Where a page of it says where its cells are.
    pub(super) fn head(self) -> usize {
        if self == Self::Leaf { 8 } else { 12 }
    }
}

/// A page with cells on it.
pub(super) struct Page {
    bytes: Vec<u8>,
    pages: usize,
}

/// How many cells there are, and the bytes of all.
#[derive(Default)]
struct Cells {
    count: usize,
    size: usize,
}

impl Page {
    pub(super) fn kind(&self) -> Option<Kind> {
        [Kind::Leaf, Kind::Way].into_iter().find(|kind| self.bytes.first() == Some(&(*kind as u8)))
    }

    /// Whether it is a page of a table whose parts fit together, or one of an index.
    pub(super) fn is_sound(&self) -> bool {
        let is_index = self.bytes.first().is_some_and(|kind| OF_INDEXES.contains(kind));
        is_index || self.kind().zip(self.short(3)).and_then(|(kind, count)| self.fits(kind, count)) == Some(true)
    }

    /// The row of its last cell.
    pub(super) fn last_row(&self) -> Option<i64> {
        let (kind, last) = (self.kind()?, self.short(3)?.checked_sub(1)?);
        Some(self.cell(kind, self.short(kind.head() + 2 * last)?)?.0)
    }

    /// The page with the rows behind those of its last cell, if it leads to others.
    pub(super) fn last_below(&self) -> Option<usize> {
        let number = usize::try_from(u32::from_be_bytes(*self.bytes.get(8..)?.first_chunk()?)).ok()?;
        Some(number).filter(|number| self.kind() == Some(Kind::Way) && (2..=self.pages).contains(number))
    }

    /// The pages that it leads to; none where it is no sound way of a table.
    pub(super) fn below(&self) -> Vec<usize> {
        let Some(Kind::Way) = self.kind().filter(|_| self.is_sound()) else { return Vec::new() };
        let number = |at: usize| Some(u32::from_be_bytes(*self.bytes.get(at..)?.first_chunk()?) as usize);
        let cells = (0..self.short(3).unwrap_or(0)).filter_map(|n| number(self.short(Kind::Way.head() + 2 * n)?));
        cells.chain(self.last_below()).collect()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The head up to the number of cells, with another kind or number by which all parts fit; none where they do, or nothing
    /// makes them.
    fn mended(&self) -> Option<Vec<u8>> {
        let (found, said) = (*self.bytes.first()?, self.short(3)?);
        if OF_INDEXES.contains(&found) {
            return None;
        }
        let mut each = [Kind::Leaf, Kind::Way].into_iter().flat_map(|kind| {
            let most = self.cells(kind, usize::MAX).count;
            std::iter::once(said).chain((1..=most).rev()).map(move |count| (kind, count))
        });
        let (kind, count) = each.find(|(kind, count)| self.fits(*kind, *count) == Some(true))?;
        let count = u16::try_from(count).ok()?.to_be_bytes();
        let head = [&[kind as u8], self.bytes.get(1..3)?, &count].concat();
        (!self.bytes.starts_with(&head)).then_some(head)
    }

    /// Whether all parts make a page, if it has so many cells; none where the rest of its head cannot be.
    fn fits(&self, kind: Kind, count: usize) -> Option<bool> {
        let (begin, lost, cells) = (self.short(5)?, usize::from(*self.bytes.get(7)?), self.cells(kind, count));
        let (mut gaps, mut gap) = (0, self.short(1)?);
        while gap != 0 {
            gaps += self.short(gap + 2)?;
            // Each is behind the one before it.
            gap = Some(self.short(gap)?).filter(|next| *next == 0 || *next > gap)?;
        }
        let is_behind = kind.head() + 2 * count <= begin;
        Some(is_behind && cells.count == count && begin + gaps + lost + cells.size == PAGE)
    }

    /// The page's cells, if it is of this kind: up to so many, and up to the first that cannot be one.
    fn cells(&self, kind: Kind, most: usize) -> Cells {
        let (mut taken, mut last, mut cells) = (vec![false; PAGE], None, Cells::default());
        while cells.count < most {
            let place = kind.head() + 2 * cells.count;
            let cell = self.short(place).filter(|at| *at >= place + 2).and_then(|at| {
                let (row, size) = self.cell(kind, at)?;
                Some((row, taken.get_mut(at..at + size)?))
            });
            let Some((row, bytes)) = cell else { break };
            if last.is_some_and(|last| last >= row) || bytes.contains(&true) {
                break;
            }
            bytes.fill(true);
            last = Some(row);
            cells = Cells { count: cells.count + 1, size: cells.size + bytes.len() };
        }
        cells
    }

    /// The row that a cell has or leads to, and how long the cell is.
    pub(super) fn cell(&self, kind: Kind, at: usize) -> Option<(i64, usize)> {
        let (row, size) = match kind {
            Kind::Leaf => {
                let (length, first) = self.number(at)?;
                let (row, second) = self.number(at + first)?;
                (row, first + second + here(u64::try_from(length).ok()?)?)
            }
            Kind::Way => {
                let page = u32::from_be_bytes(*self.bytes.get(at..)?.first_chunk()?);
                let (row, length) = self.number(at + 4)?;
                (2..=self.pages).contains(&usize::try_from(page).ok()?).then_some((row, 4 + length))?
            }
        };
        Some((row, size.max(4)))
    }

    fn short(&self, at: usize) -> Option<usize> {
        Some(usize::from(u16::from_be_bytes(*self.bytes.get(at..)?.first_chunk()?)))
    }

    /// A number of one to nine bytes, and how many they are.
    pub(super) fn number(&self, at: usize) -> Option<(i64, usize)> {
        let mut number = 0_u64;
        for (n, byte) in self.bytes.get(at..)?.iter().take(9).enumerate() {
            if n == 8 {
                return Some(((number << 8 | u64::from(*byte)).cast_signed(), 9));
            }
            number = number << 7 | u64::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                return Some((number.cast_signed(), n + 1));
            }
        }
        None
    }
}

/// How many bytes of a row stand on its page, with the number of the page where the rest is.
fn here(length: u64) -> Option<usize> {
    let here = match length {
        ..=MOST => length,
        // What fills the last page behind it stands here, where there is room for it.
        _ => 4 + Some(LEAST + (length - LEAST) % (PAGE as u64 - 4)).filter(|here| *here <= MOST).unwrap_or(LEAST),
    };
    usize::try_from(here).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;
    use sha2::{Digest, Sha256};
    use std::path::PathBuf;

    /// A database of tables with rows of every length, gaps between them, ways that lead to them, and an index.
    fn database(folder: &tempfile::TempDir) -> PathBuf {
        let path = folder.path().join("some.db");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(
                "PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA secure_delete = TRUE;
                 CREATE TABLE small (id INTEGER PRIMARY KEY, bytes BLOB);
                 CREATE TABLE large (id INTEGER PRIMARY KEY, bytes BLOB);
                 CREATE INDEX small_by_length ON small (length(bytes)); BEGIN",
            )
            .unwrap();
        let insert = |table: &str, id: i64, length: usize| {
            let insert = format!("INSERT INTO {table} VALUES (?1, ?2)");
            connection.prepare_cached(&insert).unwrap().execute((id, noise(id, length))).unwrap();
        };
        (0..=700).for_each(|i: i64| insert("small", i * i - 1000, i as usize * 7 % 200));
        (0..=30).for_each(|i| insert("large", i, 3900 + i as usize * 13));
        [4057, 4058, 20_000].into_iter().zip(1000..).for_each(|(length, id)| insert("large", id, length));
        connection.execute_batch("COMMIT; DELETE FROM small WHERE id % 5 = 0").unwrap();
        path
    }

    /// Bytes without an order, the same in every run: one run in hundreds would have some that look like a row by chance.
    fn noise(seed: i64, length: usize) -> Vec<u8> {
        let parts = (0_i64..).flat_map(|part| Sha256::digest([seed.to_le_bytes(), part.to_le_bytes()].concat()));
        parts.take(length).collect()
    }

    /// Numbers of the pages that begin with one of these.
    fn pages(bytes: &[u8], kinds: [u8; 2]) -> Vec<usize> {
        let connected = |number: &usize| kinds.contains(&bytes[number * PAGE]);
        let among = |number: &usize| (number - 1) % (MAPPED + 1);
        // What stands behind a row's end on another page may begin so too: the map tells them apart.
        let has_cells = |number: &usize| {
            let map = number - among(number);
            among(number) > 0 && WITH_CELLS.contains(&bytes[map * PAGE + (among(number) - 1) * 5])
        };
        (1..bytes.len() / PAGE).filter(|number| has_cells(number) && connected(number)).collect()
    }

    #[test]
    fn what_is_sound_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = database(&folder);
        let before = std::fs::read(&path).unwrap();
        mend(&path).unwrap();
        assert!(std::fs::read(&path).unwrap() == before);
    }

    #[test]
    fn each_head_of_a_table_is_made_anew_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = database(&folder);
        let sound = std::fs::read(&path).unwrap();
        let tables = pages(&sound, [Kind::Leaf as u8, Kind::Way as u8]);
        let ways = tables.iter().filter(|page| sound[**page * PAGE] == Kind::Way as u8).count();
        assert!(ways > 0 && tables.len() > 30, "{ways} of {}", tables.len());
        // All at once: what becomes of one hangs on no other.
        for (at, damage) in [(0, 0xff), (0, 4), (0, 8), (3, 0xff), (4, 1), (4, 2), (4, 0xff)] {
            let mut damaged = sound.clone();
            tables.iter().for_each(|page| damaged[page * PAGE + at] ^= damage);
            std::fs::write(&path, &damaged).unwrap();
            mend(&path).unwrap();
            let mended = std::fs::read(&path).unwrap();
            let wrong: Vec<_> = (0..sound.len() / PAGE)
                .filter(|page| mended[page * PAGE..][..PAGE] != sound[page * PAGE..][..PAGE])
                .collect();
            assert_eq!(wrong, [0_usize; 0], "byte {at}, {damage}");
        }
    }

    #[test]
    fn rows_are_found_by_what_they_say_of_themselves() {
        let folder = tempfile::tempdir().unwrap();
        let path = database(&folder);
        let read = |path: &Path| {
            let connection = Connection::open(path).unwrap();
            ["small", "large"].map(|table| {
                let mut select = connection.prepare(&format!("SELECT id, bytes FROM {table} NOT INDEXED")).unwrap();
                let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
                rows.collect::<rusqlite::Result<Vec<(i64, Vec<u8>)>>>().unwrap()
            })
        };
        let (mut bytes, rows) = (std::fs::read(&path).unwrap(), read(&path));
        for page in pages(&bytes, [Kind::Leaf as u8; 2]) {
            let count = usize::from(u16::from_be_bytes([bytes[page * PAGE + 3], bytes[page * PAGE + 4]]));
            bytes[page * PAGE..][..8 + 2 * count].fill(0x55);
        }
        std::fs::write(&path, &bytes).unwrap();
        mend(&path).unwrap();
        assert!(read(&path) == rows);
    }

    #[test]
    fn indexes_and_what_nothing_vouches_for_stay_as_they_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = database(&folder);
        let sound = std::fs::read(&path).unwrap();
        let (indexes, ways) = (pages(&sound, OF_INDEXES), pages(&sound, [Kind::Way as u8; 2]));
        assert!(!indexes.is_empty() && !ways.is_empty());
        // The number of cells of an index; of what leads to rows, also where they begin, which nothing else tells.
        for (pages, places) in [(indexes, &[4][..]), (ways, &[4, 6])] {
            let mut damaged = sound.clone();
            pages.iter().for_each(|page| places.iter().for_each(|at| damaged[page * PAGE + at] ^= 1));
            std::fs::write(&path, &damaged).unwrap();
            mend(&path).unwrap();
            assert!(std::fs::read(&path).unwrap() == damaged);
        }
    }
}
