//! Waterfall loops. A message on a storage texture takes its handle from one lane, so where lanes choose
//! elements of a binding array, a loop serves the lanes of one element after the other. errata 115.

use gpucc_ir::ssa::{Builder, Func, Imm, Inst, InstData, Op, ResourceKind, Shuffle, Value};
use gpucc_passes::uniformity::Uniformity;

/// Puts every access of a storage texture that lanes choose into a loop over their choices.
pub fn expand(func: &mut Func) -> bool {
    if !func.resources.values().any(|data| data.count.is_some()) {
        return false;
    }
    let uniformity = Uniformity::of(func);
    let regions = func.regions_in_order();
    let insts = regions.iter().flat_map(|&(region, ..)| &func.regions[region].insts);
    let chosen: Vec<Inst> = insts
        .copied()
        .filter(|&inst| {
            let element = element(func, &func.insts[inst]);
            element.is_some_and(|element| !uniformity.is_uniform(element))
        })
        .collect();
    for &inst in &chosen {
        waterfall(func, inst);
    }
    !chosen.is_empty()
}

/// The element of a binding array of storage textures that an access takes.
fn element(func: &Func, data: &InstData) -> Option<Value> {
    let image = match (data.op, data.imm) {
        (_, Imm::Tex(tex)) => tex.texture,
        (Op::ImageStore, Imm::Resource(image)) | (_, Imm::ImageAtomic(image, _)) => image,
        _ => return None,
    };
    let resource = &func.resources[image];
    let array =
        resource.count.is_some() && matches!(resource.kind, ResourceKind::StorageTexture { .. });
    array.then(|| data.args[0])
}

/// `loop { first = the first lane's element; if element == first { access; break } }`: the loop takes the
/// place and the results of the access.
fn waterfall(func: &mut Func, inst: Inst) {
    let access = func.insts[inst].clone();
    let element = access.args[0];
    let types: Vec<_> = access.results.iter().map(|&result| func.ty(result)).collect();
    let region = func.new_region();
    let mut b = Builder::at(func, region);
    b.span = access.span;
    let ty = b.func.ty(element);
    let first = b.inst(Op::Shuffle, Imm::Shuffle(Shuffle::First), &[element], &[], &[ty]);
    let first = b.result(first);
    let same = b.op2(Op::IEq, element, first);
    b.if_else(
        same,
        &[],
        |b| {
            let mut args = access.args.clone();
            args[0] = first;
            let inner = b.inst(access.op, access.imm, &args, &[], &types);
            b.func.insts[inner].bundle = access.bundle;
            let results = b.func.insts[inner].results.clone();
            b.end(Op::Break, &results);
            Vec::new()
        },
        |_| Vec::new(),
    );
    b.end(Op::Continue, &[]);
    let continuing = b.in_new_region(|b| {
        b.end(Op::Next, &[]);
    });
    let data = &mut func.insts[inst];
    (data.op, data.imm, data.bundle) = (Op::Loop, Imm::None, None);
    data.args.clear();
    data.regions.extend([region, continuing]);
}
