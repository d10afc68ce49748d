//! Finding: the filter of a pane, hits over all panes and over everything that is held.

use super::Act::Local;
use super::context::{A_REPORT, A_STORE};
use super::{Command, When};
use crate::app::keys::key::{ENTER, ESC, Key, key};
use crate::app::keys::place::{FILE, FILTER, FILTERED, FOUND, HITS, LIST, OPEN, PANE, SOUGHT};
use crate::app::model::Model;

const A_HIT: When = When::Has("a filter or a search", Model::has_hits);

commands! {
    "keep-filter" [ENTER] "keep", 1, FILTER,
        "Keep the filter and give the keys back" => Local(Model::keep_filter);
    "drop-filter" [ESC] "no filter", 2, FILTERED,
        "Take the filter away"
        if When::Has("a filter", |m| m.filter().is_some()) => Local(Model::drop_filter);
    "go-to-hit" [ENTER] "go there", 1, FOUND,
        "Go to the chosen hit, in its report and pane" => Local(Model::go_to_hit);
    "change-search" [key('/')] "change the words", 2, HITS,
        "Go on typing what is sought" => Local(Model::type_search);
    "expression" [Key::Ctrl('r')] "regex", 2, SOUGHT,
        "Take what is typed as a regular expression, or as plain words again"
        => Local(|m| m.change_how(|how| how.is_regex = !how.is_regex));
    "case" [Key::Ctrl('t')] "case", 3, SOUGHT,
        "Tell capital from small letters, or not"
        => Local(|m| m.change_how(|how| how.is_case_sensitive = !how.is_case_sensitive));
    "filter" [key('/')] "filter", 5, PANE,
        "Show only the pane's rows that hold what is typed, in any of their fields or in the word beside them"
        => Local(Model::begin_filter);
    "find" [key('F')] "find", 6, FILE,
        "Search all panes of the report" if A_REPORT => Local(|m| m.begin_finding(false));
    "find-from-list" [key('/')] "find", 0, LIST,
        "Find in all panes of the report, with the key that filters inside of one"
        if A_REPORT => Local(|m| m.begin_finding(false));
    "find-held" [key('S')] "search held", 8, OPEN,
        "Search every report that is held, of all files; nothing is asked of the service"
        if A_STORE => Local(|m| m.begin_finding(true));
    "next-hit" [key('n')] "next hit", 4, FILE,
        "Go to the next hit: of the pane's filter, or of the last search, over all its reports"
        if A_HIT => Local(|m| m.step_hit(true));
    "previous-hit" [key('N')] "hit before", 0, FILE,
        "Go to the hit before" if A_HIT => Local(|m| m.step_hit(false));
}
