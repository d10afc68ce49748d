//! Moving and leaving, which apply everywhere.

use super::context::{always, can_go_back};
use super::{Act, Command};
use crate::app::key::{DOWN, END, ESC, HOME, Key, PAGE_DOWN, PAGE_UP, UP, key};
use crate::app::model::Model;
use crate::app::panes::Move;
use crate::app::place::EVERYWHERE;

pub(super) static COMMANDS: &[Command] = &[
    Command {
        name: "down",
        keys: &[DOWN, key('j')],
        label: "down",
        help: "One row down",
        rank: 0,
        place: EVERYWHERE,
        applies: always,
        needs: "",
        act: Act::Local(|m| m.go(Move::Down(1))),
    },
    Command {
        name: "up",
        keys: &[UP, key('k')],
        label: "up",
        help: "One row up",
        rank: 0,
        place: EVERYWHERE,
        applies: always,
        needs: "",
        act: Act::Local(|m| m.go(Move::Up(1))),
    },
    Command {
        name: "page-down",
        keys: &[PAGE_DOWN, Key::Ctrl('f')],
        label: "page down",
        help: "One page down",
        rank: 0,
        place: EVERYWHERE,
        applies: always,
        needs: "",
        act: Act::Local(|m| m.go_page(Move::Down)),
    },
    Command {
        name: "page-up",
        keys: &[PAGE_UP, Key::Ctrl('b')],
        label: "page up",
        help: "One page up",
        rank: 0,
        place: EVERYWHERE,
        applies: always,
        needs: "",
        act: Act::Local(|m| m.go_page(Move::Up)),
    },
    Command {
        name: "first",
        keys: &[key('g'), HOME],
        label: "first",
        help: "To the first row",
        rank: 0,
        place: EVERYWHERE,
        applies: always,
        needs: "",
        act: Act::Local(|m| m.go(Move::First)),
    },
    Command {
        name: "last",
        keys: &[key('G'), END],
        label: "last",
        help: "To the last row",
        rank: 0,
        place: EVERYWHERE,
        applies: always,
        needs: "",
        act: Act::Local(|m| m.go(Move::Last)),
    },
    Command {
        name: "back",
        keys: &[ESC],
        label: "back",
        help: "Go back one step: close, shrink, to the list, to the start",
        rank: 5,
        place: EVERYWHERE,
        applies: can_go_back,
        needs: "something to go back from",
        act: Act::Local(Model::go_back),
    },
    Command {
        name: "quit",
        keys: &[key('q'), Key::Ctrl('c')],
        label: "quit",
        help: "Quit; a paid answer that is under way is waited for, pressing it again leaves at once",
        rank: 6,
        place: EVERYWHERE,
        applies: always,
        needs: "",
        act: Act::Local(Model::quit),
    },
];
