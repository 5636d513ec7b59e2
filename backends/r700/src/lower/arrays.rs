//! Private variables in registers: an array of elements of S dwords is S columns of registers, one
//! channel each, so that one index register serves all dwords of an element, and a dword at a known
//! place is a register like any other.
//!
//! S is what all run-time addresses of the variable are multiples of. R700 ISA 4.6.1.

use super::linear::linear;
use super::{Lower, Place, Variable};
use crate::api::{Chip, Failure};
use crate::inst::{GPR, Indexed, Inst, Source, Space, Src};
use crate::isa::AluOp;
use crate::limits;
use gpucc_ir::mach::{Demand, Func, Phases, VReg};
use gpucc_ir::ssa::{Imm, Mem, MemSpace, Op, Value};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Largest private variable, in dwords, that is kept in registers, and how many dwords all of them may have. A variable may
/// take a register for each of its dwords.
const fn in_registers(chip: Chip) -> (u32, u32) {
    if chip.stage_registers() > 64 { (64, 160) } else { (32, 80) }
}

/// An array of registers.
#[derive(Clone, Debug)]
pub(super) struct Array {
    /// Dwords.
    dwords: u32,
    /// The registers of dword k of every element.
    columns: SmallVec<[VReg; 4]>,
}

/// Rows already computed in this block: terms and factor to the register.
pub(super) type Rows = BTreeMap<Vec<(Value, u32)>, Source>;

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// An error where variables and stored registers take more scratch memory, in vec4, than an instruction reaches.
pub fn within_scratch(needed: u32) -> Result<(), Failure> {
    limits::SCRATCH.admit(needed)
}

/// The vec4 of scratch that the variables of a function take, as far as it reads or writes them.
pub fn scratch_of(func: &Func<Inst>) -> u32 {
    let nodes = func.layout.iter().flat_map(|&block| &func.blocks[block].nodes);
    let behind = nodes.filter_map(|node| {
        let (space, slot, base, size) = match &node.inst {
            Inst::MemRead(at) => (at.space, at.slot, at.base, at.size),
            Inst::MemWrite(at) => (at.space, at.slot, at.base, at.size),
            _ => return None,
        };
        let own = space == Space::Scratch && slot.is_none();
        own.then(|| u32::from(base) + u32::from(size.max(1)))
    });
    behind.max().unwrap_or(0)
}

impl Lower<'_> {
    /// Decides where each private variable lives.
    ///
    /// # Errors
    /// [`Failure::Limit`] for more than scratch memory holds.
    pub(super) fn declare_variables(&mut self) -> Result<(), Failure> {
        let mut used = vec![false; self.ssa.mems.len()];
        // What every run-time address is a multiple of, in bytes; 0 before the first.
        let mut step = vec![0u32; self.ssa.mems.len()];
        for (region, ..) in self.ssa.regions_in_order() {
            for &inst in &self.ssa.regions[region].insts {
                let data = &self.ssa.insts[inst];
                if let Imm::Mem(access) = data.imm {
                    let at = access.mem.as_u32() as usize;
                    used[at] = true;
                    let linear = linear(self.ssa, data.args[0]);
                    for &(_, factor) in &linear.terms {
                        step[at] = gcd(step[at], factor);
                    }
                    // A constant that goes back counts from the whole address.
                    if linear.constant >= self.ssa.mems[access.mem].size {
                        step[at] = 1;
                    }
                }
            }
        }
        let (largest, all) = in_registers(self.abi.chip);
        let mut total = 0;
        for (mem, data) in self.ssa.mems.iter() {
            let at = mem.as_u32() as usize;
            if !used[at] || data.space == MemSpace::Workgroup {
                continue;
            }
            if data.space == MemSpace::Constant {
                let table = self.table(&data.words, step[at]);
                self.variables[mem] = Some(Variable::Table(table));
                continue;
            }
            let dwords = data.size / 4;
            let indexed = step[at] != 0 && !self.abi.chip.indexes_registers();
            if indexed || dwords > largest || total + dwords > all {
                if step[at] != 0 {
                    limits::INDEXED_SCRATCH.admit(dwords)?;
                }
                self.variables[mem] = Some(Variable::Scratch(self.scratch, dwords));
                self.scratch = self.scratch.saturating_add(dwords);
                within_scratch(self.scratch)?;
                continue;
            }
            total += dwords;
            // Without run-time addresses every dword is a column.
            let stride = match step[at] {
                0 => dwords,
                step if step % 4 == 0 && step / 4 <= dwords => step / 4,
                _ => 1,
            };
            let mut columns = SmallVec::new();
            for column in 0..stride {
                let array = self.m.make_vreg(
                    Demand {
                        file: GPR,
                        count: (dwords - column).div_ceil(stride) as u16,
                        stride: 4,
                        phases: Phases::ANY,
                    },
                    self.span,
                );
                self.push(Inst::ArrayNew { array: array.into() });
                columns.push(array);
            }
            self.variables[mem] = Some(Variable::Array(Array { dwords, columns }));
        }
        Ok(())
    }

    pub(super) fn array(&self, mem: Mem) -> Option<Array> {
        match &self.variables[mem] {
            Some(Variable::Array(array)) => Some(array.clone()),
            _ => None,
        }
    }

    /// Dword `k` behind an address: its column, and the row in it.
    fn array_element(&mut self, array: &Array, address: Value, k: u32) -> Indexed {
        let stride = array.columns.len() as u32;
        let linear = linear(self.ssa, address);
        let at = linear.constant.wrapping_add(4 * k) / 4;
        let aligned =
            linear.terms.iter().all(|&(_, factor)| factor % (4 * stride) == 0) && at < array.dwords;
        if linear.terms.is_empty() {
            let at = at.min(array.dwords - 1);
            let column = array.columns[(at % stride) as usize];
            return Indexed {
                array: column.into(),
                count: self.rows(column),
                index: Source::bits(at / stride),
                offset: 0,
            };
        }
        if !aligned {
            // Whole dwords are the only columns then: one row a dword.
            let base = self.dwords(address);
            let mut index = base;
            if k > 0 {
                index = Source::reg(self.alu(AluOp::ADD_INT, &[index, Source::bits(k)]));
            }
            let column = array.columns[0];
            let count = self.rows(column);
            let most = Source::bits(u32::from(count) - 1);
            return Indexed {
                array: column.into(),
                count,
                index: Source::reg(self.alu(AluOp::MIN_UINT, &[index, most])),
                offset: 0,
            };
        }
        let column = array.columns[(at % stride) as usize];
        let count = self.rows(column);
        let (offset, most) = (at / stride, u32::from(count) - 1);
        let key: Vec<(Value, u32)> =
            linear.terms.iter().map(|&(value, factor)| (value, factor / (4 * stride))).collect();
        // What is certainly in range needs no clamp.
        let reach = key.iter().try_fold(u64::from(offset), |sum, &(value, factor)| {
            Some(sum + self.most(value)? * u64::from(factor))
        });
        // A constant names a register of its own, which must exist even if the index is trusted.
        let fixed = key.iter().all(|&(value, _)| self.const_bits(value).is_some());
        let inside = reach.is_some_and(|reach| reach <= u64::from(most))
            || self.abi.trusts_indices && !fixed;
        let sum = self.row(key);
        let index = if inside {
            sum
        } else {
            let most = Source::bits(most.saturating_sub(offset));
            Source::reg(self.alu(AluOp::MIN_UINT, &[sum, most]))
        };
        Indexed { array: column.into(), count, index, offset: offset.min(most) as u16 }
    }

    fn rows(&self, column: VReg) -> u16 {
        self.m.vregs[column].demand.count
    }

    /// The largest value that it can be, where that is easy to see.
    fn most(&self, value: Value) -> Option<u64> {
        let small = |v: Value| self.const_bits(v).map(u64::from);
        let data = self.ssa.def(value)?;
        match data.op {
            Op::UMin | Op::And => data.args.iter().filter_map(|&arg| small(arg)).min(),
            Op::Const => small(value),
            Op::Index => self.most(data.args[0]),
            _ => None,
        }
    }

    /// The sum of values times factors.
    pub(super) fn row(&mut self, key: Vec<(Value, u32)>) -> Source {
        if let Some(&row) = self.rows.get(&key) {
            return row;
        }
        let mut sum: Option<Source> = None;
        for &(value, factor) in &key {
            let plain = self.plain(value);
            let term = if factor == 1 {
                plain
            } else if factor.is_power_of_two() {
                let amount = Source::bits(factor.trailing_zeros());
                Source::reg(self.alu(AluOp::LSHL_INT, &[plain, amount]))
            } else {
                Source::reg(self.alu(AluOp::MULLO_INT, &[plain, Source::bits(factor)]))
            };
            sum = Some(match sum {
                None => term,
                Some(sum) => Source::reg(self.alu(AluOp::ADD_INT, &[sum, term])),
            });
        }
        let sum = sum.unwrap_or(Source::bits(0));
        self.rows.insert(key, sum);
        sum
    }

    pub(super) fn array_load(&mut self, array: &Array, address: Value, results: &[Value]) {
        for (k, &value) in results.iter().enumerate() {
            let from = self.array_element(array, address, k as u32);
            let dst = self.fresh();
            self.push(Inst::ArrayRead { dst: dst.into(), from });
            self.values[value] = Some(Place::Reg(dst));
        }
    }

    pub(super) fn array_store(&mut self, array: &Array, address: Value, values: &[Value]) {
        for (k, &value) in values.iter().enumerate() {
            let to = self.array_element(array, address, k as u32);
            let value = match self.plain(value) {
                source @ Source { src: Src::Const { .. }, .. }
                    if !matches!(to.index.src, Src::Bits(_)) =>
                {
                    Source::reg(self.alu(AluOp::MOV, &[source]))
                }
                source => source,
            };
            let result = to.array;
            self.push(Inst::ArrayWrite { to, result, value });
        }
    }
}
