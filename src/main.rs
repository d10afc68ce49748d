//! The program: see the library's documentation for the map.

use std::process::ExitCode;

fn main() -> ExitCode {
    behaview::cli::main()
}
