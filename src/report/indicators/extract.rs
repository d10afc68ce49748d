//! Finds indicators in text: URLs, hashes, paths, mail addresses, IP addresses. Parses host names
//! and addresses as reports write them, and finds those that are not public.

use super::Kind;
use crate::text::Untrusted;
use std::net::{IpAddr, Ipv6Addr};
use std::ops::Range;
use url::Host;

/// Schemes of downloads; letters before one do not belong to it.
const SCHEMES: [&str; 8] = ["https", "http", "hxxps", "hxxp", "ftps", "ftp", "wss", "ws"];

pub(super) fn named(text: &str) -> Vec<(Kind, &str)> {
    let mut found = Vec::new();
    for (number, part) in text.split('"').enumerate() {
        // A path in double quotes is one path, blanks included.
        if number % 2 == 1 && is_path(part) {
            path(part, &mut found);
            continue;
        }
        let mut rest = part;
        while let Some(start) = rest.find(|c| !is_gap(c)) {
            rest = rest.get(start..).unwrap_or_default();
            let length = spaced_path_length(rest);
            let (chunk, behind) = rest.split_at_checked(length.unwrap_or(word(rest).len())).unwrap_or((rest, ""));
            rest = behind;
            if length.is_some() {
                path(chunk, &mut found);
                continue;
            }
            let mut done = 0;
            for url in urls(chunk) {
                others(chunk.get(done..url.start.max(done)).unwrap_or_default(), &mut found);
                found.extend(chunk.get(url.clone()).map(|url| (Kind::Url, url)));
                done = done.max(url.end);
            }
            others(chunk.get(done..).unwrap_or_default(), &mut found);
        }
    }
    found
}

/// Returns whether a character separates words.
fn is_gap(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '`')
}

fn word(text: &str) -> &str {
    text.split(is_gap).next().unwrap_or_default()
}

/// Returns the length of an unquoted path with blanks at a text's start. It continues after a blank
/// inside a folder known to contain one, or if the next word leads to a subfolder and is no other
/// path or option. It ends at a file name; else a blank may precede arguments.
fn spaced_path_length(text: &str) -> Option<usize> {
    const FOLDERS: [&str; 3] = [r"Program Files (x86)", "Program Files", "Documents and Settings"];
    let first = word(text);
    if !is_path(first) {
        return None;
    }
    let drive = first.find(r":\")? + 2;
    let below = text.get(drive..)?;
    let is_here = |folder: &&&str| below.get(..folder.len()).is_some_and(|start| start.eq_ignore_ascii_case(folder));
    let folder = FOLDERS.iter().find(is_here).map_or(0, |folder| drive + folder.len());
    let mut end = folder.max(first.len());
    end += step(text.get(end..)?).filter(|_| folder > first.len()).unwrap_or("").len();
    while let Some(next) = text.get(end..).and_then(|rest| rest.strip_prefix(' ')).and_then(step) {
        let is_end = has_extension(text.get(..end)?) || next.is_empty() || next.starts_with(['-', '/', '\\', '%']);
        let goes_down = next.contains('\\') && !is_path(next);
        if is_end || !(goes_down || end > first.len() && has_extension(next)) {
            break;
        }
        end += 1 + next.len();
    }
    (end > first.len()).then_some(end)
}

/// Returns the first word of a text as far as it may be part of a path.
fn step(text: &str) -> Option<&str> {
    word(text).split(['\'', ',', ';', '|', '=']).next()
}

fn has_extension(path: &str) -> bool {
    let name = path.rsplit('\\').next().unwrap_or_default();
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|end| matches!(end.len(), 1..=5) && end.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Returns the byte ranges of URLs in a text without blanks. A URL within another is also found, up
/// to the next one: redirectors name both. Each byte is read at most twice.
fn urls(text: &str) -> Vec<Range<usize>> {
    let starts = memchr::memchr_iter(b':', text.as_bytes()).filter_map(|colon| {
        let before = text.get(..colon)?;
        let after = text.get(colon..)?;
        let start = scheme_start(before)?;
        let scheme = before.get(start..)?;
        // Programs of Windows take either slash after a scheme of the web.
        let is_of_the_web = || SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known));
        let is_url = after.starts_with("://") || after.starts_with(r":\\") && is_of_the_web();
        is_url.then_some(start)
    });
    let starts: Vec<usize> = starts.collect();
    let nexts = starts.iter().skip(1).copied().chain([text.len()]);
    let mut outer = 0;
    let ranges = starts.iter().zip(nexts).map(|(start, next)| {
        let is_outer = *start >= outer;
        let end = if is_outer { text.len() } else { next.min(outer) };
        let end = start
            + url_length(text.get(*start..end).unwrap_or_default(), |at| starts.binary_search(&(start + at)).is_ok());
        if is_outer {
            outer = end;
        }
        *start..end
    });
    ranges.collect()
}

/// Returns the start of the scheme that ends here; other letters may precede a known one.
fn scheme_start(before: &str) -> Option<usize> {
    let begins = |known: &&str| {
        let start = before.len().checked_sub(known.len())?;
        before.get(start..).filter(|end| end.eq_ignore_ascii_case(known)).map(|_| start)
    };
    let run = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let first = before.get(run.len()..)?.find(|c: char| c.is_ascii_alphabetic()).map(|at| run.len() + at);
    SCHEMES.iter().find_map(begins).or(first)
}

/// Returns the length of the URL at the start of a text; `is_start` shows where others begin.
fn url_length(text: &str, is_start: impl Fn(usize) -> bool) -> usize {
    let mut open: Vec<char> = Vec::new();
    let mut has_query = false;
    let end = text.char_indices().find_map(|(at, c)| {
        let rest = text.get(at + c.len_utf8()..).unwrap_or_default();
        has_query |= c == '?';
        let is_end = match c {
            '|' | '^' => true,
            // A quote ends the quoted text, unless it is an apostrophe within a word.
            '\'' => !rest.starts_with(|next: char| next.is_ascii_alphanumeric()),
            '(' | '[' | '{' => {
                open.push(c);
                false
            }
            ')' | ']' | '}' => open.pop().is_none(),
            // The next command of a shell, unless it separates the members of a query.
            '&' => !has_query || rest.starts_with('&'),
            ',' | ';' => is_path(rest) || is_start(at + 1),
            // Lists of hosts use their reader's separator; a slash or `=` starts an argument.
            _ => is_start(at + c.len_utf8()) && !c.is_ascii_alphanumeric() && !matches!(c, '/' | '=' | '?' | '#' | ':'),
        };
        is_end.then_some(at)
    });
    let text = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
    text.trim_end_matches(['.', ',', ';', ':', '!', '\\', '*', '(', '[', '{']).len()
}

/// Collects everything except URLs.
fn others<'a>(text: &'a str, found: &mut Vec<(Kind, &'a str)>) {
    let is_border = |c: char| matches!(c, '\'' | '(' | ')' | '{' | '}' | ',' | ';' | '|' | '=');
    let mut before = "";
    let mut at = 0;
    for word in text.split(is_border) {
        let is_braced = text.get(..at).is_some_and(|before| before.ends_with('{'));
        at += word.len() + 1;
        if is_path(word) {
            path(word, found);
        } else if is_hash(word) {
            // A number of that length in braces is the name of an interface or of a class.
            found.extend((!is_braced).then_some((Kind::Hash, word)));
        } else if mail(word).is_some() {
            found.push((Kind::Mail, word));
        } else {
            let is_version = before.to_ascii_lowercase().ends_with("version") && word.ends_with(".0");
            found.extend(address_in(word).filter(|_| !is_version).map(|word| (Kind::Address, word)));
        }
        before = word;
    }
}

/// Finds a path, and the machine that it leads to.
fn path<'a>(path: &'a str, found: &mut Vec<(Kind, &'a str)>) {
    let path = unprefixed(path);
    found.push((Kind::Path, path));
    let share = [r"\??\UNC\", r"\\?\UNC\", r"\\"].iter().find_map(|prefix| path.strip_prefix(prefix));
    let machine = share.and_then(|rest| rest.split(['\\', '/', '@']).next());
    found.extend(machine.filter(|machine| machine.contains('.')).map(|machine| (Kind::Host, machine)));
}

/// Removes the `\??\` or `\\?\` that only marks a path as absolute: other rows lack it.
pub(super) fn unprefixed(word: &str) -> &str {
    let path = [r"\??\", r"\\?\"].iter().find_map(|prefix| word.strip_prefix(prefix));
    path.filter(|path| has_root(path)).unwrap_or(word)
}

/// Returns the IP address at the start of a word, after protocol and user, before port and path.
fn address_in(word: &str) -> Option<&str> {
    let server = word.split('/').next().unwrap_or(word);
    let server = server.rsplit('@').next().unwrap_or(server);
    let behind = server.split_once(':').map_or(server, |(_, behind)| behind);
    [server, behind].into_iter().find(|found| is_address(found))
}

pub(super) fn is_path(word: &str) -> bool {
    has_root(unprefixed(word)) || word.starts_with(r"\\") && word.len() > 4 || word.starts_with(r"\??\UNC\")
}

/// Returns whether a path begins at a drive, or where a variable or the system's own link leads.
fn has_root(path: &str) -> bool {
    const SYSTEM: &str = r"\SystemRoot\";
    let has_drive = matches!(path.as_bytes(), [drive, b':', b'\\', _, ..] if drive.is_ascii_alphabetic());
    let variable = path.strip_prefix('%').and_then(|rest| rest.split_once(r"%\"));
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_()".contains(c));
    let has_variable = variable.is_some_and(|(name, rest)| is_name(name) && !rest.is_empty());
    let is_system =
        path.len() > SYSTEM.len() && path.get(..SYSTEM.len()).is_some_and(|start| start.eq_ignore_ascii_case(SYSTEM));
    has_drive || has_variable || is_system
}

/// Returns whether a text is a SHA-256, SHA-1 or MD5 in hexadecimal digits.
pub(super) fn is_hash(text: &str) -> bool {
    matches!(text.len(), 32 | 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

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
