//! Paths as any system writes them.

/// The last part of a path: what stands behind its last separator.
pub fn last_part(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| matches!(byte, b'\\' | b'/')).next().unwrap_or(path)
}
