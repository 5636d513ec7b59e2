//! In which order classes are given their cells, and what another order would make of the same.
//!
//! Whatever the order, pinned classes and what lies beside them come first and lie where they lie. So another order takes
//! back only what it places differently: classes on their own, and units only where it orders units differently.

use super::named::Named;
use super::{Colorer, FileCells, Stay};
use crate::segment::length;
use crate::work::NONE;
use std::cmp::Reverse;

/// Classes beyond which one order must do: each of the others costs as much again.
const MOST_REORDERED: usize = 1024;

/// What comes out of the order of beginnings: long runs before short ones, long lives before short ones.
const OTHERS: [(bool, bool); 3] = [(true, false), (false, true), (true, true)];

/// A unit (when the second is true) or class of several cells, and where its life begins.
pub(super) type Large = (u32, bool, u32);
/// A class of one cell on its own, and where its life begins.
pub(super) type Small = (u32, u32);

/// What wants a place, in the order of beginnings.
#[derive(Default)]
pub(super) struct Queues {
    /// Units with a pinned member.
    pub bound: Vec<(u32, u32)>,
    pub large: Vec<Large>,
    pub small: Vec<Small>,
}

/// What is placed when units are, and classes on their own are not.
struct Placed {
    cell: Vec<u32>,
    /// By file, then by cell.
    stays: Vec<Vec<Vec<Stay>>>,
    named: Vec<Named>,
}

impl Colorer<'_> {
    /// Which cells are named, by file.
    pub(super) fn named(&self) -> Vec<Named> {
        let files = self.colors.files.iter();
        files.map(|file| file.named.clone().unwrap_or_default()).collect()
    }

    /// Tries other orders, until one names no more cells than any must; the first that names fewest is kept. All have a
    /// place already, in the order of beginnings. `before` and `between` are the cells named before units were placed and
    /// before classes on their own were.
    pub(super) fn reorder(&mut self, queues: &Queues, before: Vec<Named>, between: Vec<Named>) {
        let classes = self.classes;
        let least = self.colors.peak.max(before.iter().map(Named::len).sum());
        if !self.colors.fits()
            || classes.class.len() > MOST_REORDERED
            || self.colors.named() <= least
        {
            return;
        }
        let mut large = queues.large.clone();
        large.sort_by_key(|&(_, is_unit, index)| match is_unit {
            true => Reverse(classes.units[index as usize].members.len()),
            false => Reverse(usize::from(classes.class[index as usize].shape.count)),
        });
        let mut small = queues.small.clone();
        small.sort_by_cached_key(|&(_, index)| {
            Reverse(length(&classes.class[index as usize].segments))
        });
        let differs = (large != queues.large, small != queues.small);
        if differs == (false, false) {
            return;
        }
        let mut best = self.colors.clone();
        let usual = self.without_small(queues, between);
        let mut other: Option<Option<Placed>> = None;
        for (long_runs, long_lives) in OTHERS {
            if best.named() <= least {
                break;
            }
            // It would be an order that was tried.
            if long_runs && !differs.0 || long_lives && !differs.1 {
                continue;
            }
            let start = match long_runs {
                false => Some(&usual),
                true => other
                    .get_or_insert_with(|| self.with_large(queues, &usual, &before, &large))
                    .as_ref(),
            };
            let Some(start) = start else { continue };
            self.restore(start);
            match long_lives {
                true => self.place_small(&small, false),
                false => self.place_small(&queues.small, true),
            }
            if self.colors.fits() && self.colors.named() < best.named() {
                best = self.colors.clone();
            }
        }
        best.steps = self.colors.steps;
        self.colors = best;
    }

    /// What is placed, but for classes on their own.
    fn without_small(&self, queues: &Queues, named: Vec<Named>) -> Placed {
        let mut cell = self.colors.cell.clone();
        for &(_, class) in &queues.small {
            cell[class as usize] = NONE;
        }
        let first =
            |file: &FileCells| file.tracks.0.iter().map(|track| track.stays[0].clone()).collect();
        Placed { cell, stays: self.colors.files.iter().map(first).collect(), named }
    }

    /// What is placed when units are in another order than in `usual`; `None` where they find no place so.
    fn with_large(
        &mut self,
        queues: &Queues,
        usual: &Placed,
        before: &[Named],
        large: &[Large],
    ) -> Option<Placed> {
        let classes = self.classes;
        let mut start = Placed {
            cell: usual.cell.clone(),
            stays: Vec::with_capacity(usual.stays.len()),
            named: before.to_vec(),
        };
        let mut goes = vec![false; classes.class.len()];
        for &(_, is_unit, index) in &queues.large {
            let members = match is_unit {
                true => &classes.units[index as usize].members[..],
                false => &[(index, 0)],
            };
            for &(class, _) in members {
                goes[class as usize] = true;
                start.cell[class as usize] = NONE;
            }
        }
        let stays = |stay: &&Stay| !goes.get(stay.class as usize).is_some_and(|&goes| goes);
        let still = |list: &Vec<Stay>| list.iter().filter(stays).copied().collect();
        for lists in &usual.stays {
            start.stays.push(lists.iter().map(still).collect());
        }
        self.restore(&start);
        self.place_large(large, false);
        let named = self.named();
        self.colors.fits().then(|| self.without_small(queues, named))
    }

    /// Goes back to what was placed, with everybody still wanting a place.
    fn restore(&mut self, placed: &Placed) {
        self.colors.cell.clone_from(&placed.cell);
        self.colors.spilled.clear();
        self.colors.stuck = None;
        self.is_spilled.fill(false);
        self.searches = Colorer::searches(self.classes);
        let kept = placed.named.iter().zip(&placed.stays);
        for (file, (named, lists)) in self.colors.files.iter_mut().zip(kept) {
            file.named = file.named.is_some().then(|| named.clone());
            // Tracks of cells that nobody had asked for then are empty.
            let lists = lists.iter().map(Vec::as_slice).chain(std::iter::repeat(&[][..]));
            for (track, list) in file.tracks.0.iter_mut().zip(lists) {
                track.stays[0].clear();
                track.stays[0].extend_from_slice(list);
                track.stays[1].clear();
            }
        }
    }
}
