//! What the head of an answer says of its bytes: where they begin, how their end is told, and of which version they are.

use reqwest::header::{CONTENT_RANGE, ETAG, HeaderName, HeaderValue, LAST_MODIFIED, TRANSFER_ENCODING};
use reqwest::{Response, Version as Http};

/// Longest name of a version that is kept, in bytes.
const LONGEST_VERSION: usize = 256;

/// Whether the connection tells the end of an answer from being cut.
pub(super) fn is_framed(response: &Response) -> bool {
    response.version() == Http::HTTP_2 || response.headers().contains_key(TRANSFER_ENCODING)
}

/// Where the bytes of a partial answer begin, and how long the whole is: `bytes 100-199/200`.
pub(super) fn range_of(response: &Response) -> Option<(u64, Option<u64>)> {
    let header = response.headers().get(CONTENT_RANGE)?.to_str().ok()?;
    let (range, total) = header.strip_prefix("bytes ")?.split_once('/')?;
    let (start, last) = range.split_once('-')?;
    let (start, last) = (start.parse().ok()?, last.parse::<u64>().ok()?);
    let total: Option<u64> = if total == "*" { None } else { Some(total.parse().ok()?) };
    (start <= last && total.is_none_or(|total| last < total)).then_some((start, total))
}

/// What tells a version of something from another, byte for byte, where the service says so.
pub(super) fn version_of(response: &Response) -> Option<String> {
    let said = |name: HeaderName| response.headers().get(name).and_then(|value| value.to_str().ok());
    let is_strong = |tag: &&str| tag.starts_with('"');
    let version = said(ETAG).filter(is_strong).or_else(|| said(LAST_MODIFIED));
    version.filter(|version| is_version(version)).map(str::to_owned)
}

/// Whether this can be what a service called a version: what was kept of that may be damaged.
pub fn is_version(text: &str) -> bool {
    text.len() <= LONGEST_VERSION && HeaderValue::from_str(text).is_ok()
}
