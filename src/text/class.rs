//! Which characters may be shown as they are: the tables, by Unicode property.

use icu_properties::props::{
    BidiControl, DefaultIgnorableCodePoint, EmojiModifier, GeneralCategory, GeneralCategoryGroup, GraphemeClusterBreak,
    IndicSyllabicCategory, RegionalIndicator, VariationSelector,
};
use icu_properties::{CodePointMapData, CodePointMapDataBorrowed, CodePointSetData, CodePointSetDataBorrowed};
use std::sync::atomic::{AtomicU8, Ordering};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

const CATEGORY: CodePointMapDataBorrowed<'static, GeneralCategory> = CodePointMapData::<GeneralCategory>::new();

const CLUSTER: CodePointMapDataBorrowed<'static, GraphemeClusterBreak> =
    CodePointMapData::<GraphemeClusterBreak>::new();

const SYLLABLE: CodePointMapDataBorrowed<'static, IndicSyllabicCategory> =
    CodePointMapData::<IndicSyllabicCategory>::new();

/// Controls, formats, surrogates, private use, unassigned; and every separator, because a space
/// other than U+0020 looks like one.
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

/// Characters without ink that no property tells from visible ones: the braille pattern without
/// dots, the null notehead, and the two blank hieroglyphs.
const BLANK: [char; 4] = ['\u{2800}', '\u{1d159}', '\u{13441}', '\u{13442}'];

/// The part a character may play in a visible form, with its width in columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Shown, and may carry marks.
    Base(usize),
    /// Shown on a base, escaped elsewhere.
    Mark(usize),
    Hidden,
}

/// What was decided of the letters of most alphabets and of the signs that screens are drawn with, as a number; 0 while nobody
/// has asked.
static DECIDED: [AtomicU8; 0x2600] = [const { AtomicU8::new(0) }; 0x2600];

/// Every role with its number.
const ROLES: [(Role, u8); 6] = [
    (Role::Hidden, 1),
    (Role::Base(1), 2),
    (Role::Base(2), 3),
    (Role::Mark(0), 4),
    (Role::Mark(1), 5),
    (Role::Mark(2), 6),
];

/// Decides how `character` is shown.
pub(super) fn role(character: char) -> Role {
    if matches!(character, ' '..='~') {
        return Role::Base(1);
    }
    let Some(slot) = usize::try_from(u32::from(character)).ok().and_then(|at| DECIDED.get(at)) else {
        return decide(character);
    };
    let known = slot.load(Ordering::Relaxed);
    if let Some((role, _)) = ROLES.iter().find(|(_, number)| *number == known) {
        return *role;
    }
    let role = decide(character);
    let number = ROLES.iter().find(|(known, _)| *known == role).map_or(0, |(_, number)| *number);
    slot.store(number, Ordering::Relaxed);
    role
}

fn decide(character: char) -> Role {
    let is_mark = GeneralCategoryGroup::Mark.contains(CATEGORY.get(character));
    match (CLUSTER.get(character), character.width()) {
        _ if is_hidden(character) => Role::Hidden,
        // Newer than one of the tables: the library that fills cells would let it stand, or fall, alone.
        _ if is_mark && !clings(character) => Role::Hidden,
        (_, Some(columns)) if is_mark => Role::Mark(columns),
        // Letters that cling to their base, like THAI CHARACTER SARA AM.
        (GraphemeClusterBreak::SpacingMark, Some(columns)) => Role::Mark(columns),
        // Symbols that cling, like the halfwidth voiced sound marks: widths of them differ.
        (GraphemeClusterBreak::Extend, _) => Role::Hidden,
        (_, Some(columns @ 1..=2)) => Role::Base(columns),
        _ => Role::Hidden,
    }
}

/// Whether a character can be seen as itself, on its own or on a letter.
pub fn is_shown(character: char) -> bool {
    !matches!(role(character), Role::Hidden)
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
