//! What is read later, word by word: which changes of a word nothing can notice. Each lane goes its own way through the words;
//! where it may go is more than where it does.

use crate::isa::Decoded;
use crate::isa::fields::f;
use crate::isa::operand::{COMPR4, File, Operand, Place, Region};
use crate::isa::ops::{Opcode, Shape};
use crate::isa::program::Flow;

/// General registers, message registers, and the two flags.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Set {
    general: u128,
    message: u16,
    flags: u8,
}

impl Set {
    const ALL: Set = Set { general: !0, message: !0, flags: 3 };

    fn with(self, other: Set) -> Set {
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

fn message(register: u32, count: u32) -> Set {
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
    let mut set = Set::default();
    if !matches!(opcode.shape(), Shape::Send | Shape::Special)
        && word.inst.get(f::COND_MODIFIER) != 0
    {
        set = flag(word);
    }
    let Some(dst) = word.operands.dst else { return set };
    let Place::Direct { register, .. } = dst.place else { return Set::ALL };
    let rows = 1 + u32::from(is_compressed(word));
    set.with(match (dst.file, opcode.shape()) {
        (File::Grf, Shape::Send) => general(register, rows * lengths(word).1),
        (File::Grf, _) => general(register, rows),
        (File::Mrf, _) if register & COMPR4 != 0 => {
            message(register, 1).with(message(register + 4, 1))
        }
        (File::Mrf, _) => message(register, rows),
        (File::Arf, _) if register >> 4 == 3 => Set { flags: 3, ..Set::default() },
        _ => Set::default(),
    })
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
        Shape::Send if matches!(lengths(word).2, Some(1 | 2 | 4)) => written(word),
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
        set = set.with(message(inst.get(f::MRF), rows * lengths(word).0));
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
    /// The word at the loop's end.
    Loop { end: usize },
}

/// What later words read.
pub struct Live {
    /// Before each word; nothing behind the last one.
    before: Vec<Set>,
    /// Behind each word.
    pub behind: Vec<Set>,
    /// What lanes read that wait while each word is executed; nothing where no lane can wait.
    pub waiting: Vec<Option<Set>>,
}

impl Live {
    /// Of the words of a program.
    pub fn of(words: &[Decoded]) -> Live {
        let count = words.len();
        let mut live = Live {
            before: vec![Set::default(); count + 1],
            behind: vec![Set::default(); count],
            waiting: vec![None; count],
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
            let reads = open.iter().map(|open| match *open {
                Open::If { otherwise, end } => {
                    let other = otherwise.map_or(Set::default(), |at| self.before[at + 1]);
                    other.with(self.before[end])
                }
                Open::Loop { end } => self.before[end].with(self.before[end + 1]),
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
                Opcode::Do => open.push(Open::Loop { end: ends[at].1 }),
                _ => {}
            }
        }
    }
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
