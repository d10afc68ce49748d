//! What is done with a comparison, and with lists of rows to go to.

use super::Act::Local;
use super::{Command, When};
use crate::app::compare::{Compare, Only};
use crate::app::keys::key::{BACK_TAB, ENTER, LEFT, RIGHT, TAB, key};
use crate::app::keys::place::{COMPARE, FILE, FORM, PICKER, SIFTED, SOUGHT_LINE};
use crate::app::model::Model;
use crate::app::over::overlay::Overlay;

commands! {
    "compare" [key('c')] "compare", 6, FILE,
        "Compare the sandboxes: which of them saw what; held reports only, so it costs nothing; processes are told by name, and by a folder that says more"
        if When::Has("a report that is held", Model::can_compare) => Local(Model::compare);
    "compare-where" [ENTER] "where", 2, COMPARE,
        "Show where the item was seen, to go there" => Local(Model::compare_where);
    "compare-all" [key('a')] "seen by all", 3, COMPARE,
        "Show only what every held sandbox saw, or everything again"
        => Local(|m| m.compare_only(Only::All));
    "compare-some" [key('d')] "differs", 3, COMPARE,
        "Show only what some saw and others did not, or told otherwise (≠), or everything again"
        => Local(|m| m.compare_only(Only::Some));
    "compare-here" [key('u')] "only here", 3, COMPARE,
        "Show only what the chosen column alone saw or told, or everything again"
        => Local(|m| m.compare_only(Only::Here));
    "compare-not-here" [key('x')] "not here", 3, COMPARE,
        "Show only what others saw or told and the chosen column did not, or everything again"
        => Local(|m| m.compare_only(Only::NotHere));
    "compare-next-column" [RIGHT, key('l')] "column", 4, COMPARE,
        "Choose the next held column" => Local(|m| m.compare_column(true));
    "compare-previous-column" [LEFT, key('h')] "column before", 0, COMPARE,
        "Choose the held column before" => Local(|m| m.compare_column(false));
    "compare-without" [key('-')] "leave out", 5, COMPARE,
        "Leave the chosen column out, and compare the others; at least two remain"
        if When::Has("another two columns that are held", |m| m.comparing().is_some_and(Compare::can_leave_out))
        => Local(Model::compare_without);
    "compare-every" [key('+')] "bring back", 2, COMPARE,
        "Compare every column again that was left out"
        if When::Has("a column that was left out", |m| m.comparing().is_some_and(|found| !found.without.is_empty()))
        => Local(Model::compare_every);
    "compare-next-pane" [TAB] "next pane", 4, COMPARE,
        "Compare the items of the next pane; after the last one, of all" => Local(|m| m.compare_pane(true));
    "compare-previous-pane" [BACK_TAB] "pane before", 0, COMPARE,
        "Compare the items of the pane before" => Local(|m| m.compare_pane(false));
    "compare-with" [key('w')] "other file", 5, COMPARE,
        "Compare with another file of which reports are held; costs nothing"
        if When::Has("another file of which reports are held", Model::can_compare_files)
        => Local(Model::compare_with);
    "compare-with-this" [ENTER] "compare with it", 1, PICKER,
        "Compare with the chosen file"
        if When::Has("a list of other files", |m| matches!(m.over.top(), Some(Overlay::OtherFile(_)))) => Local(Model::compare_with_chosen);
    "go-to-row" [ENTER] "go there", 1, PICKER,
        "Go to the row, in its sandbox and pane"
        if When::Has(
            "a row that is there",
            |m| matches!(m.over.top(), Some(Overlay::Spots(spots)) if spots.chosen().is_some_and(|spot| spot.target.is_some())),
        )
        => Local(Model::go_to_spot);
    "find-row" [key('/')] "find", 2, SIFTED,
        "Show only the rows of the list that hold every word that is typed, in what they say or in why they are marked, such as persistence"
        => Local(|m| m.seek_in_list(true));
    "found-row" [ENTER] "done", 1, SOUGHT_LINE,
        "End typing; what was found stays until the line is emptied" => Local(|m| m.seek_in_list(false));
    "end-idle-line" [ENTER] "close", 1, FORM,
        "Close the line that takes what is typed where nothing can be"
        if When::Has("a line that nothing is done with", |m| matches!(m.over.top(), Some(Overlay::Idle(_)))) => Local(Model::go_back);
    "notable-held" [TAB] "all sandboxes", 3, PICKER,
        "List what deserves a look in every held report of the file, or in the open one again; costs nothing"
        if When::Has(
            "a list of what deserves a look, and several reports of the file that are held",
            Model::can_reach_further,
        ) => Local(Model::reach_further);
}
