//! The only user of the network: profile, credential, sending, typed errors, size and time limits.
//!
//! Nothing here decides whether a call is worth its price; that is the gateway's work, and only the gateway calls [`Client::send`].

pub mod client;
mod content_encoding;
pub mod credential;
pub mod error;
mod http;
pub mod profile;
mod redact;
mod upload;

pub use client::Client;
pub use credential::Credential;
pub use error::ServiceError;
pub use http::Way;
pub use profile::Profile;
pub use redact::without_keys;
