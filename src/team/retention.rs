//! Removes the oldest shared responses, for the role that leads.

use super::{Parameter, Team, TeamError, in_transfer};
use jiff::Timestamp;
use tokio_postgres::types::Type;

/// Responses that are removed in one transaction: others are served between two.
const BATCH: i64 = 1000;

/// The newest response of those that are removed, their number, and their bytes. A sum of sizes is
/// that of a response and all newer ones.
const REMOVED: &str = "SELECT coalesce(max(id), 0), count(*), coalesce(sum(size), 0)::bigint FROM (
    SELECT id, pushed, octet_length(packed)::bigint AS size, sum(octet_length(packed)) OVER (ORDER BY id DESC) AS total
    FROM behaview.response) AS each
    WHERE total > $1 OR pushed < timestamptz 'epoch' + $2 * interval '1 millisecond'";

const REMOVE: &str = "DELETE FROM behaview.response WHERE id IN (
    SELECT id FROM behaview.response WHERE id <= $1 ORDER BY id LIMIT $2)";

/// What is removed of the shared responses, the oldest ones.
#[derive(Debug, Clone, Copy)]
pub enum TeamRetention {
    Before(Timestamp),
    /// All but the newest, up to this number of compressed bytes.
    DownTo(u64),
}

/// The responses that a retention removes.
#[derive(Debug, Clone, Copy)]
pub struct RemovedResponses {
    /// The newest one.
    last: i64,
    pub responses: u64,
    /// Compressed.
    pub bytes: u64,
}

impl Team {
    /// Finds what a retention would remove.
    pub async fn find_removed(&self, retention: TeamRetention) -> Result<RemovedResponses, TeamError> {
        let (most, since) = match retention {
            TeamRetention::Before(since) => (i64::MAX, since.as_millisecond()),
            TeamRetention::DownTo(most) => (i64::try_from(most).unwrap_or(i64::MAX), 0),
        };
        let client = self.client().await?;
        let parameters: [Parameter<'_>; 2] = [(&most, Type::INT8), (&since, Type::INT8)];
        let rows = in_transfer(client.query_typed(REMOVED, &parameters)).await?;
        let number = |column| rows.first().map_or(Ok(0), |row| row.try_get::<_, i64>(column));
        let [responses, bytes] = [number(1)?, number(2)?].map(|number| u64::try_from(number).unwrap_or(0));
        Ok(RemovedResponses { last: number(0)?, responses, bytes })
    }

    /// Removes these responses; returns how many.
    pub async fn remove(&self, removed: RemovedResponses) -> Result<u64, TeamError> {
        let client = self.client().await?;
        let mut count = 0;
        loop {
            let parameters: [Parameter<'_>; 2] = [(&removed.last, Type::INT8), (&BATCH, Type::INT8)];
            match in_transfer(client.execute_typed(REMOVE, &parameters)).await? {
                0 => return Ok(count),
                some => count += some,
            }
        }
    }
}
