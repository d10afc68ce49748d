//! How long an answer is waited for: silence ends the wait soon, slowness late, and steady progress never.

use super::error::ServiceError;
use super::profile::Profile;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Longest wait there is: a profile may ask for more than a clock can count.
const LONGEST: u64 = 7 * 24 * 3600;

/// The wait for one answer.
pub(super) struct Patience {
    begun: Instant,
    silence: Duration,
    whole: Duration,
    slowest: u64,
    sent: u64,
}

impl Patience {
    /// A wait that begins now, for a question that takes so many bytes along.
    pub(super) fn new(profile: &Profile, sent: u64) -> Self {
        let seconds = |seconds: u64| Duration::from_secs(seconds.clamp(1, LONGEST));
        let (silence, whole) = (seconds(profile.timeout), seconds(profile.patience));
        Self { begun: Instant::now(), silence, whole, slowest: profile.slowest, sent }
    }

    /// Waits for the next piece of an answer of which so many bytes are there.
    pub(super) async fn wait<T>(&self, received: u64, next: impl Future<Output = T>) -> Result<T, ServiceError> {
        let silent = Instant::now() + self.silence + self.earned(if received == 0 { self.sent } else { 0 });
        let late = self.begun + self.whole + self.earned(received.saturating_add(self.sent));
        let lost = |_| {
            let too_slow = late < silent;
            let words =
                if too_slow { "it came too slowly and was given up" } else { "the service was silent for too long" };
            ServiceError::Lost(words.to_owned())
        };
        timeout_at(silent.min(late), next).await.map_err(lost)
    }

    /// The time that so many bytes may take.
    fn earned(&self, bytes: u64) -> Duration {
        Duration::from_secs(bytes.checked_div(self.slowest).unwrap_or(0).min(LONGEST))
    }
}
