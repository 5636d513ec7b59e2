//! What the code does that no public driver has run on a Valhall. docs/errata.md, Evidence.

use crate::abi::Abi;
use crate::api::{Chip, VertexForm};
use crate::expand::elements;
use crate::state::Facts;
use gpucc_ir::ssa::{Func, Imm, ResourceKind, Stage};
use gpucc_machine::described::{Evidence, Ground};
use gpucc_passes::uniformity::Uniformity;

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
    let plain = func.stage == Stage::Vertex && abi.pipeline.vertex.form == VertexForm::Plain;
    if plain && Facts::of(func).grouped {
        found.push(GROUPED_VERTICES);
    }
    if chooses_elements(func) {
        found.push(ELEMENTS);
    }
    found.into_iter().collect()
}

/// Some texture instruction takes an element of a binding array that may differ between lanes.
fn chooses_elements(func: &Func) -> bool {
    if func.resources.values().all(|data| data.count.is_none()) {
        return false;
    }
    let uniformity = Uniformity::of(func);
    let regions = func.regions_in_order();
    let mut insts = regions.iter().flat_map(|&(region, ..)| &func.regions[region].insts);
    insts.any(|&inst| {
        let data = &func.insts[inst];
        let Imm::Tex(tex) = data.imm else { return false };
        let sampled = matches!(func.resources[tex.texture].kind, ResourceKind::Texture { .. });
        let elements = &data.args[..elements(func, &tex)];
        sampled && elements.iter().any(|&element| !uniformity.is_uniform(element))
    })
}
