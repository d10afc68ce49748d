//! What the group may spend: limits that the lead sets, and calls counted before they are sent.

use super::{Parameter, Team, TeamError, in_transfer};
use crate::quota::{GroupBudget, Period};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

const RESERVE: &str = "SELECT period, units, reserve, spent FROM behaview.reserve($1, $2, $3, $4, $5)";

const BUDGETS: &str = "SELECT period, units, reserve, spent FROM behaview.budgets($1)";

const SET: &str = "INSERT INTO behaview.budget (service, period, units, reserve) VALUES ($1, $2, $3, $4)
    ON CONFLICT (service, period) DO UPDATE SET units = excluded.units, reserve = excluded.reserve";

const REMOVE: &str = "DELETE FROM behaview.budget WHERE service = $1 AND period = $2";

impl Team {
    /// Counts a call, by its number in the ledger of a machine, as `worst` units until
    /// [`Self::add_calls`] has its cost; or returns the budgets, one of which does not allow it.
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
        self.rows(RESERVE, &parameters).await
    }

    /// Returns the budgets of a service, with what the group has spent of each.
    pub async fn budgets(&self, service: &str) -> Result<Vec<GroupBudget>, TeamError> {
        self.rows(BUDGETS, &[(&service, Type::TEXT)]).await
    }

    async fn rows(&self, question: &str, parameters: &[Parameter<'_>]) -> Result<Vec<GroupBudget>, TeamError> {
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
        let client = self.client().await?;
        let done = match limit {
            Some(_) => in_transfer(client.execute_typed(SET, &parameters)).await,
            None => in_transfer(client.execute_typed(REMOVE, parameters.get(..2).unwrap_or_default())).await,
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
