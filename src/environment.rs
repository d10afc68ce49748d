//! The variables of the environment, which anybody may have set.

/// A variable's text; none where it is not set, or empty.
///
/// What is no text in one is replaced and not left out: whoever reads it refuses it then, and never takes it for one that nobody has
/// set.
pub fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?;
    Some(value.to_string_lossy().into_owned()).filter(|value| !value.is_empty())
}
