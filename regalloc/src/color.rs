//! Gives classes their cells: registers that must lie together first, then the rest in the order of
//! their beginnings, each in the next free cell.
//!
//! "Next" goes round the rows in use, so that neighbours in time get different positions of a row
//! (on R700: different VLIW slots) and a cell rests as long as possible before it is written again
//! (fewer false dependences). When nothing is free, whoever costs least per point of life is
//! spilled, and the function is allocated again with spill code.

mod evict;
mod named;
mod order;
mod relieve;
#[cfg(test)]
mod tests;
mod tight;

use crate::api::{Options, Policy, Shape};
use crate::classes::{Class, Classes};
use crate::segment::{Segment, length};
use crate::work::NONE;
use gpucc_ir::mach::{FileId, Files};
use named::Named;
use order::{Large, Queues, Small};
use smallvec::SmallVec;
use std::ops::{Index, IndexMut};

/// One stay of a class in a cell.
#[derive(Copy, Clone, Debug)]
struct Stay {
    start: u32,
    end: u32,
    class: u32,
}

/// What occupies one cell: what was placed in the first sweep, and in the second. Two lists, so
/// that each sweep adds at the end of its own.
#[derive(Clone, Debug, Default)]
struct Track {
    stays: [Vec<Stay>; 2],
    /// Where somebody waits here, and where somebody lives here who is written for all lanes: both only in files in which
    /// something ignores the mask.
    dormant: Vec<Stay>,
    whole: Vec<Stay>,
    /// First stay of each list that ends after the sweep's point.
    cursor: [u32; 2],
}

impl Track {
    /// Who waits here where a class is written for all lanes, and who is written so here where it waits.
    fn wakes(&self, class: &Class) -> impl Iterator<Item = u32> {
        let meets = |list: &[Segment], stay: &Stay| {
            list.iter().any(|segment| segment.start < stay.end && stay.start < segment.end)
        };
        let waiting = self.dormant.iter().filter(|_| class.whole);
        let waiting = waiting.filter(move |stay| meets(&class.segments, stay));
        let written = self.whole.iter().filter(move |stay| meets(&class.dormant, stay));
        waiting.chain(written).map(|stay| stay.class)
    }
}

/// The cells of a file by number. Most programs use few of those there are: what nobody has asked to change is empty.
#[derive(Clone, Debug, Default)]
struct Tracks(Vec<Track>);

impl Index<u16> for Tracks {
    type Output = Track;

    fn index(&self, cell: u16) -> &Track {
        static EMPTY: Track = Track {
            stays: [Vec::new(), Vec::new()],
            dormant: Vec::new(),
            whole: Vec::new(),
            cursor: [0; 2],
        };
        self.0.get(usize::from(cell)).unwrap_or(&EMPTY)
    }
}

impl IndexMut<u16> for Tracks {
    fn index_mut(&mut self, cell: u16) -> &mut Track {
        if self.0.len() <= usize::from(cell) {
            self.0.resize_with(usize::from(cell) + 1, Track::default);
        }
        &mut self.0[usize::from(cell)]
    }
}

/// All cells of one file.
#[derive(Clone, Debug, Default)]
struct FileCells {
    tracks: Tracks,
    /// A point up to which the cell is known to be occupied: a quick no.
    busy: Vec<u32>,
    /// Where the next stay begins in a cell that is known to be free from the sweep's point until then: a quick answer.
    /// It says nothing once the sweep has passed it.
    next_stay: Vec<u32>,
    row: u16,
    /// Rows that may be used.
    limit: u16,
    /// Rows in use.
    opened: u16,
    /// Cell after the one taken last.
    next: u16,
    /// Cells within the limit that do not exist.
    missing: u16,
    /// Which cells hold something at some time, where that decides.
    named: Option<Named>,
}

impl FileCells {
    /// Which of the 64 cells from `first` on would be named newly, where that decides: cell `first + i` is bit `i`.
    #[inline]
    fn new_cells(&self, first: u16) -> u64 {
        self.named.as_ref().map_or(0, |named| !named.window(first))
    }

    /// Whether a class may begin at a cell, be it free or not.
    fn takes(&self, class: &Class, cell: u16) -> bool {
        let extent = class.shape.extent();
        class.phases >> (cell % self.row) & 1 != 0
            && u32::from(cell) + extent <= u32::from(self.opened) * u32::from(self.row)
    }

    fn is_new(&self, cell: u16) -> bool {
        self.named.as_ref().is_some_and(|named| !named.contains(cell))
    }

    /// Whether a cell is known to be occupied at `start`: a quick no. `point` never goes back within a sweep; segments may
    /// begin after it.
    #[inline]
    fn is_busy(&self, cell: u16, start: u32, point: u32) -> bool {
        start >= point && self.busy.get(usize::from(cell)).is_some_and(|&busy| busy > start)
    }

    /// Which of the 64 cells from `first` on are not known to be occupied at `start`, as [`FileCells::is_busy`] says: cell
    /// `first + i` is bit `i`. Cells that do not exist are among them.
    #[inline]
    fn not_busy(&self, first: u16, start: u32, point: u32) -> u64 {
        if start < point {
            return u64::MAX;
        }
        let cells = self.busy.get(usize::from(first)..).unwrap_or_default();
        // A byte each first, which many cells at once are compared into.
        let mut bytes = [0u8; 64];
        for (byte, &until) in bytes.iter_mut().zip(cells) {
            *byte = u8::from(until > start);
        }
        let mut busy = 0;
        for (at, &eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
            // The product has byte `i` as bit `56 + i`: nothing else reaches these bits.
            let bits = u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            busy |= bits << (8 * at);
        }
        !busy
    }

    /// Where somebody else begins to live at `cell` behind a class, if that would meet nobody; `u32::MAX` when nobody
    /// does.
    fn free_until(&mut self, cell: u16, class: &Class, point: u32, steps: &mut u64) -> Option<u32> {
        let mut until = u32::MAX;
        for cell in cells_of(cell, class.shape) {
            until = until.min(self.cell_free_until(cell, &class.segments, point, steps)?);
            if (class.whole || !class.dormant.is_empty())
                && self.tracks[cell].wakes(class).next().is_some()
            {
                return None;
            }
        }
        Some(until)
    }

    /// What [`FileCells::cell_free_until`] answers where it needs no look at the stays, for segments of which the last
    /// ends at `end`.
    #[inline]
    fn known_until(&self, cell: u16, first: Segment, end: u32, point: u32) -> Option<Option<u32>> {
        let next = self.next_stay.get(usize::from(cell)).copied().unwrap_or(0);
        if first.start < point || next <= point {
            None
        } else if end <= next {
            Some(Some(next))
        } else {
            // Somebody begins to live here in the midst of the first segment.
            (first.start <= next && next < first.end).then_some(None)
        }
    }

    fn cell_free_until(
        &mut self,
        cell: u16,
        segments: &[Segment],
        point: u32,
        steps: &mut u64,
    ) -> Option<u32> {
        *steps += 1;
        let start = segments[0].start;
        if self.is_busy(cell, start, point) {
            return None;
        }
        let end = segments.last().map_or(start, |last| last.end);
        if let Some(known) = self.known_until(cell, segments[0], end, point) {
            return known;
        }
        let busy = self.busy.get_mut(usize::from(cell))?;
        let track = &mut self.tracks[cell];
        let mut until = u32::MAX;
        let mut begins = u32::MAX;
        for (stays, cursor) in track.stays.iter().zip(&mut track.cursor) {
            while (*cursor as usize) < stays.len() && stays[*cursor as usize].end <= point {
                *cursor += 1;
                *steps += 1;
            }
            let mut rest = &stays[*cursor as usize..];
            if let Some(stay) = rest.first() {
                begins = begins.min(stay.start);
                if stay.start <= point {
                    *busy = stay.end;
                }
            }
            for segment in segments {
                match rest.first() {
                    None => break,
                    Some(stay) if stay.start >= segment.end => continue,
                    Some(stay) if stay.end > segment.start => return None,
                    Some(_) => {}
                }
                rest = &rest[rest.partition_point(|stay| stay.end <= segment.start)..];
                *steps += 1;
                if rest.first().is_some_and(|stay| stay.start < segment.end) {
                    return None;
                }
            }
            until = until.min(rest.first().map_or(u32::MAX, |stay| stay.start));
        }
        self.next_stay[usize::from(cell)] = begins;
        Some(until)
    }
}

/// Stays in cells that do not exist: nobody, for ever, at any price.
const NOBODY: u32 = NONE;

/// The result of one round.
#[derive(Clone, Debug, Default)]
pub(crate) struct Colors {
    /// First cell of each class (by root), or `NONE`.
    pub cell: Vec<u32>,
    /// Classes that must be spilled before another round.
    pub spilled: Vec<u32>,
    /// A class that found no place although nothing is left to spill.
    pub stuck: Option<u32>,
    pub steps: u64,
    /// Cells of all files that are occupied at once, at most: fewer cannot be named.
    peak: u64,
    files: Vec<FileCells>,
}

/// Adds stays to a list; both are in the order of their beginnings. Costs what is added and what begins behind its first.
fn merge(stays: &mut Vec<Stay>, added: impl DoubleEndedIterator<Item = Stay> + ExactSizeIterator) {
    let mut old = stays.len();
    let mut free = old + added.len();
    stays.resize(free, Stay { start: 0, end: 0, class: NOBODY });
    // From the end: `old` stays of the list are where they were, and all from `free` on are in their places.
    for stay in added.rev() {
        while old > 0 && stays[old - 1].start > stay.start {
            (old, free) = (old - 1, free - 1);
            stays[free] = stays[old];
        }
        free -= 1;
        stays[free] = stay;
    }
}

/// Classes, their cells, and who leaves for them.
type Eviction = SmallVec<[(u32, u16, SmallVec<[u32; 8]>); 4]>;

struct Colorer<'a> {
    classes: &'a Classes,
    colors: Colors,
    is_spilled: Vec<bool>,
    /// 0 in the first sweep, 1 in the second.
    sweep: usize,
    /// Searches for somebody to evict that may still be made in this round.
    searches: usize,
    /// Who must have a place, or all of this is for nothing.
    loses: Option<&'a dyn Fn(u32) -> bool>,
    /// How many of those without a place have been asked about.
    asked: usize,
}

/// Colours all classes.
///
/// `round` counts from 1: later rounds leave more room for what fragments rows. Where `loses` says of somebody who has
/// no place that nobody wants the result then, it is given as it is, and is not complete.
pub(crate) fn color(
    classes: &Classes,
    files: Files,
    options: &Options,
    round: u32,
    loses: Option<&dyn Fn(u32) -> bool>,
) -> Colors {
    let mut colorer = Colorer::new(classes, files, options);
    colorer.loses = loses;
    for file in 0..files.0.len() {
        colorer.relieve(file as u8, round);
    }
    if colorer.is_lost() {
        return colorer.colors;
    }
    let queues = colorer.queues();
    // What lies beside something pinned has one row to choose from.
    for &(start, index) in &queues.bound {
        if classes.units[index as usize].run {
            colorer.run_unit(index, start);
        } else {
            colorer.row_unit(index, start);
        }
    }
    let before = colorer.named();
    colorer.place_large(&queues.large, true);
    let between = colorer.named();
    colorer.place_small(&queues.small, true);
    if colorer.is_lost() {
        return colorer.colors;
    }
    if round >= CLEARING {
        colorer.clear_around_failures();
    }
    if options.policy == Policy::Tight {
        colorer.reorder(&queues, before, between);
    }
    colorer.colors
}

/// Rounds after which a failure spills everything that lives where it happened.
const CLEARING: u32 = 3;

/// Rounds after which everything that can be spilled is.
const LAST_RESORT: u32 = 10;

impl Colors {
    /// Everybody has a place.
    pub fn fits(&self) -> bool {
        self.spilled.is_empty() && self.stuck.is_none()
    }

    /// Cells that something holds at some time, and those that the target names anyway.
    fn named(&self) -> u64 {
        self.files.iter().filter_map(|file| file.named.as_ref()).map(Named::len).sum()
    }

    /// A place of this shape that is free at all points `start..end`, within the file's limit;
    /// rows in use are looked at first.
    pub fn spare(&self, shape: Shape, start: u32, end: u32) -> Option<u16> {
        let file = &self.files[shape.file.0 as usize];
        let cells = file.limit * file.row;
        let extent = shape.extent();
        (0..cells).find(|&cell| {
            u32::from(cell) + extent <= u32::from(cells)
                && cells_of(cell, shape).all(|cell| {
                    let track = &file.tracks[cell];
                    let waits = |stay: &Stay| stay.start < end && start < stay.end;
                    (shape.per_lane || !track.dormant.iter().any(waits))
                        && track.stays.iter().all(|list| {
                            let at = list.partition_point(|stay| stay.end <= start);
                            list.get(at).is_none_or(|stay| stay.start >= end)
                        })
                })
        })
    }
}

/// The cells of a register of some shape.
pub(crate) fn cells_of(first: u16, shape: Shape) -> impl Iterator<Item = u16> {
    (0..shape.count).map(move |k| first + k * u16::from(shape.stride))
}

impl<'a> Colorer<'a> {
    /// Nobody has a place yet.
    fn new(classes: &'a Classes, files: Files, options: &Options) -> Colorer<'a> {
        let count = classes.class.len();
        let mut colorer = Colorer {
            classes,
            colors: Colors { cell: vec![NONE; count], ..Colors::default() },
            is_spilled: vec![false; count],
            sweep: 0,
            searches: Colorer::searches(classes),
            loses: None,
            asked: 0,
        };
        for (index, file) in files.0.iter().enumerate() {
            let whole = file.cells / u16::from(file.row);
            let limit = options.rows.get(index).copied().unwrap_or(whole).min(whole);
            let opened = match options.policy {
                Policy::Compact { free_rows } => free_rows.min(limit),
                Policy::Tight => limit,
            };
            let row = u16::from(file.row);
            let mut tracks = Tracks::default();
            let mut missing = 0;
            for cell in 0..limit * row {
                if options.is_hole(FileId(index as u8), cell / row) {
                    missing += 1;
                    tracks[cell].stays[0] = vec![Stay { start: 0, end: u32::MAX, class: NOBODY }];
                }
            }
            colorer.colors.files.push(FileCells {
                tracks,
                busy: vec![0; file.cells as usize],
                next_stay: vec![0; file.cells as usize],
                row,
                limit,
                opened,
                next: 0,
                missing,
                named: (options.policy == Policy::Tight).then(|| {
                    let named = options.named.iter();
                    named
                        .filter(|cell| usize::from(cell.file.0) == index)
                        .map(|cell| cell.index)
                        .collect()
                }),
            });
        }
        colorer
    }

    /// Searches for somebody to evict that a round may make.
    fn searches(classes: &Classes) -> usize {
        256 + classes.class.len() / 64
    }

    /// Nobody wants what becomes of this round: somebody has no place who must have one.
    fn is_lost(&mut self) -> bool {
        let Some(loses) = self.loses else { return false };
        let asked = std::mem::replace(&mut self.asked, self.colors.spilled.len());
        let mut spilled = self.colors.spilled[asked..].iter();
        let lost = self.colors.stuck.is_some() || spilled.any(|&class| loses(class));
        if lost {
            // Who asks again gets the same answer.
            self.asked = asked;
        }
        lost
    }

    /// Gives pinned classes their cells, which they have no choice about, and queues the rest.
    fn queues(&mut self) -> Queues {
        let classes = self.classes;
        let mut queues = Queues::default();
        let Queues { bound, large, small } = &mut queues;
        for (index, class) in classes.class.iter().enumerate() {
            let Some(first) = class.segments.first() else {
                continue;
            };
            let index = index as u32;
            if let Some(cell) = class.pin {
                self.place(index, cell);
            }
            if class.unit != NONE && classes.units[class.unit as usize].members.len() > 1 {
                let unit = &classes.units[class.unit as usize];
                // The first member that has a life speaks for the unit.
                let living = |&&(member, _): &&(u32, u16)| {
                    !classes.class[member as usize].segments.is_empty()
                };
                let is_leader =
                    unit.members.iter().find(living).is_some_and(|member| member.0 == index);
                if is_leader {
                    let starts = unit.members.iter().filter_map(|&(member, _)| {
                        classes.class[member as usize].segments.first().map(|segment| segment.start)
                    });
                    let start = starts.min().unwrap_or(first.start);
                    if unit
                        .members
                        .iter()
                        .any(|&(member, _)| classes.class[member as usize].pin.is_some())
                    {
                        bound.push((start, class.unit));
                    } else {
                        large.push((start, true, class.unit));
                    }
                }
            } else if class.pin.is_none() {
                if class.shape.count > 1 {
                    large.push((first.start, false, index));
                } else {
                    small.push((first.start, index));
                }
            }
        }
        bound.sort_unstable();
        large.sort_unstable();
        // As one number each: most of the time of small programs would go into comparing pairs.
        small.sort_unstable_by_key(|&(start, index)| u64::from(start) << 32 | u64::from(index));
        queues
    }

    /// Places units and classes of several cells. `sorted`: by their beginnings, so that nobody is compared with what
    /// ended before.
    fn place_large(&mut self, list: &[Large], sorted: bool) {
        self.sweep = 0;
        self.rewind();
        for &(start, is_unit, index) in list {
            let start = if sorted { start } else { 0 };
            if !is_unit {
                self.single(index, start);
            } else if self.classes.units[index as usize].run {
                self.run_unit(index, start);
            } else {
                self.row_unit(index, start);
            }
            if self.is_lost() {
                return;
            }
        }
    }

    /// Places classes of one cell that lie on their own; `sorted` as for [`Colorer::place_large`].
    fn place_small(&mut self, list: &[Small], sorted: bool) {
        self.sweep = 1;
        self.rewind();
        for &(start, index) in list {
            self.single(index, if sorted { start } else { 0 });
            if self.is_lost() {
                return;
            }
        }
    }

    /// Begins another pass over the program.
    fn rewind(&mut self) {
        for file in &mut self.colors.files {
            for (track, busy) in file.tracks.0.iter_mut().zip(&mut file.busy) {
                track.cursor = [0; 2];
                *busy = 0;
            }
            file.next_stay.fill(0);
            file.next = 0;
        }
    }

    /// Whether a class at `cell` would meet nobody; `point` is where the sweep is.
    fn free(&mut self, file: usize, cell: u16, class: &Class, point: u32) -> bool {
        let colors = &mut self.colors;
        colors.files[file].free_until(cell, class, point, &mut colors.steps).is_some()
    }

    /// Puts a class at a cell that was found free.
    fn place(&mut self, class: u32, cell: u16) {
        let data = &self.classes.class[class as usize];
        self.colors.cell[class as usize] = u32::from(cell);
        let file = &mut self.colors.files[data.shape.file.0 as usize];
        for cell in cells_of(cell, data.shape) {
            if let Some(next) = file.next_stay.get_mut(usize::from(cell)) {
                *next = (*next).min(data.segments[0].start);
            }
            let stays = &mut file.tracks[cell].stays[self.sweep];
            let in_order = stays.last().is_none_or(|last| last.end <= data.segments[0].start);
            if in_order || data.segments.len() <= 4 {
                for segment in &data.segments {
                    let stay = Stay { start: segment.start, end: segment.end, class };
                    if stays.last().is_none_or(|last| last.end <= stay.start) {
                        stays.push(stay);
                    } else {
                        let at = stays.partition_point(|other| other.start < stay.start);
                        stays.insert(at, stay);
                    }
                }
            } else {
                let segments = data.segments.iter();
                merge(stays, segments.map(|&Segment { start, end }| Stay { start, end, class }));
            }
            self.colors.steps += data.segments.len() as u64;
            let track = &mut file.tracks[cell];
            let stay = |segment: &Segment| Stay { start: segment.start, end: segment.end, class };
            if data.whole {
                track.whole.extend(data.segments.iter().map(stay));
            }
            track.dormant.extend(data.dormant.iter().map(stay));
            // A fixed cell that is merely overwritten is nobody's.
            let held = data.pin.is_none() || data.segments.iter().any(|s| s.end - s.start > 1);
            if let Some(named) = file.named.as_mut().filter(|_| held) {
                named.insert(cell);
            }
        }
    }

    /// Notes that a class which was just placed occupies its cells, if its life has begun where the sweep is.
    fn occupy(&mut self, class: u32, cell: u16, point: u32) {
        let data = &self.classes.class[class as usize];
        let Some(&Segment { start, end }) = data.segments.first() else { return };
        if start > point {
            return;
        }
        let file = &mut self.colors.files[data.shape.file.0 as usize];
        for cell in cells_of(cell, data.shape) {
            if let Some(busy) = file.busy.get_mut(usize::from(cell)) {
                *busy = end.max(*busy);
            }
        }
    }

    /// The cost of keeping a class out of registers, per point of its life.
    fn density(&self, class: u32) -> u64 {
        if class == NOBODY {
            return u64::MAX;
        }
        let data = &self.classes.class[class as usize];
        if data.tiny {
            return u64::MAX;
        }
        let cells = u64::from(data.shape.count);
        (data.weight.saturating_mul(1 << 16) / (length(&data.segments).max(1) * cells))
            .min(u64::MAX - 1)
    }

    /// A class on its own.
    fn single(&mut self, class: u32, point: u32) {
        let data = &self.classes.class[class as usize];
        if self.is_spilled[class as usize] {
            return;
        }
        let file = data.shape.file.0 as usize;
        let extent = data.shape.extent() as u16;
        if let Some(cell) = self.hinted(class, point) {
            self.place(class, cell);
            self.occupy(class, cell, point);
            return;
        }
        if self.colors.files[file].named.is_some() {
            match self.tightest(file, class, point) {
                Some(cell) => {
                    self.place(class, cell);
                    self.occupy(class, cell, point);
                }
                None => self.evict_for(class),
            }
            return;
        }
        loop {
            if let Some(cell) = self.search(file, class, point) {
                self.place(class, cell);
                self.occupy(class, cell, point);
                self.colors.files[file].next = cell + 1;
                return;
            }
            // One more row, or as many as one register takes.
            let cells = &mut self.colors.files[file];
            let needed = extent.div_ceil(cells.row).max(1);
            if cells.opened >= cells.limit {
                break;
            }
            cells.opened = (cells.opened + 1).max(needed.min(cells.limit));
        }
        self.evict_for(class);
    }

    /// The cell of the class that this one is a copy of, if it may be used.
    fn hinted(&mut self, class: u32, point: u32) -> Option<u16> {
        let classes = self.classes;
        let data = &classes.class[class as usize];
        let hint = Some(data.hint).filter(|&hint| hint != NONE)? as usize;
        if classes.class[hint].shape != data.shape || self.colors.cell[hint] == NONE {
            return None;
        }
        let cell = self.colors.cell[hint] as u16;
        let file = data.shape.file.0 as usize;
        let cells = &self.colors.files[file];
        let fits = data.phases >> (cell % cells.row) & 1 != 0 && cell / cells.row < cells.opened;
        (fits && self.free(file, cell, data, point)).then_some(cell)
    }

    /// The next free cell for a class among the rows in use.
    fn search(&mut self, file: usize, class: u32, point: u32) -> Option<u16> {
        let classes = self.classes;
        let data = &classes.class[class as usize];
        let cells = &self.colors.files[file];
        let (row, total) = (cells.row, cells.opened * cells.row);
        if total == 0 {
            return None;
        }
        let begin = if cells.next >= total { 0 } else { cells.next };
        let extent = data.shape.extent();
        // The preferred position in any row in use, then any position.
        let preferred = data.prefer.filter(|&phase| data.phases >> phase & 1 != 0);
        let masks = [preferred.map_or(0, |phase| 1u16 << phase), data.phases];
        let start = data.segments.first().map_or(0, |segment| segment.start);
        for mask in masks.into_iter().filter(|&mask| mask != 0) {
            for part in [begin..total, 0..begin] {
                for first in part.clone().step_by(64) {
                    let mut left = self.colors.files[file].not_busy(first, start, point);
                    while left != 0 {
                        let cell = first + left.trailing_zeros() as u16;
                        left &= left - 1;
                        if cell >= part.end {
                            break;
                        }
                        if mask >> (cell % row) & 1 != 0
                            && u32::from(cell) + extent <= u32::from(total)
                            && self.free(file, cell, data, point)
                        {
                            return Some(cell);
                        }
                    }
                }
            }
        }
        None
    }

    /// Classes together in one row.
    fn row_unit(&mut self, unit: u32, point: u32) {
        let classes = self.classes;
        let members: SmallVec<[u32; 8]> = self.living(unit);
        let Some(&leader) = members.first() else {
            return;
        };
        let file = classes.class[leader as usize].shape.file.0 as usize;
        let row_length = self.colors.files[file].row;
        let pin = members.iter().find_map(|&member| classes.class[member as usize].pin);
        if let Some(cell) = pin {
            let row = cell / row_length;
            self.colors.files[file].opened =
                self.colors.files[file].opened.max(row + 1).min(self.colors.files[file].limit);
            if let Some(phases) = self.fit_row(&members, file, row, point) {
                self.place_row(&members, row * row_length, &phases);
                return;
            }
            self.evict_for_row(&members, file, row..row + 1);
            return;
        }
        loop {
            let cells = &self.colors.files[file];
            let opened = cells.opened;
            let begin = (cells.next / row_length).min(opened.saturating_sub(1));
            for row in (begin..opened).chain(0..begin.min(opened)) {
                if let Some(phases) = self.fit_row(&members, file, row, point) {
                    self.place_row(&members, row * row_length, &phases);
                    for (&member, &phase) in members.iter().zip(&phases) {
                        self.occupy(member, row * row_length + u16::from(phase), point);
                    }
                    self.colors.files[file].next = (row + 1) * row_length;
                    return;
                }
            }
            let cells = &mut self.colors.files[file];
            if cells.opened >= cells.limit {
                break;
            }
            cells.opened += 1;
        }
        let limit = self.colors.files[file].limit;
        self.evict_for_row(&members, file, 0..limit);
    }

    /// Members of a unit that still want a place.
    fn living(&self, unit: u32) -> SmallVec<[u32; 8]> {
        let members = &self.classes.units[unit as usize].members;
        let wants = |class: u32| {
            !self.is_spilled[class as usize]
                && !self.classes.class[class as usize].segments.is_empty()
        };
        members.iter().map(|member| member.0).filter(|&class| wants(class)).collect()
    }

    /// Positions for all members in one row, if they fit.
    fn fit_row(
        &mut self,
        members: &[u32],
        file: usize,
        row: u16,
        point: u32,
    ) -> Option<SmallVec<[u8; 8]>> {
        let classes = self.classes;
        let row_length = self.colors.files[file].row;
        let whole = self.colors.files[file].limit * row_length;
        let mut masks: SmallVec<[u16; 8]> = SmallVec::new();
        for &member in members {
            let data = &classes.class[member as usize];
            if let Some(cell) = data.pin {
                masks.push(if cell / row_length == row { 1 << (cell % row_length) } else { 0 });
                continue;
            }
            let mut mask = 0u16;
            let extent = data.shape.extent();
            for phase in 0..row_length {
                let cell = row * row_length + phase;
                if data.phases >> phase & 1 != 0
                    && u32::from(cell) + extent <= u32::from(whole)
                    && self.free(file, cell, data, point)
                {
                    mask |= 1 << phase;
                }
            }
            if mask == 0 {
                return None;
            }
            masks.push(mask);
        }
        let prefers: SmallVec<[Option<u8>; 8]> =
            members.iter().map(|&member| classes.class[member as usize].prefer).collect();
        assign(&masks, &prefers)
    }

    fn place_row(&mut self, members: &[u32], first: u16, phases: &[u8]) {
        for (&member, &phase) in members.iter().zip(phases) {
            if self.classes.class[member as usize].pin.is_none() {
                self.place(member, first + u16::from(phase));
            }
        }
    }

    /// Classes at fixed offsets from one base.
    fn run_unit(&mut self, unit: u32, point: u32) {
        let classes = self.classes;
        let data = &classes.units[unit as usize];
        let members: SmallVec<[(u32, u16); 8]> = data
            .members
            .iter()
            .copied()
            .filter(|&(class, _)| {
                !self.is_spilled[class as usize]
                    && !classes.class[class as usize].segments.is_empty()
            })
            .collect();
        let Some(&(leader, _)) = members.first() else {
            return;
        };
        let file = classes.class[leader as usize].shape.file.0 as usize;
        let pin = members.iter().find_map(|&(class, offset)| {
            classes.class[class as usize].pin.map(|cell| cell - offset)
        });
        loop {
            let cells = &self.colors.files[file];
            let total = cells.opened * cells.row;
            let begin = if cells.next >= total { 0 } else { cells.next };
            let bases: SmallVec<[u16; 1]> = pin.into_iter().collect();
            let found = if pin.is_some() {
                bases.into_iter().find(|&base| self.fit_run(&members, file, base, point))
            } else if self.colors.files[file].named.is_some() {
                self.tightest_run(&members, file, point)
            } else {
                (begin..total)
                    .chain(0..begin)
                    .find(|&base| self.fit_run(&members, file, base, point))
            };
            if let Some(base) = found {
                for &(member, offset) in &members {
                    if classes.class[member as usize].pin.is_none() {
                        self.place(member, base + offset);
                        self.occupy(member, base + offset, point);
                        self.colors.files[file].next =
                            base + offset + classes.class[member as usize].shape.count;
                    }
                }
                return;
            }
            let cells = &mut self.colors.files[file];
            if cells.opened >= cells.limit {
                break;
            }
            cells.opened += 1;
        }
        self.evict_for_run(&members, file, pin);
    }

    fn fit_run(&mut self, members: &[(u32, u16)], file: usize, base: u16, point: u32) -> bool {
        let classes = self.classes;
        members.iter().all(|&(member, offset)| {
            let data = &classes.class[member as usize];
            if data.pin.is_some() {
                return data.pin == Some(base + offset);
            }
            self.colors.files[file].takes(data, base + offset)
                && self.free(file, base + offset, data, point)
        })
    }
}

/// Gives each member a position of its own out of its mask; preferences first, where possible.
fn assign(masks: &[u16], prefers: &[Option<u8>]) -> Option<SmallVec<[u8; 8]>> {
    fn step(
        masks: &[u16],
        prefers: &[Option<u8>],
        taken: u16,
        out: &mut SmallVec<[u8; 8]>,
        budget: &mut u32,
    ) -> bool {
        let k = out.len();
        if k == masks.len() {
            return true;
        }
        let preferred = prefers[k].map_or(0, |phase| 1u16 << phase) & masks[k] & !taken;
        for mask in [preferred, masks[k] & !taken & !preferred] {
            let mut left = mask;
            while left != 0 {
                if *budget == 0 {
                    return false;
                }
                *budget -= 1;
                let phase = left.trailing_zeros() as u8;
                left &= left - 1;
                out.push(phase);
                if step(masks, prefers, taken | 1 << phase, out, budget) {
                    return true;
                }
                out.pop();
            }
        }
        false
    }
    let mut out = SmallVec::new();
    step(masks, prefers, 0, &mut out, &mut 4000).then_some(out)
}
