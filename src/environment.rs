//! Reads environment variables, which are untrusted input.

/// Looks up a variable, as [`variable`] does.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Returns the value of a variable; `None` if it is unset or empty.
///
/// Replaces invalid Unicode: the caller then rejects the value, and does not take it for unset.
pub fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?;
    Some(value.to_string_lossy().into_owned()).filter(|value| !value.is_empty())
}
