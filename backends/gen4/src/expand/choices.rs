//! Choices by one index: an element that is changed is changed in its own place, and choices by one condition stand side by side.

use super::uses::uses;
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Func, Imm, Inst, InstData, Numerics, Op, Type, Value, eval_inst};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Choices that a tree is followed through.
const DEPTH: u32 = 12;
/// Operations that a condition is followed through: each has two operands.
const FOLLOWED: u32 = 5;
/// Elements that one change is told to, at most.
const MOST: usize = 32;

/// What a value is where an index is a number, as far as the value follows from that.
fn known(func: &Func, value: Value, index: (Value, u64), depth: u32) -> Option<u64> {
    if value == index.0 {
        return Some(index.1);
    }
    if let Some(bits) = func.as_const(value) {
        return Some(bits);
    }
    let data = func.def(value).filter(|_| depth > 0)?;
    let follows = matches!(
        data.op,
        Op::And
            | Op::Or
            | Op::IAdd
            | Op::Shl
            | Op::LShr
            | Op::IEq
            | Op::INe
            | Op::ULt
            | Op::ULe
            | Op::SLt
            | Op::SLe
    );
    if !follows || data.args.iter().any(|&arg| func.ty(arg) != Type::B32) {
        return None;
    }
    let args = data.args.iter().map(|&arg| known(func, arg, index, depth - 1));
    let args: Option<SmallVec<[u64; 2]>> = args.collect();
    eval_inst(func, data, &args?, &Numerics::REFERENCE)
}

/// What a tree of choices gives where an index is a number.
fn chosen(func: &Func, tree: Value, index: (Value, u64)) -> Option<Value> {
    let mut value = tree;
    for _ in 0..DEPTH {
        let Some(data) = func.def(value).filter(|data| data.op == Op::Select) else { break };
        match known(func, data.args[0], index, FOLLOWED) {
            Some(holds) => value = data.args[if holds != 0 { 1 } else { 2 }],
            None => break,
        }
    }
    (value != tree).then_some(value)
}

/// The index and the number of a choice where the index is that number.
fn where_equal(func: &Func, choice: &InstData) -> Option<(Value, u64)> {
    let data = func.def(choice.args[0]).filter(|data| data.op == Op::IEq)?;
    let [first, second] = data.args[..] else { return None };
    if func.ty(first) != Type::B32 {
        return None;
    }
    match [first, second].map(|value| func.as_const(value)) {
        [None, Some(bits)] => Some((first, bits)),
        [Some(bits), None] => Some((second, bits)),
        _ => None,
    }
}

/// `a[i] = a[i] + b` of elements in registers: each choice takes the sum of its own element, and the element that the index
/// names is chosen no longer.
pub fn update(func: &mut Func) -> bool {
    let uses = uses(func);
    // The choices that take each value where an index is a number.
    let mut takers: SecondaryMap<Value, SmallVec<[Inst; 4]>> = SecondaryMap::new();
    for (region, ..) in func.regions_in_order() {
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            if data.op == Op::Select && where_equal(func, data).is_some() {
                takers[data.args[1]].push(inst);
            }
        }
    }
    // Whether all choices of a changed value name their elements.
    let mut named: BTreeMap<Value, bool> = BTreeMap::new();
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            let data = func.insts[inst].clone();
            if data.op == Op::Select
                && let count = takers[data.args[1]].len()
                && (1..=MOST).contains(&count)
                && uses[data.args[1]] as usize == count
                && let Some(own) =
                    own(func, &data, &takers[data.args[1]], |value| uses[value], &mut named)
            {
                let made = func.new_inst(own, &[Type::B32]);
                out.push(made);
                func.insts[inst].args[1] = func.insts[made].results[0];
                changed = true;
            }
            out.push(inst);
        }
        func.regions[region].insts = out;
    }
    changed
}

/// The change of the element that a choice names, where all choices of the changed value name theirs.
fn own(
    func: &Func,
    choice: &InstData,
    takers: &[Inst],
    uses: impl Fn(Value) -> u32,
    named: &mut BTreeMap<Value, bool>,
) -> Option<InstData> {
    let change = func.def(choice.args[1])?;
    let ops =
        [Op::IAdd, Op::ISub, Op::FAdd, Op::FSub, Op::FMul, Op::And, Op::Or, Op::Xor].as_slice();
    if !ops.contains(&change.op) || change.args.len() != 2 {
        return None;
    }
    let of = |value: Value| {
        let choices = func.def(value).is_some_and(|data| data.op == Op::Select);
        choices && uses(value) == 1 && func.ty(value) == Type::B32
    };
    let at = (0..2).find(|&at| of(change.args[at]))?;
    let tree = change.args[at];
    let index = where_equal(func, choice)?;
    // All of them, or the tree stays.
    let all = *named.entry(choice.args[1]).or_insert_with(|| {
        takers.iter().all(|&taker| {
            let other = where_equal(func, &func.insts[taker]);
            let other = other.filter(|other| other.0 == index.0);
            other.is_some_and(|other| chosen(func, tree, other).is_some())
        })
    });
    if !all {
        return None;
    }
    let mut args = change.args.clone();
    args[at] = chosen(func, tree, index)?;
    Some(InstData::new(change.op, Imm::None, &args, choice.span))
}

/// Choices by a condition that stand behind choices by others move up to those by the same condition, as far as their operands
/// stand before: a flag decides them all.
pub fn group(func: &mut Func) -> bool {
    let mut changed = false;
    // The place of what makes each value, in the region that is looked at.
    let mut places: SecondaryMap<Value, u32> = SecondaryMap::new();
    for (region, ..) in func.regions_in_order() {
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut slots: Vec<SmallVec<[Inst; 1]>> = Vec::with_capacity(insts.len());
        let mut last: BTreeMap<Value, u32> = BTreeMap::new();
        let mut latest: Option<Value> = None;
        for &inst in &insts {
            let data = &func.insts[inst];
            let mut place = slots.len() as u32;
            let chooses = data.op == Op::Select && func.ty(data.results[0]) == Type::B32;
            if chooses {
                let condition = data.args[0];
                // One more than the slot.
                let before = last.get(&condition).copied().unwrap_or(0);
                if before > 0
                    && latest != Some(condition)
                    && data.args.iter().all(|&arg| places[arg] < before)
                {
                    place = before - 1;
                    changed = true;
                } else {
                    latest = Some(condition);
                    last.insert(condition, place + 1);
                }
            }
            for &result in &data.results {
                places[result] = place;
            }
            match slots.get_mut(place as usize) {
                Some(slot) => slot.push(inst),
                None => slots.push([inst].into_iter().collect()),
            }
        }
        for &inst in &insts {
            for &result in &func.insts[inst].results {
                places[result] = 0;
            }
        }
        func.regions[region].insts = slots.into_iter().flatten().collect();
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::super::parsed;
    use super::{group, update};
    use gpucc_ir::ssa::{Func, Op};

    fn func(body: &str) -> Func {
        let text = format!(
            "func \"one\" fragment {{
              in0 = \"v\" u32 x 4 location 0 flat center
              out0 = \"\" u32 x 4 location 0 flat
            }} body {{
              %0: b32 = input in0.0
              %1: b32 = input in0.1
              %2: b32 = input in0.2
              %3: b32 = const 0
              %4: b32 = const 1
              %5: b1 = ieq %0, %3
              %6: b1 = ieq %0, %4
              {body}
              output out0.0, %20
              output out0.1, %21
              yield
            }}"
        );
        parsed(&text)
    }

    #[test]
    fn an_element_is_changed_in_its_place() {
        let mut func = func(
            "%7: b32 = select %5, %1, %2
             %8: b32 = iadd %7, %4
             %20: b32 = select %5, %8, %1
             %21: b32 = select %6, %8, %2",
        );
        assert!(update(&mut func));
        let text = func.to_string();
        assert!(text.contains("iadd %1, %4") && text.contains("iadd %2, %4"), "{text}");
        assert!(!update(&mut func), "nothing is left");
    }

    #[test]
    fn a_changed_element_that_somebody_else_reads_stays() {
        let mut func = func(
            "%7: b32 = select %5, %1, %2
             %8: b32 = iadd %7, %4
             %20: b32 = select %5, %8, %1
             %21: b32 = iadd %8, %2",
        );
        assert!(!update(&mut func));
    }

    #[test]
    fn choices_by_one_condition_stand_side_by_side() {
        let body = "%7: b32 = select %5, %1, %2
             %8: b32 = select %6, %1, %2
             %20: b32 = select %5, %2, %1
             %21: b32 = select %6, %8, %20";
        let mut moved = func(body);
        assert!(group(&mut moved));
        let conditions = |func: &Func| -> Vec<_> {
            let insts = func.regions[func.body].insts.iter().map(|&inst| &func.insts[inst]);
            insts.filter(|data| data.op == Op::Select).map(|data| data.args[0]).collect()
        };
        let [a, b, c, d] = conditions(&moved)[..] else { panic!("four choices") };
        assert!(a == b && c == d && a != c, "{moved}");
        // What is made between them stays before who reads it.
        assert!(!group(&mut func(
            "%7: b32 = select %5, %1, %2
             %8: b32 = select %6, %7, %2
             %20: b32 = select %5, %8, %1
             %21: b32 = iadd %20, %7"
        )));
    }
}
