//! Groups: the slots of an ALU clause gathered, assigned to units and checked against R700 ISA 4.3 to 4.11.

use super::decode::{AluClause, AluInst, AluKind, Source, alu};
use super::ops::{AluOp, Data, Effect, Unit};
use super::ports;
use super::rule::{Rule, Trap};
use crate::api::{Chip, Family};

/// Selects of sources. R700 ISA 4.7.1.
pub mod sel {
    /// First constant of kcache set 0.
    pub const KCACHE0: u32 = 128;
    /// One past the constants of set 1.
    pub const KCACHE_END: u32 = 192;
    /// 1.0 as a double, low dword; then high, then the same of 0.5.
    pub const DOUBLES: u32 = 244;
    /// A literal.
    pub const LITERAL: u32 = 253;
    /// The group before, vector slots.
    pub const PV: u32 = 254;
    /// The group before, trans slot.
    pub const PS: u32 = 255;
    /// First constant of the constant file.
    pub const CFILE: u32 = 256;
}

/// What the state says about registers.
#[derive(Copy, Clone, Debug)]
pub struct Limits {
    /// NUM_GPRS.
    pub gprs: u32,
    /// First clause temporary.
    pub first_temp: u32,
    /// ALU_INST_PREFER_VECTOR.
    pub prefer_vector: bool,
    /// A pixel program.
    pub pixel: bool,
    /// The chip.
    pub chip: Chip,
}

impl Limits {
    /// True for registers that an ALU instruction may name.
    pub fn declared(&self, gpr: u32) -> bool {
        gpr < self.gprs || self.is_temp(gpr)
    }

    /// True for clause temporaries.
    pub fn is_temp(&self, gpr: u32) -> bool {
        (self.first_temp..128).contains(&gpr)
    }
}

/// A group: up to one instruction for each unit.
#[derive(Clone, Debug)]
pub struct Group {
    /// Byte offset of its first slot.
    pub offset: u32,
    /// x, y, z, w, trans.
    pub slots: [Option<AluInst>; 5],
    /// Literals; those that are not there are 0.
    pub literals: [u32; 4],
    /// Some source or destination is indexed by AR.
    pub uses_ar: bool,
}

/// What PV.c or PS holds after a group.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
enum Previous {
    /// No instruction, or the clause starts.
    #[default]
    Nothing,
    /// A result.
    Value,
    /// What MOVA leaves.
    Mova,
    /// A channel other than x of a reduction.
    Reduction,
}

/// What the checks of a group need of those before it in the clause.
#[derive(Copy, Clone, Debug, Default)]
struct Before {
    pv: [Previous; 4],
    ps: Previous,
    ar_loaded: [bool; 4],
    killed: Option<u32>,
}

/// Gathers and checks the groups of a clause.
pub fn clause(words: &[u32], clause: &AluClause, limits: &Limits) -> Result<Vec<Group>, Trap> {
    let mut groups = Vec::new();
    let mut before = Before::default();
    let (mut at, end) = (clause.addr, clause.addr + clause.count);
    while at < end {
        let (group, next) = gather(words, at, end, limits)?;
        if let Some(offset) = before.killed {
            let detail = "another group follows it in the clause";
            return Err(Trap::new(Rule::KillPlace, offset, detail));
        }
        check(&group, &mut before, clause, limits)?;
        ports::check(&group)?;
        groups.push(group);
        at = next;
    }
    Ok(groups)
}

fn gather(words: &[u32], start: u32, end: u32, limits: &Limits) -> Result<(Group, u32), Trap> {
    let offset = start * 8;
    let mut insts: Vec<(AluInst, u32)> = Vec::with_capacity(5);
    let mut at = start;
    loop {
        if at >= end || insts.len() == 5 {
            let detail = "no LAST before the end of the clause or after five instructions";
            return Err(Trap::new(Rule::GroupEnd, offset, detail));
        }
        let i = at as usize * 2;
        let inst = alu(words[i], words[i + 1], at * 8, limits.chip.family())?;
        insts.push((inst, at * 8));
        at += 1;
        if inst.last {
            break;
        }
    }
    let mut literal_dwords = 0;
    for (inst, _) in &insts {
        for source in &inst.src[..inst.fields] {
            if source.sel == sel::LITERAL {
                literal_dwords = literal_dwords.max(if source.chan > 1 { 4 } else { 2 });
            }
        }
    }
    let mut literals = [0; 4];
    if at + literal_dwords as u32 / 2 > end {
        return Err(Trap::new(Rule::GroupEnd, offset, "its literals lie outside of the clause"));
    }
    for (n, literal) in literals.iter_mut().enumerate().take(literal_dwords) {
        *literal = words[at as usize * 2 + n];
    }
    at += literal_dwords as u32 / 2;
    let slots = assign(&insts, limits)?;
    let indexed = |inst: &AluInst| {
        let used = &inst.src[..inst.op.sources()];
        (inst.dst_rel && inst.write) || used.iter().any(|s| s.rel && s.sel < 128)
    };
    let each = || slots.iter().flatten();
    let uses_ar = each().any(|i| i.index_mode < 4 && indexed(i));
    Ok((Group { offset, slots, literals, uses_ar }, at))
}

/// The algorithm of R700 ISA 4.4, and the order of 4.3.
fn assign(insts: &[(AluInst, u32)], limits: &Limits) -> Result<[Option<AluInst>; 5], Trap> {
    let mut slots: [Option<AluInst>; 5] = [None; 5];
    let mut lowest = 0;
    for &(inst, offset) in insts {
        let chan = inst.chan as usize;
        let trans = match inst.unit {
            Unit::Trans => true,
            Unit::Vector | Unit::Reduction | Unit::Pair | Unit::Quad => false,
            Unit::Any => slots[chan].is_some() || (inst.last && !limits.prefer_vector),
        };
        let unit = if trans { 4 } else { chan };
        if slots[unit].is_some() {
            let detail = format!("{} finds its unit taken", inst.op.name());
            return Err(Trap::new(Rule::SlotTaken, offset, detail));
        }
        if unit < lowest {
            let detail = format!("{} stands behind a later slot", inst.op.name());
            return Err(Trap::new(Rule::SlotOrder, offset, detail));
        }
        if trans && !inst.last {
            let detail = format!("{} in trans is not the last", inst.op.name());
            return Err(Trap::new(Rule::SlotOrder, offset, detail));
        }
        lowest = unit + 1;
        slots[unit] = Some(inst);
    }
    Ok(slots)
}

fn check(
    group: &Group,
    before: &mut Before,
    clause: &AluClause,
    limits: &Limits,
) -> Result<(), Trap> {
    let offset = group.offset;
    let trap = |rule: Rule, detail: String| Err(Trap::new(rule, offset, detail));
    let each = || group.slots.iter().flatten();
    let count = |effect: Effect| each().filter(|i| i.op.effect() == effect).count();
    let predicates = if each().any(|i| i.unit == Unit::Pair) {
        // A double's two slots are one instruction.
        count(Effect::Predicate).min(1)
    } else {
        count(Effect::Predicate)
    };
    let (kills, movas) = (count(Effect::Kill), count(Effect::Mova));
    if predicates > 1 || kills > 1 || (predicates > 0 && kills > 0) {
        return trap(Rule::PredicateCount, format!("{predicates} PRED_SET*, {kills} KILL*"));
    }
    if kills > 0 {
        if !limits.pixel {
            return trap(Rule::Stage, "KILL* kills pixels".into());
        }
        before.killed = Some(offset);
    }
    if movas > 0 && limits.chip.family() == Family::R600 && !clause.waterfall {
        return trap(Rule::Waterfall, "USES_WATERFALL is clear".into());
    }
    if movas > 1 {
        return trap(Rule::MovaCount, format!("{movas} of them"));
    }
    if movas > 0 && group.uses_ar {
        return trap(Rule::MovaIndex, "another operand of the group is indexed".into());
    }
    check_together(group)?;
    check_doubles(group, limits.chip)?;
    let mut element = None;
    for inst in each() {
        modifiers(inst, offset)?;
        if (inst.update_pred || inst.update_exec) && inst.op.effect() != Effect::Predicate {
            return trap(Rule::UpdateBits, inst.op.name().into());
        }
        if inst.op.effect() == Effect::Mova && inst.write {
            return trap(Rule::MovaResult, "WRITE_MASK is set".into());
        }
        let mut indexed = false;
        for source in &inst.src[..inst.op.sources()] {
            check_source(inst, source, before, clause, limits, offset)?;
            indexed |= source.rel && source.sel < 128;
        }
        if inst.write {
            indexed |= inst.dst_rel;
            check_destination(inst, limits, offset)?;
        }
        let relative = used_rel(inst);
        if inst.index_mode != 0 && !relative {
            return trap(Rule::IndexMode, "INDEX_MODE without an index".into());
        }
        if indexed && inst.index_mode < 4 {
            // Registers are always indexed by AR.X: table 4.2. Guide 4, INDEX_MODE: "registers: add GPR index".
            if !super::chip::facts(limits.chip).indexes {
                let detail = "nothing describes the index that registers add on this chip";
                return trap(Rule::Unsupported, detail.into());
            }
            if !before.ar_loaded[0] {
                return trap(Rule::IndexLoaded, format!("{} uses AR.x", inst.op.name()));
            }
            if element.is_some_and(|e| e != inst.index_mode) {
                return trap(Rule::OneIndex, "two index modes".into());
            }
            element = Some(inst.index_mode);
        }
    }
    advance(group, before);
    Ok(())
}

/// True when some operand or the destination is indexed.
fn used_rel(inst: &AluInst) -> bool {
    inst.dst_rel || inst.src[..inst.op.sources()].iter().any(|s| s.rel)
}

/// Reductions and doubles fill their slots together.
fn check_together(group: &Group) -> Result<(), Trap> {
    let offset = group.offset;
    for (unit, inst) in group.slots.iter().enumerate() {
        let Some(inst) = inst else { continue };
        let partners = match inst.unit {
            Unit::Any | Unit::Vector | Unit::Trans => continue,
            Unit::Reduction | Unit::Quad => 0..4,
            Unit::Pair => unit & 2..(unit & 2) + 2,
        };
        for partner in partners {
            let alike = inst.unit != Unit::Reduction;
            let same = group.slots[partner].is_some_and(|other| {
                other.op == inst.op
                    && (alike || (other.omod, other.clamp) == (inst.omod, inst.clamp))
                    && other.pred_sel == inst.pred_sel
            });
            if !same {
                let detail = format!("{} differs in slot {partner}", inst.op.name());
                return Err(Trap::new(Rule::Reduction, offset, detail));
            }
        }
    }
    Ok(())
}

/// What the slots of doubles take. R700 ISA 4.12 and 9.2: "input modifiers can be applied during the X or
/// Z element" (of products also Y), which hold the signs, "output modifiers during X or Z".
fn check_doubles(group: &Group, chip: Chip) -> Result<(), Trap> {
    let offset = group.offset;
    for (unit, inst) in group.slots.iter().enumerate() {
        let Some(inst) = inst.filter(|inst| matches!(inst.unit, Unit::Pair | Unit::Quad)) else {
            continue;
        };
        if !matches!(chip, Chip::Rv770 | Chip::Rv790) {
            return Err(Trap::new(Rule::DoubleChip, offset, inst.op.name()));
        }
        let wrong = |what: &str| {
            let detail = format!("{} in slot {unit}: {what}", inst.op.name());
            Err(Trap::new(Rule::DoubleSlots, offset, detail))
        };
        let sources = &inst.src[..inst.op.sources()];
        let splits = inst.op == AluOp::FREXP_64;
        let product = inst.unit == Unit::Quad && !splits;
        let high = match inst.unit {
            Unit::Quad if product => unit < 3,
            Unit::Quad => unit == 0,
            _ => unit % 2 == 0,
        };
        let takes_sign = |n: usize| high && !(inst.op == AluOp::LDEXP_64 && n == 1);
        let signed = |source: &Source| source.neg || source.abs;
        if (0..sources.len()).any(|n| signed(&sources[n]) && !takes_sign(n)) {
            return wrong("a modifier of a dword without a sign");
        }
        if product
            && high
            && group.slots[0].is_some_and(|first| first.src[..sources.len()] != *sources)
        {
            return wrong("x, y and z take the same high dwords");
        }
        let tests = inst.op.effect() == Effect::Predicate;
        let scaled = inst.omod != 0 || inst.clamp;
        if scaled && (splits || tests || unit % 2 == 1) {
            return wrong("an output modifier");
        }
        if unit == 2 && product {
            let same = group.slots[0]
                .is_some_and(|first| (first.omod, first.clamp) == (inst.omod, inst.clamp));
            if !same {
                return wrong("output modifiers unlike those of slot x");
            }
        }
    }
    Ok(())
}

fn modifiers(inst: &AluInst, offset: u32) -> Result<(), Trap> {
    let used = &inst.src[..inst.op.sources()];
    let source = used.iter().any(|s| s.neg || s.abs);
    let result = inst.omod != 0 || inst.clamp;
    let wrong = match inst.op.data() {
        Data::Float => false,
        Data::Int => source || result,
        Data::FloatToBits => result,
        Data::BitsToFloat => source,
    };
    if wrong {
        return Err(Trap::new(Rule::IntegerModifiers, offset, inst.op.name()));
    }
    Ok(())
}

fn check_source(
    inst: &AluInst,
    source: &Source,
    before: &Before,
    clause: &AluClause,
    limits: &Limits,
    offset: u32,
) -> Result<(), Trap> {
    let trap = |rule: Rule, detail: String| Err(Trap::new(rule, offset, detail));
    let select = source.sel;
    let indexable = !(sel::KCACHE_END..sel::CFILE).contains(&select);
    if source.rel && !indexable {
        let detail = format!("select {select} is not indexed");
        return trap(Rule::IndexMode, detail);
    }
    match select {
        0..128 => {
            if !limits.declared(select) {
                return trap(Rule::UndeclaredGpr, format!("reads R{select}"));
            }
            if source.rel && limits.is_temp(select) {
                return trap(Rule::IndexTemp, format!("reads R{select} by index"));
            }
        }
        sel::KCACHE0..sel::KCACHE_END => {
            let set = ((select - sel::KCACHE0) / 32) as usize;
            let lines = match clause.kcache[set].mode {
                0 => 0,
                1 => 1,
                _ => 2,
            };
            if (select - sel::KCACHE0) % 32 >= lines * 16 {
                return trap(Rule::KcacheUnlocked, format!("select {select}, {lines} lines"));
            }
            if source.rel && inst.index_mode != 4 {
                return trap(Rule::IndexMode, "AR does not index kcache constants".into());
            }
        }
        sel::DOUBLES..sel::LITERAL => {}
        sel::LITERAL => {}
        sel::PV => match before.pv[source.chan as usize] {
            Previous::Value => {}
            Previous::Nothing => {
                let name = ["x", "y", "z", "w"][source.chan as usize];
                return trap(Rule::StalePv, format!("PV.{name}"));
            }
            Previous::Mova => return trap(Rule::MovaResult, "read through PV".into()),
            Previous::Reduction => {
                return trap(Rule::ReductionResult, "another channel is read".into());
            }
        },
        sel::PS => match before.ps {
            Previous::Value => {}
            Previous::Nothing | Previous::Mova | Previous::Reduction => {
                return trap(Rule::StalePs, "PS".into());
            }
        },
        sel::CFILE.. => {
            return trap(Rule::ConstantFile, format!("C{}", select - sel::CFILE));
        }
        _ => return trap(Rule::NoFields, format!("source select {select}")),
    }
    Ok(())
}

fn check_destination(inst: &AluInst, limits: &Limits, offset: u32) -> Result<(), Trap> {
    let dst = inst.dst;
    if inst.op.effect() == Effect::Mova || inst.op == AluOp::NOP {
        return Ok(());
    }
    // Three-source instructions have no write mask: an undeclared register discards. R700 ISA 4.9.2.
    if !limits.declared(dst) && (inst.fields < 3 || inst.dst_rel) {
        return Err(Trap::new(Rule::UndeclaredGpr, offset, format!("writes R{dst}")));
    }
    if inst.dst_rel && limits.is_temp(dst) {
        let detail = format!("writes R{dst} by index");
        return Err(Trap::new(Rule::IndexTemp, offset, detail));
    }
    Ok(())
}

fn advance(group: &Group, before: &mut Before) {
    for (unit, slot) in group.slots.iter().enumerate() {
        let left = match slot {
            None => Previous::Nothing,
            Some(inst) if inst.op == AluOp::NOP => Previous::Nothing,
            Some(inst) if inst.op.effect() == Effect::Mova => {
                before.ar_loaded[unit.min(3)] = true;
                Previous::Mova
            }
            Some(inst) if unit > 0 && inst.unit == Unit::Reduction && inst.op != AluOp::CUBE => {
                Previous::Reduction
            }
            Some(_) => Previous::Value,
        };
        match unit {
            4 => before.ps = left,
            _ => before.pv[unit] = left,
        }
    }
}

/// True for clauses whose kind needs a loop around them.
pub fn needs_loop(kind: AluKind) -> bool {
    matches!(kind, AluKind::Break | AluKind::Continue)
}
