//! What a run is started with, by the command line, the config and the terminal.

use super::keys::keymap::Keymap;
use super::scan::follow::Pace;
use std::path::PathBuf;

/// What a run is started with.
#[derive(Debug, Default)]
pub struct Settings {
    /// Which keys do which command.
    pub keys: Keymap,
    /// The price above which a yes is wanted; none where none is.
    pub confirm_above: Option<u64>,
    /// How a scan is followed.
    pub pace: Pace,
    /// The user's own rules, where there may be such a file.
    pub rules_file: Option<PathBuf>,
    /// Whether one thing is shown at a time, in lines.
    pub is_plain: bool,
    /// Whether what is held and what is noted is gone when the run ends.
    pub forgets: bool,
    /// Whether there is a shell that can have the terminal for a while.
    pub has_shell: bool,
    /// Whether the first file of which nothing is held is listed as soon as it is opened: the demo does so.
    pub lists_at_once: bool,
}
