//! Numbers of what is held: none is given out twice, not after what had it was deleted, nor by a store that stands in the place of
//! another one. Whoever knows a thing by its number alone finds that thing or nothing.

/// The next number of a table, as SQL: it is greater than all that are there, for the newest is told by that, and nobody who has
/// not seen it will meet it by chance.
///
/// It stands in the statement that writes: what is read before a write may be another program's past.
pub(super) fn next(table: &str) -> String {
    // Millions of such steps lead to the greatest that takes eight bytes; one beyond is damaged, and no measure.
    format!("(SELECT COALESCE(MAX(id), 0) + 1 + (random() & 0xfffffffff) FROM {table} WHERE id < 1 << 55)")
}
