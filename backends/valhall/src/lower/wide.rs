//! Operations on 64 bits in pairs of registers.

use super::operand::Opnd;
use super::{Lower, Place};
use crate::isa::{Opcode, f};
use gpucc_ir::ssa::{InstData, Op, Value};

impl Lower<'_> {
    /// An operation whose first operand has 64 bits.
    pub(super) fn wide_op(&mut self, data: &InstData, result: Value) {
        let a = &data.args;
        let opcode = match data.op {
            Op::Lo64 | Op::Hi64 => {
                let word = self.words(a[0])[usize::from(data.op == Op::Hi64)];
                return self.define(result, Place::Src(word.src));
            }
            Op::Not => {
                let sources = [self.wide(a[0]), Opnd::bits(0), Opnd::bits(0)];
                let fields = [(f::NOT_RESULT, 1)];
                let pair = self.emit_pair(Opcode::LshiftOrI64, &sources, &fields);
                return self.define_pair(result, pair);
            }
            Op::IAdd => Opcode::IaddU64,
            Op::ISub => Opcode::IsubU64,
            Op::And => Opcode::LshiftAndI64,
            Op::Or => Opcode::LshiftOrI64,
            Op::Xor => Opcode::LshiftXorI64,
            Op::Shl => Opcode::LshiftOrI64,
            Op::LShr => Opcode::RshiftOrI64,
            Op::AShr => Opcode::ArshiftOrI64,
            op => unreachable!("`{}` is not native at 64 bits", op.name()),
        };
        let pair = match data.op {
            Op::IAdd | Op::ISub => {
                let sources = [self.wide(a[0]), self.wide(a[1])];
                self.emit_pair(opcode, &sources, &[])
            }
            Op::Shl | Op::LShr | Op::AShr => {
                let sources = [self.wide(a[0]), self.plain(a[1]), Opnd::bits(0)];
                self.emit_pair(opcode, &sources, &[])
            }
            _ => {
                let sources = [self.wide(a[0]), Opnd::bits(0), self.wide(a[1])];
                self.emit_pair(opcode, &sources, &[])
            }
        };
        self.define_pair(result, pair);
    }
}
