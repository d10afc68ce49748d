//! Names in an object: each once.

use super::literal;
use crate::text::Untrusted;
use std::collections::HashSet;

/// The names that stand in an object already.
#[derive(Default)]
pub(super) struct Names(HashSet<Untrusted>);

impl Names {
    /// A name as a literal; one that comes again with a number behind it, for most readers take the last of two with one name, and
    /// know nothing of the other.
    pub(super) fn next(&mut self, name: &Untrusted) -> String {
        let numbered = |number: usize| match number {
            1 => name.clone(),
            _ => Untrusted::from([name.as_bytes(), format!(" ({number})").as_bytes()].concat()),
        };
        let name = (1..).map(numbered).find(|name| self.0.insert(name.clone()));
        name.as_ref().map(literal).unwrap_or_default()
    }
}
