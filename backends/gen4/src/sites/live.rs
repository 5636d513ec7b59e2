//! What is read later, word by word: which changes of a word nothing can notice. Each lane goes its own way through the words;
//! where it may go is more than where it does.

use super::alike::is_scalar;
use crate::isa::Decoded;
use crate::isa::fields::f;
use crate::isa::operand::{COMPR4, File, Operand, Place, Region};
use crate::isa::ops::{Opcode, Shape};
use crate::isa::program::Flow;

/// The shared function of extended math. Table 14-15.
pub const MATH: u32 = 1;

/// General registers, message registers, and the two flags.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Set {
    general: u128,
    message: u16,
    flags: u8,
}

impl Set {
    const ALL: Set = Set { general: !0, message: !0, flags: 3 };

    pub fn with(self, other: Set) -> Set {
        Set {
            general: self.general | other.general,
            message: self.message | other.message,
            flags: self.flags | other.flags,
        }
    }

    fn without(self, other: Set) -> Set {
        Set {
            general: self.general & !other.general,
            message: self.message & !other.message,
            flags: self.flags & !other.flags,
        }
    }

    pub fn meets(self, other: Set) -> bool {
        self.general & other.general != 0
            || self.message & other.message != 0
            || self.flags & other.flags != 0
    }
}

/// The bits of so many registers from one on.
fn general(register: u32, count: u32) -> Set {
    let ones = if count >= 128 { !0 } else { (1u128 << count) - 1 };
    Set { general: ones << (register & 127), ..Set::default() }
}

pub fn message(register: u32, count: u32) -> Set {
    let ones = ((1u32 << count.min(16)) - 1) as u16;
    Set { message: ones << (register & 15), ..Set::default() }
}

/// The flag that a word names.
pub fn flag(word: &Decoded) -> Set {
    Set { flags: 1 << u8::from(word.inst.flag(f::FLAG_SUBREG)), ..Set::default() }
}

/// Lengths of a message and its reply; the longest where a register says them.
fn lengths(word: &Decoded) -> (u32, u32, Option<u32>) {
    let inst = &word.inst;
    match File::of(inst.get(f::SRC1_FILE)) {
        File::Imm => {
            let bits = inst.get(f::SRC1);
            (bits >> 20 & 15, bits >> 16 & 15, Some(bits >> 24 & 15))
        }
        _ => (15, 8, None),
    }
}

fn is_compressed(word: &Decoded) -> bool {
    word.inst.get(f::COMPR_CTRL) == 2
}

/// What a word writes, some of it perhaps in part.
pub fn written(word: &Decoded) -> Set {
    let opcode = Opcode::of(word.inst.op());
    let mut set = destination(word);
    if !matches!(opcode.shape(), Shape::Send | Shape::Special)
        && word.inst.get(f::COND_MODIFIER) != 0
    {
        set = set.with(flag(word));
    }
    set
}

/// What a word's destination is, some of it perhaps in part.
pub fn destination(word: &Decoded) -> Set {
    let opcode = Opcode::of(word.inst.op());
    let Some(dst) = word.operands.dst else { return Set::default() };
    let Place::Direct { register, .. } = dst.place else { return Set::ALL };
    let rows = 1 + u32::from(is_compressed(word));
    match (dst.file, opcode.shape()) {
        (File::Grf, Shape::Send) => general(register, rows * lengths(word).1),
        (File::Grf, _) => general(register, rows),
        (File::Mrf, _) if register & COMPR4 != 0 => {
            message(register, 1).with(message(register + 4, 1))
        }
        (File::Mrf, _) => message(register, rows),
        (File::Arf, _) if register >> 4 == 3 => Set { flags: 3, ..Set::default() },
        _ => Set::default(),
    }
}

/// The register into which a message moves its source, all of it whatever the mask, and the next one where it is compressed.
/// 14.2.44.
fn moved(word: &Decoded) -> Set {
    let moves = word.operands.src0.is_some_and(|source| source.file == File::Grf);
    let rows = 1 + u32::from(is_compressed(word));
    if moves { message(word.inst.get(f::MRF), rows) } else { Set::default() }
}

/// What has nothing of its old value behind a word, for the lanes that execute it.
fn replaced(word: &Decoded) -> Set {
    let (inst, opcode) = (&word.inst, Opcode::of(word.inst.op()));
    if inst.get(f::PRED_CTRL) != 0 && opcode != Opcode::Sel {
        return Set::default();
    }
    let whole = |dst: Operand| {
        let first = matches!(dst.place, Place::Direct { byte: 0, .. });
        let all = matches!(dst.region, Region::Stride(1)) && dst.ty.bytes() == 4;
        first && all && inst.get(f::EXEC_SIZE) >= 3
    };
    match opcode.shape() {
        // A commit writes nothing.
        Shape::Send if matches!(lengths(word).2, Some(1 | 2 | 4)) => {
            written(word).with(moved(word))
        }
        Shape::Send => moved(word),
        Shape::Unary | Shape::Binary => match word.operands.dst {
            Some(dst) if whole(dst) => written(word),
            _ => Set::default(),
        },
        _ => Set::default(),
    }
}

/// What a word reads.
fn read(word: &Decoded) -> Set {
    let (inst, opcode) = (&word.inst, Opcode::of(word.inst.op()));
    let mut set = Set::default();
    if opcode.shape() == Shape::Special {
        return set;
    }
    let rows = 1 + u32::from(is_compressed(word));
    if inst.get(f::PRED_CTRL) != 0 {
        set = if inst.get(f::PRED_CTRL) == 1 { flag(word) } else { Set { flags: 3, ..set } };
    }
    if opcode.shape() == Shape::Send {
        let whole = message(inst.get(f::MRF), rows * lengths(word).0);
        set = set.with(whole.without(moved(word)));
    }
    for source in [word.operands.src0, word.operands.src1].into_iter().flatten() {
        let Place::Direct { register, .. } = source.place else { return Set::ALL };
        let single = opcode.shape() == Shape::Send && rows == 1
            || matches!(source.region, Region::Rows { vertical: 0, horizontal: 0, .. });
        set = set.with(match source.file {
            File::Grf if single => general(register, 1),
            File::Grf if opcode == Opcode::Pln => general(register, 4),
            File::Grf => general(register, 2),
            File::Arf if register >> 4 == 3 => Set { flags: 3, ..Set::default() },
            _ => Set::default(),
        });
    }
    set
}

/// What is open around a word.
#[derive(Copy, Clone)]
enum Open {
    /// Where lanes of the other arm go on, if that is still to come, and where all do.
    If { otherwise: Option<usize>, end: usize },
    /// The word at the loop's end, and which lanes may wait there.
    Loop { end: usize, left: bool, again: bool },
}

/// General registers from which a lane takes what is another's: all that is not read lane by lane.
fn crossed(word: &Decoded) -> Set {
    let mut set = Set::default();
    let message = Opcode::of(word.inst.op()).shape() == Shape::Send;
    if message && lengths(word).2 == Some(MATH) {
        return set;
    }
    for source in [word.operands.src0, word.operands.src1].into_iter().flatten() {
        let Place::Direct { register, byte } = source.place else { return Set::ALL };
        let own = match source.region {
            Region::Rows { vertical: 4, width: 3, horizontal: 1 } => {
                byte == 0 && source.ty.bytes() == 4
            }
            Region::Rows { vertical: 5, width: 3, horizontal: 2 } => {
                byte < 4 && source.ty.bytes() == 2
            }
            _ => false,
        };
        if source.file == File::Grf && (!own || message) {
            set = set.with(general(register, if message { 1 } else { 2 }));
        }
    }
    set
}

/// What later words read.
pub struct Live {
    /// Before each word; nothing behind the last one.
    before: Vec<Set>,
    /// Behind each word.
    pub behind: Vec<Set>,
    /// What lanes read that wait while each word is executed; nothing where no lane can wait.
    pub waiting: Vec<Option<Set>>,
    /// What a lane may read of another.
    pub crossed: Set,
}

impl Live {
    /// Of the words of a program.
    pub fn of(words: &[Decoded]) -> Live {
        let count = words.len();
        let mut live = Live {
            before: vec![Set::default(); count + 1],
            behind: vec![Set::default(); count],
            waiting: vec![None; count],
            crossed: words.iter().map(crossed).fold(Set::default(), Set::with),
        };
        let mut changed = true;
        // A loop needs one pass more for each of its levels.
        while changed {
            changed = false;
            for (at, word) in words.iter().enumerate().rev() {
                let behind = ways(words, at)
                    .into_iter()
                    .flatten()
                    .fold(Set::default(), |set, next| set.with(live.before[next]));
                let before = behind.without(replaced(word)).with(read(word));
                changed |= before != live.before[at];
                live.before[at] = before;
                live.behind[at] = behind;
            }
        }
        live.wait(words);
        live
    }

    fn wait(&mut self, words: &[Decoded]) {
        let ends = matches(words);
        let mut open: Vec<Open> = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let opcode = Opcode::of(word.inst.op());
            if matches!(opcode, Opcode::Endif | Opcode::While) {
                open.pop();
            }
            let reads = open.iter().filter_map(|open| match *open {
                Open::If { otherwise, end } => {
                    let other = otherwise.map_or(Set::default(), |at| self.before[at + 1]);
                    Some(other.with(self.before[end]))
                }
                Open::Loop { end, left, again } => {
                    let left = left.then(|| self.before[end + 1]);
                    let again = again.then(|| self.before[end]);
                    left.into_iter().chain(again).reduce(Set::with)
                }
            });
            self.waiting[at] = reads.reduce(Set::with);
            match opcode {
                Opcode::If | Opcode::Iff => {
                    let (otherwise, end) = ends[at];
                    open.push(Open::If { otherwise, end });
                }
                Opcode::Else => {
                    if let Some(Open::If { otherwise, .. }) = open.last_mut() {
                        *otherwise = None;
                    }
                }
                Opcode::Do => {
                    let end = ends[at].1;
                    let has = |opcode| inner(&words[at + 1..end], opcode);
                    let left = has(Opcode::Break) || !agreed(words, end);
                    open.push(Open::Loop { end, left, again: has(Opcode::Cont) });
                }
                _ => {}
            }
        }
    }
}

/// Whether a loop's body has an instruction of its own, and not of a loop within.
fn inner(body: &[Decoded], opcode: Opcode) -> bool {
    let mut depth = 0;
    body.iter().any(|word| {
        let other = Opcode::of(word.inst.op());
        depth += i32::from(other == Opcode::Do) - i32::from(other == Opcode::While);
        other == opcode && depth == 0
    })
}

/// Whether the predicate of a word is one number for all lanes: the last word that makes the flag, in the same stretch,
/// compares what all lanes share.
fn agreed(words: &[Decoded], at: usize) -> bool {
    let word = &words[at];
    match word.inst.get(f::PRED_CTRL) {
        0 => return true,
        1 => {}
        _ => return false,
    }
    let makes = |other: &&Decoded| {
        let opcode = Opcode::of(other.inst.op());
        let stretch = matches!(opcode.shape(), Shape::Unary | Shape::Binary | Shape::Send);
        !stretch || written(other).meets(flag(word))
    };
    let Some(made) = words[..at].iter().rev().find(makes) else { return false };
    let sources = [made.operands.src0, made.operands.src1];
    matches!(Opcode::of(made.inst.op()), Opcode::Cmp)
        && made.inst.get(f::PRED_CTRL) == 0
        && made.inst.get(f::EXEC_SIZE) == word.inst.get(f::EXEC_SIZE)
        && sources.iter().flatten().all(is_scalar)
}

/// Before each word, what its flag is for all lanes that execute it: the sub-register and whether it is 0.
pub fn known(words: &[Decoded]) -> Vec<Option<(Set, bool)>> {
    let mut known: Vec<Option<(Set, bool)>> = Vec::with_capacity(words.len());
    let mut now: Option<(Set, bool)> = None;
    for word in words {
        let inst = &word.inst;
        let opcode = Opcode::of(inst.op());
        // Who continues comes to the loop's end from elsewhere.
        known.push(now.filter(|_| opcode != Opcode::While));
        let plain = inst.get(f::PRED_CTRL) == 1;
        now = match opcode {
            Opcode::If | Opcode::Iff if plain => Some((flag(word), inst.flag(f::PRED_INV))),
            // Who goes on behind is who did not leave.
            Opcode::Break | Opcode::Cont if plain => Some((flag(word), !inst.flag(f::PRED_INV))),
            Opcode::Break | Opcode::Cont => None,
            _ => match opcode.shape() {
                Shape::Unary | Shape::Binary | Shape::Send => {
                    now.filter(|(flag, _)| !written(word).meets(*flag))
                }
                _ => None,
            },
        };
    }
    known
}

/// Of each word that opens something, the word of the other arm and that of the end; itself where there is none.
fn matches(words: &[Decoded]) -> Vec<(Option<usize>, usize)> {
    let mut ends: Vec<(Option<usize>, usize)> = (0..words.len()).map(|at| (None, at)).collect();
    let mut open: Vec<usize> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        match Opcode::of(word.inst.op()) {
            Opcode::If | Opcode::Iff | Opcode::Do => open.push(at),
            Opcode::Else => {
                if let Some(&start) = open.last() {
                    ends[start].0 = Some(at);
                }
            }
            Opcode::Endif | Opcode::While => {
                if let Some(start) = open.pop() {
                    ends[start].1 = at;
                }
            }
            _ => {}
        }
    }
    ends
}

/// Where a lane may go behind a word, where words are 16 bytes each.
fn ways(words: &[Decoded], at: usize) -> [Option<usize>; 2] {
    let flow = Flow::of(16 * at, &words[at]);
    let within = |to: &usize| *to < words.len();
    let jump = flow.jumps.and_then(|to| usize::try_from(to / 16).ok());
    [flow.falls.then_some(at + 1).filter(within), jump.filter(within)]
}
