//! A small assembler for the emulator's tests, written from the formats of the register guide: words come
//! from here, not from the back end's table.

use crate::Chip;
use crate::emu::{AluOp, Launched, Stage, State, Trap, address, run_compute};
use crate::numerics::numerics;

/// A source operand.
#[derive(Copy, Clone, Debug, Default)]
pub struct Src {
    pub sel: u32,
    pub chan: u32,
    pub rel: bool,
    pub neg: bool,
    pub abs: bool,
}

impl Src {
    pub fn neg(self) -> Src {
        Src { neg: true, ..self }
    }
    pub fn abs(self) -> Src {
        Src { abs: true, ..self }
    }
    pub fn rel(self) -> Src {
        Src { rel: true, ..self }
    }
}

/// Register `n`, channel `chan`.
pub fn r(n: u32, chan: u32) -> Src {
    Src { sel: n, chan, ..Src::default() }
}
/// Constant of kcache set 0.
pub fn k(n: u32, chan: u32) -> Src {
    r(128 + n, chan)
}
/// Literal dword.
pub fn lit(chan: u32) -> Src {
    r(253, chan)
}
pub fn pv(chan: u32) -> Src {
    r(254, chan)
}
pub fn ps() -> Src {
    r(255, 0)
}
/// Inline 0.0.
pub fn zero() -> Src {
    r(248, 0)
}
/// Inline 1.0.
pub fn one() -> Src {
    r(249, 0)
}

/// An ALU instruction.
#[derive(Copy, Clone, Debug)]
pub struct I {
    pub op: AluOp,
    pub dst: u32,
    pub chan: u32,
    pub src: [Src; 3],
    pub write: bool,
    pub last: bool,
    pub bank: u32,
    pub omod: u32,
    pub clamp: bool,
    pub index_mode: u32,
    pub pred_sel: u32,
    pub dst_rel: bool,
    pub update_pred: bool,
    pub update_exec: bool,
}

/// `op R dst.chan, sources`.
pub fn i(op: AluOp, dst: u32, chan: u32, sources: &[Src]) -> I {
    let mut src = [zero(); 3];
    src[..sources.len()].copy_from_slice(sources);
    I {
        op,
        dst,
        chan,
        src,
        write: true,
        last: false,
        bank: 0,
        omod: 0,
        clamp: false,
        index_mode: 0,
        pred_sel: 0,
        dst_rel: false,
        update_pred: false,
        update_exec: false,
    }
}

impl I {
    pub fn last(self) -> I {
        I { last: true, ..self }
    }
    pub fn mask(self) -> I {
        I { write: false, ..self }
    }
    pub fn bank(self, bank: u32) -> I {
        I { bank, ..self }
    }
    pub fn exec(self) -> I {
        I { update_exec: true, write: false, ..self }
    }
    pub fn pred(self) -> I {
        I { update_pred: true, write: false, ..self }
    }

    pub fn encode(&self) -> [u32; 2] {
        let bit = |b: bool, at: u32| u32::from(b) << at;
        let [a, b, c] = self.src;
        let w0 = a.sel
            | bit(a.rel, 9)
            | a.chan << 10
            | bit(a.neg, 12)
            | b.sel << 13
            | bit(b.rel, 22)
            | b.chan << 23
            | bit(b.neg, 25)
            | self.index_mode << 26
            | self.pred_sel << 29
            | bit(self.last, 31);
        let common = self.bank << 18
            | self.dst << 21
            | bit(self.dst_rel, 28)
            | self.chan << 29
            | bit(self.clamp, 31);
        let w1 = if self.op.sources() == 3 {
            c.sel | bit(c.rel, 9) | c.chan << 10 | bit(c.neg, 12) | self.op.code() << 13
        } else {
            bit(a.abs, 0)
                | bit(b.abs, 1)
                | bit(self.update_exec, 2)
                | bit(self.update_pred, 3)
                | bit(self.write, 4)
                | self.omod << 5
                | self.op.code() << 7
        };
        [w0, w1 | common]
    }
}

/// A group: instructions (the last gets LAST) and literals.
pub fn group(insts: &[I], literals: &[u32]) -> Vec<u32> {
    let mut words = Vec::new();
    for (n, inst) in insts.iter().enumerate() {
        let inst = if n + 1 == insts.len() { inst.last() } else { *inst };
        words.extend(inst.encode());
    }
    words.extend(literals);
    if literals.len() % 2 == 1 {
        words.push(0);
    }
    words
}

/// A control-flow instruction before layout.
#[derive(Clone, Debug)]
pub enum Cf {
    /// ALU_INST number, clause words, kcache (bank, mode, line).
    Alu(u32, Vec<u32>, (u32, u32, u32)),
    /// CF_INST number 1, 2 or 3 and fetches.
    Fetch(u32, Vec<[u32; 4]>),
    /// Number, target (by index of control-flow instruction), POP_COUNT.
    Flow(u32, u32, u32),
    /// The words themselves.
    Raw(u32, u32),
}

pub const CF_NOP: u32 = 0;
pub const LOOP_END: u32 = 5;
pub const LOOP_START_DX10: u32 = 6;
pub const LOOP_CONTINUE: u32 = 8;
pub const LOOP_BREAK: u32 = 9;
pub const JUMP: u32 = 10;
pub const PUSH: u32 = 11;
pub const ELSE: u32 = 13;
pub const POP: u32 = 14;
pub const CALL: u32 = 18;
pub const RETURN: u32 = 20;
pub const WAIT_ACK: u32 = 26;
pub const ALU: u32 = 8;
pub const ALU_PUSH_BEFORE: u32 = 9;
pub const ALU_POP_AFTER: u32 = 10;
pub const ALU_BREAK: u32 = 14;
pub const ALU_CONTINUE: u32 = 13;
pub const ALU_ELSE_AFTER: u32 = 15;
const BARRIER: u32 = 1 << 31;
const END: u32 = 1 << 21;

/// An ALU clause.
pub fn alu(groups: &[Vec<u32>]) -> Cf {
    Cf::Alu(ALU, groups.concat(), (0, 0, 0))
}

/// An ALU clause of another kind.
pub fn alu_kind(kind: u32, groups: &[Vec<u32>]) -> Cf {
    Cf::Alu(kind, groups.concat(), (0, 0, 0))
}

/// `EXPORT` or `EXPORT_DONE`.
pub fn export(done: bool, kind: u32, base: u32, gpr: u32, swizzle: [u32; 4], end: bool) -> Cf {
    let w0 = base | kind << 13 | gpr << 15 | 3 << 30;
    let [x, y, z, w] = swizzle;
    let inst = if done { 40 } else { 39 };
    let mut w1 = x | y << 3 | z << 6 | w << 9 | inst << 23 | BARRIER;
    if end {
        w1 |= END;
    }
    Cf::Raw(w0, w1)
}

/// Scatter write of the masked channels of a register at the dword in `index`.x.
pub fn scatter(gpr: u32, index: u32, mask: u32) -> Cf {
    let elem = match mask {
        1 => 0,
        2 | 3 => 1,
        _ => 3,
    };
    let w0 = 1 << 13 | gpr << 15 | index << 23 | elem << 30;
    Cf::Raw(w0, mask << 12 | 58 << 23 | BARRIER)
}

/// The exports that end a compute program.
pub fn tail() -> [Cf; 2] {
    [export(true, 1, 60, 0, [7; 4], false), export(true, 2, 0, 0, [7; 4], true)]
}

/// Lays a program out.
pub fn link(cfs: &[Cf]) -> Vec<u8> {
    let mut words: Vec<u32> = vec![0; cfs.len() * 2];
    for (n, cf) in cfs.iter().enumerate() {
        if !words.len().is_multiple_of(4) {
            words.extend([0, 0]);
        }
        let here = words.len() as u32 / 2;
        let (w0, w1) = match cf {
            Cf::Alu(kind, clause, (bank, mode, line)) => {
                words.extend(clause);
                let count = clause.len() as u32 / 2 - 1;
                (here | bank << 22 | mode << 30, line << 2 | count << 18 | kind << 26 | BARRIER)
            }
            Cf::Fetch(kind, list) => {
                words.extend(list.concat());
                let count = list.len() as u32 - 1;
                (here, (count & 7) << 10 | (count >> 3) << 19 | kind << 23 | BARRIER)
            }
            Cf::Flow(number, target, pop) => (*target, pop | number << 23 | BARRIER),
            Cf::Raw(w0, w1) => (*w0, *w1),
        };
        (words[2 * n], words[2 * n + 1]) = (w0, w1);
    }
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// A compute state with 8 registers, 4 stack entries and an aperture of 256 dwords.
pub fn state() -> State {
    let mut state = State::new(Chip::Rv770, Stage::Compute, numerics());
    state.registers.insert(address::SQ_PGM_RESOURCES_VS, 8 | 4 << 8 | 1 << 21);
    state.registers.insert(address::SQ_PGM_RESOURCES_PS, 8 | 4 << 8 | 1 << 21);
    state.registers.insert(address::SQ_VSTMP_RING_ITEMSIZE, 16);
    state.registers.extend([
        (address::VGT_PRIMITIVE_TYPE, 1),
        (address::VGT_VTX_CNT_EN, 1),
        (address::VGT_EVENT_INITIATOR, 33),
        (address::VGT_REUSE_OFF, 1),
        (address::VGT_MIN_VTX_INDX, 0),
        (address::VGT_MAX_VTX_INDX, u32::MAX),
        (address::VGT_INDX_OFFSET, 0),
        (address::VGT_VTX_VECT_EJECT_REG, 0x3FF),
        (address::PA_CL_CLIP_CNTL, 1 << 22),
        (address::DB_DEPTH_CONTROL, 0),
        (address::CB_TARGET_MASK, 0),
        (address::SX_MISC, 1),
    ]);
    state.aperture.words = vec![0; 256];
    state.steps = 100_000;
    state
}

/// Runs control flow, then the tail, on some threads; the aperture afterwards.
pub fn run_cf(cfs: &[Cf], threads: u32) -> Result<Vec<u32>, Trap> {
    let mut state = state();
    run_in(cfs, threads, &mut state)?;
    Ok(state.aperture.words)
}

/// The same in a state of the test's own.
pub fn run_in(cfs: &[Cf], threads: u32, state: &mut State) -> Result<Launched, Trap> {
    let mut all = cfs.to_vec();
    all.extend(tail());
    run_compute(&link(&all), state, threads, None)
}

/// Runs groups on one thread and stores a register's channel: the value.
pub fn run_groups(groups: &[Vec<u32>], result: (u32, u32)) -> Result<u32, Trap> {
    let mut all = groups.to_vec();
    let (register, channel) = result;
    all.push(group(&[i(AluOp::MOV, 7, 0, &[r(register, channel)])], &[]));
    run_cf(&[alu(&all), scatter(7, 0, 1)], 1).map(|words| words[0])
}
