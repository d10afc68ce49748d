//! Shares responses, calls, notes and values over a connection of their own, so that no question
//! before a call waits for them.

use super::{MAX_SHARED_BYTES, Parameter, Team, TeamError, in_transfer, schema};
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use tokio::time::timeout;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

/// The zstd level of shared bytes.
const LEVEL: i32 = 3;

const ADD: &str = "INSERT INTO behaview.response (service, key, received, digest, length, packed)
    VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";

/// A connection that is opened with the first statement, and closed when it is dropped.
pub struct TeamUpload<'a> {
    team: &'a Team,
    client: Option<Client>,
}

impl Team {
    /// Returns a connection by which this user shares, not opened yet.
    pub fn upload(&self) -> TeamUpload<'_> {
        TeamUpload { team: self, client: None }
    }
}

impl TeamUpload<'_> {
    /// Adds a response. One that is shared already stays as it is.
    pub async fn add(&mut self, service: &str, key: &[u8], received: Timestamp, bytes: &[u8]) -> Result<(), TeamError> {
        let packed = zstd::encode_all(bytes, LEVEL).map_err(|_| TeamError::Damaged)?;
        if packed.len() as u64 > MAX_SHARED_BYTES {
            return Err(TeamError::TooLarge);
        }
        let received = received.as_millisecond();
        let digest = Sha256::digest(bytes).to_vec();
        let length = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        let parameters: [Parameter<'_>; 6] = [
            (&service, Type::TEXT),
            (&key, Type::BYTEA),
            (&received, Type::INT8),
            (&digest, Type::BYTEA),
            (&length, Type::INT8),
            (&packed, Type::BYTEA),
        ];
        self.execute(ADD, &parameters).await
    }

    /// Carries out a statement in any time, if the database is not silent.
    pub(super) async fn execute(&mut self, statement: &str, parameters: &[Parameter<'_>]) -> Result<(), TeamError> {
        self.team.questions.check()?;
        let client = match self.client.take().filter(|client| !client.is_closed()) {
            Some(client) => client,
            None => {
                let connected = timeout(self.team.timeout, schema::connect(&self.team.address)).await;
                connected.map_err(|_| TeamError::Unreachable("late".to_owned()))??
            }
        };
        let done = in_transfer(client.execute_typed(statement, parameters)).await;
        // One that is silent is not asked again.
        self.client = Some(client).filter(|_| !matches!(done, Err(TeamError::Unreachable(_))));
        done.map(drop)
    }
}
