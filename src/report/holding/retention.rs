//! How long the service keeps a private report.
//!
//! It deletes private files and their reports after a day unless another retention was chosen at upload, and after 28 days at
//! most. A report does not say which was chosen, so more than these two bounds is not known.

use crate::report::identifier::Identifier;
use jiff::{SignedDuration, Timestamp};

/// What the service keeps by itself.
const USUAL: SignedDuration = SignedDuration::from_hours(24);

/// The longest that can be chosen.
const LONGEST: SignedDuration = SignedDuration::from_hours(28 * 24);

/// Whether the service still has a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Retention {
    /// The identifier does not say when the sandbox ran.
    Unknown,
    /// Gone since then at the latest.
    Gone(Timestamp),
    /// Gone since then, unless a longer retention was chosen.
    Unless(Timestamp),
    /// Still there then, when it came from the service: longer than usual.
    Had(Timestamp),
    /// Available until then at least, unless it is deleted by hand.
    Until(Timestamp),
}

impl Retention {
    /// Of a report, by the time in its identifier; the service had it still when it sent it, if that is known.
    pub fn of(identifier: &Identifier, sent: Option<Timestamp>, now: Timestamp) -> Self {
        let ran = identifier.parts().when;
        let Some(ran) = ran.and_then(|when| Timestamp::from_second(when).ok()) else { return Self::Unknown };
        let after = |time| ran.checked_add(time).unwrap_or(Timestamp::MAX);
        let had = |time| sent.is_some_and(|sent| sent >= after(time));
        match now {
            // An installation may keep for longer still.
            now if now >= after(LONGEST) && !had(LONGEST) => Self::Gone(after(LONGEST)),
            // One that came later has a longer retention, and which one is not known.
            now if now >= after(USUAL) => match sent {
                Some(sent) if had(USUAL) => Self::Had(sent),
                _ => Self::Unless(after(USUAL)),
            },
            _ => Self::Until(after(USUAL)),
        }
    }

    /// The same in a sentence.
    pub fn words(self) -> String {
        let at = crate::text::moment;
        match self {
            Self::Gone(when) => format!("the service deleted it by {}: what is held is the only one", at(when)),
            Self::Unless(when) => {
                format!("unless a longer retention was chosen the service deleted it on {}", at(when))
            }
            Self::Had(when) => format!("the service still had it on {}: it keeps it longer than usual", at(when)),
            Self::Until(when) => format!("the service has it until {} at least", at(when)),
            Self::Unknown => "how long the service has it is not known".to_owned(),
        }
    }

    /// The same in a few columns.
    pub fn short(self) -> String {
        let at = |when: Timestamp| when.strftime("%m-%d").to_string();
        match self {
            Self::Gone(_) => "gone".to_owned(),
            Self::Unless(when) => format!("gone {}?", at(when)),
            Self::Had(when) => format!("seen {}", at(when)),
            Self::Until(when) => format!("to {}", at(when)),
            Self::Unknown => "?".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Untrusted;

    #[test]
    fn a_day_is_usual_and_28_days_are_the_longest() {
        let identifier = |text: &str| Identifier::new(Untrusted::from(text)).unwrap();
        let ran = 1_794_474_845;
        let at = |seconds: i64| Timestamp::from_second(ran + seconds).unwrap();
        let since =
            |sent: Option<i64>, seconds| Retention::of(&identifier(&format!("Box-{ran}")), sent.map(at), at(seconds));
        let of = |seconds| since(None, seconds);
        assert_eq!([of(0), of(86_399)], [Retention::Until(at(86_400)); 2]);
        assert_eq!([of(86_400), of(28 * 86_400 - 1)], [Retention::Unless(at(86_400)); 2]);
        assert_eq!(since(Some(86_399), 86_400), Retention::Unless(at(86_400)));
        assert_eq!(since(Some(86_400), 86_401), Retention::Had(at(86_400)));
        assert_eq!(since(Some(86_400), 28 * 86_400), Retention::Gone(at(28 * 86_400)));
        assert_eq!(since(Some(29 * 86_400), 30 * 86_400), Retention::Had(at(29 * 86_400)));
        assert_eq!(of(28 * 86_400), Retention::Gone(at(28 * 86_400)));
        assert_eq!(Retention::of(&identifier("Box-7"), None, at(0)), Retention::Unknown);
    }
}
