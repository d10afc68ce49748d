//! The values of shared reports as hashes: in how many of the team's files one is, and who has it.

use super::{Parameter, Team, TeamError, TeamUpload, size};
use crate::prevalence::{Prevalence, StableBuildHasher, ValueHolder};
use crate::report::compare::{EVERY_LIST, ValueHashes};
use crate::report::identifier::Identifier;
use crate::text::Untrusted;
use jiff::Timestamp;
use std::hash::BuildHasher;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

/// Maximum number of values of one report; one with more counts as cut short.
const MAX_VALUES: usize = 10_000;

/// The hash that every report has, and that of one which is cut short.
const EVERY_REPORT: i64 = 1;
const CUT_SHORT: i64 = EVERY_LIST.cast_signed();

/// Files up to which those that have a value are listed.
const MAX_FILES: i64 = 1000;

/// Start of the key of a report.
const REPORT: &[u8] = b"behaviour ";

const ADD_VALUES: &str = "INSERT INTO behaview.report (response, file, sandbox, hashes)
    SELECT id, $3, $4, $5 FROM behaview.response
    WHERE service = $1 AND sha256(key) = sha256($2) AND received = $6 AND person = session_user
    ORDER BY id DESC LIMIT 1";

/// Those of a list that the service has perhaps cut are at most that many.
const PREVALENCE: &str = "SELECT seen.files, every.files, coalesce(here.files, 0), coalesce(of_here.files, 0),
        greatest(least(coalesce(list.files, 0) + coalesce(cut.files, 0), every.files - seen.files), 0)
    FROM unnest($1, $2) WITH ORDINALITY AS asked(hash, list, place)
    CROSS JOIN (SELECT coalesce(max(files), 0) FROM behaview.value WHERE hash = 1 AND sandbox = 0) AS every(files)
    CROSS JOIN LATERAL
        (SELECT coalesce(max(files), 0) FROM behaview.value v WHERE v.hash = asked.hash AND v.sandbox = 0) AS seen(files)
    LEFT JOIN behaview.value here ON here.hash = asked.hash AND here.sandbox = $3
    LEFT JOIN behaview.value of_here ON of_here.hash = 1 AND of_here.sandbox = $3
    LEFT JOIN behaview.value list ON list.hash = asked.list AND list.sandbox = 0
    LEFT JOIN behaview.value cut ON cut.hash = 0 AND cut.sandbox = 0
    ORDER BY place";

const HOLDERS: &str = "SELECT key, person, received FROM behaview.holders($1, $2, $3)";

impl TeamUpload<'_> {
    /// Adds the hashes of the values of a report that this user has shared, any number of times.
    pub async fn add_values(
        &mut self,
        service: &str,
        key: &[u8],
        of: &ValueHolder,
        values: &[u64],
    ) -> Result<(), TeamError> {
        let file = of.file.as_ref().map_or(of.identifier.as_bytes(), |file| file.as_str().as_bytes());
        let (file, sandbox) = (hash_of(file), hash_of(of.identifier.parts().sandbox.as_bytes()));
        let mut hashes: Vec<_> = values.iter().take(MAX_VALUES).map(|hash| hash.cast_signed()).collect();
        hashes.push(EVERY_REPORT);
        hashes.extend(Some(CUT_SHORT).filter(|_| values.len() > MAX_VALUES));
        let received = of.received.as_millisecond();
        let parameters: [Parameter<'_>; 6] = [
            (&service, Type::TEXT),
            (&key, Type::BYTEA),
            (&file, Type::INT8),
            (&sandbox, Type::INT8),
            (&hashes, Type::INT8_ARRAY),
            (&received, Type::INT8),
        ];
        match self.execute(ADD_VALUES, &parameters).await {
            // The tables are older than values.
            Err(TeamError::NoSchema) => Ok(()),
            added => added,
        }
    }
}

impl Team {
    /// Counts values among the team's files.
    pub async fn prevalence(&self, values: &[ValueHashes], sandbox: &Untrusted) -> Result<Vec<Prevalence>, TeamError> {
        let (hashes, lists): (Vec<_>, Vec<_>) =
            values.iter().map(|of| (of.value.cast_signed(), of.list.cast_signed())).unzip();
        let here = hash_of(sandbox.as_bytes());
        let parameters: [Parameter<'_>; 3] =
            [(&hashes, Type::INT8_ARRAY), (&lists, Type::INT8_ARRAY), (&here, Type::INT8)];
        let rows = self.ask_aside(PREVALENCE, &parameters).await?;
        let number = |row: &Row, column| size(row, column).map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        let counted = rows.iter().map(|row| {
            Ok(Prevalence {
                files: number(row, 0)?,
                of_files: number(row, 1)?,
                in_sandbox: number(row, 2)?,
                of_sandbox: number(row, 3)?,
                perhaps_unlisted: number(row, 4)?,
                is_of_team: true,
            })
        });
        counted.collect()
    }

    /// Returns the shared reports of a service that have a value, newest first; none if it is in
    /// more than 1,000 files.
    pub async fn holders(&self, service: &str, hash: u64) -> Result<Vec<ValueHolder>, TeamError> {
        let hash = hash.cast_signed();
        let parameters: [Parameter<'_>; 3] = [(&service, Type::TEXT), (&hash, Type::INT8), (&MAX_FILES, Type::INT8)];
        let rows = self.ask_aside(HOLDERS, &parameters).await?;
        let holder = |row: &Row| -> Result<Option<ValueHolder>, TeamError> {
            let key: &[u8] = row.try_get(0)?;
            let Some(identifier) = key.strip_prefix(REPORT).map(Untrusted::from).and_then(Identifier::new) else {
                return Ok(None);
            };
            Ok(Some(ValueHolder {
                file: identifier.parts().file,
                identifier,
                received: Timestamp::from_millisecond(row.try_get(2)?).unwrap_or_default(),
                service: service.to_owned(),
                profile: String::new(),
                place: Default::default(),
                person: Some(Untrusted::from(row.try_get::<_, String>(1)?)),
            }))
        };
        rows.iter().filter_map(|row| holder(row).transpose()).collect()
    }
}

fn hash_of(bytes: &[u8]) -> i64 {
    StableBuildHasher.hash_one(bytes).cast_signed()
}
