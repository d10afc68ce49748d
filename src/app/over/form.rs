//! Lines that are typed into, over the screen: what each says, which has the keys, and what each kind of form adds to these.

use crate::app::keys::typing::type_over;
use crate::app::over::{OverlayScreen, SMALL};
use crate::app::{Failure, Key, Place};
use std::fmt;

pub trait FormSource: Sized {
    /// Screen rows that it fills at a width.
    fn height(_: &Form<Self>, _: usize) -> usize {
        SMALL
    }

    /// Types a key into the line that has the keys, up to a length in bytes; returns whether the line takes the key.
    fn press(form: &mut Form<Self>, key: Key, most: usize) -> bool {
        form.type_key(key, most)
    }
}

/// A line that is typed into.
#[derive(Clone, Default)]
pub struct TextField {
    pub text: String,
    /// Whether the program suggested the text: the first letter replaces it.
    pub is_suggested: bool,
}

/// Lines that are typed into.
pub struct Form<S> {
    pub source: S,
    pub fields: Vec<TextField>,
    /// The line that has the keys.
    pub chosen: usize,
    pub failure: Option<Failure>,
}

/// The text may be a password and is not shown.
impl<S: fmt::Debug> fmt::Debug for Form<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Form({:?})", self.source)
    }
}

impl<S> Form<S> {
    /// A form of one line that says this.
    pub fn new(source: S, text: String) -> Self {
        Self { fields: vec![TextField { text, is_suggested: false }], ..Self::with_fields(source, 0) }
    }

    /// A form of empty lines.
    pub fn with_fields(source: S, count: usize) -> Self {
        Self { source, fields: vec![TextField::default(); count], chosen: 0, failure: None }
    }

    /// What the first line says.
    pub fn text(&self) -> &str {
        self.fields.first().map_or("", |field| &field.text)
    }

    pub(in crate::app) fn type_key(&mut self, key: Key, most: usize) -> bool {
        let Some(field) = self.fields.get_mut(self.chosen) else { return false };
        let is_typed = type_over(&mut field.text, &mut field.is_suggested, key, most);
        self.failure.take_if(|_| is_typed);
        is_typed
    }

    /// Gives the keys to another line.
    pub fn step(&mut self, by: isize) {
        let count = self.fields.len().max(1).cast_signed();
        self.chosen = (self.chosen.cast_signed() + by).rem_euclid(count).unsigned_abs();
    }
}

impl<S: FormSource> OverlayScreen for Form<S> {
    fn place(&self) -> Place {
        Place::Form
    }

    fn height(&self, columns: usize) -> usize {
        S::height(self, columns)
    }

    fn press(&mut self, key: Key, most: usize) -> bool {
        S::press(self, key, most)
    }
}
