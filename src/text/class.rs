//! Which characters may be shown as they are: the tables, by Unicode property.

use icu_properties::props::{
    BidiControl, DefaultIgnorableCodePoint, EmojiModifier, GeneralCategory, GeneralCategoryGroup, GraphemeClusterBreak,
    IndicSyllabicCategory, RegionalIndicator, VariationSelector,
};
use icu_properties::{CodePointMapData, CodePointMapDataBorrowed, CodePointSetData, CodePointSetDataBorrowed};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

const CATEGORY: CodePointMapDataBorrowed<'static, GeneralCategory> = CodePointMapData::<GeneralCategory>::new();

const CLUSTER: CodePointMapDataBorrowed<'static, GraphemeClusterBreak> =
    CodePointMapData::<GraphemeClusterBreak>::new();

const SYLLABLE: CodePointMapDataBorrowed<'static, IndicSyllabicCategory> =
    CodePointMapData::<IndicSyllabicCategory>::new();

/// Controls, formats, surrogates, private use, unassigned; and every separator, because any
/// other one resembles U+0020.
const HIDDEN_CATEGORIES: GeneralCategoryGroup = GeneralCategoryGroup::Other.union(GeneralCategoryGroup::Separator);

/// What draws nothing, turns the direction, or changes its neighbour.
const HIDDEN_SETS: [CodePointSetDataBorrowed<'static>; 5] = [
    CodePointSetData::new::<DefaultIgnorableCodePoint>(),
    CodePointSetData::new::<BidiControl>(),
    CodePointSetData::new::<VariationSelector>(),
    CodePointSetData::new::<RegionalIndicator>(),
    CodePointSetData::new::<EmojiModifier>(),
];

/// What melts into one grapheme with its neighbours without being a mark: conjoining jamo and
/// letters that act like them, and prepended signs.
const HIDDEN_CLUSTERS: [GraphemeClusterBreak; 4] =
    [GraphemeClusterBreak::L, GraphemeClusterBreak::V, GraphemeClusterBreak::T, GraphemeClusterBreak::Prepend];

/// Characters without ink that no property separates from visible ones: the braille pattern without
/// dots, the null notehead, and the two blank hieroglyphs.
const BLANK: [char; 4] = ['\u{2800}', '\u{1d159}', '\u{13441}', '\u{13442}'];

/// The part a character may play in a visible form, with its width in columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharRole {
    /// Shown, and may carry marks.
    Base(usize),
    /// Shown on a base, escaped elsewhere.
    Mark(usize),
    Hidden,
}

/// Decides how `character` is shown.
pub(super) fn role(character: char) -> CharRole {
    if matches!(character, ' '..='~') {
        return CharRole::Base(1);
    }
    let is_mark = GeneralCategoryGroup::Mark.contains(CATEGORY.get(character));
    match (CLUSTER.get(character), character.width()) {
        _ if is_hidden(character) => CharRole::Hidden,
        // Newer than one of the tables: the library that fills cells would let it stand, or fall, alone.
        _ if is_mark && !clings(character) => CharRole::Hidden,
        (_, Some(columns)) if is_mark => CharRole::Mark(columns),
        // Letters that cling to their base, like THAI CHARACTER SARA AM.
        (GraphemeClusterBreak::SpacingMark, Some(columns)) => CharRole::Mark(columns),
        // Symbols that cling, like the halfwidth voiced sound marks: widths of them differ.
        (GraphemeClusterBreak::Extend, _) => CharRole::Hidden,
        (_, Some(columns @ 1..=2)) => CharRole::Base(columns),
        _ => CharRole::Hidden,
    }
}

/// Whether a character can be seen as itself, on its own or on a letter.
pub fn is_shown(character: char) -> bool {
    !matches!(role(character), CharRole::Hidden)
}

/// Whether a mark is one grapheme with its base, to the library that cuts text into cells.
fn clings(mark: char) -> bool {
    String::from_iter(['a', mark]).graphemes(true).count() == 1
}

fn is_hidden(character: char) -> bool {
    HIDDEN_CATEGORIES.contains(CATEGORY.get(character))
        || HIDDEN_CLUSTERS.contains(&CLUSTER.get(character))
        || HIDDEN_SETS.iter().any(|set| set.contains(character))
        // Draws nothing but pushes the next consonant under the last, like the Khmer coeng.
        || SYLLABLE.get(character) == IndicSyllabicCategory::InvisibleStacker
        || BLANK.contains(&character)
}
