//! Subgroups: neighbouring lanes of a workgroup that exchange values without memory.

use super::SUBGROUP;
use super::exec::{Machine, Mask};
use crate::ssa::eval::{eval, identity};
use crate::ssa::func::{Imm, InstData};
use crate::ssa::op::Op;
use crate::ssa::resource::{Scan, Shuffle};

impl Machine<'_> {
    /// The lanes of each subgroup, as first and one past the last.
    fn subgroups(&self) -> Vec<(usize, usize)> {
        let size = SUBGROUP as usize;
        let mut list = Vec::new();
        let mut start = 0;
        for lane in 1..=self.lanes.count {
            let groups = &self.lanes.workgroup;
            let same = lane < self.lanes.count && groups.get(lane) == groups.get(start);
            if !same || lane - start == size {
                list.push((start, lane));
                start = lane;
            }
        }
        list
    }

    /// `ballot`, `shuffle` and `reduce` of the active lanes.
    pub(super) fn cooperate(&mut self, data: &InstData, active: &Mask) {
        for (start, end) in self.subgroups() {
            let lanes: Vec<usize> = (start..end).filter(|&lane| active.contains(lane)).collect();
            if lanes.is_empty() {
                continue;
            }
            match data.imm {
                Imm::Shuffle(which) => self.shuffle(data, which, &lanes, (start, end)),
                Imm::Reduce(scan, op) => self.reduce(data, scan, op, &lanes),
                _ => self.ballot(data, &lanes, start),
            }
        }
    }

    fn ballot(&mut self, data: &InstData, lanes: &[usize], start: usize) {
        let mut bits = [0u64; 4];
        let mut taint = false;
        for &lane in lanes {
            let place = lane - start;
            bits[place / 32] |= (self.get(data.args[0], lane) & 1) << (place % 32);
            taint |= self.tainted(data.args[0], lane);
        }
        for &lane in lanes {
            for (&result, bits) in data.results.iter().zip(bits) {
                self.set(result, lane, bits);
                self.set_taint(result, lane, taint);
            }
        }
    }

    fn shuffle(&mut self, data: &InstData, which: Shuffle, lanes: &[usize], span: (usize, usize)) {
        let (start, end) = span;
        let found: Vec<(u64, bool)> = lanes
            .iter()
            .map(|&lane| {
                let own = (lane - start) as u32;
                let number = data.args.get(1);
                let operand = number.map_or(0, |&value| self.get(value, lane) as u32);
                let from = match which {
                    Shuffle::First => (lanes[0] - start) as u32,
                    Shuffle::Lane | Shuffle::OrZero => operand,
                    Shuffle::Up => own.wrapping_sub(operand),
                    Shuffle::Down => own.wrapping_add(operand),
                    Shuffle::Xor => own ^ operand,
                    Shuffle::Quad => (own & !3) | (operand & 3),
                };
                let asked = number.is_some_and(|&value| self.tainted(value, lane));
                match start.checked_add(from as usize) {
                    Some(from) if from < end && lanes.binary_search(&from).is_ok() => {
                        let taint = asked || self.tainted(data.args[0], from);
                        (self.get(data.args[0], from), taint)
                    }
                    _ if which == Shuffle::OrZero => (0, asked),
                    // Nobody says what is there.
                    _ => (0, true),
                }
            })
            .collect();
        for (&lane, (bits, taint)) in lanes.iter().zip(found) {
            self.marks.absent_lanes |= taint && !self.follows();
            self.set(data.results[0], lane, bits);
            self.set_taint(data.results[0], lane, taint);
        }
    }

    fn reduce(&mut self, data: &InstData, scan: Scan, op: Op, lanes: &[usize]) {
        let (value, result) = (data.args[0], data.results[0]);
        let ty = self.ty(value);
        let mut sum = identity(op, ty).unwrap_or(0);
        let mut taint = self.is_inexact(op);
        for (number, &lane) in lanes.iter().enumerate() {
            if scan == Scan::Exclusive {
                self.set(result, lane, sum);
                self.set_taint(result, lane, taint);
            }
            let own = self.get(value, lane);
            sum = match number {
                0 => own,
                _ => eval(op, ty, ty, &[sum, own], self.numerics).unwrap_or(own),
            };
            taint |= self.tainted(value, lane);
            if scan == Scan::Inclusive {
                self.set(result, lane, sum);
                self.set_taint(result, lane, taint);
            }
        }
        if scan == Scan::All {
            for &lane in lanes {
                self.set(result, lane, sum);
                self.set_taint(result, lane, taint);
            }
        }
    }
}
