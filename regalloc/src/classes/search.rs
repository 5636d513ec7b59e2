//! Finds places for the classes of one row unit among those of another.

use super::Classes;
use smallvec::SmallVec;

/// Looks for places of one unit's classes in another's row.
pub(super) struct Search<'a> {
    pub(super) classes: &'a Classes,
    pub(super) left: &'a [u32],
    pub(super) right: &'a [u32],
    pub(super) forced: Option<(u32, u32)>,
    pub(super) row: usize,
    /// The row that a pinned member fixes.
    pub(super) pin_row: Option<u16>,
    /// For each class of `right`: the class of `left` it joins, or a place of its own.
    pub(super) chosen: SmallVec<[Option<usize>; 8]>,
    pub(super) budget: u32,
}

impl Search<'_> {
    pub(super) fn run(&mut self) -> bool {
        if self.left.len() + self.right.len() > 2 * self.row {
            return false;
        }
        let pin = |class: u32| self.classes.class[class as usize].pin;
        for row in self
            .left
            .iter()
            .chain(self.right)
            .filter_map(|&class| pin(class))
            .map(|cell| cell / self.row as u16)
        {
            if *self.pin_row.get_or_insert(row) != row {
                return false;
            }
        }
        self.step(0, 0)
    }

    /// Chooses for `right[at..]`; `used` marks classes of `left` that something joined.
    fn step(&mut self, at: usize, used: u32) -> bool {
        if self.budget == 0 {
            return false;
        }
        self.budget -= 1;
        let Some(&class) = self.right.get(at) else {
            return self.positions();
        };
        let forced = self.forced.and_then(|(left, right)| (right == class).then_some(left));
        let own = self.chosen.iter().filter(|place| place.is_none()).count();
        if forced.is_none() && self.left.len() + own < self.row {
            self.chosen.push(None);
            if self.step(at + 1, used) {
                return true;
            }
            self.chosen.pop();
        }
        for k in 0..self.left.len() {
            if used >> k & 1 != 0 || forced.is_some_and(|left| left != self.left[k]) {
                continue;
            }
            let (a, b) =
                (&self.classes.class[self.left[k] as usize], &self.classes.class[class as usize]);
            let pins_differ = a.pin.is_some() && b.pin.is_some() && a.pin != b.pin;
            if a.shape != b.shape || a.phases & b.phases == 0 || pins_differ || a.meets(b) {
                continue;
            }
            self.chosen.push(Some(k));
            if self.step(at + 1, used | 1 << k) {
                return true;
            }
            self.chosen.pop();
        }
        false
    }

    /// Whether the classes as chosen find distinct positions.
    fn positions(&self) -> bool {
        let phases = |class: u32| self.classes.class[class as usize].phases;
        let free = |class: u32| {
            self.pin_row.map_or(u16::MAX, |row| self.classes.not_pinned_to_others(class, row))
        };
        let mut masks: SmallVec<[u16; 8]> =
            self.left.iter().map(|&class| phases(class) & free(class)).collect();
        for (&class, place) in self.right.iter().zip(&self.chosen) {
            match place {
                Some(k) => masks[*k] &= phases(class) & free(class),
                None => masks.push(phases(class) & free(class)),
            }
        }
        distinct(&masks)
    }
}

/// Whether each mask can be given a bit of its own (augmenting paths; masks are few).
pub(super) fn distinct(masks: &[u16]) -> bool {
    fn give(masks: &[u16], k: usize, owner: &mut [Option<usize>; 16], tried: &mut u16) -> bool {
        let mut left = masks[k];
        while left != 0 {
            let bit = left.trailing_zeros() as usize;
            left &= left - 1;
            if *tried >> bit & 1 != 0 {
                continue;
            }
            *tried |= 1 << bit;
            let free = match owner[bit] {
                None => true,
                Some(other) => give(masks, other, owner, tried),
            };
            if free {
                owner[bit] = Some(k);
                return true;
            }
        }
        false
    }
    let mut owner = [None; 16];
    (0..masks.len()).all(|k| give(masks, k, &mut owner, &mut 0))
}
