//! An expression as JSON most often writes what it matches: where neither this nor an escape that is seldom written is found,
//! nothing matches.

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Repetition,
};

/// An escape other than those of a quote and a backslash: what it stands for is told only by decoding.
const SELDOM: &str = r#"(?s-u:[^\\](?:\\\\)*\\[^"\\])"#;

/// The characters that are always escaped, as far as they can be seen.
const ESCAPED: [char; 2] = ['"', '\\'];

/// The expression for raw JSON; none for one that takes too much memory.
pub(super) fn of(expression: &str, is_case_sensitive: bool, largest: usize) -> Option<Regex> {
    let mut parser = ParserBuilder::new().utf8(false).case_insensitive(!is_case_sensitive).build();
    let written = written(&parser.parse(expression).ok()?);
    let either = format!("(?:{written})|{SELDOM}");
    RegexBuilder::new(&either).size_limit(largest).dfa_size_limit(largest).build().ok()
}

fn written(part: &Hir) -> Hir {
    match part.kind() {
        // Where a text begins and ends is seen when a row is looked at.
        HirKind::Empty | HirKind::Look(_) => Hir::empty(),
        HirKind::Literal(literal) => {
            let escape = |byte: &u8| ESCAPED.contains(&char::from(*byte)).then_some(b'\\');
            Hir::literal(literal.0.iter().flat_map(|byte| escape(byte).into_iter().chain([*byte])).collect::<Vec<_>>())
        }
        HirKind::Class(class) => any_of(class),
        HirKind::Repetition(repetition) => {
            let sub = Box::new(written(&repetition.sub));
            Hir::repetition(Repetition { sub, ..repetition.clone() })
        }
        HirKind::Capture(capture) => written(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(written).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(written).collect()),
    }
}

fn any_of(class: &Class) -> Hir {
    let (plain, escaped): (Class, Vec<char>) = match class {
        Class::Unicode(class) => {
            let mut plain = class.clone();
            plain.difference(&ClassUnicode::new(ESCAPED.map(|c| ClassUnicodeRange::new(c, c))));
            let has = |c: &char| class.iter().any(|range| (range.start()..=range.end()).contains(c));
            (Class::Unicode(plain), ESCAPED.into_iter().filter(has).collect())
        }
        Class::Bytes(class) => {
            let mut plain = class.clone();
            let bytes = [b'"', b'\\'];
            plain.difference(&ClassBytes::new(bytes.map(|b| ClassBytesRange::new(b, b))));
            let has = |b: &u8| class.iter().any(|range| (range.start()..=range.end()).contains(b));
            (Class::Bytes(plain), bytes.into_iter().filter(has).map(char::from).collect())
        }
    };
    let escaped = escaped.into_iter().map(|c| Hir::literal(format!("\\{c}").into_bytes()));
    Hir::alternation(std::iter::once(Hir::class(plain)).chain(escaped).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_in(expression: &str, json: &str) -> bool {
        of(expression, false, 1 << 20).unwrap().is_match(json.as_bytes())
    }

    #[test]
    fn what_json_escapes_is_sought_escaped() {
        assert!(is_in(r"c:\\[a-z]", r#""C:\\new""#));
        assert!(is_in(r#"a."b"#, r#""a-\"b""#) && is_in(r#"x["\\]y"#, r#""x\\y""#));
        assert!(!is_in(r"c.n\d", r#""C:\\new","n7""#));
        assert!(is_in(r"^\d$", r#""7""#));
    }

    #[test]
    fn a_rare_escape_may_be_anything() {
        for json in [r#""\u0041""#, r#""a\\\nb""#, r#""\/""#] {
            assert!(is_in("[xz]{3}", json), "{json}");
        }
        for json in [r#""\\new\\u0041\"""#, r#""a\\\\b""#] {
            assert!(!is_in("[xz]{3}", json), "{json}");
        }
    }
}
