//! What the code does that no public driver has run on a Valhall. docs/errata.md, Evidence.

use crate::abi::Abi;
use crate::api::{Chip, VertexForm};
use crate::state::Facts;
use gpucc_ir::ssa::{Func, Imm, InstData, Op, ResourceKind, Stage};
use gpucc_machine::described::{Evidence, Ground};

const CHIP: Ground = Ground::manual(
    "a chip that no public driver models",
    "Arm describes one instruction set for all chips of v9; the public drivers run on the g57",
);
const ELEMENTS: Ground = Ground::assumption(
    "textures or samplers of a binding array by an element that the lanes choose",
    "Arm describes handles in registers; no public driver lets lanes differ in them",
);
const GROUPED_VERTICES: Ground = Ground::assumption(
    "a vertex program that looks at its subgroup",
    "no public driver offers subgroups to vertex programs",
);

/// What a program rests on.
pub(crate) fn evidence(func: &Func, abi: &Abi, chip: Chip) -> Evidence {
    let mut found = Vec::new();
    if chip != Chip::G57 {
        found.push(CHIP);
    }
    let facts = Facts::of(func);
    let plain = abi.pipeline.vertex.form == VertexForm::Plain;
    if func.stage == Stage::Vertex && plain && facts.grouped {
        found.push(GROUPED_VERTICES);
    }
    let chooses = |data: &InstData| data.op == Op::Tex && chooses_elements(func, data);
    let regions = func.regions_in_order();
    let mut insts = regions.iter().flat_map(|&(region, ..)| &func.regions[region].insts);
    if insts.any(|&inst| chooses(&func.insts[inst])) {
        found.push(ELEMENTS);
    }
    found.into_iter().collect()
}

/// A texture instruction takes an element of a binding array that is no constant.
fn chooses_elements(func: &Func, data: &InstData) -> bool {
    let Imm::Tex(tex) = data.imm else { return false };
    let sampled = matches!(func.resources[tex.texture].kind, ResourceKind::Texture { .. });
    let bindings = [Some(tex.texture), tex.sampler.expand()].into_iter().flatten();
    let arrays = bindings.filter(|&binding| func.resources[binding].count.is_some()).count();
    sampled && data.args.iter().take(arrays).any(|&element| func.as_const(element).is_none())
}
