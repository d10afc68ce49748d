//! behaview

pub mod app;
pub mod cli;
pub mod config;
pub mod demo;
pub mod gate;
pub mod quota;
pub mod report;
pub mod request;
pub mod runtime;
pub mod service;
pub mod store;
pub mod text;
pub mod view;
