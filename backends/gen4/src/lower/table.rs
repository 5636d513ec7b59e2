//! Tables of constants: words of registers that the lane's own index names.

use super::{Lower, Place};
use crate::inst::{Inst, Side, Src};
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::Reg;
use gpucc_ir::ssa::{Func, InstData, Mem, Op, Value};
use smallvec::SmallVec;

/// Operations back that the alignment of an offset is asked for.
const DEPTH: u32 = 4;
/// Bytes of a register.
const ROW: u32 = 32;

/// Zeros at the end of a number, as far as operations tell.
fn zeros(func: &Func, value: Value, depth: u32) -> u32 {
    if let Some(bits) = func.as_const(value) {
        return (bits as u32).trailing_zeros();
    }
    let Some(data) = func.def(value).filter(|_| depth > 0) else { return 0 };
    let of = |at: usize| zeros(func, data.args[at], depth - 1);
    match data.op {
        Op::Shl => match func.as_const(data.args[1]) {
            Some(by) => (of(0) + (by as u32 & 31)).min(32),
            None => of(0),
        },
        Op::IMul => (of(0) + of(1)).min(32),
        Op::And => of(0).max(of(1)),
        Op::IAdd | Op::ISub | Op::Or | Op::UMin | Op::UMax => of(0).min(of(1)),
        _ => 0,
    }
}

impl Lower<'_> {
    /// A load from a table.
    pub(super) fn table(&mut self, data: &InstData, mem: Mem) -> Result<(), Failure> {
        let Some(register) = self.abi.table(mem) else {
            return Err(self.not_yet("this access"));
        };
        let table = u32::from(register) * ROW;
        if let Some(offset) = self.ssa.as_const(data.args[0]) {
            for (number, &value) in (0u32..).zip(&data.results) {
                let at = table.wrapping_add(offset as u32).wrapping_add(4 * number);
                let (register, dword) = ((at / ROW) as u8, (at / 4 % 8) as u8);
                self.values[value] = Some(Place::Source(Src::Scalar { register, dword }));
            }
            return Ok(());
        }
        let (offset, more) = self.offset(data.args[0]);
        let source = self.source(offset);
        let first = table.wrapping_add(more) as u16;
        let aligned = zeros(self.ssa, offset, DEPTH).min(first.trailing_zeros());
        let side = match data.results.len() {
            _ if !self.abi.is_vertex() => None,
            2 if aligned >= 3 => Some(Side::Two),
            3 | 4 if aligned >= 4 => Some(Side::Four),
            _ => None,
        };
        if side.is_some() {
            let dst = Reg::virt(self.fresh());
            for (component, &value) in (0u8..).zip(&data.results) {
                self.values[value] = Some(Place::Source(Src::Part { reg: dst, component }));
            }
            let dst = [dst].into_iter().collect();
            self.push(Inst::Table { dst, offset: source, first, side });
            return Ok(());
        }
        let results: SmallVec<[Value; 4]> = data.results.iter().copied().collect();
        for (number, part) in results.chunks(4).enumerate() {
            let dst = part.iter().map(|&value| self.define(value).into()).collect();
            let first = first.wrapping_add(16 * number as u16);
            self.push(Inst::Table { dst, offset: source, first, side });
        }
        Ok(())
    }

    /// An offset without the number that is added to it, and that number.
    fn offset(&self, value: Value) -> (Value, u32) {
        if let Some(data) = self.ssa.def(value)
            && data.op == Op::IAdd
            && self.is_near(value)
        {
            for (number, rest) in [(1, 0), (0, 1)] {
                if let Some(bits) = self.ssa.as_const(data.args[number]) {
                    return (data.args[rest], bits as u32);
                }
            }
        }
        (value, 0)
    }
}
