//! The only user of the network: profile, credential, sending, typed errors, size and time limits.
//!
//! Nothing here decides whether a call is worth its price; that is the gate's work, and only the gate calls [`Client::send`].

pub mod client;
pub mod credential;
pub mod error;
mod failure;
mod head;
mod http;
mod masking;
mod packing;
mod patience;
pub mod profile;
mod upload;

pub use client::Client;
pub use credential::Credential;
pub use error::ServiceError;
pub use head::is_version;
pub use http::Way;
pub use masking::without_keys;
pub use profile::Profile;
