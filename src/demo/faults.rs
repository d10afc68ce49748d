//! What can be made to go wrong, and how it is written: `list:429-quota*1`, `behaviour:cut=100`, `lost`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::Endpoint;

/// A fault armed against one endpoint or all, for a number of calls or for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The endpoint it strikes, or `None` for every one.
    pub on: Option<Endpoint>,
    pub kind: FaultKind,
    /// How many calls it strikes before it is gone, or `None` for no end.
    pub times: Option<u32>,
}

impl From<FaultKind> for Fault {
    fn from(kind: FaultKind) -> Self {
        Fault { on: None, kind, times: None }
    }
}

impl Fault {
    /// All operations and faults that can be named, for help texts.
    pub fn known() -> String {
        let endpoints: Vec<_> = Endpoint::ALL.iter().map(|endpoint| endpoint.name()).collect();
        let kinds: Vec<_> = FaultKind::spellings().collect();
        format!("operations: {}; faults: {}", endpoints.join(", "), kinds.join(", "))
    }

    pub(super) fn strikes(&self, endpoint: Endpoint) -> bool {
        self.times != Some(0) && self.on.is_none_or(|on| on == endpoint)
    }
}

/// What goes wrong. Unless said otherwise, the call is counted as if nothing had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    KeyMissing,
    KeyWrong,
    UserInactive,
    Forbidden,
    NotFound,
    AlreadyExists,
    FailedDependency,
    /// 429 QuotaExceededError (free), although the counters say otherwise.
    QuotaExceeded,
    /// 429 TooManyRequestsError (free) without Retry-After.
    RateLimited,
    /// The same with Retry-After in seconds.
    RateLimitedSeconds,
    /// The same with Retry-After as a date.
    RateLimitedDate,
    /// The same with a Retry-After nobody can read.
    RateLimitedNonsense,
    /// 429 as an HTML page (free).
    RateLimitedHtml,
    BadRequest,
    InvalidArgument,
    NotAvailableYet,
    Transient,
    DeadlineExceeded,
    /// A login page with status 200, from something before the service (free).
    Portal,
    /// Status 200 with no body.
    Empty,
    /// Status 200 with a body that is not JSON.
    NotJson,
    /// A JSON array where an object belongs.
    Array,
    /// A JSON number where an object belongs.
    Number,
    /// A JSON string where an object belongs.
    Text,
    /// JSON `null` where an object belongs.
    Null,
    /// A sound answer, but for another file or report than the one asked for.
    Stranger,
    /// A page of a list holds a report of another file beside the file's own.
    Mixed,
    /// Every page of a list names itself, or the second page, as the next.
    SameCursor,
    /// The second page of a list names the first as the next.
    CyclicCursor,
    /// The user's daily quota is spent from the first call it strikes; a paid call then meets 429 (free).
    QuotaSpent,
    /// The connection is reset before the call is counted.
    Reset,
    /// The call is counted, then the connection closes without an answer.
    Lost,
    /// The answer claims to be gzip and is not.
    GzipLie,
    /// The answer is a few megabytes of gzip that unpack to 4 GiB.
    GzipBomb,
    EndlessBody,
    EndlessHeaders,
    /// The body ends after this many bytes, fewer than announced.
    Cut(u64),
    /// The body ends after this many bytes, and none were announced.
    CutBare(u64),
    /// Nothing follows this many bytes of the body, and the connection stays open.
    Stall(u64),
    /// The answer comes at this many bytes a second.
    Drip(u64),
    /// The answer comes this much later.
    Delay(Duration),
    /// 302 to this address (free).
    Redirect(String),
}

/// The kinds that take no value, by name.
const PLAIN: [(&str, FaultKind); 36] = [
    ("401-missing", FaultKind::KeyMissing),
    ("401-wrong", FaultKind::KeyWrong),
    ("401-inactive", FaultKind::UserInactive),
    ("403", FaultKind::Forbidden),
    ("404", FaultKind::NotFound),
    ("409", FaultKind::AlreadyExists),
    ("424", FaultKind::FailedDependency),
    ("429-quota", FaultKind::QuotaExceeded),
    ("429-rate", FaultKind::RateLimited),
    ("429-rate-seconds", FaultKind::RateLimitedSeconds),
    ("429-rate-date", FaultKind::RateLimitedDate),
    ("429-rate-nonsense", FaultKind::RateLimitedNonsense),
    ("429-html", FaultKind::RateLimitedHtml),
    ("400", FaultKind::BadRequest),
    ("400-argument", FaultKind::InvalidArgument),
    ("400-not-yet", FaultKind::NotAvailableYet),
    ("503", FaultKind::Transient),
    ("504", FaultKind::DeadlineExceeded),
    ("portal", FaultKind::Portal),
    ("empty", FaultKind::Empty),
    ("not-json", FaultKind::NotJson),
    ("array", FaultKind::Array),
    ("number", FaultKind::Number),
    ("string", FaultKind::Text),
    ("null", FaultKind::Null),
    ("stranger", FaultKind::Stranger),
    ("mixed", FaultKind::Mixed),
    ("cursor-same", FaultKind::SameCursor),
    ("cursor-cycle", FaultKind::CyclicCursor),
    ("quota-spent", FaultKind::QuotaSpent),
    ("reset", FaultKind::Reset),
    ("lost", FaultKind::Lost),
    ("gzip-lie", FaultKind::GzipLie),
    ("gzip-bomb", FaultKind::GzipBomb),
    ("endless-body", FaultKind::EndlessBody),
    ("endless-headers", FaultKind::EndlessHeaders),
];

/// The kinds that take a value, as they are written.
const VALUED: [&str; 6] =
    ["cut=BYTES", "cut-bare=BYTES", "stall=BYTES", "drip=BYTES-A-SECOND", "delay=MS", "redirect=URL"];

impl FaultKind {
    /// How every kind is written, for help texts.
    pub fn spellings() -> impl Iterator<Item = &'static str> {
        PLAIN.iter().map(|(name, _)| *name).chain(VALUED)
    }

    /// Whether it strikes before the service counts the call.
    pub(super) fn comes_before_counting(&self) -> bool {
        matches!(self, FaultKind::Reset | FaultKind::Portal | FaultKind::Redirect(_))
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::Cut(bytes) => write!(to, "cut={bytes}"),
            FaultKind::CutBare(bytes) => write!(to, "cut-bare={bytes}"),
            FaultKind::Stall(bytes) => write!(to, "stall={bytes}"),
            FaultKind::Drip(rate) => write!(to, "drip={rate}"),
            FaultKind::Delay(time) => write!(to, "delay={}", time.as_millis()),
            FaultKind::Redirect(address) => write!(to, "redirect={address}"),
            plain => to.write_str(PLAIN.iter().find(|(_, kind)| kind == plain).map_or("", |(name, _)| name)),
        }
    }
}

impl FromStr for FaultKind {
    type Err = UnknownFault;

    fn from_str(written: &str) -> Result<Self, UnknownFault> {
        let plain = PLAIN.iter().find(|(name, _)| *name == written).map(|(_, kind)| kind.clone());
        let valued = || written.split_once('=').and_then(|(name, value)| valued(name, value));
        plain.or_else(valued).ok_or_else(|| UnknownFault(written.to_owned()))
    }
}

fn valued(name: &str, value: &str) -> Option<FaultKind> {
    let number = || value.parse::<u64>().ok();
    match name {
        "cut" => number().map(FaultKind::Cut),
        "cut-bare" => number().map(FaultKind::CutBare),
        "stall" => number().map(FaultKind::Stall),
        "drip" => number().filter(|rate| *rate > 0).map(FaultKind::Drip),
        "delay" => number().map(Duration::from_millis).map(FaultKind::Delay),
        "redirect" => Some(FaultKind::Redirect(value.to_owned())),
        _ => None,
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(endpoint) = self.on {
            write!(to, "{}:", endpoint.name())?;
        }
        write!(to, "{}", self.kind)?;
        self.times.map_or(Ok(()), |times| write!(to, "*{times}"))
    }
}

impl FromStr for Fault {
    type Err = UnknownFault;

    /// Reads `[OPERATION:]FAULT[*TIMES]`.
    fn from_str(written: &str) -> Result<Self, UnknownFault> {
        let (on, rest) = endpoint_prefix(written);
        let (kind, times) = match rest.rsplit_once('*').map(|(kind, times)| (kind, times.parse().ok())) {
            Some((kind, Some(times))) => (kind, Some(times)),
            _ => (rest, None),
        };
        let kind = kind.parse().map_err(|_| UnknownFault(written.to_owned()))?;
        Ok(Fault { on, kind, times })
    }
}

fn endpoint_prefix(written: &str) -> (Option<Endpoint>, &str) {
    let named = written.split_once(':').and_then(|(name, rest)| {
        let endpoint = Endpoint::ALL.into_iter().find(|endpoint| endpoint.name() == name)?;
        Some((Some(endpoint), rest))
    });
    named.unwrap_or((None, written))
}

/// A fault that cannot be read; it displays what can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFault(String);

impl fmt::Display for UnknownFault {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "unknown fault {:?}; write [OPERATION:]FAULT[*TIMES]; {}", self.0, Fault::known())
    }
}

impl std::error::Error for UnknownFault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_reads_back_as_written() {
        let sample = |spelling: &str| match spelling.split_once('=') {
            Some(("redirect", _)) => "redirect=http://192.0.2.1/a*b".to_owned(),
            Some((name, _)) => format!("{name}=100"),
            None => spelling.to_owned(),
        };
        for kind in FaultKind::spellings().map(sample) {
            for written in [kind.clone(), format!("list:{kind}"), format!("v2-report:{kind}*3")] {
                assert_eq!(written.parse::<Fault>().unwrap().to_string(), written);
            }
        }
    }

    #[test]
    fn an_unknown_fault_names_the_known_ones() {
        let error = "behaviour:explode".parse::<Fault>().unwrap_err().to_string();
        assert!(error.contains("explode") && error.contains("cut=BYTES") && error.contains("v2-report"), "{error}");
        assert!("drip=0".parse::<Fault>().is_err());
    }
}
