//! Reads environment variables, which are untrusted input.

/// Looks up a variable, as [`variable`] does.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The value of a variable; `None` if it is unset or empty.
///
/// Invalid Unicode in a value is replaced, not dropped: the caller then rejects the value instead
/// of treating the variable as unset.
pub fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?;
    Some(value.to_string_lossy().into_owned()).filter(|value| !value.is_empty())
}
