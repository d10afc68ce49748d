//! Moving and leaving, which apply everywhere.

use super::Act::Local;
use super::context::can_go_back;
use super::{Command, When};
use crate::app::keys::key::{DOWN, END, ESC, HOME, Key, PAGE_DOWN, PAGE_UP, UP, key};
use crate::app::keys::place::EVERYWHERE;
use crate::app::model::Model;
use crate::app::panes::scroll::Move;

commands! {
    "down" [DOWN, key('j')] "down", 0, EVERYWHERE,
        "One row down" => Local(|m| m.go(Move::Down(1)));
    "up" [UP, key('k')] "up", 0, EVERYWHERE,
        "One row up" => Local(|m| m.go(Move::Up(1)));
    "page-down" [PAGE_DOWN, Key::Ctrl('f')] "page down", 0, EVERYWHERE,
        "One page down" => Local(|m| m.go_page(Move::Down));
    "page-up" [PAGE_UP, Key::Ctrl('b')] "page up", 0, EVERYWHERE,
        "One page up" => Local(|m| m.go_page(Move::Up));
    "first" [key('g'), HOME] "first", 0, EVERYWHERE,
        "To the first row" => Local(|m| m.go(Move::First));
    "last" [key('G'), END] "last", 0, EVERYWHERE,
        "To the last row" => Local(|m| m.go(Move::Last));
    "back" [ESC] "back", 5, EVERYWHERE,
        "Go back one step: close, shrink, to the list of sandboxes; the file itself is left by other-file"
        if When::Has("something to go back from", can_go_back) => Local(Model::go_back);
    "give-up" [Key::Ctrl('x')] "give up", 2, EVERYWHERE,
        "Wait no longer for what is under way; what was sent may be charged, and the ledger counts it"
        if When::Has("something under way", |m| !m.calls.is_empty()) => Local(Model::give_up);
    "shell" [Key::Ctrl('z')] "shell", 0, EVERYWHERE,
        "Give the terminal to the shell; `fg` brings the app back"
        if When::Has("a terminal that can stop a program", |m| m.settings.has_shell)
        => Local(Model::make_way);
    "quit" [key('q'), Key::Ctrl('c')] "quit", 6, EVERYWHERE,
        "Quit; a paid answer that is under way is waited for, pressing it again leaves at once"
        => Local(Model::quit);
}
