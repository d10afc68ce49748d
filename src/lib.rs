//! `behaview` browses the behaviour reports of privately scanned files in a terminal, and prices every key before it is pressed.
//!
//! # The screen
//! ```text
//!  behaview · demo · 57874b32…938c · CAPE Sandbox · ran 2026-11-12 09:14 UTC · stored 3h          title  view::screen
//!  1 Processes 37 │ 2 Tags 8 │ 3 Registry 10 │ 4 Files 22 │ 5 Network 4 │ … │ 0 Overview         tabs   app::panes
//! ╭─ Sandboxes 4 of 6 ─┲━ 1 Processes ━━━━━━━━ 1/37 ━┱─ 2 Tags ───────────────── 8 ─╮
//! ›● CAPE Sandbox      › ▾ viewer.exe  4012  +0      ┃ CALLS_WMI                    │
//! │  stored 3h         ┃ ├─▾ setup.tmp  5120  +1     ▐*CREATES_SCHEDULED_TASK       │
//! │+ next page         ┃ │ └─• cmd.exe  2884  +2     ▐─ 3 Registry ──────────── 10 ─┤     panes  view::pane, app::panes
//! │  1 request         ┃                             ┃!set HKCU…\Run = rundll32.e…  │     list   view::list
//! ├─ 0 Overview ── 16 ─┨                             ┠─ 4 Files ─────────────── 22 ─┤
//! │!verdict  MALWARE   ┃                             ┃*dropped …\stage.js · by s…   │
//! ╰────────────────────┺━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┹──────────────────────────────╯
//!  viewer.exe  4012  +0                                                                           detail, message
//!  1 request: enter next page  R relist │ +3 in ? │ free: ? help  ! findings                      bar    view::bar, app::spending
//!  left today: you 499 (239 this hour runs out first) · group 17,519 │ spent 1
//! ```
//!
//! # Words
//! | word | meaning |
//! |---|---|
//! | specification | the service's document "Private File Behaviour Retrieval and Quota Consumption Rules"; § is a section of it, and [`quota::RULES`] quotes each of its sentences about prices |
//! | report | what one sandbox saw of one file (specification §2.1) |
//! | identifier | what a report is asked for by: file, sandbox and time, but never trusted to have that shape |
//! | attribute | one member of a report; [`report::ATTRIBUTES`] lists what the program knows of each |
//! | section | an attribute's rows as they were found in the bytes |
//! | pane | attributes that are looked at together; what no table names lands in "Other" |
//! | body | the bytes of an answer as received, in memory; where they repeated the key, it is redacted before anything else has them |
//! | request | a question to the service: its address, its price, the key under which its answer is stored, its identity |
//! | scan | a private analysis of a submitted file, which several sandboxes run |
//! | poll | one call that asks how far a scan is, while it is watched |
//! | stored | on this machine, paid for, and so free |
//! | gateway | the only way to the service |
//! | ledger | each call and its cost, written before the call is sent |
//! | note | what an analyst wrote about a report or about what a row says |
//! | untrusted | text from outside; only its visible form is ever shown |
//! | document | reports saved in a file, opened without any service |
//! | indicator | what others can look for: a hash, a host, a URL, a path, a key |
//! | artifact | what a sandbox kept beside its report: a capture, an event log, a memory dump, a page |
//!
//! # What calls what
//! ```text
//! cli ──> runtime ──> view ──> app ────────┬──> export ──────> report ──> text
//!  │         │                             v                     ^
//!  │         ├──────> gateway ──> service ──> request ──┬────────┘
//!  │         │           │                              └──> quota
//!  │         │           └─────> store ──> request, quota, report
//!  │         └──────> export
//!  └──> demo   (uses none of the others: it must be able to disagree with them)
//! ```
//! `config` is beside `cli` and uses `app`, `view`, `service`, `store`, `quota`, `environment`, `files`,
//! `log`, `state` and `text`. `clock`, `environment` and `files` use no other module; `log` uses `clock`,
//! `files` and `text`; `state` uses `app`, `files` and `text`. Arrows only point down; a test checks
//! them, and lists the rooms that each room may use.
//!
//! Money is spent in one place. Whatever asks (a row of [`app::COMMANDS`], a confirmation, a poll, a
//! command of [`cli`]) names a [`request::Request`]; its price is shown by [`quota::RULES`]; and
//! [`gateway::Gateway`] writes the ledger, sends once, stores the bytes, and settles.
//!
//! The screen is a loop with one owner: [`runtime`] draws the [`app::Model`], takes a [`app::Message`] in, and performs the
//! [`app::Effect`]s that come out.
//!
//! # To add something
//! - an attribute: a line of `assets/attributes.tsv`
//! - a pane: a row of `panes!` with its name and titles, what makes two of its values the same
//!   ([`report::attributes::Sameness`]), and a row of [`app::PANES`]
//! - a command: a row of [`app::COMMANDS`]
//! - something that belongs to one open file: a field of [`app::files::OpenFile`], which goes aside
//!   with it and comes back whole
//! - a question that is typed in full: a row of [`app::AD_HOC_REQUESTS`], for the palette and for `behaview api`
//! - an export format: a row of [`export::FORMATS`]
//! - an operation: a row of `operations!` in `quota::operation`, its name among the operations of a rule of [`quota::RULES`], and,
//!   where it is not counted in calls, its words in [`quota::Operation::label`]
//! - a number that a price needs: a field of [`quota::Numbers`], and a row of [`quota::OPTIONS`], by which the planner and
//!   `behaview cost` take it; whichever operation names the field takes the option
//! - something to ask of the service: a variant of [`request::Request`] that says which operation it is; the demo answers it by a
//!   row of its own, from the specification and not from these rules
//! - a setting: its lines in `assets/config.toml`, and the field that it is read into
//! - a screen over the others: a row of `overlays!` in `app::overlays`, commands for it, and how `view::overlay` draws it;
//!   a list is an [`app::overlays::generic::ListSource`] and how its rows are drawn, a form an [`app::overlays::generic::FormSource`] and its words;
//!   a question that wants a clear answer is an [`app::spending::Confirmation`] with its keys, labels and what each agrees to

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
pub mod quota;
pub mod report;
pub mod request;
pub mod runtime;
pub mod service;
mod state;
pub mod store;
pub mod text;
pub mod view;
