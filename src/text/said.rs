//! Words in which what is from outside is in its visible form already: they are not escaped once more.

use super::Visible;
use super::escape::{Charset, Units};
use super::untrusted::UntrustedStr;
use std::path::Path;

/// Words of ours, with what stands in them in its visible form: they stay as they are, and so nothing is escaped twice, however often
/// it is said. Should something have come along that cannot be shown, as the words of the system may, all is escaped.
pub fn said(words: impl AsRef<str>) -> Visible {
    let words = words.as_ref();
    let escaped = Visible::from(Units::new(words.as_bytes(), Charset::Unicode));
    if escaped.as_str().replace(r"\x5c", r"\") != words {
        return escaped;
    }
    // Each backslash that was escaped once more takes three columns fewer.
    let more = escaped.as_str().len().saturating_sub(words.len());
    Visible::from_parts(words.to_owned(), escaped.width().saturating_sub(more))
}

/// A path in its visible form, whatever it is made of.
pub fn path(path: impl AsRef<Path>) -> Visible {
    UntrustedStr::new(path.as_ref().as_os_str().as_encoded_bytes()).visible()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Untrusted;

    #[test]
    fn what_is_said_is_escaped_once() {
        for text in ["a\u{1b}[2J", r"C:\x\x1b", "\u{202e}b", "é日\u{301}", r"\x5cx1b"] {
            let once = Untrusted::from(text).visible();
            assert_eq!(said(once.as_str()), once, "{text:?}");
        }
        assert_eq!(said("a\u{7}b · c").as_str(), r"a\x07b · c");
        assert_eq!(said("a\u{7}\\x1b").as_str(), r"a\x07\x5cx1b");
    }

    #[cfg(unix)]
    #[test]
    fn a_path_may_be_made_of_any_bytes() {
        use std::os::unix::ffi::OsStrExt;
        let odd = std::ffi::OsStr::from_bytes(b"/tmp/a\xff\x1b.json");
        assert_eq!(path(odd).as_str(), r"/tmp/a\x{ff}\x1b.json");
    }

    #[test]
    fn a_visible_form_is_cut_where_it_is_too_wide() {
        let words = said("日本 and more");
        assert_eq!((words.cut(20), words.cut(7).as_str().to_owned()), (words.clone(), "日本 a…".to_owned()));
        assert_eq!((words.cut(4).as_str(), words.cut(2).as_str(), words.cut(0).as_str()), ("日…", "…", ""));
    }
}
