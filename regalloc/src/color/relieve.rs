//! Spills ahead of colouring where more is alive than fits, and around what failed in late rounds.

use super::{Colorer, LAST_RESORT};
use crate::segment::{by_point, length};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

impl Colorer<'_> {
    /// Where more cells would be occupied at once than there are, spills the cheapest classes that
    /// live there, before a single cell is given away. One sweep over the beginnings of segments.
    pub(super) fn relieve(&mut self, file: u8, round: u32) {
        let classes = self.classes;
        let cells = &self.colors.files[file as usize];
        let total = u64::from(cells.limit * cells.row - cells.missing);
        // None, a sixteenth, an eighth, three sixteenths ... up to half of the file.
        let slack = (total * u64::from(round - 1) / 16).min(total / 2);
        let mut starts: Vec<(u32, u32, u32)> = Vec::with_capacity(classes.class.len());
        for (index, class) in classes.class.iter().enumerate() {
            if class.shape.file.0 == file {
                let segments = class.segments.iter();
                starts.extend(segments.map(|segment| (segment.start, index as u32, segment.end)));
            }
        }
        // Classes stand in their order already, and stay so where they begin together.
        let starts = by_point(&starts, |&(start, ..)| start);
        self.colors.steps += starts.len() as u64;
        if round >= LAST_RESORT {
            for &(_, class, _) in &starts {
                if self.density(class) != u64::MAX
                    && length(&classes.class[class as usize].segments) > 4
                {
                    self.spill(class);
                }
            }
            return;
        }
        // Is there too much anywhere? Then leave some room there.
        let peak = self.pressure(&starts);
        self.colors.peak += peak;
        if peak > total {
            self.lower_pressure(&starts, total - slack);
        }
    }

    /// The most cells that are occupied at once, from segments in the order of their beginnings.
    fn pressure(&mut self, starts: &[(u32, u32, u32)]) -> u64 {
        let classes = self.classes;
        let cells = |class: u32| i64::from(classes.class[class as usize].shape.count);
        let ends: Vec<(u32, u32)> = starts.iter().map(|&(_, class, end)| (end, class)).collect();
        let ends = by_point(&ends, |&(end, _)| end);
        self.colors.steps += starts.len() as u64;
        let mut ended = ends.into_iter().peekable();
        let (mut now, mut peak) = (0, 0);
        for &(start, class, _) in starts {
            while let Some((_, class)) = ended.next_if(|&(end, _)| end <= start) {
                now -= cells(class);
            }
            now += cells(class);
            peak = peak.max(now);
        }
        peak as u64
    }

    /// What failed in a late round fails because of its surroundings: all of it goes.
    pub(super) fn clear_around_failures(&mut self) {
        let classes = self.classes;
        let failed = self.colors.spilled.iter().copied().chain(self.colors.stuck);
        let mut points: Vec<(u8, u32)> = failed
            .filter_map(|class| {
                let data = &classes.class[class as usize];
                data.segments.first().map(|segment| (data.shape.file.0, segment.start))
            })
            .collect();
        points.sort_unstable();
        for (index, class) in classes.class.iter().enumerate() {
            if class.tiny || points.is_empty() {
                continue;
            }
            let file = class.shape.file.0;
            let hit = class.segments.iter().any(|segment| {
                let at = points.partition_point(|&point| point < (file, segment.start));
                points.get(at).is_some_and(|&(other, point)| other == file && point < segment.end)
            });
            if hit {
                self.spill(index as u32);
            }
        }
    }

    /// Walks over segments in the order of their beginnings; evicts while more than `bound` cells are occupied.
    fn lower_pressure(&mut self, starts: &[(u32, u32, u32)], bound: u64) {
        let classes = self.classes;
        let cells = |class: u32| u64::from(classes.class[class as usize].shape.count);
        let mut ends: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
        let mut cheap: BinaryHeap<Reverse<(u64, u32, u32)>> = BinaryHeap::new();
        let mut now = 0u64;
        // Whether a class's current segment is counted.
        let mut counted = vec![false; classes.class.len()];
        for &(start, class, end) in starts {
            while let Some(&Reverse((ended, other))) = ends.peek() {
                if ended > start {
                    break;
                }
                ends.pop();
                if std::mem::take(&mut counted[other as usize]) {
                    now -= cells(other);
                }
            }
            if self.is_spilled[class as usize] {
                continue;
            }
            now += cells(class);
            ends.push(Reverse((end, class)));
            self.colors.steps += 1;
            counted[class as usize] = true;
            cheap.push(Reverse((self.density(class), class, end)));
            while now > bound {
                let Some(Reverse((density, victim, victim_end))) = cheap.pop() else {
                    break;
                };
                if density == u64::MAX {
                    break;
                }
                if victim_end > start
                    && counted[victim as usize]
                    && !self.is_spilled[victim as usize]
                {
                    counted[victim as usize] = false;
                    now -= cells(victim);
                    self.spill(victim);
                }
            }
        }
    }
}
