//! Checks that bytes are visible on a terminal: only own controls, nothing hidden by Unicode.

use icu_properties::props::{
    BidiControl, DefaultIgnorableCodePoint, GeneralCategory, GeneralCategoryGroup, VariationSelector,
};
use icu_properties::{CodePointMapData, CodePointSetData};

/// Returns the text between own sequences, known by last letter and the modes they set; an error
/// names the first other one.
pub fn shown(bytes: &[u8], letters: &str, modes: &[&str]) -> Result<String, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let mut seen = String::new();
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if character == '\u{1b}' {
            let skipped = length_of_own(rest.as_str(), letters, modes)
                .ok_or_else(|| rest.as_str().chars().take(12).collect::<String>().escape_debug().to_string())?;
            rest = rest.as_str()[skipped..].chars();
        } else if is_visible(character) {
            seen.push(character);
        } else {
            return Err(format!("{character:?} in {:?}", seen.chars().rev().take(20).collect::<String>()));
        }
    }
    Ok(seen)
}

/// The length of a sequence of the program's own, without its ESC.
fn length_of_own(rest: &str, letters: &str, modes: &[&str]) -> Option<usize> {
    let body = rest.strip_prefix('[')?;
    let end = body.find(|c: char| c.is_ascii_alphabetic())?;
    let is_numbers = body[..end].chars().all(|c| c.is_ascii_digit() || c == ';');
    let last = &body[end..=end];
    let is_own = letters.contains(last) && is_numbers || "hl".contains(last) && modes.contains(&&body[..end]);
    is_own.then_some(end + 2)
}

/// Whether a character is seen, and changes nothing but its cell: by Unicode property.
fn is_visible(character: char) -> bool {
    let hidden = GeneralCategoryGroup::Other.union(GeneralCategoryGroup::Separator);
    character == ' '
        || !hidden.contains(CodePointMapData::<GeneralCategory>::new().get(character))
            && !CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(character)
            && !CodePointSetData::new::<BidiControl>().contains(character)
            && !CodePointSetData::new::<VariationSelector>().contains(character)
}
