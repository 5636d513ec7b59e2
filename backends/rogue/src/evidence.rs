//! What generated code rests on beyond what public drivers run. docs/errata.md, Evidence; isa/rogue-pipeline.md marks such things
//! [A].

use crate::abi::Abi;
use crate::lower::in_turn;
use gpucc_ir::ssa::{Builtin, Func, Imm, InputKind, Op, Stage, TexKind};
use gpucc_machine::described::{Evidence, Ground};

const TRANSFERS: Ground = Ground::assumption(
    "DOUTW's operand has its fields where DOUTD's are",
    "public headers of the sequencer name the fields of this operand, and of the other one the bits alone",
);
const CONDITIONS: Ground = Ground::assumption(
    "a branch of the data sequencer counts words from itself, IF1 is a workgroup's task and IF0 the last instance of a task",
    "the public driver's programs need it so; public headers of the sequencer give the bits alone",
);
const ROUNDING: Ground = Ground::assumption(
    "sums, products and fused products are rounded once, and subnormal floats count as zeros in them",
    "the public driver promises neither",
);
const FUNCTIONS: Ground = Ground::assumption(
    "sines and cosines by FRED and FSINC",
    "what either function gives is public nowhere, their product is",
);
const ACCURACY: Ground = Ground::assumption(
    "FRCP, FRSQ and FLOG are within one unit of the exact value, and FEXP within two",
    "the public driver divides by FRCP where Vulkan lets a quotient be off by 2.5 units; the accuracy itself is public nowhere",
);
const LEVELS: Ground = Ground::assumption(
    "every pixel takes its level of detail from its own row and column of the quad",
    "the public encoding of SMP names the flag, and no document says more",
);
const TILES: Ground = Ground::assumption(
    "colours behind the output registers lie in tile buffers of 32 by 32 pixels with eight words each",
    "the public driver stores so, the layout is not public",
);
const TARGETS: Ground = Ground::assumption(
    "the pixel back end rounds halves to nearest, and takes packed components from the lowest bit on",
    "the public driver names source and pack mode of every format, and no document says what becomes of the bits",
);
const DEPTHS: Ground = Ground::assumption(
    "a depth that goes back is a float of 32 bits that nothing clamps",
    "the public driver clamps every depth that goes back, and stores depths as floats of 32 bits",
);
const SAMPLES: Ground = Ground::assumption(
    "a program that runs for each sample of a pixel gets the mask of its own sample, and iterates at it or in the middle of the pixel",
    "the public driver runs programs so where pixels have several samples, and public headers give the names of rates and modes alone",
);
const BARRIERS: Ground = Ground::assumption(
    "workgroups of several tasks meet by a mutex and two coefficients",
    "the public driver does so by shared memory and a mutex; what wakes sleepers is said nowhere",
);
const BYTES: Ground = Ground::assumption(
    "DDMAD brings words from addresses that are not of words",
    "the public driver fetches attributes of every stride and offset so, and says nothing of addresses",
);
const TURNS: Ground = Ground::assumption(
    "atomic operations that the memory lacks are loads and stores of instances that take turns under a mutex",
    "the public driver does so for exchanges that compare",
);

/// What a program rests on; `targets` says that there are words of its targets.
pub fn evidence(func: &Func, abi: &Abi, targets: bool) -> Evidence {
    let mut found: Vec<Ground> = Vec::new();
    let mut add = |ground: &Ground| {
        if !found.contains(ground) {
            found.push(ground.clone());
        }
    };
    let builtin = |kind: InputKind| matches!(kind, InputKind::Builtin(_));
    match func.stage {
        Stage::Geometry => {}
        Stage::Compute => [TRANSFERS, CONDITIONS].iter().for_each(&mut add),
        Stage::Vertex => {
            if func.inputs.values().any(|data| builtin(data.kind)) {
                add(&TRANSFERS);
            }
            if abi.packings.values().flatten().any(|packing| packing.unaligned) {
                add(&BYTES);
            }
            // The last vertex of a task starts it.
            add(&CONDITIONS);
        }
        Stage::Fragment => {
            if targets {
                add(&TARGETS);
            }
            if abi.tiles > 0 {
                add(&TILES);
            }
            if abi.samples > 1 {
                add(&SAMPLES);
            }
            if abi.unrestricted && abi.gives_depth(func) {
                add(&DEPTHS);
            }
            // Places in the middle of a pixel are sums.
            let position = InputKind::Builtin(Builtin::Position);
            if func.inputs.values().any(|data| data.kind == position) {
                add(&ROUNDING);
            }
        }
    }
    for (region, ..) in func.regions_in_order() {
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            match data.op {
                Op::FAdd | Op::FSub | Op::FMul | Op::FMa => add(&ROUNDING),
                Op::FRcp | Op::FRsq | Op::FLog2 | Op::FExp2 => add(&ACCURACY),
                Op::FSin | Op::FCos => {
                    add(&FUNCTIONS);
                    add(&ROUNDING);
                }
                Op::Barrier if func.stage == Stage::Compute && spans_tasks(func) => add(&BARRIERS),
                _ => {}
            }
            if let Imm::Tex(tex) = &data.imm
                && func.stage == Stage::Fragment
                && matches!(tex.kind, TexKind::Sample)
            {
                add(&LEVELS);
            }
        }
    }
    if in_turn(func) {
        add(&TURNS);
    }
    found.into_iter().collect()
}

/// A workgroup has more than one task.
fn spans_tasks(func: &Func) -> bool {
    const TASK: u32 = 32;
    func.workgroup_size.iter().fold(1u32, |all, &n| all.saturating_mul(n)) > TASK
}
