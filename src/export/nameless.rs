//! Files without a name, which get one when they are whole.

use std::fs::File;
use std::io;
use std::path::Path;

/// Makes a file without a name in a folder, the owner's alone, where the system has such files: however its program ends, nothing of
/// it is left.
pub(super) fn begin_in(folder: &Path) -> Option<File> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{Mode, OFlags, open};
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        open(folder, flags, Mode::RUSR | Mode::WUSR).ok().map(File::from)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        None
    }
}

/// Gives a file that has none a name, where nothing has that, neither a file nor a link.
///
/// # Errors
/// What the system said; [`io::ErrorKind::AlreadyExists`] where something is there.
pub(super) fn name(file: &File, path: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{AtFlags, CWD, linkat};
        let here = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file));
        Ok(linkat(CWD, here, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (file, path);
        Err(io::ErrorKind::Unsupported.into())
    }
}
