//! What a terminal shows, and what it is to show next: a frame is drawn whole, and what differs is written.

use ratatui::backend::{Backend, ClearType};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// A terminal with its cells: as the library's own, but its size is asked once a frame, and it may be gone at the end.
pub struct Surface<B> {
    backend: B,
    /// What it shows.
    shown: Buffer,
    /// What it is to show next.
    next: Buffer,
}

impl<B: Backend> Surface<B> {
    /// A terminal that shows nothing yet.
    #[must_use]
    pub fn new(backend: B) -> Self {
        Self { backend, shown: Buffer::default(), next: Buffer::default() }
    }

    /// What is written to.
    #[must_use]
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// What is written to, to be changed.
    pub fn backend_mut(&mut self) -> &mut B {
        &mut self.backend
    }

    /// The whole of it, as large as it is right now.
    ///
    /// # Errors
    /// When it does not say.
    pub fn area(&self) -> Result<Rect, B::Error> {
        self.backend.size().map(|size| Rect::from((Position::ORIGIN, size)))
    }

    /// Wipes it: the next frame is written whole.
    ///
    /// # Errors
    /// When it cannot be written to.
    pub fn clear(&mut self) -> Result<(), B::Error> {
        self.shown.reset();
        self.backend.clear_region(ClearType::All)
    }

    /// Shows what is painted in place of what it shows. Where it has another size than before, nothing that it shows can be
    /// relied on.
    ///
    /// # Errors
    /// When it cannot be written to.
    pub fn draw(&mut self, area: Rect, paint: impl FnOnce(&mut Buffer)) -> Result<(), B::Error> {
        if self.shown.area != area {
            let is_first = self.shown.area.is_empty();
            self.shown.resize(area);
            self.next.resize(area);
            if !is_first {
                self.clear()?;
            }
        }
        self.next.reset();
        paint(&mut self.next);
        self.backend.draw(self.shown.diff_iter(&self.next))?;
        self.backend.hide_cursor()?;
        std::mem::swap(&mut self.shown, &mut self.next);
        self.backend.flush()
    }
}
