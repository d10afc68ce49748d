//! Parses host names and IP addresses as reports write them, and finds those that are not public.

use super::Kind;
use crate::text::Untrusted;
use std::net::{IpAddr, Ipv6Addr};
use url::Host;

/// Returns whether a text is an IP address, with or without a port.
pub(super) fn is_address(text: &str) -> bool {
    without_port(text).parse::<IpAddr>().is_ok()
}

/// Parses the address of another machine, with or without a port.
pub(super) fn parse_address(text: &str) -> Option<Untrusted> {
    let found = without_port(text).parse::<IpAddr>().ok().filter(|found| is_unicast_host(found.to_canonical()));
    found.map(|address| Untrusted::from(address.to_string()))
}

/// Returns whether a host can have it: not loopback, broadcast, multicast, a mask or unallocated.
fn is_unicast_host(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let first = address.octets()[0];
            !(address.is_loopback() || address.is_multicast() || first == 0 || first >= 240)
        }
        IpAddr::V6(address) => is_allocated(address) || is_local(address),
    }
}

/// Returns whether an IPv6 address is in a block of a registry, or of documentation.
fn is_allocated(address: Ipv6Addr) -> bool {
    let first = address.segments()[0];
    matches!(first, 0x2001 | 0x2003 | 0x2400..=0x241f | 0x2600..=0x263f | 0x2800..=0x280f)
        || matches!(first, 0x2a00..=0x2a1f | 0x2c00..=0x2c0f | 0x3fff)
}

fn is_local(address: Ipv6Addr) -> bool {
    let is_site_local = address.segments()[0] & 0xffc0 == 0xfec0;
    // The prefix for address translation within a network (RFC 8215).
    let is_translated = address.segments().starts_with(&[0x64, 0xff9b, 1]);
    address.is_unique_local() || address.is_unicast_link_local() || is_site_local || is_translated
}

const RESOLVERS: &str = "8.8.8.8 8.8.4.4 1.1.1.1 1.0.0.1 9.9.9.9 149.112.112.112 208.67.222.222 \
    208.67.220.220 4.2.2.1 4.2.2.2 77.88.8.8 94.140.14.14 114.114.114.114 223.5.5.5 \
    2001:4860:4860::8888 2001:4860:4860::8844 2606:4700:4700::1111 2620:fe::fe";

/// Returns whether it can be a host: an address, or labels of any letters, digits, `-` and `_`.
pub(super) fn is_host_name(text: &str) -> bool {
    let name = text.strip_suffix('.').unwrap_or(text);
    is_address(text) || name.split('.').all(is_label)
}

/// Returns whether a text can be a label of a host name.
fn is_label(label: &str) -> bool {
    let fits = |c: char| !c.is_ascii() && c.is_alphanumeric() || c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (1..=63).contains(&label.len()) && label.chars().all(fits)
}

/// Returns a host in the form for a resolver: in lower case, other scripts in Punycode.
pub(super) fn host(text: &str) -> Option<Untrusted> {
    let text = without_port(text).trim_end_matches('.');
    let fits = text.len() <= 253 && text.contains('.') && text.split('.').all(is_label);
    let fits = fits && text.rsplit('.').next().is_some_and(|last| last.contains(|c: char| !c.is_ascii_digit()));
    let asked_for = || match Host::parse(text) {
        Ok(Host::Domain(name)) if !text.is_ascii() => name,
        _ => text.to_lowercase(),
    };
    fits.then(|| Untrusted::from(asked_for()))
}

/// Returns a mail address, without a prefix.
pub(super) fn mail(text: &str) -> Option<Untrusted> {
    let text = text.trim_start_matches("mailto:");
    // Miners write user and mail address with a slash between them; paths have slashes too.
    let text = text.rsplit(['/', '\\']).next().unwrap_or(text);
    let (user, domain) = text.rsplit_once('@')?;
    let is_user = !user.is_empty() && user.chars().all(|c| c.is_alphanumeric() || ".!#$%&*+?^_~-".contains(c));
    let is_domain =
        domain.is_ascii() && !domain.contains(':') && parse_address(domain).is_none() && host(domain).is_some();
    (is_user && is_domain).then(|| Untrusted::from(text))
}

/// Returns the host of a URL, without user and port; none if the text is not a URL.
pub(super) fn host_of_url(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://").or_else(|| url.split_once(r":\\"))?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let server = authority.rsplit_once('@').map_or(authority, |(_, server)| server);
    let server = without_port(server);
    (is_scheme && !server.is_empty() && !url.contains(char::is_whitespace)).then_some(server)
}

/// Returns the server before a path, in a URL without its scheme.
pub(super) fn authority_without_scheme(url: &str) -> Option<&str> {
    let (server, _) = url.split_once('/')?;
    let fits = parse_address(server).is_some() || host(server).is_some();
    (fits && !url.contains(char::is_whitespace)).then_some(server)
}

/// Returns a server without its port and the brackets of IPv6.
pub(super) fn without_port(server: &str) -> &str {
    let inside = server.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(inside, _)| inside);
    inside.unwrap_or_else(|| match server.split_once(':') {
        // Only an IPv6 address has more than one colon.
        Some((server, port)) if !port.contains(':') => server,
        _ => server,
    })
}

/// Explains why a URL's host, a name or an address is not public, or a resolver's.
pub(super) fn why_not_public(kind: Kind, value: &str) -> Option<&'static str> {
    match kind {
        Kind::Url => host_of_url(value).map_or(Some(NOT_PUBLIC), why_host_not_public),
        Kind::Address => value.parse().map_or(Some(NOT_PUBLIC), why_address_not_public),
        _ if is_plain_host(value.as_bytes()) => why_host_not_public(value),
        _ => Some(NOT_PUBLIC),
    }
}

/// Returns whether bytes are an ASCII host name whose last label has two letters or more.
pub fn is_plain_host(value: &[u8]) -> bool {
    let ends_well = value.rsplit(|byte| *byte == b'.').next().is_some_and(|last| last.len() >= 2);
    ends_well && value.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
}

/// Endings of names that are local to a network.
const LOCAL_ENDS: [&str; 9] =
    ["localhost", "local", "localdomain", "lan", "home", "corp", "internal", "intranet", "arpa"];

/// The reason for a name that public resolvers do not know.
const NOT_PUBLIC: &str = "it is not a public host";

/// Explains why a host is not public; parses as browsers do, to which `127.1` is an address.
fn why_host_not_public(server: &str) -> Option<&'static str> {
    match Host::parse(server.strip_suffix('.').unwrap_or(server)) {
        Ok(Host::Ipv4(address)) => why_address_not_public(address.into()),
        Ok(Host::Ipv6(address)) => why_address_not_public(address.into()),
        Ok(Host::Domain(name)) if is_plain_host(name.as_bytes()) && has_public_suffix(&name) => None,
        Ok(Host::Domain(_)) | Err(_) => Some(NOT_PUBLIC),
    }
}

fn has_public_suffix(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, last)| !LOCAL_ENDS.iter().any(|end| last.eq_ignore_ascii_case(end)))
}

/// Returns whether an address is public, and not a public resolver.
pub(crate) fn is_public_target(address: IpAddr) -> bool {
    why_address_not_public(address).is_none()
}

fn why_address_not_public(address: IpAddr) -> Option<&'static str> {
    match RESOLVERS.split(' ').any(|known| known.parse() == Ok(address.to_canonical())) {
        true => Some("it is a public resolver"),
        false => (!is_public(address)).then_some("it is a private or reserved address"),
    }
}

fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let [first, second, third, _] = address.octets();
            let is_local = address.is_private() || address.is_loopback() || address.is_link_local();
            let is_shared = first == 100 && (64..128).contains(&second);
            let is_benchmarking = first == 198 && (18..20).contains(&second);
            let is_ietf_protocol = [first, second, third] == [192, 0, 0];
            let is_reserved = first == 0 || first >= 240 || address.is_multicast();
            !(is_local || is_shared || is_benchmarking || is_ietf_protocol || is_reserved)
        }
        IpAddr::V6(address) => is_allocated(address),
    }
}
