//! Sequencing of parallel copies.
//!
//! Parallel copies become sequences: every source is read before it is overwritten.

use crate::api::Shape;

/// One move between places of one file; a place is named by its first cell.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Move {
    pub from: u16,
    pub to: u16,
    pub shape: Shape,
}

/// What the sequence consists of.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Copy one place to another.
    Copy(Move),
    /// Exchange two places.
    Swap(Move),
}

/// Orders simultaneous moves. Destinations are distinct; a source may be read several times; places
/// are equal or disjoint. `spare` finds a free place of a shape, to break a cycle; without one, the
/// cycle becomes swaps.
pub(crate) fn sequence(
    moves: &[Move],
    mut spare: impl FnMut(Shape) -> Option<u16>,
    steps: &mut Vec<Step>,
) {
    let mut pending: Vec<Move> =
        moves.iter().copied().filter(|step| step.from != step.to).collect();
    if let [only] = pending[..] {
        steps.push(Step::Copy(only));
        return;
    }
    pending.sort_unstable_by_key(|step| key(step.shape, step.to));
    let find = |pending: &[Move], shape: Shape, place: u16| {
        pending.binary_search_by_key(&key(shape, place), |step| key(step.shape, step.to)).ok()
    };
    // How many moves that are still to be done read each destination.
    let mut readers = vec![0u32; pending.len()];
    for step in &pending {
        if let Some(at) = find(&pending, step.shape, step.from) {
            readers[at] += 1;
        }
    }
    let mut done = vec![false; pending.len()];
    let mut ready: Vec<usize> = (0..pending.len()).rev().filter(|&k| readers[k] == 0).collect();
    let mut scan = 0;
    loop {
        while let Some(k) = ready.pop() {
            done[k] = true;
            let step = pending[k];
            steps.push(Step::Copy(step));
            if let Some(at) = find(&pending, step.shape, step.from) {
                readers[at] -= 1;
                if readers[at] == 0 && !done[at] {
                    ready.push(at);
                }
            }
        }
        while scan < pending.len() && done[scan] {
            scan += 1;
        }
        let Some(&first) = pending.get(scan) else {
            return;
        };
        // Only cycles are left, each place read once. `reader` overwrites what reads `first.to`.
        if let Some(place) = spare(first.shape) {
            steps.push(Step::Copy(Move { from: first.to, to: place, shape: first.shape }));
            let reader = pending.iter().zip(&done).position(|(step, done)| {
                !done && step.from == first.to && key(step.shape, 0) == key(first.shape, 0)
            });
            let reader = reader.expect("every place of a cycle is read");
            pending[reader].from = place;
            readers[scan] = 0;
            ready.push(scan);
        } else {
            // a <- b <- c <- a: swap a,b then b,c; each swap settles one place.
            let mut at = scan;
            loop {
                done[at] = true;
                let step = pending[at];
                if step.from == first.to {
                    break;
                }
                steps.push(Step::Swap(step));
                at = find(&pending, step.shape, step.from).expect("a cycle closes");
            }
        }
    }
}

fn key(shape: Shape, place: u16) -> (u8, u16) {
    (shape.file.0, place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::mach::FileId;

    const SHAPE: Shape = Shape { file: FileId(0), count: 1, stride: 1, per_lane: true };

    /// Runs a sequence over places that hold their own numbers.
    fn check(pairs: &[(u16, u16)], spare: Option<u16>) {
        let moves: Vec<Move> =
            pairs.iter().map(|&(to, from)| Move { from, to, shape: SHAPE }).collect();
        let mut steps = Vec::new();
        sequence(&moves, |_| spare, &mut steps);
        let mut cells: Vec<u16> = (0..64).collect();
        for step in &steps {
            match *step {
                Step::Copy(step) => cells[step.to as usize] = cells[step.from as usize],
                Step::Swap(step) => cells.swap(step.from as usize, step.to as usize),
            }
        }
        for &(to, from) in pairs {
            assert_eq!(cells[to as usize], from, "{pairs:?}: {steps:?}");
        }
        for untouched in 0..60 {
            if !pairs.iter().any(|pair| pair.0 == untouched) {
                assert_eq!(cells[untouched as usize], untouched, "{pairs:?} wrote {untouched}");
            }
        }
    }

    #[test]
    fn chains_fans_and_cycles_arrive_with_and_without_a_spare_place() {
        for spare in [Some(63), None] {
            check(&[(1, 2)], spare);
            check(&[(1, 1), (2, 3)], spare);
            check(&[(1, 2), (2, 3), (3, 4)], spare);
            check(&[(3, 2), (2, 1), (1, 0)], spare);
            check(&[(1, 2), (2, 1)], spare);
            check(&[(1, 2), (2, 3), (3, 1), (4, 1)], spare);
            check(&[(1, 0), (2, 0), (3, 0)], spare);
            check(&[(1, 2), (2, 1), (5, 6), (6, 7), (7, 5), (8, 8)], spare);
        }
    }

    #[test]
    fn random_parallel_copies_arrive() {
        let mut seed = 7u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        for _ in 0..500 {
            let mut free: Vec<u16> = (0..12).collect();
            let count = random(12) as usize;
            let pairs: Vec<(u16, u16)> = (0..count)
                .map(|_| (free.remove(random(free.len() as u64) as usize), random(12) as u16))
                .collect();
            check(&pairs, Some(63));
            check(&pairs, None);
        }
    }
}
