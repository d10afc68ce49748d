//! What the user object said of premium API and premium intelligence: the call is paid, so its
//! answer is kept.

use super::error::StoreError;
use super::format::moment;
use super::records::Store;
use super::spent::Whose;
use crate::quota::{Entitlements, Privileges};
use rusqlite::{OptionalExtension, params};

impl Store {
    /// Records the privileges of a user.
    pub fn note_privileges(&self, whose: Whose<'_>, found: Privileges) -> Result<(), StoreError> {
        let Privileges { premium_api, premium_intelligence, at } = found;
        let Whose { profile, service, owner } = whose;
        self.write(|transaction| {
            transaction.execute(
                "INSERT OR REPLACE INTO privileges (profile, service, owner, premium_api, premium_intelligence, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![profile, service, owner, premium_api, premium_intelligence, at.as_millisecond()],
            )
        })?;
        Ok(())
    }

    /// The entitlements by the privileges that were read last with this profile or key.
    pub fn privileges(&self, whose: Whose<'_>) -> Result<Entitlements, StoreError> {
        let select = "SELECT premium_api, premium_intelligence, at FROM privileges
                      WHERE service = ?2 AND (profile = ?1 OR owner = ?3) AND (?3 IS NULL OR owner IS ?3)
                      ORDER BY at DESC LIMIT 1";
        let values = params![whose.profile, whose.service, whose.owner];
        let found = self.read(|connection| {
            let row = |row: &rusqlite::Row<'_>| {
                let (premium_api, premium_intelligence) = (row.get(0)?, row.get(1)?);
                Ok(Privileges { premium_api, premium_intelligence, at: moment(row.get(2)?) })
            };
            connection.prepare_cached(select)?.query_row(values, row).optional()
        })?;
        Ok(found.map(Entitlements::from).unwrap_or_default())
    }
}
