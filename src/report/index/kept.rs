//! An index beside its bytes: a small head, and the numbers of every row, which are read in windows.
//!
//! ```text
//! head:    checksum · edition · length of the body · what it is · entries · for each section its name, form, rows, end, and
//!          the first of its numbers · stretches of the body: what a first screen shows is known without reading more
//! numbers: for each section its starts; for processes also depths and tails
//! ```
//! The bytes of the report stay the truth: an index that is damaged, of another edition or of another body is as good as none.

use super::column::{Column, Number};
use super::{Entry, Form, Index, Section};
use crate::report::attributes::{ATTRIBUTES, Attribute, Pane, Shape};
use crate::report::body::{Body, KeptIndex, Numbers, Stretch};
use crate::report::rows::Report;
use crate::report::tree::Depths;
use crate::text::Untrusted;
use sha2::{Digest, Sha256};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Changes when the same bytes would be indexed or written otherwise.
const EDITION: u8 = 6;

/// Rows of a section whose numbers stand in the head: more than a screen shows, and what is looked through beyond it for the
/// guides of a tree.
const FIRST_ROWS: usize = 128;

/// Panes of a first screen beside the overview, and rows of each whose bytes stand in the head.
const FIRST_PANES: usize = 4;
const FIRST_SHOWN: usize = 32;

/// Bytes of the body that stand in the head, at most; and which part of it they are at most.
const MOST_SHOWN: u64 = 32 * 1024;
const PART_SHOWN: u64 = 16;

/// Bodies below this many bytes are indexed sooner than an index of them is looked up.
const WORTH_KEEPING: u64 = 64 * 1024;

/// Rows whose numbers are written at once.
const AT_ONCE: usize = 16 * 1024;

const FORMS: [Form; 5] = [Form::Scalar, Form::Array, Form::Object, Form::Loose, Form::Processes];

/// Set beside a section's form where its name stands in the table of attributes.
const IS_KNOWN: u8 = 0x80;

impl Index {
    /// The index of a whole body: the one that is kept, if it is sound, or else one made now.
    pub fn open(body: &Body) -> io::Result<Self> {
        Self::kept(body).filter(|kept| kept.verify().is_ok()).map_or_else(|| Self::of(body), Ok)
    }

    /// The index of a body that takes next to no time: the one that is kept, or a new one of a short body. The numbers of one
    /// that is kept are not checked; see [`Index::verify`].
    pub fn at_once(body: &Body) -> Option<Self> {
        if body.len() < WORTH_KEEPING { Self::of(body).ok() } else { Self::kept(body) }
    }

    /// The index that is kept of a body, if it is sound as far as its head goes; see [`Index::verify`].
    pub fn kept(body: &Body) -> Option<Self> {
        let KeptIndex { head, numbers } = body.kept_index().ok()??;
        let (index, shown) = read(Reader(&head), body.len(), &numbers)?;
        body.have_at_hand(shown);
        Some(index)
    }

    /// Keeps the index beside its body, where the body is kept and large enough.
    pub fn keep(self, body: &Body) -> io::Result<()> {
        let is_arranged = self.sections.iter().any(|section| {
            section.form == Form::Processes && section.attribute.is_some_and(|known| known.shape != Shape::ProcessTree)
        });
        if body.len() < WORTH_KEEPING || !self.is_complete || is_arranged {
            return Ok(());
        }
        let index = Arc::new(self);
        let head = write(&index, body.len(), &shown_first(&index, body)?)?;
        let length = index.sections.iter().map(numbers_length).sum();
        body.keep_index(&head, Numbers { length, pieces: &mut index.sections.iter().flat_map(numbers) })
    }

    /// The same index with every number in memory.
    pub fn unpacked(&self) -> io::Result<Self> {
        let mut unpacked = self.clone();
        for section in &mut unpacked.sections {
            section.starts = section.starts.unpacked()?;
            section.depths = section.depths.unpacked()?;
            section.tails = section.tails.unpacked()?;
        }
        Ok(unpacked)
    }

    /// Reads every number once, so that damage is found before it is met.
    pub fn verify(&self) -> io::Result<()> {
        for section in &self.sections {
            section.starts.verify()?;
            section.depths.verify()?;
            section.tails.verify()?;
        }
        Ok(())
    }
}

/// What is read of the body to show the first rows of the first panes.
fn shown_first(index: &Arc<Index>, body: &Body) -> io::Result<Vec<Stretch>> {
    let (watched, seen) = body.watched();
    let report = Report::shown(watched, Arc::clone(index));
    let panes = Pane::ALL.into_iter().filter(|pane| *pane != Pane::Overview && report.count(*pane) > 0);
    let panes: Vec<_> = panes.take(FIRST_PANES).chain([Pane::Overview]).map(|pane| report.sections(pane)).collect();
    let rows = |sections: &[usize], wanted: usize| {
        let mut before = 0;
        sections.iter().find_map(|section| {
            let (first, count) = (before, report.section(*section).map_or(0, Section::len));
            before += count;
            (first..before).contains(&wanted).then(|| (*section, wanted - first))
        })
    };
    let most = MOST_SHOWN.min(body.len() / PART_SHOWN);
    let mut shown = Vec::new();
    for (section, row) in (0..FIRST_SHOWN).flat_map(|row| panes.iter().filter_map(move |pane| rows(pane, row))) {
        // What it reads is wanted, not what it says.
        let _ = report.row(section, row);
        let seen = seen.seen();
        if seen.iter().map(|range| range.end - range.start).sum::<u64>() > most {
            break;
        }
        shown = seen;
    }
    let stretch = |range: Range<u64>| Ok(Stretch { at: range.start, bytes: body.window(range)? });
    shown.into_iter().map(stretch).collect()
}

/// Tells indexes of another edition, or made with another table of attributes.
fn edition() -> [u8; 8] {
    let mut hash = Sha256::new_with_prefix([EDITION]);
    for attribute in ATTRIBUTES {
        hash.update(attribute.name);
        hash.update([0, u8::from(attribute.shape == Shape::ProcessTree)]);
    }
    hash.finalize().first_chunk().copied().unwrap_or_default()
}

/// What there may be a number of for each row of a section.
#[derive(Clone, Copy)]
enum Numbered {
    Start,
    Depth,
    Tail,
}

impl Numbered {
    /// In the order in which they are kept.
    const ALL: [Self; 3] = [Self::Start, Self::Depth, Self::Tail];

    fn write(self, section: &Section, rows: Range<usize>, to: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Start => section.starts.write(rows, to),
            Self::Depth => section.depths.write(rows, to),
            Self::Tail => section.tails.write(rows, to),
        }
    }
}

/// How many bytes the numbers of a section take.
fn numbers_length(section: &Section) -> u64 {
    let places = section.starts.len() + section.tails.len();
    (places * u32::SIZE + section.depths.len() * u16::SIZE) as u64
}

/// The numbers of a section, as they are kept.
fn numbers(section: &Section) -> impl Iterator<Item = io::Result<Vec<u8>>> {
    let places =
        Numbered::ALL.into_iter().flat_map(|what| (0..section.len()).step_by(AT_ONCE).map(move |row| (what, row)));
    places.map(|(what, row)| {
        let mut piece = Vec::new();
        what.write(section, row..row + AT_ONCE, &mut piece).map(|()| piece)
    })
}

fn write(index: &Index, length: u64, shown: &[Stretch]) -> io::Result<Vec<u8>> {
    let mut head = edition().to_vec();
    head.extend(length.to_le_bytes());
    let flags = [index.is_page, index.is_enveloped, index.is_attributed, index.is_cut, index.is_json];
    head.extend(flags.map(u8::from));
    head.extend([index.id, index.kind].iter().flat_map(|at| at.unwrap_or(0).to_le_bytes()));
    head.extend((index.left_out as u64).to_le_bytes());
    head.extend(number(index.entries.len()));
    for entry in &index.entries {
        let places = [entry.range.start, entry.range.end, entry.id.unwrap_or(0), entry.kind.unwrap_or(0)];
        head.extend(places.iter().flat_map(|at| at.to_le_bytes()));
        head.push(entry.has_attributes.into());
    }
    head.extend(number(index.sections.len()));
    for section in &index.sections {
        head.extend(number(section.name.as_bytes().len()));
        head.extend(section.name.as_bytes());
        let form = FORMS.iter().position(|form| *form == section.form).and_then(|form| u8::try_from(form).ok());
        head.push(form.unwrap_or(0) | if section.attribute.is_some() { IS_KNOWN } else { 0 });
        head.extend(number(section.len()));
        head.extend(section.end.to_le_bytes());
        for what in Numbered::ALL {
            what.write(section, 0..FIRST_ROWS, &mut head)?;
        }
    }
    head.extend(number(shown.len()));
    for stretch in shown {
        head.extend(stretch.at.to_le_bytes());
        head.extend(number(stretch.bytes.len()));
        head.extend(&stretch.bytes);
    }
    Ok([&Sha256::digest(&head)[..], &head].concat())
}

/// Counts fit: offsets do.
fn number(count: usize) -> [u8; 4] {
    u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes()
}

fn read(mut head: Reader<'_>, length: u64, numbers: &Body) -> Option<(Index, Vec<Stretch>)> {
    let sum: [u8; 32] = head.take()?;
    if sum != Sha256::digest(head.0)[..] || head.take()? != edition() || head.long()? != length {
        return None;
    }
    let [is_page, is_enveloped, is_attributed, is_cut, is_json] = head.take()?.map(|flag: u8| flag > 0);
    let (id, kind) = (head.place()?, head.place()?);
    let left_out = usize::try_from(head.long()?).ok()?;
    let entries = (0..head.short()?).map(|_| head.entry()).collect::<Option<_>>()?;
    let mut at = 0;
    let sections = (0..head.short()?).map(|_| head.section(numbers, &mut at)).collect::<Option<_>>()?;
    let shown = (0..head.short()?).map(|_| head.stretch()).collect::<Option<_>>()?;
    let is_whole = at == numbers.len();
    let found = Index {
        sections,
        id,
        kind,
        is_page,
        is_enveloped,
        is_attributed,
        entries,
        left_out,
        is_complete: true,
        is_cut,
        is_json,
    };
    is_whole.then_some((found, shown))
}

/// Bytes of a head that have not been read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn short(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn long(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    /// An offset; none where it is 0, at which nothing of the kind can stand.
    fn place(&mut self) -> Option<Option<u32>> {
        self.short().map(|at| Some(at).filter(|at| *at > 0))
    }

    fn entry(&mut self) -> Option<Entry> {
        let range = self.short()?..self.short()?;
        let (id, kind) = (self.place()?, self.place()?);
        let [has_attributes] = self.take()?;
        Some(Entry { range, id, kind, has_attributes: has_attributes > 0 })
    }

    fn stretch(&mut self) -> Option<Stretch> {
        let at = self.long()?;
        let length = usize::try_from(self.short()?).ok()?;
        Some(Stretch { at, bytes: self.bytes(length)?.to_vec() })
    }

    /// The next bytes, so many.
    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    /// A section whose numbers stand from `at` on, which is moved behind them.
    fn section(&mut self, numbers: &Body, at: &mut u64) -> Option<Section> {
        let length = usize::try_from(self.short()?).ok()?;
        let name = self.bytes(length)?;
        let [form] = self.take()?;
        let attribute = if form & IS_KNOWN > 0 { Some(Attribute::named(name)?) } else { None };
        let form = *FORMS.get(usize::from(form & !IS_KNOWN))?;
        let mut section = Section::new(Untrusted::from(name), attribute, form);
        let rows = u64::from(self.short()?);
        section.end = self.short()?;
        let mut next = |size: u64| {
            let start = *at;
            *at = start + rows * size;
            numbers.slice(start..*at)
        };
        section.starts = Column::kept(next(4), self.first(rows)?);
        if form == Form::Processes {
            section.depths = Depths::kept(next(2), self.first(rows)?);
            section.tails = Column::kept(next(4), self.first(rows)?);
        }
        Some(section)
    }

    /// The first numbers of a column of so many.
    fn first<T: Number>(&mut self, rows: u64) -> Option<Vec<T>> {
        let count = usize::try_from(rows).map_or(FIRST_ROWS, |rows| rows.min(FIRST_ROWS));
        Some(self.bytes(count * T::SIZE)?.chunks_exact(T::SIZE).map(T::read).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Everything that an index says.
    fn said(index: &Index) -> Vec<String> {
        let Index { sections, entries, left_out, .. } = index;
        let flags = [index.is_page, index.is_enveloped, index.is_attributed, index.is_complete, index.is_cut];
        let head = format!("{:?} {:?} {flags:?} {} {entries:?} {left_out}", index.id, index.kind, index.is_json);
        let section = |s: &Section| {
            let row = |row| (s.start(row), s.depths().get(row), s.tail(row));
            let rows: Vec<_> = (0..=s.len()).map(row).collect();
            format!("{:?} {} {:?} {:?} {rows:?}", s.name, s.rank, s.form, s.end())
        };
        std::iter::once(head).chain(sections.iter().map(section)).collect()
    }

    /// The numbers of an index where they are kept.
    fn in_memory(index: &Index) -> Body {
        let pieces: io::Result<Vec<_>> = index.sections.iter().flat_map(numbers).collect();
        let bytes = pieces.unwrap().concat();
        assert_eq!(bytes.len() as u64, index.sections.iter().map(numbers_length).sum::<u64>());
        Body::in_memory(bytes)
    }

    /// The index of a body, written and read.
    fn round(index: &Index, length: u64) -> Option<Index> {
        read(Reader(&write(index, length, &[]).unwrap()), length, &in_memory(index)).map(|(index, _)| index)
    }

    #[test]
    fn a_kept_index_says_what_a_fresh_one_says_of_every_report_of_the_demo() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo");
        let mut rows = 0;
        let folders = std::fs::read_dir(folder).unwrap().map(|found| found.unwrap().path());
        let files = folders.filter(|path| path.is_dir()).flat_map(|path| std::fs::read_dir(path).unwrap());
        for file in files {
            let body = Body::in_memory(std::fs::read(file.unwrap().path()).unwrap());
            let fresh = Index::of(&body).unwrap();
            let kept = round(&fresh, body.len()).unwrap();
            assert_eq!((said(&kept), said(&kept.unpacked().unwrap())), (said(&fresh), said(&fresh)));
            rows += fresh.sections.iter().map(Section::len).sum::<usize>();
        }
        assert!(rows > 500, "{rows}");
    }

    #[test]
    fn an_index_that_is_damaged_or_of_something_else_is_none() {
        let json =
            br#"{"data":[{"id":"a","type":"t","attributes":{"tags":["x"]}}],"processes_tree":[{"children":[{}],"name":"n"}]}"#;
        let (length, index) = (json.len() as u64, Index::of(&Body::in_memory(json.to_vec())).unwrap());
        let shown = [Stretch { at: 2, bytes: b"data".to_vec() }];
        let (head, numbers) = (write(&index, length, &shown).unwrap(), in_memory(&index));
        assert_eq!(read(Reader(&head), length, &numbers).unwrap().1, shown);
        assert!(read(Reader(&head), length + 1, &numbers).is_none());
        assert!(read(Reader(&head), length, &numbers.slice(0..numbers.len() - 1)).is_none());
        for at in 0..head.len() {
            let mut damaged = head.clone();
            damaged[at] ^= 1;
            assert!(read(Reader(&damaged), length, &numbers).is_none(), "{at}");
            assert!(read(Reader(&head[..at]), length, &numbers).is_none(), "{at}");
        }
        // A head that is sound in itself, but of another edition.
        let mut old = head[32..].to_vec();
        old[0] ^= 1;
        let old = [&Sha256::digest(&old)[..], &old].concat();
        assert!(read(Reader(&old), length, &numbers).is_none());
    }

    fn any_report() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![Just("null".to_owned()), Just("7".to_owned()), Just(r#""a\"b""#.to_owned())];
        let name = prop::sample::select(vec![
            "data",
            "attributes",
            "processes_tree",
            "children",
            "name",
            "tags",
            "files_dropped",
            "id",
            "new",
            "t\\u0061gs",
        ]);
        leaf.prop_recursive(6, 80, 6, move |inner| {
            let member = (name.clone(), inner.clone()).prop_map(|(name, value)| format!("\"{name}\": {value}"));
            prop_oneof![
                prop::collection::vec(inner, 0..6).prop_map(|all| format!("[{}]", all.join(", "))),
                prop::collection::vec(member, 0..6).prop_map(|all| format!("{{{}}}", all.join(","))),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_kept_index_says_what_a_fresh_one_says(report in any_report(), cut in 0_usize..400) {
            let body = Body::in_memory(report.as_bytes()[..report.len().saturating_sub(cut / 4)].to_vec());
            let fresh = Index::of(&body).unwrap();
            prop_assert_eq!(said(&round(&fresh, body.len()).unwrap()), said(&fresh));
        }

        #[test]
        fn reading_a_head_never_panics(head: Vec<u8>) {
            let head = [&Sha256::digest(&head)[..], &head].concat();
            prop_assert!(read(Reader(&head), 0, &Body::in_memory(Vec::new())).is_none());
        }
    }
}
