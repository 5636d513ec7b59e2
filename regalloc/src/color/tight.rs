//! Places that leave as many cells as possible unnamed, and long gaps to what lives long.

use super::{Colorer, FileCells, cells_of};
use crate::api::Shape;
use crate::segment::Segment;
use smallvec::SmallVec;

impl Colorer<'_> {
    /// How long cells that are free for a class stay free behind it.
    fn gap(&self, file: usize, cell: u16, shape: Shape, segments: &[Segment]) -> u32 {
        let end = segments.last().map_or(0, |last| last.end);
        let tracks = &self.colors.files[file].tracks;
        let mut gap = u32::MAX;
        for cell in cells_of(cell, shape) {
            let track = &tracks[cell];
            for (stays, cursor) in track.stays.iter().zip(track.cursor) {
                let rest = stays.get(cursor as usize..).unwrap_or_default();
                let at = rest.partition_point(|stay| stay.start < end);
                gap = gap.min(rest.get(at).map_or(u32::MAX, |stay| stay.start - end));
            }
        }
        gap
    }

    /// The tightest free place for a class: new cells only where no other is free.
    pub(super) fn tightest(&mut self, file: usize, class: u32, point: u32) -> Option<u16> {
        let data = &self.classes.class[class as usize];
        let (cells, steps) = (&mut self.colors.files[file], &mut self.colors.steps);
        let (row, total) = (cells.row, cells.limit * cells.row);
        let extent = ((u32::from(data.shape.count) - 1) * u32::from(data.shape.stride) + 1) as u16;
        let preferred = data.prefer.filter(|&phase| data.phases >> phase & 1 != 0);
        // Most registers are one cell anywhere: nothing is asked of those but whether it is free.
        let wide = data.shape.count > 1;
        let anywhere = (0..row).all(|phase| data.phases >> phase & 1 != 0);
        let (start, end) = match data.segments[..] {
            [first, .., last] => (first.start, last.end),
            [only] => (only.start, only.end),
            [] => (0, 0),
        };
        let mut best: Option<((u16, bool, u32), u16)> = None;
        // Where the first segment of what nobody waits for ends: of such a class a cell is often known to be free or not.
        let known = match data.segments.first() {
            Some(first) if !wide && !data.whole && data.dormant.is_empty() => Some(first.end),
            _ => None,
        };
        let count = total.saturating_sub(extent - 1);
        let (mut first, mut open) = (0, cells.not_busy(0, start, point));
        loop {
            if open == 0 {
                first += 64;
                if first >= count {
                    break;
                }
                open = cells.not_busy(first, start, point);
                continue;
            }
            let cell = first + open.trailing_zeros() as u16;
            open &= open - 1;
            if cell >= count {
                break;
            }
            if cell >= cells.unnamed && best.is_some() && preferred.is_none() {
                // From here on all is as new as what was found, or newer.
                break;
            }
            // A wider place that was looked at may have found it occupied.
            if wide && cells.is_busy(cell, start, point)
                || !anywhere && data.phases >> (cell % row) & 1 == 0
            {
                continue;
            }
            let new = match wide {
                false => u16::from(cells.is_new(cell)),
                true => {
                    cells_of(cell, data.shape).filter(|&cell| cells.is_new(cell)).count() as u16
                }
            };
            let apart = preferred.is_some_and(|phase| u16::from(phase) != cell % row);
            if best.is_some_and(|(rank, _)| rank <= (new, apart, 0)) {
                continue;
            }
            let next = cells.next_stay.get(usize::from(cell)).copied().unwrap_or(0);
            let until = match known {
                Some(_) if point <= start && point < next && end <= next => Some(next),
                // Somebody begins to live there in the midst of the first segment.
                Some(behind)
                    if point <= start && point < next && start <= next && next < behind =>
                {
                    None
                }
                _ => cells.free_until(cell, data, point, steps),
            };
            let Some(until) = until else {
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

    /// The tightest free base of a run.
    pub(super) fn tightest_run(
        &mut self,
        members: &[(u32, u16)],
        file: usize,
        point: u32,
    ) -> Option<u16> {
        let classes = self.classes;
        let total = self.colors.files[file].limit * self.colors.files[file].row;
        let mut best: Option<((u16, u32), u16)> = None;
        // A member that lies where it must is in nobody's way.
        let loose = |&(member, offset): &(u32, u16)| {
            let data = &classes.class[member as usize];
            data.pin.is_none().then(|| (data.segments[0].start, offset))
        };
        let starts: SmallVec<[(u32, u16); 8]> = members.iter().filter_map(loose).collect();
        let free = members.iter().all(|&(member, _)| classes.class[member as usize].pin.is_none());
        // Bases at which no member is known to meet anybody.
        let not_busy = |cells: &FileCells, base: u16| {
            let masks = starts.iter();
            masks.fold(u64::MAX, |mask, &(start, offset)| {
                mask & cells.not_busy(base + offset, start, point)
            })
        };
        let (mut from, mut open) = (0, not_busy(&self.colors.files[file], 0));
        loop {
            let cells = &self.colors.files[file];
            if open == 0 {
                from += 64;
                if from >= total {
                    break;
                }
                open = not_busy(cells, from);
                continue;
            }
            let base = from + open.trailing_zeros() as u16;
            open &= open - 1;
            if base >= total || base >= cells.unnamed && best.is_some() && free {
                break;
            }
            // What was free when the mask was made may have been found occupied since.
            let busy = |&(start, offset): &(u32, u16)| cells.is_busy(base + offset, start, point);
            if starts.iter().any(busy) {
                continue;
            }
            let new = members
                .iter()
                .flat_map(|&(member, offset)| {
                    cells_of(base + offset, classes.class[member as usize].shape)
                })
                .filter(|&cell| cells.is_new(cell))
                .count() as u16;
            if best.is_some_and(|(rank, _)| rank <= (new, 0))
                || !self.fit_run(members, file, base, point)
            {
                continue;
            }
            let gap = |&(member, offset): &(u32, u16)| {
                let data = &classes.class[member as usize];
                self.gap(file, base + offset, data.shape, &data.segments)
            };
            let rank = (new, members.iter().map(gap).min().unwrap_or(0));
            if best.is_none_or(|(least, _)| rank < least) {
                best = Some((rank, base));
            }
        }
        best.map(|(_, base)| base)
    }
}
