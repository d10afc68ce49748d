//! `--pane`: a pane by its name in exports, or by what the screen calls it.

use crate::app::PANES;
use crate::report::Pane;

/// The pane that is meant; the words of a refusal name them all.
pub(super) fn named(text: &str) -> Result<Pane, String> {
    let is_meant = |name: &str| name.eq_ignore_ascii_case(text);
    let by_name = Pane::ALL.into_iter().find(|pane| is_meant(pane.name()));
    let by_title = || PANES.iter().find(|info| is_meant(info.title) || is_meant(info.short)).map(|info| info.pane);
    by_name.or_else(by_title).ok_or_else(|| format!("there are {}", Pane::ALL.map(Pane::name).join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_pane_means_it() {
        for info in &PANES {
            for name in [info.pane.name(), info.title, info.short, &info.title.to_uppercase()] {
                assert_eq!(named(name), Ok(info.pane));
            }
        }
        assert!(named("nowhere").is_err_and(|words| words.contains("techniques")));
    }
}
