//! What the code does that no public driver has run on an R600 or an R700, read from the finished
//! program. docs/errata.md, Evidence.

use crate::isa::{Body, CfOp, FetchOp, Program, flag};
use gpucc_ir::ssa::{Dim, Func, Imm, Resource, ResourceKind, Stage};
use gpucc_machine::described::{Evidence, Ground};

const COMPUTE: Ground = Ground::assumption(
    "workgroups run as points of a vertex program",
    "no public driver computes on these chips; the manual's vertex and memory chapters describe each part",
);
const STORES: Ground = Ground::manual(
    "stores through memory exports",
    "R700 ISA 3.4; the kernel's command checker admits the base register, public drivers store so from the next family on",
);
const LOADS: Ground = Ground::manual(
    "loads of memory that the program writes",
    "R700 ISA 9.5; public drivers read scratch back by the same instruction",
);
const SHARE: Ground = Ground::assumption(
    "workgroup memory in the data share",
    "R700 ISA 9.6 describes the instructions; the state that launches a program with a share is not public",
);
const VERTEX_CLAUSE: Ground = Ground::manual(
    "vertex fetches through the texture cache (VTX_TC)",
    "R700 ISA 9.1; public drivers use VTX clauses on these chips",
);
const DOUBLES: Ground = Ground::manual(
    "arithmetic of 64 bits",
    "R700 ISA 4.12; the closed driver used it, public drivers do not on these chips",
);
const CUBE_ARRAYS: Ground = Ground::assumption(
    "arrays of cubes as layers",
    "the next family numbers faces as 8 * layer + face; public drivers have no arrays of cubes on these chips",
);
const KILLED_STORES: Ground = Ground::manual(
    "stores of a fragment program, run for pixels that tests hide",
    "R700 3D registers, DB_SHADER_CONTROL; public drivers use the same bits from the next family on",
);

/// What a program rests on.
pub fn evidence(func: &Func, program: &Program) -> Evidence {
    let mut found: Vec<Ground> = Vec::new();
    let mut note = |ground: Ground| {
        if !found.contains(&ground) {
            found.push(ground);
        }
    };
    if func.stage == Stage::Compute {
        note(COMPUTE);
    }
    for cf in &program.cf {
        match cf.op() {
            CfOp::MEM_EXPORT => {
                note(STORES);
                if func.stage == Stage::Fragment {
                    note(KILLED_STORES);
                }
            }
            CfOp::VTX_TC => note(VERTEX_CLAUSE),
            _ => {}
        }
    }
    for clause in &program.clauses {
        match &clause.body {
            Body::Alu(groups) => {
                for slot in groups.iter().flat_map(|group| &group.slots) {
                    if slot.row().flags & (flag::PAIR_64 | flag::QUAD_64) != 0 {
                        note(DOUBLES);
                    }
                }
            }
            Body::Fetch(fetches) => {
                for fetch in fetches {
                    match FetchOp::of(fetch.op().id) {
                        FetchOp::READ_MEM => note(LOADS),
                        FetchOp::DS_LOCAL_READ | FetchOp::DS_LOCAL_WRITE => note(SHARE),
                        _ => {}
                    }
                }
            }
        }
    }
    if samples_cube_arrays(func) {
        note(CUBE_ARRAYS);
    }
    found.into_iter().collect()
}

fn samples_cube_arrays(func: &Func) -> bool {
    let cubes = |resource: Resource| {
        let kind = &func.resources[resource].kind;
        matches!(kind, ResourceKind::Texture { dim: Dim::Cube, arrayed: true, .. })
    };
    func.resources.keys().any(cubes)
        && func.regions_in_order().iter().any(|&(region, ..)| {
            let mut insts = func.regions[region].insts.iter();
            insts.any(|&inst| matches!(func.insts[inst].imm, Imm::Tex(tex) if cubes(tex.texture)))
        })
}
