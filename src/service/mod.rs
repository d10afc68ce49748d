//! The only module that uses the network: profile, credential, sending, errors and limits.
//!
//! Does not decide whether a call is worth its price: its only caller, the gateway, does.

pub mod client;
pub mod credential;
pub mod error;
mod http;
pub mod profile;
mod redact;
pub mod upload;

pub use client::Client;
pub use credential::Credential;
pub use error::ServiceError;
pub use http::ProxyRoute;
pub use profile::Profile;
pub use redact::without_keys;
