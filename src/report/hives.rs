//! The hives of the registry by their names.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hive {
    pub short: &'static str,
    pub long: &'static str,
    /// Where the system's kernel has it, if it has it as a whole.
    pub kernel: Option<&'static str>,
}

pub const HIVES: [Hive; 5] = [
    Hive { short: "HKLM", long: "HKEY_LOCAL_MACHINE", kernel: Some(r"\REGISTRY\MACHINE") },
    Hive { short: "HKCU", long: "HKEY_CURRENT_USER", kernel: None },
    Hive { short: "HKCR", long: "HKEY_CLASSES_ROOT", kernel: None },
    Hive { short: "HKCC", long: "HKEY_CURRENT_CONFIG", kernel: None },
    Hive { short: "HKU", long: "HKEY_USERS", kernel: Some(r"\REGISTRY\USER") },
];

impl Hive {
    /// The longer ways in which its name is written.
    pub fn in_full(self) -> impl Iterator<Item = &'static str> {
        let kernel = self.kernel.into_iter().flat_map(|name| [name, name.trim_start_matches('\\')]);
        std::iter::once(self.long).chain(kernel)
    }
}
