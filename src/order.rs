//! Sorting that takes little room in the program. The standard library's is written out for each type, five kilobytes at a time; few of
//! them ever have more than some hundred things to sort.

use std::cmp::Ordering;

/// Up to so many things are put in order where they stand: most lists are short, and in order but for a few.
const FEW: usize = 32;

/// Gathers things in a map or a set, which collects them by sorting them first.
pub fn gathered<T, C: Default + Extend<T>>(things: impl IntoIterator<Item = T>) -> C {
    let mut all = C::default();
    all.extend(things);
    all
}

/// Sorts by a key; what has the same stays as it stood.
pub fn sort_by_key<T, K: Ord>(things: &mut Vec<T>, key: impl Fn(&T) -> K) {
    sort_by(things, |one, other| key(one).cmp(&key(other)));
}

/// Sorts, the least first.
pub fn sort<T: Ord>(things: &mut Vec<T>) {
    sort_by(things, T::cmp);
}

/// Sorts by what comes before what; what is the same stays as it stood.
pub fn sort_by<T>(things: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    if things.len() <= FEW {
        return insert(things, &compare);
    }
    // Nothing that is sorted here comes near the end of these numbers.
    let mut places: Vec<_> = (0..u32::try_from(things.len()).unwrap_or(u32::MAX)).collect();
    sort_places(&mut places, &|one, other| match (things.get(one), things.get(other)) {
        (Some(one), Some(other)) => compare(one, other),
        _ => Ordering::Equal,
    });
    let mut taken: Vec<Option<T>> = std::mem::take(things).into_iter().map(Some).collect();
    things.extend(places.into_iter().filter_map(|place| taken.get_mut(place as usize)?.take()));
}

/// Moves each thing to the front as far as it comes before what stands there.
fn insert<T>(things: &mut [T], compare: &impl Fn(&T, &T) -> Ordering) {
    for end in 1..things.len() {
        let mut at = end;
        while let Some([before, thing]) = at.checked_sub(1).and_then(|before| things.get(before..=at))
            && compare(before, thing).is_gt()
        {
            things.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// Sorts rows of a section, which may be very many, by a number of each.
pub fn sort_rows(rows: &mut [u32], number: &dyn Fn(usize) -> usize) {
    sort_places(rows, &|one, other| number(one).cmp(&number(other)));
}

/// The one sort of the library that is written out.
fn sort_places(places: &mut [u32], compare: &dyn Fn(usize, usize) -> Ordering) {
    places.sort_by(|one, other| compare(*one as usize, *other as usize));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_order_of_the_library(things in prop::collection::vec((0..9_u8, 0..9_u8), 0..80)) {
            let (mut sorted, mut by_key) = (things.clone(), things.clone());
            sort(&mut sorted);
            sort_by_key(&mut by_key, |thing| thing.1);
            let (mut wanted, mut wanted_by_key) = (things.clone(), things);
            wanted.sort();
            wanted_by_key.sort_by_key(|thing| thing.1);
            prop_assert_eq!((sorted, by_key), (wanted, wanted_by_key));
        }
    }
}
