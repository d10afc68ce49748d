//! The ledgers of the group in one table: each person's calls by cost and file.

use super::{Parameter, Team, TeamError, in_transfer};
use crate::quota::CallCost;
use crate::text::Untrusted;
use jiff::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

/// Adds calls; one that is there already has been settled since.
const ADD_CALLS: &str =
    "INSERT INTO behaview.call (machine, number, at, service, operation, unit, charged, saved, project, file)
    SELECT $1, number, at, $2, operation, unit, charged, saved, project, file FROM unnest($3::bigint[], $4::bigint[],
        $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::text[], $10::text[])
        AS new (number, at, operation, unit, charged, saved, project, file)
    ON CONFLICT (person, machine, number) DO UPDATE SET charged = excluded.charged, saved = excluded.saved";

/// A row of a neighbour may have any time, number and length.
const SUMS: &str =
    "SELECT to_char(to_timestamp(at / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD'), person, left(operation, 100),
        left(unit, 40), count(*), least(sum(charged), 1e15)::bigint, least(sum(saved), 1e15)::bigint,
        left(project, 200), file
    FROM behaview.call WHERE service = $1 AND at >= $2 AND at < (extract(epoch FROM now()) + 86400) * 1000 GROUP BY 1, 2, 3, 4, 8, 9 ORDER BY 1 DESC, 2, 3, 4, 8, 9
    LIMIT 100000";

/// A call of the ledger as the team sees it.
#[derive(Debug, Clone)]
pub struct TeamCall {
    /// Its number in the ledger of this machine.
    pub number: i64,
    pub at: Timestamp,
    pub operation: String,
    pub unit: String,
    /// The tag of its run; empty without one.
    pub project: String,
    /// The SHA-256 of the file that it was about; empty without one.
    pub file: String,
    /// The units that it counts as.
    pub charged: u64,
    /// The units that it would have cost without the team.
    pub saved: u64,
}

impl Team {
    /// Adds or corrects calls of a machine, in any order and any number of times.
    pub async fn add_calls(&self, machine: &str, service: &str, calls: &[TeamCall]) -> Result<(), TeamError> {
        let integers = |of: fn(&TeamCall) -> i64| calls.iter().map(of).collect::<Vec<_>>();
        let numbers = integers(|call| call.number);
        let times = integers(|call| call.at.as_millisecond());
        let charged = integers(|call| i64::try_from(call.charged).unwrap_or(i64::MAX));
        let saved = integers(|call| i64::try_from(call.saved).unwrap_or(i64::MAX));
        let operations: Vec<_> = calls.iter().map(|call| &*call.operation).collect();
        let units: Vec<_> = calls.iter().map(|call| &*call.unit).collect();
        let projects: Vec<_> = calls.iter().map(|call| &*call.project).collect();
        let files: Vec<_> = calls.iter().map(|call| &*call.file).collect();
        let parameters: [Parameter<'_>; 10] = [
            (&machine, Type::TEXT),
            (&service, Type::TEXT),
            (&numbers, Type::INT8_ARRAY),
            (&times, Type::INT8_ARRAY),
            (&operations, Type::TEXT_ARRAY),
            (&units, Type::TEXT_ARRAY),
            (&charged, Type::INT8_ARRAY),
            (&saved, Type::INT8_ARRAY),
            (&projects, Type::TEXT_ARRAY),
            (&files, Type::TEXT_ARRAY),
        ];
        in_transfer(self.client().await?.execute_typed(ADD_CALLS, &parameters)).await.map(drop)
    }

    /// What the group spent since a moment, the latest day first; of others only for a lead.
    pub async fn costs(&self, service: &str, since: Timestamp) -> Result<Vec<CallCost>, TeamError> {
        let since = since.as_millisecond();
        let parameters: [Parameter<'_>; 2] = [(&service, Type::TEXT), (&since, Type::INT8)];
        let rows = in_transfer(self.client().await?.query_typed(SUMS, &parameters)).await?;
        let units = |row: &Row, column| row.try_get::<_, i64>(column).map(|units| u64::try_from(units).unwrap_or(0));
        let text = |row: &Row, column| row.try_get::<_, String>(column).map(Untrusted::from);
        let cost = |row: &Row| {
            Ok(CallCost {
                day: row.try_get(0)?,
                person: text(row, 1)?,
                operation: text(row, 2)?,
                unit: text(row, 3)?,
                calls: units(row, 4)?,
                charged: units(row, 5)?,
                saved: units(row, 6)?,
                project: text(row, 7)?,
                file: text(row, 8)?,
            })
        };
        rows.iter().map(cost).collect()
    }
}
