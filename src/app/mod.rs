//! The state machine behind the screen: no clock, no files, no network, no terminal.
//!
//! ```text
//! Message ──> Model::update ──> Effect (data; the runtime performs it and sends another Message)
//!                 │
//!             COMMANDS: a key, its request to the service (and so its price), what it does
//! ```

pub mod commands;
pub mod compare;
pub mod export_form;
pub(crate) mod files;
pub mod find;
pub mod keys;
pub mod layout;
pub mod list;
pub mod message;
pub mod model;
pub mod overlays;
pub mod panes;
pub mod prevalence;
mod responses;
pub mod scan;
pub mod spending;
pub(crate) mod update;

pub use commands::{COMMANDS, Command, PANES};
pub use files::SavedScreen;
pub use keys::{Key, KeyContext, Keymap};
pub use layout::{Area, Layout, Sizes};
pub use list::{List, ListEntry, OpenReport};
pub use message::{
    Effect, Failure, FileEvent, FileJob, Job, JobNumber, LoadedFile, LoadedReport, Message, ReportEvent, ReportJob,
    Response, ResponseSource, RulesOrFile, SearchEvent, SearchJob, ServiceCall, ServiceEvent, Size, StoreEvent,
    StoreJob, TerminalAction, TerminalEvent, Ticket,
};
pub use model::{Model, Screen, Service};
pub use overlays::Overlay;
pub use spending::ad_hoc::{AD_HOC_REQUESTS, AdHocRequest};
