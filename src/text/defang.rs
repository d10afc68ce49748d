//! Addresses made safe to pass on: nothing links to them and nobody opens them by accident.

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
