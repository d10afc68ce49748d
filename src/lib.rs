//! `behaview` browses private files' behaviour reports, and prices every key before it is pressed.
//!
//! # The screen
//! ```text
//!  behaview · demo · 57874b32…938c · CAPE Sandbox · stored 3h        title view
//!  1 Processes 37 │ 2 Tags 8 │ 3 Registry 9 │ … │ 0 Overview         tabs  app::panes
//! ╭─ Sandboxes 4 of 6 ─┲━ 1 Processes ━━━ 1/37 ━┱─ 2 Tags ───── 8 ─╮
//! ›● CAPE Sandbox      › ▾ viewer.exe  4012  +0 ┃ CALLS_WMI        │
//! │  stored 3h         ┃ ├─▾ setup.tmp  5120  +1▐*PERSISTENCE      │
//! │+ next page         ┃ │ └─• cmd.exe  2884  +2▐─ 3 Registry ─ 9 ─┤ panes view::pane, app::panes
//! │  1 request         ┃                        ┃!set HKCU…\Run = …│ list  view::list
//! ├─ 0 Overview ── 16 ─┨                        ┠─ 4 Files ─── 22 ─┤
//! │!verdict  MALWARE   ┃                        ┃*dropped …\a.js   │
//! ╰────────────────────┺━━━━━━━━━━━━━━━━━━━━━━━━┹──────────────────╯
//!  viewer.exe  4012  +0                                              detail, message
//!  1 request: enter next page  R relist │ +3 in ? │ free: ? help     bar   view::bar
//!  left: you 239 this hour, 499 today · group 17,519 │ spent 1             app::spending
//! ```
//!
//! # Glossary
//! | term | meaning |
//! |---|---|
//! | specification, § | "Private File Behaviour Retrieval and Quota Consumption Rules", a section |
//! | report | the behaviour of one file in one sandbox (specification §2.1) |
//! | identifier | names a report in requests: file, sandbox and time; its shape is never trusted |
//! | attribute | one member of a report; [`report::ATTRIBUTES`] lists the known ones |
//! | section | the rows of one attribute, in the order of the bytes |
//! | pane | attributes that are shown together; unknown ones are in the pane "Other" |
//! | body | a response's bytes in memory, as received except that an echoed API key is redacted |
//! | request | an operation with its input; they decide address, price and the response's key |
//! | in flight | sent, without a response yet; a cancelled call may still be charged |
//! | scan | a private analysis of a submitted file by several sandboxes |
//! | poll | one call for the progress of a watched scan |
//! | stored | in the local store, paid for, and therefore free |
//! | quarantined | stored but damaged, and never shown |
//! | team | colleagues who share what they have paid for, in one database |
//! | claim | the right of one of a team to send a request; it expires unless it is renewed |
//! | reserve | the part of a group's budget that is spent for incidents only |
//! | project | a tag of a run's calls, by which costs are summed |
//! | statement | what a month's calls cost, by person, project, operation, file and day |
//! | gateway | the only module that calls the service |
//! | ledger | each call and its cost, recorded before the call is sent |
//! | note | an analyst's text on a report or on one of its rows |
//! | untrusted | text from outside; only its visible form is ever shown |
//! | document | reports in a file, opened without a service |
//! | finding | a row that a rule matches, with a severity and perhaps a technique |
//! | indicator | a value that others can search for: a hash, a host, a URL, a path, a key |
//! | prevalence | how many stored files have a value; a sandbox's noise is what nearly all have |
//! | pivot | from a value to the other stored files that have it |
//! | twin | a stored file that did nearly the same |
//! | expiration | when the service deletes a private file and its reports |
//! | group list | what the group has at the service, page by page: private files, analyses |
//! | artifact | a file that a sandbox recorded beside its report: capture, log, memory dump, page |
//!
//! # What calls what
//! ```text
//! cli ──> runtime ──> view ──> app ────────┬──> export ──────> report ──> text
//!  │         │                             v                     ^
//!  │         ├──────> gateway ──> service ──> request ──┬────────┘
//!  │         │           │                              └──> quota
//!  │         │           ├─────> team ──> prevalence, quota, report, text
//!  │         │           └─────> store ──> prevalence, request, quota, report
//!  │         └──────> export
//!  └──> demo   (uses none of the others, so that it can contradict them)
//! ```
//! `prevalence` uses `report` and `text`, `triage` also `request`; `app`, `view`,
//! `runtime` and `cli` show what both find.
//! `config` is on the level of `cli` and uses `app`, `view`, `service`, `store`, `team`, `quota`,
//! `environment`, `files`, `log` and `text`. `clock`, `environment` and `files` use no other
//! module; `log` uses `clock`, `files` and `text`.
//! Arrows only point down: tests/layers.rs has the list of the modules that each module may use.
//!
//! Money is spent in one place. Each call's origin (a row of [`app::COMMANDS`], a confirmation, a
//! poll, a command of [`cli`]) makes a [`request::Request`]; [`quota::RULES`], which quote the
//! specification, price it; [`gateway::Gateway`] records it, sends once, stores, and settles.
//!
//! One loop owns the screen: [`runtime`] draws the [`app::Model`], updates it by a
//! [`app::Message`], and performs the resulting [`app::Effect`]s.
//!
//! # To add something
//! - an attribute: a line of `assets/attributes.tsv`
//! - a pane: a row of `panes!` with its name, its titles and the equality of its values
//!   ([`report::attributes::Sameness`]), and a row of [`app::PANES`]
//! - a command: a row of [`app::COMMANDS`]
//! - state of one open file: a field of `app::files::OpenFile`
//! - an ad-hoc request: a row of [`app::AD_HOC_REQUESTS`], for the palette and for `behaview api`
//! - an export format: a row of [`export::FORMATS`], and one of the table in assets/help/export.md
//! - an operation: a row of `operations!` in `quota::operation`, its name in a rule of
//!   [`quota::RULES`], and a label in [`quota::Operation::label`] if it is not counted in calls
//! - a number that a price depends on: a field of [`quota::Numbers`], and for the planner and
//!   `behaview cost` a row of [`quota::OPTIONS`], an option of each operation that names the field
//! - a request: a variant of [`request::Request`] with its operation; the demo needs its own route,
//!   written from the specification and not from these rules
//! - a setting: its lines in `assets/config.toml`, and the field that it is read into
//! - an overlay: a row of `overlays!` in `app::overlays`, its commands, its drawing in
//!   `view::overlay`; a list is a `ListSource` of [`app::overlays::generic`] with a `DrawList`, a
//!   form a `FormSource` with a `DrawForm`; a confirmation an [`app::spending::Confirmation`]

pub mod app;
pub mod cli;
mod clock;
pub mod config;
pub mod demo;
mod environment;
pub mod export;
mod files;
pub mod gateway;
mod log;
pub mod prevalence;
pub mod quota;
pub mod report;
pub mod request;
pub mod runtime;
pub mod service;
pub mod store;
pub mod team;
pub mod text;
pub mod triage;
pub mod view;
