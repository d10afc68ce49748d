//! What is held of a long list: asked for at once, and not once for each of its entries.

use super::connection::rows;
use super::database::Store;
use super::error::StoreError;
use super::held::{HERE, HeldReport, found};
use crate::report::identifier::Identifier;
use rusqlite::ToSql;
use std::collections::HashSet;

/// The most reports that are looked for at once: a question to the database has room for hardly more values.
const AT_ONCE: usize = 30_000;

impl Store {
    /// The newest report of each of these sandboxes that is held. All are looked for at once, and without an index: what an index
    /// does not find is looked for without it, and of a long list that would be done once for each.
    pub fn reports_of(&self, profile: &str, identifiers: &[&Identifier]) -> Result<Vec<HeldReport>, StoreError> {
        let mut reports = Vec::new();
        for some in identifiers.chunks(AT_ONCE) {
            let which = format!("r.identifier IN (?{})", ", ?".repeat(some.len() - 1));
            let values: Vec<_> = some.iter().map(|identifier| identifier.as_bytes()).collect();
            let values: Vec<_> = values.iter().map(|value| value as &dyn ToSql).collect();
            let found = self.read(|connection| found(connection, "NOT INDEXED", profile, (&which, &values), HERE))?;
            match self.newest(profile, found) {
                (_, Some(damage)) => return Err(damage),
                (newest, None) => reports.extend(newest),
            }
        }
        Ok(reports)
    }

    /// The keys of a profile's answers that nobody has read yet.
    pub fn unread(&self, profile: &str) -> Result<HashSet<Vec<u8>>, StoreError> {
        let select = "SELECT key FROM answer NOT INDEXED WHERE profile = ?1 AND usable IS NULL";
        let keys = self.read(|connection| rows(connection, select, [profile], |row| row.get(0)))?;
        Ok(keys.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Body;
    use crate::store::Brought;
    use crate::text::Untrusted;
    use jiff::Timestamp;

    #[test]
    fn each_of_a_long_list_is_found_as_it_is_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("behaview.db")).unwrap();
        let identifiers: Vec<_> =
            (0..AT_ONCE + 5).map(|n| Identifier::new(Untrusted::from(format!("report {n}"))).unwrap()).collect();
        let keep = |profile: &str, n: usize, bytes: &str| {
            let body = Body::in_memory(bytes.as_bytes().to_vec());
            let answer = store.keep(profile, bytes.as_bytes(), Timestamp::UNIX_EPOCH, &body).unwrap();
            let (identifier, range) = (identifiers[n].clone(), 0..bytes.len() as u64);
            store.accept(profile, answer, &[Brought { identifier, file: None, range }]).unwrap();
        };
        keep("p", 7, "old");
        keep("p", 7, "new");
        keep("p", AT_ONCE + 3, "last");
        keep("other", 9, "of another");
        let wanted: Vec<_> = identifiers.iter().collect();
        let found = store.reports_of("p", &wanted).unwrap();
        let found: Vec<_> = found.into_iter().map(|held| (held.identifier, held.body.whole().unwrap())).collect();
        let each = [7, 9, AT_ONCE + 3].map(|n| store.report("p", &identifiers[n]).unwrap());
        let each: Vec<_> =
            each.into_iter().flatten().map(|held| (held.identifier, held.body.whole().unwrap())).collect();
        assert_eq!((each.len(), found), (2, each));
        let unread = store.keep("p", b"unread", Timestamp::UNIX_EPOCH, &Body::in_memory(b"x".to_vec())).unwrap();
        assert_eq!(store.unread("p").unwrap(), HashSet::from([b"unread".to_vec()]));
        store.set_aside(unread).unwrap();
        assert_eq!((store.unread("p").unwrap(), store.unread("other").unwrap()), (HashSet::new(), HashSet::new()));
    }
}
