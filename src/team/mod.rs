//! The team store: responses that colleagues have paid for, in a group's PostgreSQL database.
//!
//! ```text
//! stored by a colleague? ── yes ──> the copy: its size is bounded, its digest and key are checked
//!   └─ no ─> claimed by a colleague? ── yes ──> ask again, until stored or the claim expires
//!              └─ no ─> claim it; the caller sends, adds the response, and releases the claim
//! ```
//! Rows are untrusted, like a response. The database names a row's writer, not the program.

mod address;
mod connection;
mod error;
mod ledger;
mod notes;
mod schema;
mod upload;
mod values;

pub use error::TeamError;
pub use ledger::TeamCall;
pub use schema::TeamRole;
pub use upload::TeamUpload;

use crate::environment::Variables;
use crate::text::Untrusted;
use address::TeamAddress;
use connection::Connection;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

/// How long a question may take, unless the config sets it.
pub const QUESTION_TIMEOUT: Duration = Duration::from_millis(300);

/// Maximum silence of the database while bytes are read or added.
const TRANSFER_TIMEOUT: Duration = Duration::from_secs(20);

/// Interval at which claims are renewed; after three, by the database's clock, they expire.
const RENEWAL: Duration = Duration::from_secs(5);

/// Bytes of a copy that are read per question: another one waits no longer.
const CHUNK: i32 = 512 << 10;

/// The largest response that is shared, in compressed bytes.
const MAX_SHARED_BYTES: u64 = 256 << 20;

/// Start of the label of a copy, by which the ledger knows what the team has saved.
pub const STORED_BY_TEAM: &str = "stored by the team";

const FIND: &str = "SELECT id, person, received, digest, length, octet_length(packed)::bigint, key
    FROM behaview.response WHERE service = $1 AND sha256(key) = sha256($2) AND key = $2 AND id <> ALL ($3)
    ORDER BY received DESC, id DESC LIMIT 1";

/// The newest copy of each of several keys.
const FIND_EACH: &str =
    "SELECT DISTINCT ON (key) id, person, received, digest, length, octet_length(packed)::bigint, key
    FROM behaview.response WHERE service = $1 AND sha256(key) IN (SELECT sha256(one) FROM unnest($2) AS one)
    ORDER BY key, received DESC, id DESC";

const CLAIM: &str = "INSERT INTO behaview.claim AS known (service, key, token) VALUES ($1, sha256($2), $3)
    ON CONFLICT (service, key) DO UPDATE SET token = excluded.token
        WHERE known.token = excluded.token OR known.renewed < now() - interval '15 seconds' RETURNING token";

const HOLDER: &str = "SELECT person FROM behaview.claim WHERE service = $1 AND key = sha256($2)";

const RENEW: &str = "UPDATE behaview.claim SET token = token WHERE service = $1 AND key = sha256($2) AND token = $3";

const RELEASE: &str = "DELETE FROM behaview.claim WHERE service = $1 AND key = sha256($2) AND token = $3";

const CHUNK_OF: &str = "SELECT substring(packed FROM $2 FOR $3) FROM behaview.response WHERE id = $1";

const STATUS: &str = "SELECT person, count(*), count(*) FILTER (WHERE substring(key FOR 10) = 'behaviour '),
    sum(octet_length(packed))::bigint, max(received) FROM behaview.response GROUP BY person ORDER BY 5 DESC LIMIT 1000";

/// Responses that are removed in one transaction, with the counts of their values: others are
/// served between two.
const BATCH: i64 = 10;

/// The newest response of those that are removed, their number, and their bytes. A sum of sizes is
/// that of a response and all newer ones.
const REMOVED: &str = "SELECT coalesce(max(id), 0), count(*), coalesce(sum(size), 0)::bigint FROM (
    SELECT id, pushed, octet_length(packed)::bigint AS size, sum(octet_length(packed)) OVER (ORDER BY id DESC) AS total
    FROM behaview.response) AS each
    WHERE total > $1 OR pushed < timestamptz 'epoch' + $2 * interval '1 millisecond'";

const REMOVE: &str = "DELETE FROM behaview.response WHERE id IN (
    SELECT id FROM behaview.response WHERE id <= $1 ORDER BY id LIMIT $2)";

/// Whether a call is sent while the team store does not respond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub enum UnreachablePolicy {
    /// It is sent, and shared later.
    #[default]
    #[serde(rename = "go on")]
    GoOn,
    /// The user decides, until the team store responds.
    #[serde(rename = "ask")]
    Ask,
    /// It is not sent.
    #[serde(rename = "refuse")]
    Refuse,
}

/// The settings of a team store.
pub struct TeamSettings<'a> {
    pub url: &'a str,
    /// Certificates (PEM) that are trusted in place of the system's.
    pub ca_file: Option<PathBuf>,
    pub unreachable: UnreachablePolicy,
    pub timeout: Duration,
}

/// A team store, connected to with the first question.
pub struct Team {
    address: TeamAddress,
    timeout: Duration,
    pub unreachable: UnreachablePolicy,
    /// Whether the user has decided to go on without it.
    may_go_on: AtomicBool,
    /// The connection for what a call waits for, and one for the rest.
    questions: Connection,
    asides: Connection,
    /// Whether the user knows that it does not respond.
    is_told: AtomicBool,
}

/// A response in question.
#[derive(Clone, Copy)]
pub struct TeamQuestion<'a> {
    pub service: &'a str,
    pub key: &'a [u8],
    /// Identifies the call among all of the group.
    pub token: &'a str,
    /// Copies that have failed a check.
    pub refused: &'a [i64],
}

/// A response that a colleague has shared; its bytes are read by [`Team::read`].
#[derive(Debug, Clone)]
pub struct TeamCopy {
    pub id: i64,
    pub person: Untrusted,
    pub received: Timestamp,
    pub key: Vec<u8>,
    digest: Vec<u8>,
    length: u64,
    packed: u64,
}

/// The state of a response in the team store.
pub enum TeamAnswer {
    Stored(TeamCopy),
    /// A colleague has sent the same request.
    InFlight(Untrusted),
    Claimed(TeamClaim),
    /// The user may read shared responses, and share none.
    ReadOnly,
}

/// The right to send a request, renewed until it is dropped.
pub struct TeamClaim {
    team: Arc<Team>,
    service: String,
    key: Vec<u8>,
    token: String,
    renewing: JoinHandle<()>,
}

/// What a person has shared.
#[derive(Debug, Clone, Serialize)]
pub struct TeamShare {
    pub person: Untrusted,
    pub responses: u64,
    pub reports: u64,
    /// Compressed.
    pub bytes: u64,
    #[serde(rename = "latest_at")]
    pub latest: Timestamp,
}

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

impl TeamCopy {
    /// Who paid for it, and when.
    pub fn label(&self) -> String {
        format!("{STORED_BY_TEAM} ({}, {})", self.person.visible_cut(40), self.received.strftime("%F"))
    }

    fn read(row: &Row) -> Result<Self, TeamError> {
        let received = Timestamp::from_millisecond(row.try_get(2)?).unwrap_or(Timestamp::UNIX_EPOCH);
        Ok(Self {
            id: row.try_get(0)?,
            person: Untrusted::from(row.try_get::<_, String>(1)?),
            received,
            digest: row.try_get(3)?,
            length: size(row, 4)?,
            packed: size(row, 5)?,
            key: row.try_get(6)?,
        })
    }

    /// Unpacks bytes; fails unless they have the length and the digest of the original.
    fn unpack(&self, packed: &[u8]) -> Result<Vec<u8>, TeamError> {
        let mut bytes = Vec::new();
        let decoder = zstd::Decoder::with_buffer(packed).map_err(|_| TeamError::Damaged)?;
        let read = decoder.take(self.length.saturating_add(1)).read_to_end(&mut bytes);
        let is_sound = read.is_ok() && bytes.len() as u64 == self.length && *Sha256::digest(&bytes) == *self.digest;
        if is_sound { Ok(bytes) } else { Err(TeamError::Damaged) }
    }
}

impl Team {
    /// Creates a team store that is not connected yet; an error if its address cannot be used.
    pub fn new(settings: TeamSettings<'_>, variable: Variables<'_>, home: Option<&Path>) -> Result<Self, TeamError> {
        Ok(Self {
            timeout: settings.timeout,
            unreachable: settings.unreachable,
            may_go_on: AtomicBool::default(),
            address: TeamAddress::parse(settings, variable, home)?,
            questions: Connection::default(),
            asides: Connection::default(),
            is_told: AtomicBool::default(),
        })
    }

    /// User, host and database, safe to show.
    pub fn label(&self) -> String {
        self.address.label()
    }

    /// Notes a failure; returns whether it is the first since the team store last responded.
    pub fn note_failure(&self) -> bool {
        !self.is_told.swap(true, Ordering::Relaxed)
    }

    /// Sends calls without the team store until it responds.
    pub fn go_on(&self) {
        self.may_go_on.store(true, Ordering::Relaxed);
    }

    /// Returns whether a call is sent while the team store does not respond.
    pub fn goes_on(&self) -> bool {
        let is_decided = || self.unreachable == UnreachablePolicy::Ask && self.may_go_on.load(Ordering::Relaxed);
        self.unreachable == UnreachablePolicy::GoOn || is_decided()
    }

    /// Returns the connection for what a call waits for.
    async fn client(&self) -> Result<Arc<Client>, TeamError> {
        let client = self.questions.client(&self.address).await;
        self.noted(client)
    }

    /// Ends a question before a call that takes too long, with the time to connect.
    async fn in_time<T>(&self, question: impl Future<Output = Result<T, TeamError>>) -> Result<T, TeamError> {
        let answer = self.questions.in_time(self.timeout, question).await;
        self.noted(answer)
    }

    /// Returns the answer; if there is one, the team store responds again.
    fn noted<T>(&self, answer: Result<T, TeamError>) -> Result<T, TeamError> {
        if answer.is_ok() {
            [&self.is_told, &self.may_go_on].into_iter().for_each(|flag| flag.store(false, Ordering::Relaxed));
        }
        answer
    }

    /// Asks what no call waits for, so that neither its answer nor its failure delays a call.
    async fn ask_aside(&self, question: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>, TeamError> {
        self.questions.check()?;
        let asked = async {
            let client = self.asides.client(&self.address).await?;
            match client.query_typed(question, parameters).await.map_err(TeamError::from) {
                // The tables are older than the question.
                Err(TeamError::NoSchema) => Ok(Vec::new()),
                rows => rows,
            }
        };
        self.asides.in_time(self.timeout, asked).await
    }

    /// Lets the next question connect at once.
    pub fn forget_failure(&self) {
        self.questions.forget_failure();
    }

    /// Carries out a statement in any time, if the database is not silent; returns how many rows.
    async fn execute(&self, statement: &str, parameters: &[Parameter<'_>]) -> Result<u64, TeamError> {
        in_transfer(self.client().await?.execute_typed(statement, parameters)).await
    }

    /// Asks for a response, and claims it if it is neither stored nor in flight.
    pub async fn ask(self: &Arc<Self>, question: TeamQuestion<'_>) -> Result<TeamAnswer, TeamError> {
        self.in_time(async { self.find_or_claim(&*self.client().await?, question).await }).await
    }

    async fn find_or_claim(
        self: &Arc<Self>,
        client: &Client,
        question: TeamQuestion<'_>,
    ) -> Result<TeamAnswer, TeamError> {
        let TeamQuestion { service, key, token, .. } = question;
        if let Some(copy) = find(client, question).await? {
            return Ok(TeamAnswer::Stored(copy));
        }
        let claimed: [Parameter<'_>; 3] = [(&service, Type::TEXT), (&key, Type::BYTEA), (&token, Type::TEXT)];
        // Answered in turn, in one round trip: since the first look, a colleague may have stored it
        // and released the claim.
        let (taken, stored) = tokio::join!(client.query_typed(CLAIM, &claimed), find(client, question));
        let taken = match taken {
            Err(error) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => return Ok(TeamAnswer::ReadOnly),
            taken => taken?,
        };
        if taken.is_empty() {
            let holder = client.query_typed(HOLDER, &[(&service, Type::TEXT), (&key, Type::BYTEA)]).await?;
            let person = holder.first().map(|row| row.try_get::<_, String>(0)).transpose()?;
            return Ok(TeamAnswer::InFlight(Untrusted::from(person.unwrap_or_default())));
        }
        let claim = TeamClaim::new(Arc::clone(self), question);
        if let Some(copy) = stored? {
            claim.release().await;
            return Ok(TeamAnswer::Stored(copy));
        }
        Ok(TeamAnswer::Claimed(claim))
    }

    /// Returns the newest copy of each of these keys that has one.
    pub async fn find_each(&self, service: &str, keys: &[Vec<u8>]) -> Result<Vec<TeamCopy>, TeamError> {
        let found = self.in_time(async {
            let parameters: [Parameter<'_>; 2] = [(&service, Type::TEXT), (&keys, Type::BYTEA_ARRAY)];
            Ok(self.client().await?.query_typed(FIND_EACH, &parameters).await?)
        });
        let mut found = found.await?.iter().map(TeamCopy::read).collect::<Result<Vec<_>, _>>()?;
        found.retain(|copy| keys.contains(&copy.key));
        Ok(found)
    }

    /// Returns the bytes of a copy, at most `limit`, checked against its digest.
    pub async fn read(&self, copy: &TeamCopy, limit: u64, progress: impl Fn(u64, u64)) -> Result<Vec<u8>, TeamError> {
        if copy.length > limit || copy.packed > limit.min(MAX_SHARED_BYTES) {
            return Err(TeamError::TooLarge);
        }
        let client = self.client().await?;
        let mut packed = Vec::new();
        while (packed.len() as u64) < copy.packed {
            let from = i32::try_from(packed.len() + 1).map_err(|_| TeamError::TooLarge)?;
            let parameters: [Parameter<'_>; 3] = [(&copy.id, Type::INT8), (&from, Type::INT4), (&CHUNK, Type::INT4)];
            let rows = in_transfer(client.query_typed(CHUNK_OF, &parameters)).await?;
            let chunk: &[u8] = rows.first().map(|row| row.try_get(0)).transpose()?.unwrap_or_default();
            if chunk.is_empty() || chunk.len() > CHUNK as usize {
                return Err(TeamError::Damaged);
            }
            packed.extend_from_slice(chunk);
            progress(packed.len() as u64, copy.packed);
        }
        copy.unpack(&packed)
    }

    /// Returns what each person has shared, the latest first.
    pub async fn shares(&self) -> Result<Vec<TeamShare>, TeamError> {
        let rows = in_transfer(self.client().await?.query_typed(STATUS, &[])).await?;
        let share = |row: &Row| {
            Ok(TeamShare {
                person: Untrusted::from(row.try_get::<_, String>(0)?),
                responses: size(row, 1)?,
                reports: size(row, 2)?,
                bytes: size(row, 3)?,
                latest: Timestamp::from_millisecond(row.try_get(4)?).unwrap_or_default(),
            })
        };
        rows.iter().map(share).collect()
    }

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
        let mut count = 0;
        loop {
            match self.execute(REMOVE, &[(&removed.last, Type::INT8), (&BATCH, Type::INT8)]).await? {
                0 => return Ok(count),
                some => count += some,
            }
        }
    }

    /// Returns the role of the user, and whether the tables are older than this program.
    pub async fn role(&self) -> Result<(TeamRole, bool), TeamError> {
        schema::role(&*self.client().await?).await
    }

    /// Creates or updates the tables and roles; returns the version of the schema.
    pub async fn init(&self) -> Result<i32, TeamError> {
        schema::init(&mut self.address.connect().await?).await
    }
}

impl TeamClaim {
    fn new(team: Arc<Team>, question: TeamQuestion<'_>) -> Self {
        let service = question.service.to_owned();
        let key = question.key.to_vec();
        let token = question.token.to_owned();
        let renewing = {
            let team = Arc::clone(&team);
            let service = service.clone();
            let key = key.clone();
            let token = token.clone();
            tokio::spawn(async move {
                loop {
                    tokio::time::sleep(RENEWAL).await;
                    // Without renewal it expires: then a colleague may send the request. A failure
                    // of another question is no reason to skip one.
                    team.forget_failure();
                    let _ = team.change(RENEW, &service, &key, &token).await;
                }
            })
        };
        Self { team, service, key, token, renewing }
    }

    /// Returns whether it is for this response.
    pub fn is_for(&self, key: &[u8]) -> bool {
        self.key == key
    }

    /// Lets colleagues send the request. One that cannot be released expires.
    pub async fn release(self) {
        let _ = self.team.change(RELEASE, &self.service, &self.key, &self.token).await;
    }
}

impl Drop for TeamClaim {
    fn drop(&mut self) {
        self.renewing.abort();
    }
}

impl Team {
    async fn change(&self, statement: &str, service: &str, key: &[u8], token: &str) -> Result<(), TeamError> {
        let parameters: [Parameter<'_>; 3] = [(&service, Type::TEXT), (&key, Type::BYTEA), (&token, Type::TEXT)];
        self.execute(statement, &parameters).await.map(drop)
    }
}

type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

async fn find(client: &Client, question: TeamQuestion<'_>) -> Result<Option<TeamCopy>, TeamError> {
    let parameters: [Parameter<'_>; 3] =
        [(&question.service, Type::TEXT), (&question.key, Type::BYTEA), (&question.refused, Type::INT8_ARRAY)];
    let rows = client.query_typed(FIND, &parameters).await?;
    let copy = rows.first().map(TeamCopy::read).transpose()?;
    Ok(copy.filter(|copy| copy.key == question.key))
}

fn size(row: &Row, column: usize) -> Result<u64, tokio_postgres::Error> {
    row.try_get::<_, i64>(column).map(|size| u64::try_from(size).unwrap_or(u64::MAX))
}

async fn in_transfer<T>(work: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, TeamError> {
    let silent = |_| TeamError::Unreachable(format!("silent for {} s", TRANSFER_TIMEOUT.as_secs()));
    Ok(timeout(TRANSFER_TIMEOUT, work).await.map_err(silent)??)
}
