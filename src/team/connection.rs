//! A connection to the team store: opened with its first question, and again after a failure.

use super::address::TeamAddress;
use super::{TeamError, schema};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_postgres::Client;

/// How long no question is asked after one without an answer.
const PAUSE: Duration = Duration::from_secs(10);

#[derive(Default)]
pub(super) struct Connection {
    /// Locked while one is opened.
    client: Mutex<Option<Arc<Client>>>,
    /// When the last question had no answer, and why.
    failure: std::sync::Mutex<Option<(Instant, TeamError)>>,
}

impl Connection {
    /// Returns the open connection, or a new one. After a failure, there is none for a moment.
    pub(super) async fn client(&self, address: &TeamAddress) -> Result<Arc<Client>, TeamError> {
        self.check()?;
        let mut open = self.client.lock().await;
        if let Some(client) = open.clone().filter(|client| !client.is_closed()) {
            return Ok(client);
        }
        let connected = self.noted(schema::connect(address).await)?;
        Ok(Arc::clone(open.insert(Arc::new(connected))))
    }

    /// Ends a question that takes too long, with the time to connect.
    pub(super) async fn in_time<T>(
        &self,
        limit: Duration,
        question: impl Future<Output = Result<T, TeamError>>,
    ) -> Result<T, TeamError> {
        let Ok(answer) = timeout(limit, question).await else {
            // The next question would wait for this answer, or for a connection that is lost
            // without notice; not for one that is being opened.
            self.client.try_lock().into_iter().for_each(|mut client| *client = None);
            let late = format!("no answer within {} ms, which team.timeout_ms sets", limit.as_millis());
            return self.noted(Err(TeamError::Unreachable(late)));
        };
        self.noted(answer)
    }

    /// Returns the failure of a moment ago.
    pub(super) fn check(&self) -> Result<(), TeamError> {
        match &*self.failure() {
            Some((at, why)) if at.elapsed() < PAUSE => Err(why.clone()),
            _ => Ok(()),
        }
    }

    /// Lets the next question connect at once.
    pub(super) fn forget_failure(&self) {
        *self.failure() = None;
    }

    /// Returns the answer, after a failure was recorded.
    fn noted<T>(&self, answer: Result<T, TeamError>) -> Result<T, TeamError> {
        if let Err(why) = &answer {
            *self.failure() = Some((Instant::now(), why.clone()));
        }
        answer
    }

    fn failure(&self) -> MutexGuard<'_, Option<(Instant, TeamError)>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
