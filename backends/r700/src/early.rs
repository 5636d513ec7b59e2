//! Speculation of moves: what an arm hands on as it leaves its loop is moved before the branch.
//!
//! The arm is then a bare LOOP_BREAK without a clause of its own, and the moves share a group with the
//! test. Lanes that stay in the loop get the values too, so a move goes up only where they do not
//! want what its register held. Behind register allocation, before clauses; linear in instructions.

use crate::inst::{Inst, Src};
use crate::isa::AluOp;
use crate::live;
use cranelift_entity::SecondaryMap;
use gpucc_ir::mach::{Block, Func, Inst as _, Role};

/// Registers that are moved before a branch: what a group takes beside its test.
const MOST: usize = 3;

/// Moves what it can.
pub fn run(func: &mut Func<Inst>) {
    let arms: Vec<(Block, Block)> = func
        .layout
        .windows(2)
        .filter(|pair| leaves_by_moves(func, pair[0], pair[1]))
        .map(|pair| (pair[0], pair[1]))
        .collect();
    if arms.is_empty() {
        return;
    }
    let mut places: SecondaryMap<Block, usize> = SecondaryMap::new();
    for (place, &block) in func.layout.iter().enumerate() {
        places[block] = place;
    }
    // What matters at the start of any block but the arms stays as it is: a move writes what does not matter
    // on the other way, and reads what was wanted behind the branch in any case.
    let live = live::across(func);
    for (head, arm) in arms {
        let others = func.blocks[head].logical.iter().filter(|&&next| next != arm);
        let wanted = |cell: u16| {
            others
                .clone()
                .any(|&next| live.before(places[next]).binary_search(&u32::from(cell)).is_ok())
        };
        let mut free = true;
        let (test, moves) = match (&func.blocks[head].nodes[..], &func.blocks[arm].nodes[..]) {
            ([.., test], [moves @ .., _]) => (&test.inst, moves),
            _ => continue,
        };
        for node in moves {
            node.inst.operands(&mut |operand| {
                if operand.role != Role::Use {
                    let reg = operand.reg;
                    free &= !wanted(reg.cell().index);
                    test.operands(&mut |of_test| free &= of_test.reg != reg);
                }
            });
        }
        if free {
            let rest = func.blocks[arm].nodes.len() - 1;
            let moves: Vec<_> = func.blocks[arm].nodes.drain(..rest).collect();
            let nodes = &mut func.blocks[head].nodes;
            let at = nodes.len() - 1;
            nodes.splice(at..at, moves);
        }
    }
}

/// The first block ends in a branch to the second, which does nothing but moves before it leaves a loop.
fn leaves_by_moves(func: &Func<Inst>, head: Block, arm: Block) -> bool {
    let branches =
        matches!(func.blocks[head].nodes.last().map(|node| &node.inst), Some(Inst::If(_)));
    let [moves @ .., end] = &func.blocks[arm].nodes[..] else {
        return false;
    };
    if !branches || moves.is_empty() || !matches!(end.inst, Inst::Break) {
        return false;
    }
    let mut count = 0;
    let plain = moves.iter().all(|node| match &node.inst {
        Inst::Copy { dst, .. } => {
            count += dst.len();
            true
        }
        Inst::Alu(alu) => {
            count += 1;
            // A constant would lock its bank in the clause that it moves to.
            let is_own = |src: &Src| !matches!(src, Src::Const { .. });
            alu.op == AluOp::MOV && alu.dst.is_some() && alu.src.iter().all(|s| is_own(&s.src))
        }
        _ => false,
    });
    plain && count <= MOST
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inst::FILES;
    use gpucc_ir::mach;

    /// The function with what an arm moves before it leaves a loop, and what stands behind the branch.
    fn moved(arm: &str, behind: &str) -> String {
        let text = format!(
            "mach \"m\"\nb0:\n    R0.x = MOV 0x0\n    R0.y = MOV 0x1\n    loop\nb2: -> b3 b5\n    \
             if PRED_SETGE_INT R0.x, 0xa\nb3: logical b1, physical b1 b4\n    {arm}\n    break\n\
             b4: physical b5\nb5: logical b2, physical b2 b1\n    endif\n    {behind}\n    \
             endloop\nb1:\n    export Pixel 0 R0.z R0.y 0 1 done\n    end\n"
        );
        let mut func = mach::parse(&text, FILES).expect("a function");
        run(&mut func);
        mach::verify(&func).expect("still sound");
        mach::print(&func)
    }

    #[test]
    fn what_a_lane_takes_out_of_a_loop_is_moved_before_it_leaves() {
        let count = "R0.x = ADD_INT R0.x, 0x1";
        let early = |text: &str, moves: &str| {
            let head = text.split("    if PRED").next().expect("a head");
            head.ends_with(moves)
        };
        assert!(early(&moved("R0.z = MOV 0x2", count), "R0.z = MOV 0x2\n"));
        assert!(early(&moved("copy R0.z=R0.x", count), "copy R0.z=R0.x\n"));
        // Who stays in the loop still wants it, or the test does.
        assert!(!early(&moved("R0.y = MOV 0x2", "R0.x = ADD_INT R0.x, R0.y"), "R0.y = MOV 0x2\n"));
        assert!(!early(&moved("R0.x = MOV 0x2", "R0.x = MOV 0x3"), "R0.x = MOV 0x2\n"));
        // More than a group takes beside its test.
        let many = "copy R1.x=R0.x R1.y=R0.x R1.z=R0.x R1.w=R0.x";
        assert!(!early(&moved(many, count), &format!("{many}\n")));
    }
}
