//! The tables and roles of the team store: made, updated, and checked with each connection.

use super::TeamError;
use super::address::TeamAddress;
use crate::text::names;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

/// Each version of the schema by the statements that make it from the one before; the last one
/// makes what the sixth did again.
const MIGRATIONS: [&str; 7] = [
    include_str!("schema.sql"),
    include_str!("ledger.sql"),
    include_str!("budget.sql"),
    include_str!("notes.sql"),
    include_str!("files.sql"),
    "",
    include_str!("values.sql"),
];

/// Identifies the lock that excludes a second migration.
const LOCK: i64 = 0x6265_6861_7669_6577;

names! {
    /// What a user may do in the team store.
    TeamRole label {
        /// Neither read nor share.
        Nothing "none" "may not read it",
        Reader "reader" "reads what others share",
        Analyst "analyst" "reads and shares",
        Lead "lead" "reads and shares, sees what everyone spent, and sets budgets",
    }
}

/// Connects, and checks that this program knows the schema.
pub(super) async fn connect(address: &TeamAddress) -> Result<Client, TeamError> {
    let client = address.connect().await?;
    match versions(&client).await? {
        None => Err(TeamError::NoSchema),
        Some((version, oldest)) if oldest > MIGRATIONS.len() as i32 => Err(TeamError::Newer(version)),
        Some(_) => Ok(client),
    }
}

/// Returns the schema's version, and its oldest program's; `None` without a schema.
async fn versions(client: &Client) -> Result<Option<(i32, i32)>, TeamError> {
    let select = "SELECT version, oldest_client FROM behaview.version ORDER BY version DESC LIMIT 1";
    match client.query_typed(select, &[]).await {
        Ok(rows) => rows.first().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).transpose(),
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Makes the tables and roles, or those that newer versions add.
pub(super) async fn init(client: &mut Client) -> Result<i32, TeamError> {
    let transaction = client.transaction().await?;
    transaction.query_typed("SELECT pg_advisory_xact_lock($1)", &[(&LOCK, Type::INT8)]).await?;
    // While a table is waited for, questions before calls wait too.
    transaction.batch_execute("SET LOCAL lock_timeout = '200ms'").await?;
    let is_there = transaction.query_typed("SELECT to_regclass('behaview.version') IS NOT NULL", &[]).await?;
    let is_there = is_there.first().map(|row| row.try_get(0)).transpose()?.unwrap_or(false);
    let found = if is_there { versions(transaction.client()).await? } else { None };
    let known = found.map_or(0, |(version, _)| version);
    for migration in MIGRATIONS.iter().skip(usize::try_from(known).unwrap_or(0)) {
        transaction.batch_execute(migration).await?;
    }
    transaction.commit().await?;
    Ok(known.max(MIGRATIONS.len() as i32))
}

/// Returns the role of the connected user, and whether the tables lack what this program adds.
pub(super) async fn role(client: &Client) -> Result<(TeamRole, bool), TeamError> {
    let select = "SELECT has_table_privilege('behaview.response', 'SELECT'),
        has_column_privilege('behaview.response', 'packed', 'INSERT'), pg_has_role('behaview_lead', 'MEMBER')";
    let rows = client.query_typed(select, &[]).await?;
    let may = |column| rows.first().map_or(Ok(false), |row| row.try_get(column));
    let role = match (may(0)?, may(1)?, may(2)?) {
        (_, _, true) => TeamRole::Lead,
        (_, true, _) => TeamRole::Analyst,
        (true, ..) => TeamRole::Reader,
        _ => TeamRole::Nothing,
    };
    let found = versions(client).await?;
    Ok((role, found.is_some_and(|(version, _)| version < MIGRATIONS.len() as i32)))
}
