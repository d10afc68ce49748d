//! Errors of the team store. None contains a part of the address, or a password.

use crate::text::{Untrusted, path};
use std::error::Error;
use std::path::PathBuf;
use tokio_postgres::error::SqlState;

#[derive(Debug, Clone, thiserror::Error)]
pub enum TeamError {
    #[error("team.url {0}")]
    Address(&'static str),
    #[error("{} has passwords, and others can read it: run chmod 600 on it", path(.0))]
    Exposed(PathBuf),
    #[error("the team store is not reachable: {0}")]
    Unreachable(String),
    #[error("the team store does not accept the user: {0}")]
    Rejected(String),
    #[error("the team store lacks tables: behaview team init makes them")]
    NoSchema,
    #[error("the team store needs a newer behaview (schema {0}): update it")]
    Newer(i32),
    #[error("the team store does not allow your role that: {0}. A lead can grant another one")]
    Denied(String),
    #[error("the team store failed: {0}")]
    Failed(String),
    #[error("its bytes do not have the digest of the original")]
    Damaged,
    #[error("{0}")]
    Unusable(String),
    #[error("it is larger than responses may be")]
    TooLarge,
}

impl TeamError {
    /// Returns whether a later attempt may succeed without a change by the user.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Failed(_) | Self::Rejected(_) | Self::NoSchema | Self::Newer(_))
    }
}

/// What a database says whose tables are missing, or older than a question.
const MISSING: [SqlState; 3] = [SqlState::UNDEFINED_TABLE, SqlState::UNDEFINED_FUNCTION, SqlState::INVALID_SCHEMA_NAME];

impl From<tokio_postgres::Error> for TeamError {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(refusal) = error.as_db_error() else {
            let mut causes = vec![error.to_string()];
            let mut cause = error.source();
            while let Some(next) = cause {
                causes.push(next.to_string());
                cause = next.source();
            }
            // The last one says most: refused, unknown name, certificate.
            return Self::Unreachable(visible(&causes.pop().unwrap_or_default()));
        };
        let why = visible(refusal.message());
        match refusal.code().code().get(..2) {
            _ if *refusal.code() == SqlState::INSUFFICIENT_PRIVILEGE => Self::Denied(why),
            _ if MISSING.contains(refusal.code()) => Self::NoSchema,
            Some("28" | "3D") => Self::Rejected(why),
            Some("55") => Self::Unreachable("its tables are in use: try again".to_owned()),
            Some("57" | "53" | "08") => Self::Unreachable(why),
            _ => Self::Failed(why),
        }
    }
}

fn visible(words: &str) -> String {
    Untrusted::from(words).visible_cut(200).to_string()
}
