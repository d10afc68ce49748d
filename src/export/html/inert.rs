//! Text that stays text in a page: defanged, visible, and escaped for HTML in one place.

use crate::export::harmless;
use crate::report::rows::Label;
use crate::report::{Pane, Piece, Row};
use crate::text::{Untrusted, Visible, to_visible};
use maud::{Markup, Render, html};

/// Maximum columns of a row; the rest of a longer one is left out.
const MAX_COLUMNS: usize = 2_000;

/// A text without markup, links and live addresses: defanged before it is wrapped.
pub(super) struct Inert(pub(super) Visible);

impl Inert {
    /// Returns a text from outside.
    pub(super) fn of(text: &Untrusted) -> Self {
        Self(harmless(Pane::Other, text))
    }

    /// Words of this program, in which text from outside has its visible form already.
    pub(super) fn words(words: impl AsRef<str>) -> Self {
        Self(to_visible(words).disarmed())
    }
}

/// The only way of outside text into a page, between tags or in a quoted attribute.
impl Render for Inert {
    fn render_to(&self, page: &mut String) {
        for character in self.0.as_str().chars() {
            match character {
                '&' => page.push_str("&amp;"),
                '<' => page.push_str("&lt;"),
                '>' => page.push_str("&gt;"),
                '"' => page.push_str("&quot;"),
                '\'' => page.push_str("&#39;"),
                other => page.push(other),
            }
        }
    }
}

/// Returns a row as its pane shows it: its label, and its text with the subject emphasised.
pub(super) fn pieces(pane: Pane, row: &Row) -> Markup {
    let mut left = MAX_COLUMNS;
    let mut cut = |text: &Untrusted| {
        let shown = text.visible_cut(left);
        left -= shown.width();
        Inert(shown.disarmed_where(pane == Pane::Network))
    };
    html! {
        @match &row.label {
            Label::Known("") => {},
            Label::Known(word) => span.label { (word) " " },
            Label::Named(name) => span.label { (cut(name)) " " },
        }
        code { @for piece in &row.pieces { @match piece {
            Piece::Value(text) => b { (cut(text)) },
            Piece::Detail(text) => (cut(text)),
            Piece::Own(words) | Piece::Known(words) => span.own { (Inert::words(words)) },
        } } }
    }
}
