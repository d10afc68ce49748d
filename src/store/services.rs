//! Which service a profile's name stands for. The config may give the name another address: what came from one service is no answer
//! of the other, and its quota is another one.

use super::database::Store;
use super::error::StoreError;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

/// The name that what comes from a service is held under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldAs {
    pub name: String,
    /// The address that the profile had before, where this one has not answered before.
    pub before: Option<String>,
}

impl Store {
    /// The name that what comes from the service at an address is held under: the profile's, unless that stands for another address
    /// already.
    pub fn held_as(&self, profile: &str, root: &str) -> Result<HeldAs, StoreError> {
        self.read(|connection| match known(connection, profile, root)? {
            Some(name) => Ok(HeldAs { name, before: None }),
            None => made(connection, profile, root),
        })
    }

    /// Claims a name for what comes from the service at an address, where nobody has; says whether it stands for that address now.
    pub fn claim_service(&self, profile: &str, root: &str, held_as: &str) -> Result<bool, StoreError> {
        if self.is_read_only() {
            return Ok(true);
        }
        if let Some(name) = self.read(|connection| known(connection, profile, root))? {
            return Ok(name == held_as);
        }
        self.with(|connection| {
            // Another program may claim it at the same moment.
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let insert = "INSERT INTO service (profile, root, held_as) SELECT ?1, ?2, ?3
                          WHERE NOT EXISTS (SELECT 1 FROM service WHERE held_as = ?3) ON CONFLICT DO NOTHING";
            transaction.execute(insert, [profile, root, held_as])?;
            let name = known(&transaction, profile, root)?;
            transaction.commit()?;
            Ok(name.is_some_and(|name| name == held_as))
        })
    }
}

fn known(connection: &Connection, profile: &str, root: &str) -> rusqlite::Result<Option<String>> {
    let known = "SELECT held_as FROM service WHERE profile = ?1 AND root = ?2";
    connection.query_row(known, [profile, root], |row| row.get(0)).optional()
}

/// What was held before anybody noted where it came from is taken to be of the address that answers first.
fn made(connection: &Connection, profile: &str, root: &str) -> rusqlite::Result<HeldAs> {
    let taken = "SELECT root FROM service WHERE held_as = ?1";
    let before: Option<String> = connection.query_row(taken, [profile], |row| row.get(0)).optional()?;
    let name = if before.is_some() { format!("{profile} at {root}") } else { profile.to_owned() };
    Ok(HeldAs { name, before })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_claimed_once_though_two_found_it_free() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("behaview.db");
        let (one, other) = (Store::open(&path).unwrap(), Store::open(&path).unwrap());
        let (here, there) = ("https://a.example/", "https://b.example/");
        let free = |store: &Store, root| store.held_as("lab", root).unwrap().name;
        assert_eq!((free(&one, here).as_str(), free(&other, there).as_str()), ("lab", "lab"));
        assert!(one.claim_service("lab", here, "lab").unwrap());
        assert!(!other.claim_service("lab", there, "lab").unwrap(), "another address has it");
        let name = free(&other, there);
        assert!(name != "lab" && other.claim_service("lab", there, &name).unwrap());
        assert!(one.claim_service("lab", here, "lab").unwrap(), "it stays claimed");
    }
}
