//! What the group spends: each person's calls in one table, and budgets that the lead sets.

use super::{Parameter, Team, TeamError, TeamUpload, in_transfer};
use crate::quota::{CallCost, GroupBudget, Period};
use crate::text::Untrusted;
use jiff::Timestamp;
use serde::Serialize;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

/// Adds calls; one that is there already has been settled since.
const ADD_CALLS: &str =
    "INSERT INTO behaview.call (machine, number, at, service, operation, unit, charged, saved, project, file)
    SELECT $1, number, at, $2, operation, unit, charged, saved, project, file FROM json_to_recordset($3::json)
        AS new (number bigint, at bigint, operation text, unit text, charged bigint, saved bigint, project text, file text)
    ON CONFLICT (person, machine, number) DO UPDATE SET charged = excluded.charged, saved = excluded.saved";

/// A row of a neighbour may have any time, number and length.
const SUMS: &str =
    "SELECT to_char(to_timestamp(at / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD'), person, left(operation, 100),
        left(unit, 40), count(*), least(sum(charged), 1e15)::bigint, least(sum(saved), 1e15)::bigint,
        left(project, 200), file
    FROM behaview.call WHERE service = $1 AND at >= $2 AND at < (extract(epoch FROM now()) + 86400) * 1000 GROUP BY 1, 2, 3, 4, 8, 9 ORDER BY 1 DESC, 2, 3, 4, 8, 9
    LIMIT 100000";

const RESERVE: &str = "SELECT period, units, reserve, spent FROM behaview.reserve($1, $2, $3, $4, $5)";

const BUDGETS: &str = "SELECT period, units, reserve, spent FROM behaview.budgets($1)";

const SET: &str = "INSERT INTO behaview.budget (service, period, units, reserve) VALUES ($1, $2, $3, $4)
    ON CONFLICT (service, period) DO UPDATE SET units = excluded.units, reserve = excluded.reserve";

const REMOVE: &str = "DELETE FROM behaview.budget WHERE service = $1 AND period = $2";

/// A call of the ledger as the team sees it.
#[derive(Debug, Clone, Serialize)]
pub struct TeamCall {
    /// Its number in the ledger of this machine.
    pub number: i64,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
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

impl TeamUpload<'_> {
    /// Adds or corrects calls of a machine, in any order and any number of times.
    pub async fn add_calls(&mut self, machine: &str, service: &str, calls: &[TeamCall]) -> Result<(), TeamError> {
        let calls = serde_json::to_string(calls).map_err(|why| TeamError::Unusable(why.to_string()))?;
        let parameters: [Parameter<'_>; 3] = [(&machine, Type::TEXT), (&service, Type::TEXT), (&calls, Type::TEXT)];
        self.execute(ADD_CALLS, &parameters).await
    }
}

impl Team {
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

    /// Counts a call, by its number in the ledger of a machine, as `worst` units until its cost is
    /// added ([`TeamUpload::add_calls`]); or returns the budgets, one of which does not allow it.
    pub async fn reserve(
        &self,
        service: &str,
        (machine, number): (&str, i64),
        worst: Option<u64>,
        is_incident: bool,
    ) -> Result<Vec<GroupBudget>, TeamError> {
        let worst = worst.map(integer);
        let parameters: [Parameter<'_>; 5] = [
            (&service, Type::TEXT),
            (&machine, Type::TEXT),
            (&number, Type::INT8),
            (&worst, Type::INT8),
            (&is_incident, Type::BOOL),
        ];
        self.budgets_by(RESERVE, &parameters).await
    }

    /// Returns the budgets of a service, with what the group has spent of each.
    pub async fn budgets(&self, service: &str) -> Result<Vec<GroupBudget>, TeamError> {
        self.budgets_by(BUDGETS, &[(&service, Type::TEXT)]).await
    }

    async fn budgets_by(&self, question: &str, parameters: &[Parameter<'_>]) -> Result<Vec<GroupBudget>, TeamError> {
        let rows = self.in_time(async {
            match self.client().await?.query_typed(question, parameters).await {
                // The tables are older than budgets.
                Err(error) if error.code() == Some(&SqlState::UNDEFINED_FUNCTION) => Ok(Vec::new()),
                rows => Ok(rows?),
            }
        });
        rows.await?.iter().map(budget).collect()
    }

    /// Sets limit and reserve of a day or a month, or removes both; only a lead may.
    pub async fn set_budget(&self, service: &str, period: Period, limit: Option<(u64, u64)>) -> Result<(), TeamError> {
        let period = period.noun();
        let [units, reserve] = limit.map_or([0, 0], |(units, reserve)| [integer(units), integer(reserve)]);
        let parameters: [Parameter<'_>; 4] =
            [(&service, Type::TEXT), (&period, Type::TEXT), (&units, Type::INT8), (&reserve, Type::INT8)];
        let done = match limit {
            Some(_) => self.execute(SET, &parameters).await,
            None => self.execute(REMOVE, parameters.get(..2).unwrap_or_default()).await,
        };
        done.map(drop)
    }
}

fn budget(row: &Row) -> Result<GroupBudget, TeamError> {
    let units = |column| row.try_get::<_, i64>(column).map(|units| u64::try_from(units).unwrap_or(0));
    let period = match row.try_get(0)? {
        "month" => Period::Monthly,
        _ => Period::Daily,
    };
    Ok(GroupBudget { period, limit: units(1)?, reserve: units(2)?, spent: units(3)? })
}

fn integer(units: u64) -> i64 {
    i64::try_from(units).unwrap_or(i64::MAX)
}
