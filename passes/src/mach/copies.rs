//! Who reads a copy reads the original, where both are written once: the allocator makes the copies that places ask for.

use cranelift_entity::EntityRef;
use gpucc_ir::mach::{Func, Inst, Role, VReg};
use smallvec::SmallVec;

/// How often each virtual register is written, up to 255.
pub fn writes<I: Inst>(func: &Func<I>) -> Vec<u8> {
    let mut writes = vec![0u8; func.vregs.len()];
    for &block in &func.layout {
        for node in &func.blocks[block].nodes {
            node.inst.operands(&mut |operand| {
                if let (Some(v), true) = (operand.reg.as_virt(), operand.role.is_def()) {
                    writes[v.index()] = writes[v.index()].saturating_add(1);
                }
            });
        }
    }
    writes
}

/// The registers that a copy moves: `(to, from)`. Cells are left out.
pub(super) fn pairs<I: Inst>(copy: &I) -> impl Iterator<Item = (VReg, VReg)> + use<I> {
    let mut to: SmallVec<[Option<VReg>; 8]> = SmallVec::new();
    let mut from: SmallVec<[Option<VReg>; 8]> = SmallVec::new();
    copy.operands(&mut |operand| match operand.role {
        Role::Use => from.push(operand.reg.as_virt()),
        Role::Def | Role::EarlyDef => to.push(operand.reg.as_virt()),
    });
    to.into_iter().zip(from).filter_map(|(to, from)| to.zip(from))
}

/// Forwards copies. Linear. The copies that nobody reads any more are [`super::remove_dead`]'s.
pub fn forward_copies<I: Inst>(func: &mut Func<I>) {
    let copies = |func: &Func<I>| {
        let mut nodes = func.layout.iter().flat_map(|&b| &func.blocks[b].nodes);
        nodes.any(|node| node.inst.is_copy())
    };
    if !copies(func) {
        return;
    }
    let writes = writes(func);
    let once = |v: VReg| writes[v.index()] == 1;
    let mut original: Vec<Option<VReg>> = vec![None; func.vregs.len()];
    for &block in &func.layout {
        for node in func.blocks[block].nodes.iter().filter(|n| n.inst.is_copy()) {
            for (to, from) in pairs(&node.inst).filter(|&(to, from)| once(to) && once(from)) {
                original[to.index()] = Some(from);
            }
        }
    }
    // A copy's original may be a copy.
    for v in 0..original.len() {
        while let Some(up) = original[v]
            && let Some(above) = original[up.index()]
        {
            original[v] = Some(above);
        }
    }
    for &block in &func.layout {
        for node in &mut func.blocks[block].nodes {
            node.inst.rewrite(&mut |reg, role| match reg.as_virt() {
                Some(v) if role == Role::Use => original[v.index()].unwrap_or(v).into(),
                _ => reg,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::mach::plain::{FILES, Plain};
    use gpucc_ir::mach::{parse, print};

    const TEXT: &str = "mach \"copies\"
v0: R
v1: R
v2: R
v3: R
v4: R
b0: -> b1
    v0 = a
    v1, v3 = copy v0 v0
    v2 = copy v1
b1: -> b1 b2
    v3 = b v2 v3
b2:
    v4 = copy v3
    end v4
";

    #[test]
    fn copies_of_what_never_changes_are_forwarded_to_the_first_original() {
        let mut func: Func<Plain> = parse(TEXT, FILES).unwrap();
        forward_copies(&mut func);
        let text = print(&func);
        assert!(text.contains("v2 = copy v0\n"), "{text}");
        assert!(text.contains("v3 = b v0 v3\n"), "{text}");
        // v3 is written twice: what it was when it was copied may be gone.
        assert!(text.contains("end v4\n"), "{text}");
    }
}
