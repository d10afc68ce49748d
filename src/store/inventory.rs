//! What is held, thing by thing: how large it is, when it came and from where.

use super::connection::rows;
use super::database::Store;
use super::error::StoreError;
use super::held::{AnswerId, moment};
use super::notes::outside;
use crate::order;
use crate::report::identifier::{Identifier, Sha256};
use crate::report::{Held, Holding, Imported, Others, Version};
use crate::request::Request;
use crate::text::Untrusted;
use jiff::Timestamp;
use rusqlite::{Connection, Row};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Bytes of an answer and of its indexes in the store.
pub(super) const ON_DISK: &str = "(SELECT COALESCE(SUM(LENGTH(bytes)), 0) FROM block b WHERE b.answer = a.id)
    + (SELECT COALESCE(SUM(LENGTH(head)), 0) FROM row_index x WHERE x.answer = a.id)
    + (SELECT COALESCE(SUM(LENGTH(i.bytes)), 0) FROM row_index x JOIN index_block i ON i.row_index = x.id WHERE x.answer = a.id)";

/// An answer as the inventory needs it.
struct Whole {
    id: AnswerId,
    profile: String,
    key: Vec<u8>,
    received: Timestamp,
    bytes: u64,
    on_disk: u64,
    usable: Option<i64>,
    imported: Option<Imported>,
}

/// A report's place in an answer.
struct Part {
    identifier: Identifier,
    file: Option<Sha256>,
    bytes: u64,
}

/// The notes on a report.
struct Written {
    notes: u64,
    last: Timestamp,
    file: Option<Sha256>,
}

impl Written {
    /// The notes as a thing of their own, where nothing else of their report is held.
    fn alone(&self, profile: String, what: Held) -> Holding {
        Holding {
            profile,
            what,
            file: self.file.clone(),
            name: None,
            received: self.last,
            versions: Vec::new(),
            bytes: 0,
            on_disk: 0,
            imported: None,
            notes: self.notes,
            others: BTreeMap::new(),
        }
    }
}

impl Store {
    /// Everything that is held, for every profile, the newest first.
    pub fn inventory(&self) -> Result<Vec<Holding>, StoreError> {
        self.read(all)
    }
}

/// What makes a thing one: its profile, what it is, and whether it was imported. What the service sent and what a colleague exported
/// of the same report are two things, for they belong to different people.
type Place = (String, Held, bool);

fn place(thing: &Holding) -> Place {
    (thing.profile.clone(), thing.what.clone(), thing.is_import())
}

/// What is held, each thing at its place.
type Kept = BTreeMap<Place, Holding>;

/// Whether a report of a profile is held.
fn is_held(kept: &Kept, profile: &str, identifier: &Identifier) -> bool {
    let is_there = |is_import| kept.contains_key(&(profile.to_owned(), Held::Report(identifier.clone()), is_import));
    is_there(false) || is_there(true)
}

/// Everything that is held, the newest first.
pub(super) fn all(connection: &Connection) -> rusqlite::Result<Vec<Holding>> {
    let names = names(connection)?;
    let notes = written(connection)?;
    let mut parts = parts(connection)?;
    let mut kept = Kept::new();
    for answer in answers(connection)? {
        let found = things(&answer, parts.remove(&answer.id).unwrap_or_default());
        for mut thing in found {
            let file = thing.file.clone().map(|file| (answer.profile.clone(), file));
            thing.name = file.and_then(|file| names.get(&file).cloned());
            add(&mut kept, thing);
        }
    }
    count_notes(&mut kept, &notes);
    add_notes(&mut kept, &notes);
    add_others(&mut kept, &notes);
    let mut kept: Vec<_> = kept.into_values().collect();
    order::sort_by_key(&mut kept, |thing| std::cmp::Reverse(thing.received));
    Ok(kept)
}

/// Adds a thing to its earlier versions: answers come in the order of their numbers.
fn add(kept: &mut Kept, thing: Holding) {
    let place = place(&thing);
    let before = kept.remove(&place);
    let sum = |of: fn(&Holding) -> u64| of(&thing).saturating_add(before.as_ref().map_or(0, of));
    let (bytes, on_disk) = (sum(|k| k.bytes), sum(|k| k.on_disk));
    let earlier = before.into_iter().flat_map(|before| before.versions);
    let versions = earlier.chain(thing.versions).collect();
    kept.insert(place, Holding { versions, bytes, on_disk, ..thing });
}

/// What was written of reports, each with its profile.
type Notes = HashMap<(String, Identifier), Written>;

/// Counts the notes on each report, once: with what its profile fetched, or else with what it imported.
fn count_notes(kept: &mut Kept, notes: &Notes) {
    for ((profile, identifier), written) in notes {
        let at = |is_import| (profile.clone(), Held::Report(identifier.clone()), is_import);
        let place = if kept.contains_key(&at(false)) { at(false) } else { at(true) };
        if let Some(thing) = kept.get_mut(&place) {
            thing.notes = written.notes;
        }
    }
}

/// Adds what was written of reports of which nothing is held.
fn add_notes(kept: &mut Kept, notes: &Notes) {
    let imports = kept.values().filter(|thing| thing.is_import()).filter_map(|thing| thing.report().cloned());
    let imports: HashSet<_> = imports.collect();
    for ((profile, identifier), written) in notes {
        if !is_held(kept, profile, identifier) && !imports.contains(identifier) {
            let alone = written.alone(profile.clone(), Held::Notes(identifier.clone()));
            kept.insert(place(&alone), alone);
        }
    }
}

/// Adds to each import what hangs on it of profiles that hold no such report themselves.
fn add_others(kept: &mut Kept, notes: &Notes) {
    let mut others = HashMap::<Identifier, BTreeMap<String, Others>>::new();
    let hanging = notes.iter().filter(|((profile, report), _)| !is_held(kept, profile, report));
    for ((profile, identifier), written) in hanging {
        others.entry(identifier.clone()).or_default().entry(profile.clone()).or_default().notes += written.notes;
    }
    for thing in kept.values() {
        if let Held::Answer { beside: Some(identifier), is_set_aside: false, .. } = &thing.what
            && !is_held(kept, &thing.profile, identifier)
        {
            others.entry(identifier.clone()).or_default().entry(thing.profile.clone()).or_default().artefacts += 1;
        }
    }
    for thing in kept.values_mut().filter(|thing| thing.is_import()) {
        let found = thing.report().and_then(|identifier| others.get(identifier));
        thing.others = found.cloned().unwrap_or_default();
    }
}

/// The reports of an answer, or the answer itself where it brought none.
fn things(answer: &Whole, parts: Vec<Part>) -> Vec<Holding> {
    let thing = |what, file: Option<Sha256>, bytes, on_disk| Holding {
        profile: answer.profile.clone(),
        what,
        name: None,
        received: answer.received,
        versions: vec![Version { received: answer.received, file: file.clone(), bytes, on_disk }],
        file,
        bytes,
        on_disk,
        imported: answer.imported.clone(),
        notes: 0,
        others: BTreeMap::new(),
    };
    if parts.is_empty() {
        let (id, key) = (answer.id, Untrusted::from(answer.key.as_slice()));
        let what = Held::Answer {
            number: id.0,
            key,
            is_set_aside: answer.usable == Some(0),
            is_coming: answer.usable == Some(2),
            beside: Request::holding_beside(&answer.key),
        };
        return vec![thing(what, Request::holding_file(&answer.key), answer.bytes, answer.on_disk)];
    }
    // What a list holds beside its reports is counted with them.
    let all: u64 = parts.iter().map(|part| part.bytes).sum::<u64>().max(1);
    let share = |of: u64, part: u64| u64::try_from(u128::from(of) * u128::from(part) / u128::from(all)).unwrap_or(of);
    let reports = parts.into_iter().map(|part| {
        let on_disk = share(answer.on_disk, part.bytes);
        thing(Held::Report(part.identifier), part.file, part.bytes, on_disk)
    });
    reports.collect()
}

fn answers(connection: &Connection) -> rusqlite::Result<Vec<Whole>> {
    let select = format!(
        "SELECT id, profile, key, received, length, usable, imported_from, imported_by,
                {ON_DISK}
         FROM answer a ORDER BY id"
    );
    rows(connection, &select, [], |row| {
        let size = |column| row.get::<_, i64>(column).map(|size| u64::try_from(size).unwrap_or(0));
        Ok(Whole {
            id: AnswerId(row.get(0)?),
            profile: row.get(1)?,
            key: row.get(2)?,
            received: moment(row.get(3)?),
            bytes: size(4)?,
            on_disk: size(8)?,
            usable: row.get(5)?,
            imported: imported(row, 6)?,
        })
    })
}

/// Where an answer came from, by two columns that stand side by side.
pub(super) fn imported(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Imported>> {
    let outside = |column: usize| row.get::<_, Option<Vec<u8>>>(column).map(|text| text.map(Untrusted::from));
    Ok(outside(column)?.zip(outside(column + 1)?).map(|(from, by)| Imported { from, by }))
}

fn parts(connection: &Connection) -> rusqlite::Result<HashMap<AnswerId, Vec<Part>>> {
    let mut select = connection.prepare_cached("SELECT answer, identifier, file, after - first FROM report")?;
    let mut rows = select.query([])?;
    let mut parts: HashMap<AnswerId, Vec<Part>> = HashMap::new();
    while let Some(row) = rows.next()? {
        let Some(identifier) = Identifier::new(Untrusted::from(row.get::<_, Vec<u8>>(1)?)) else { continue };
        let file = row.get::<_, Option<String>>(2)?.and_then(|file| Sha256::parse(&file));
        let bytes = u64::try_from(row.get::<_, i64>(3)?).unwrap_or(0);
        parts.entry(AnswerId(row.get(0)?)).or_default().push(Part { identifier, file, bytes });
    }
    Ok(parts)
}

fn names(connection: &Connection) -> rusqlite::Result<HashMap<(String, Sha256), Untrusted>> {
    let mut select = connection.prepare_cached("SELECT profile, sha256, name FROM file WHERE name IS NOT NULL")?;
    let mut rows = select.query([])?;
    let mut names = HashMap::new();
    while let Some(row) = rows.next()? {
        if let Some(file) = Sha256::parse(&row.get::<_, String>(1)?) {
            names.insert((row.get(0)?, file), Untrusted::from(row.get::<_, String>(2)?));
        }
    }
    Ok(names)
}

/// What was written of a report with one profile.
fn written(connection: &Connection) -> rusqlite::Result<HashMap<(String, Identifier), Written>> {
    let mut select = connection.prepare_cached(
        "SELECT profile, identifier, COUNT(*), MAX(written), MAX(file) FROM note GROUP BY profile, identifier",
    )?;
    let mut rows = select.query([])?;
    let mut found = HashMap::new();
    while let Some(row) = rows.next()? {
        if let Some(identifier) = Identifier::new(outside(row, 1)?) {
            let file = row.get::<_, Option<String>>(4)?.and_then(|file| Sha256::parse(&file));
            let written = Written { notes: row.get::<_, u32>(2)?.into(), last: moment(row.get(3)?), file };
            found.insert((row.get(0)?, identifier), written);
        }
    }
    Ok(found)
}
