//! Submitting a file for a private scan, and following the scan until its reports are there.

pub mod follow;
mod following;
pub mod submit;
