//! Bitwise groups without what nothing asks of them. 2.6.

use crate::isa::Group;
use crate::isa::fields::f;
use crate::isa::group::Ops;
use crate::isa::register::Register;
use gpucc_isa::Inst;

/// What the phases of a bitwise group do.
#[derive(PartialEq)]
pub struct Bits {
    /// Row and number of the mask that goes on.
    mask: Option<(u32, u32, u32)>,
    shift1: Option<u32>,
    /// What is counted, and of what.
    count: Option<(u32, u32)>,
    /// The logical operation.
    logical: Option<u128>,
    /// Shift, and test as far as it is asked.
    shift: Option<(u32, Option<(u32, u32)>)>,
}

/// The sources that a bitwise group reads. 2.6.
pub fn bits_read(group: &Group) -> [bool; 6] {
    let (Some(bits), Ops::Bitwise([_, logical, _])) = (bits(group), &group.ops) else {
        return [true; 6];
    };
    const BYPASS: u32 = 7;
    const MASK_TOP: u32 = 6;
    let ones = bits.mask.is_some_and(|(numbered, ones, _)| numbered == 0 && ones == 1);
    let masked = bits.mask.is_some_and(|(numbered, ..)| numbered == 0);
    let top = bits.shift.is_some_and(|(shift, _)| shift == MASK_TOP);
    let by = bits.shift1.is_some_and(|shift| matches!(shift, 1 | 3));
    let second = logical.is_some_and(|logical| logical.get(f::LOGIC) != BYPASS);
    [
        ones || top,
        masked || by,
        bits.shift1.is_some() || bits.count.is_some(),
        second,
        bits.shift.is_some(),
        false,
    ]
}

/// The first shift that goes left by S1. 2.6.
const SHIFT_LEFT: u32 = 3;

pub fn bits(group: &Group) -> Option<Bits> {
    let Ops::Bitwise([Some(first), logical, shift]) = &group.ops else { return None };
    let numbered = first.get(f::BIT_IMM);
    let zero = |port: usize| group.sources[port] == Register::ZERO;
    let nothing = match numbered {
        0 => first.get(f::BITMASK) == 0 && zero(1),
        _ => first.get(f::VALUE) == 0,
    };
    let masked = match logical {
        Some(logical) => {
            let kept = !nothing && group.sources[3] != Register::ZERO;
            logical.flag(f::MASK_A) || logical.flag(f::MASK_B) && kept
        }
        None => shift.is_some() || group.writes[0].is_some(),
    };
    let tests = |shift: &Inst| shift.flag(f::PWEN) && shift.get(f::TEST_SRC) == 1;
    let counted = group.writes[1].is_some() || shift.as_ref().is_some_and(tests);
    let of = first.get(f::COUNT_SRC);
    let shifted = logical.is_some() || counted && of == 1;
    Some(Bits {
        mask: masked.then(|| (numbered, first.get(f::BITMASK) & !numbered, first.get(f::VALUE))),
        shift1: shifted.then(|| match first.get(f::SHIFT1) {
            // By no bits.
            SHIFT_LEFT if zero(1) => 0,
            shift => shift,
        }),
        count: counted.then(|| (first.get(f::COUNT_OP), of)),
        logical: logical.map(|logical| {
            let mut logical = logical;
            if nothing || zero(3) {
                logical = logical.with(f::MASK_B, 0);
            }
            // Whatever is combined with 0 so stays.
            if zero(3) && matches!(logical.get(f::LOGIC), 2 | 7) {
                logical = logical.with(f::LOGIC, 0);
            }
            logical.bits()
        }),
        shift: shift.map(|shift| {
            let test = (shift.get(f::TEST_SRC), shift.get(f::BIT_TEST));
            (shift.get(f::SHIFT2), shift.flag(f::PWEN).then_some(test))
        }),
    })
}
