//! What a path is: a file, a folder, or a device or pipe, for which STIX has no object.

use crate::text::Untrusted;
use std::collections::{HashMap, HashSet};

/// The devices of Windows that files lie on.
const VOLUMES: [&str; 4] = ["harddiskvolume", "cdrom", "mup", "lanmanredirector"];

/// Whether a path is that of a device or pipe.
pub(super) fn is_device(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    if let Some(device) = path.strip_prefix(r"\device\") {
        return !device.contains('\\') || !VOLUMES.iter().any(|volume| device.starts_with(volume));
    }
    let spaces = [r"\\.\", r"\??\", r"\\?\"];
    if let Some(inside) = spaces.iter().find_map(|space| path.strip_prefix(space)) {
        // A drive with something on it, a volume, or another machine.
        let is_volume = inside.starts_with("volume{") && inside.contains('\\');
        let is_pipe = inside.split('\\').nth(2) == Some("pipe");
        return !(inside.get(1..3) == Some(r":\") || is_volume || inside.starts_with(r"unc\") && !is_pipe);
    }
    // One of another machine.
    let is_pipe = path.strip_prefix(r"\\").is_some_and(|machine| machine.split('\\').nth(1) == Some("pipe"));
    is_pipe || path.starts_with("/dev/") && !path.starts_with("/dev/shm/")
}

/// Those of some paths that others lie below, as they are compared.
pub(super) fn folders(paths: &HashMap<Untrusted, &Untrusted>) -> HashSet<Untrusted> {
    let mut sorted: Vec<_> = paths.keys().map(Untrusted::as_bytes).collect();
    sorted.sort();
    let has_below = |path: &&Untrusted| {
        [b'\\', b'/'].into_iter().any(|separator| {
            let start = [path.as_bytes(), &[separator]].concat();
            let first = sorted.partition_point(|known| *known < start.as_slice());
            sorted.get(first).is_some_and(|below| below.starts_with(&start))
        })
    };
    paths.keys().filter(has_below).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_and_pipes_are_told_from_files() {
        for device in [
            r"\Device\KsecDD",
            r"\??\PIPE\wkssvc",
            r"\\.\pipe\lsass",
            r"\\.\PhysicalDrive0",
            r"\\.\C:",
            r"\Device\NamedPipe\x",
            r"\Device\HarddiskVolume1",
            r"\\server\pipe\spoolss",
            r"\??\UNC\server\pipe\spoolss",
            "/dev/null",
        ] {
            assert!(is_device(device), "{device}");
        }
        for file in [
            r"C:\Windows\a",
            r"\??\C:\a",
            r"\\?\C:\a",
            r"\\.\C:\a",
            r"\Device\HarddiskVolume1\a",
            r"\\server\share\pipe",
            r"\??\UNC\server\share\a",
            "/dev/shm/a",
            "/home/pipe/a",
            "pipe",
        ] {
            assert!(!is_device(file), "{file}");
        }
    }
}
