//! Places that leave as many cells as possible unnamed, and long gaps to what lives long.

use super::named::Named;
use super::{Colorer, FileCells, cells_of};
use crate::classes::Class;
use smallvec::SmallVec;

impl FileCells {
    /// [`Colorer::tightest`] for a class of one cell that may lie anywhere, as most do: nothing is asked of a cell but
    /// whether it is free.
    fn tightest_cell(&mut self, class: &Class, point: u32, steps: &mut u64) -> Option<u16> {
        let [first, ..] = class.segments[..] else { return Some(0) };
        let end = class.segments.last().map_or(first.end, |last| last.end);
        // Of a class that nobody waits for, a cell is often known to be free or not.
        let known = !class.whole && class.dormant.is_empty();
        let count = self.limit * self.row;
        let mut best: Option<(u32, u16)> = None;
        let mut new: Option<u16> = None;
        for from in (0..count).step_by(64) {
            let open = self.not_busy(from, first.start, point) & below(count - from);
            let new_cells = self.new_cells(from);
            let mut left = open & !new_cells;
            while left != 0 {
                let cell = from + left.trailing_zeros() as u16;
                left &= left - 1;
                let quick = known.then(|| self.known_until(cell, first, end, point)).flatten();
                let until = quick.unwrap_or_else(|| self.free_until(cell, class, point, steps));
                let Some(until) = until else { continue };
                let gap = until - end;
                if best.is_none_or(|(least, _)| gap < least) {
                    best = Some((gap, cell));
                    if gap == 0 {
                        return Some(cell);
                    }
                }
            }
            // What is new is as good here as there.
            let mut left = open & new_cells;
            while left != 0 && best.is_none() && new.is_none() {
                let cell = from + left.trailing_zeros() as u16;
                left &= left - 1;
                new = self.free_until(cell, class, point, steps).map(|_| cell);
            }
        }
        best.map(|(_, cell)| cell).or(new)
    }
}

/// The lowest bits, as many as there are cells.
fn below(cells: u16) -> u64 {
    if cells >= 64 { u64::MAX } else { (1 << cells) - 1 }
}

impl Colorer<'_> {
    /// The tightest free place for a class: new cells only where no other is free.
    pub(super) fn tightest(&mut self, file: usize, class: u32, point: u32) -> Option<u16> {
        let data = &self.classes.class[class as usize];
        let (cells, steps) = (&mut self.colors.files[file], &mut self.colors.steps);
        let (row, total) = (cells.row, cells.limit * cells.row);
        let extent = data.shape.extent() as u16;
        let preferred = data.prefer.filter(|&phase| data.phases >> phase & 1 != 0);
        let anywhere = (0..row).all(|phase| data.phases >> phase & 1 != 0);
        if extent == 1 && anywhere && preferred.is_none() {
            return cells.tightest_cell(data, point, steps);
        }
        let (start, end) = match data.segments[..] {
            [first, .., last] => (first.start, last.end),
            [only] => (only.start, only.end),
            [] => (0, 0),
        };
        let mut best: Option<((u16, bool, u32), u16)> = None;
        let unnamed = cells.named.as_ref().map_or(0, Named::end);
        for cell in 0..total.saturating_sub(extent - 1) {
            if cell >= unnamed && best.is_some() && preferred.is_none() {
                // From here on all is as new as what was found, or newer.
                break;
            }
            if cells.is_busy(cell, start, point) || data.phases >> (cell % row) & 1 == 0 {
                continue;
            }
            let new = cells_of(cell, data.shape).filter(|&cell| cells.is_new(cell)).count() as u16;
            let apart = preferred.is_some_and(|phase| u16::from(phase) != cell % row);
            if best.is_some_and(|(rank, _)| rank <= (new, apart, 0)) {
                continue;
            }
            let Some(until) = cells.free_until(cell, data, point, steps) else {
                continue;
            };
            // What is new is as good here as there.
            let gap = match new {
                0 => until - end,
                _ => 0,
            };
            let rank = (new, apart, gap);
            if best.is_none_or(|(least, _)| rank < least) {
                best = Some((rank, cell));
                if rank == (0, false, 0) {
                    // Nothing is better, and what is as good comes later.
                    break;
                }
            }
        }
        best.map(|(_, cell)| cell)
    }

    /// The tightest free base of a run none of whose members is pinned.
    pub(super) fn tightest_run(
        &mut self,
        members: &[(u32, u16)],
        file: usize,
        point: u32,
    ) -> Option<u16> {
        let classes = &self.classes.class;
        let (cells, steps) = (&mut self.colors.files[file], &mut self.colors.steps);
        let members: SmallVec<[(&Class, u16); 8]> =
            members.iter().map(|&(member, offset)| (&classes[member as usize], offset)).collect();
        // The cells of all members from the base on: one bit each, where they are near.
        let taken = || members.iter().flat_map(|&(class, offset)| cells_of(offset, class.shape));
        let pattern =
            taken().try_fold(0u64, |bits, offset| Some(bits | 1u64.checked_shl(offset.into())?));
        let unnamed = cells.named.as_ref().map_or(0, Named::end);
        let total = cells.limit * cells.row;
        let mut best: Option<((u16, u32), u16)> = None;
        'windows: for from in (0..total).step_by(64) {
            // Bases at which no member is known to meet anybody.
            let mut open = members.iter().fold(below(total - from), |open, (class, offset)| {
                open & cells.not_busy(from + offset, class.segments[0].start, point)
            });
            'bases: while open != 0 {
                let base = from + open.trailing_zeros() as u16;
                open &= open - 1;
                if base >= unnamed && best.is_some() {
                    // From here on all is new.
                    break 'windows;
                }
                let new = match pattern {
                    Some(pattern) => (cells.new_cells(base) & pattern).count_ones() as u16,
                    None => taken().filter(|offset| cells.is_new(base + offset)).count() as u16,
                };
                if best.is_some_and(|(rank, _)| rank <= (new, 0)) {
                    continue;
                }
                let mut gap = u32::MAX;
                for &(class, offset) in &members {
                    if !cells.takes(class, base + offset) {
                        continue 'bases;
                    }
                    let until = cells.free_until(base + offset, class, point, steps);
                    let Some(until) = until else { continue 'bases };
                    let end = class.segments.last().map_or(0, |last| last.end);
                    gap = gap.min(until - end);
                }
                if best.is_none_or(|(least, _)| (new, gap) < least) {
                    best = Some(((new, gap), base));
                }
            }
        }
        best.map(|(_, base)| base)
    }
}
