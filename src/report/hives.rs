//! The hives of the registry by their names.

/// A hive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hive {
    /// Its usual name.
    pub short: &'static str,
    /// Its name in full.
    pub long: &'static str,
    /// Where the system's kernel has it, if it has it as a whole.
    pub kernel: Option<&'static str>,
}

/// All of them.
pub const HIVES: [Hive; 5] = [
    Hive { short: "HKLM", long: "HKEY_LOCAL_MACHINE", kernel: Some(r"\REGISTRY\MACHINE") },
    Hive { short: "HKCU", long: "HKEY_CURRENT_USER", kernel: None },
    Hive { short: "HKCR", long: "HKEY_CLASSES_ROOT", kernel: None },
    Hive { short: "HKCC", long: "HKEY_CURRENT_CONFIG", kernel: None },
    Hive { short: "HKU", long: "HKEY_USERS", kernel: Some(r"\REGISTRY\USER") },
];

impl Hive {
    /// How a key is written that begins with it in one of its longer names, and how many bytes that takes.
    #[must_use]
    pub fn in_full(key: &[u8]) -> Option<(Self, usize)> {
        // The names differ in how they end: one byte leaves out nearly all of them.
        let ends_alike = |start: &[u8], name: &[u8]| {
            start.last().map(u8::to_ascii_lowercase) == name.last().map(u8::to_ascii_lowercase)
        };
        let starts = |name: &str| {
            let start = key.get(..name.len());
            start.is_some_and(|start| ends_alike(start, name.as_bytes()) && start.eq_ignore_ascii_case(name.as_bytes()))
        };
        HIVES.into_iter().find_map(|hive| {
            let kernel = hive.kernel.into_iter().flat_map(|name| [name, name.trim_start_matches('\\')]);
            std::iter::once(hive.long).chain(kernel).find(|name| starts(name)).map(|name| (hive, name.len()))
        })
    }
}
