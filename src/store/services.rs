//! Which service a profile's name stands for. The config may give the name another address: what came from one service is no answer
//! of the other, and its quota is another one.

use super::database::Store;
use super::error::StoreError;
use rusqlite::{Connection, OptionalExtension};

/// The name that what comes from a service is held under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldAs {
    /// The name.
    pub name: String,
    /// The address that the profile had before, where this one has not answered before.
    pub before: Option<String>,
}

impl Store {
    /// The name that what comes from the service at an address is held under: the profile's, unless that stands for another address
    /// already.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn held_as(&self, profile: &str, root: &str) -> Result<HeldAs, StoreError> {
        self.read(|connection| match known(connection, profile, root)? {
            Some(name) => Ok(HeldAs { name, before: None }),
            None => made(connection, profile, root),
        })
    }

    /// Notes that the service at an address has answered, and what that is held under: from now on the name stands for it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn note_service(&self, profile: &str, root: &str, held_as: &str) -> Result<(), StoreError> {
        if self.is_read_only() || self.read(|connection| known(connection, profile, root))?.is_some() {
            return Ok(());
        }
        let insert = "INSERT INTO service (profile, root, held_as) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        self.with(|connection| connection.execute(insert, [profile, root, held_as])).map(|_| ())
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
