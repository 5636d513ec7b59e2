//! Live ranges as sorted lists of disjoint segments, with holes.
//!
//! Node k of the flat function owns the points 4k to 4k+3: copies placed before it happen at 4k, its
//! uses are read at 4k+1, its definitions are written at 4k+2 (early ones at 4k+1), and copies placed
//! behind it happen at 4k+3.

use smallvec::SmallVec;

/// Points `start..end` (end excluded) at which a value is alive.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Segment {
    pub start: u32,
    pub end: u32,
}

/// A sorted list of disjoint segments; neighbours that touch are one.
pub(crate) type Segments = SmallVec<[Segment; 2]>;

/// Copies placed before node k happen here.
#[inline]
pub(crate) const fn before(node: u32) -> u32 {
    4 * node
}
/// Early definitions of node k are written here, at the same time as uses are read.
#[inline]
pub(crate) const fn read(node: u32) -> u32 {
    4 * node + 1
}
/// Definitions of node k are written here; uses that end here do not overlap.
#[inline]
pub(crate) const fn write(node: u32) -> u32 {
    4 * node + 2
}
/// One past the copies that are placed behind node k.
#[inline]
pub(crate) const fn after(node: u32) -> u32 {
    4 * node + 4
}

/// Index of the first segment that ends after a point.
fn first_after(list: &[Segment], point: u32) -> usize {
    list.partition_point(|segment| segment.end <= point)
}

/// Whether two lists share a point. Costs the shorter list times the logarithm of the longer.
pub(crate) fn overlap(a: &[Segment], b: &[Segment]) -> bool {
    let (short, mut long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    for segment in short {
        // Most lists have one or two segments: look at the front before searching.
        match long.first() {
            None => return false,
            Some(front) if front.end <= segment.start => {
                long = &long[first_after(long, segment.start)..]
            }
            Some(_) => {}
        }
        if long.first().is_some_and(|other| other.start < segment.end) {
            return true;
        }
    }
    false
}

/// Adds disjoint segments to a list.
pub(crate) fn unite(into: &mut Segments, from: &[Segment]) {
    if from.len() > 8 && into.len() > 8 {
        let mut all: Vec<Segment> = Vec::with_capacity(into.len() + from.len());
        all.extend_from_slice(into);
        all.extend_from_slice(from);
        all.sort_unstable_by_key(|segment| segment.start);
        into.clear();
        for segment in all {
            match into.last_mut() {
                Some(last) if last.end >= segment.start => last.end = last.end.max(segment.end),
                _ => into.push(segment),
            }
        }
        return;
    }
    if from.len() > into.len() {
        let mut big: Segments = from.into();
        for &segment in into.iter() {
            insert(&mut big, segment);
        }
        *into = big;
        return;
    }
    for &segment in from {
        insert(into, segment);
    }
}

/// Adds segments that may overlap those of a list.
pub(crate) fn cover(into: &mut Segments, from: &[Segment]) {
    if from.is_empty() {
        return;
    }
    let mut all: Vec<Segment> = into.iter().chain(from).copied().collect();
    all.sort_unstable_by_key(|segment| segment.start);
    into.clear();
    for segment in all {
        match into.last_mut() {
            Some(last) if last.end >= segment.start => last.end = last.end.max(segment.end),
            _ => into.push(segment),
        }
    }
}

/// Adds one segment that overlaps none of the list, joining neighbours that it touches.
pub(crate) fn insert(into: &mut Segments, segment: Segment) {
    let at = if into.last().is_none_or(|last| last.end <= segment.start) {
        into.len()
    } else {
        first_after(into, segment.start)
    };
    let joins_left = at > 0 && into[at - 1].end == segment.start;
    let joins_right = at < into.len() && into[at].start == segment.end;
    match (joins_left, joins_right) {
        (true, true) => {
            into[at - 1].end = into[at].end;
            into.remove(at);
        }
        (true, false) => into[at - 1].end = segment.end,
        (false, true) => into[at].start = segment.start,
        (false, false) => into.insert(at, segment),
    }
}

/// Takes one segment, which a segment of the list covers, out of the list.
pub(crate) fn remove(from: &mut Segments, segment: Segment) {
    let at = first_after(from, segment.start);
    let Some(found) = from.get_mut(at) else { return };
    let behind = Segment { start: segment.end, end: found.end };
    found.end = segment.start;
    if behind.start < behind.end {
        from.insert(at + 1, behind);
    }
    if from[at].start >= from[at].end {
        from.remove(at);
    }
}

/// Items in the order of a point of each; those at one point stay as they stand. Linear where the points are no more than a
/// few times the items, as those of a function are.
pub(crate) fn by_point<T: Copy>(items: &[T], point: impl Fn(&T) -> u32) -> Vec<T> {
    let last = items.iter().map(&point).max().unwrap_or(0) as usize;
    if last > 16 * items.len() {
        let mut sorted = items.to_vec();
        sorted.sort_by_key(point);
        return sorted;
    }
    let Some(&filler) = items.first() else {
        return Vec::new();
    };
    // How many come before each point.
    let mut before = vec![0u32; last + 2];
    for item in items {
        before[point(item) as usize + 1] += 1;
    }
    for at in 1..before.len() {
        before[at] += before[at - 1];
    }
    let mut sorted = vec![filler; items.len()];
    for item in items {
        let place = &mut before[point(item) as usize];
        sorted[*place as usize] = *item;
        *place += 1;
    }
    sorted
}

/// Points covered.
pub(crate) fn length(list: &[Segment]) -> u64 {
    list.iter().map(|segment| u64::from(segment.end - segment.start)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(points: &[(u32, u32)]) -> Segments {
        points.iter().map(|&(start, end)| Segment { start, end }).collect()
    }

    #[test]
    fn lists_that_only_touch_do_not_overlap() {
        assert!(!overlap(&list(&[(0, 4), (8, 10)]), &list(&[(4, 8), (10, 12)])));
        assert!(overlap(&list(&[(0, 4), (8, 10)]), &list(&[(9, 12)])));
        assert!(overlap(&list(&[(0, 100)]), &list(&[(3, 4), (5, 6), (7, 8)])));
        assert!(!overlap(&list(&[]), &list(&[(3, 4)])));
    }

    #[test]
    fn items_come_in_the_order_of_their_points_and_those_at_one_point_as_they_stood() {
        for spread in [1, 1000] {
            let items: Vec<(u32, u32)> = (0..50).map(|k| (k * 37 % 11 * spread, k)).collect();
            let mut wanted = items.clone();
            wanted.sort_unstable();
            assert_eq!(by_point(&items, |item| item.0), wanted);
        }
        assert!(by_point(&[0u32; 0], |&item| item).is_empty());
    }

    #[test]
    fn a_cover_joins_what_overlaps() {
        let mut a = list(&[(0, 4), (8, 10)]);
        cover(&mut a, &list(&[(2, 9), (20, 21)]));
        assert_eq!(a, list(&[(0, 10), (20, 21)]));
    }

    #[test]
    fn a_removed_segment_leaves_what_lies_around_it() {
        let whole = list(&[(0, 4), (8, 20)]);
        for (removed, rest) in [
            ((8, 20), &[(0, 4)][..]),
            ((8, 10), &[(0, 4), (10, 20)]),
            ((18, 20), &[(0, 4), (8, 18)]),
            ((10, 12), &[(0, 4), (8, 10), (12, 20)]),
        ] {
            let mut a = whole.clone();
            remove(&mut a, Segment { start: removed.0, end: removed.1 });
            assert_eq!(a, list(rest));
        }
    }

    #[test]
    fn union_joins_neighbours_and_keeps_order() {
        let mut a = list(&[(0, 4), (8, 10)]);
        unite(&mut a, &list(&[(4, 8), (12, 14)]));
        assert_eq!(a, list(&[(0, 10), (12, 14)]));
        let mut many: Segments =
            (0..20).map(|k| Segment { start: 10 * k, end: 10 * k + 2 }).collect();
        let between: Segments =
            (0..20).map(|k| Segment { start: 10 * k + 5, end: 10 * k + 7 }).collect();
        unite(&mut many, &between);
        assert_eq!(many.len(), 40);
        assert!(many.windows(2).all(|pair| pair[0].end < pair[1].start));
        assert_eq!(length(&many), 80);
    }
}
