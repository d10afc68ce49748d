//! Questions that are asked together, as every frame tells and compares them: a list of them is made once and shared, however long
//! it is.

use crate::request::Request;
use std::sync::Arc;

/// Questions that are asked together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Questions {
    all: Arc<[Request]>,
    /// Those of them that are under way, and so are not asked.
    without: Vec<Request>,
}

impl Questions {
    /// These, without some of them that are under way.
    pub(super) fn without(all: &Arc<[Request]>, without: Vec<Request>) -> Self {
        Self { all: Arc::clone(all), without }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len().saturating_sub(self.without.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn iter(&self) -> impl Iterator<Item = &Request> {
        self.all.iter().filter(|request| !self.without.contains(request))
    }
}

impl From<Option<Request>> for Questions {
    fn from(one: Option<Request>) -> Self {
        Self { all: one.into_iter().collect(), without: Vec::new() }
    }
}
