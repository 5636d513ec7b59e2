//! What the documents forbid: a breach and a legal neighbour of every rule, and foreign compilers' groups, which are legal.

use crate::isa_golden::{bytes, lists, told};
use gpucc_rogue::isa::program::{decode_program, parse};
use gpucc_rogue::isa::{Group, assemble, decode};
use gpucc_rogue::legal::{Context, Features, Rule, admit, admit_program, breaches};
use serde_json::Value;
use std::collections::BTreeSet;

const DRAWING: Context = Context::DRAWING;
const COMPUTE: Context = Context::COMPUTE;
const SMALL: Context = Context { features: Features::NONE, ..Context::DRAWING };

/// For whom, rule, a group that breaks it, and the nearest that does not; `;` ends a line, and `:` the header.
#[rustfmt::skip]
const RULES: &[(Context, Rule, &str, &str)] = &[
    (DRAWING, Rule::PhaseOneAlone, "mbyp ft1, s3", "mbyp ft0, s0; mbyp ft1, s3"),
    (DRAWING, Rule::BackendCompany, "mbyp ft0, s0; uvsw.write w0, 0x0", "is4 = fte; uvsw.write w0, 0x0"),
    (DRAWING, Rule::BackendCompany, "movwm w0, fte, is4; uvsw.write w0, 0x0", "mbyp ft0, s0; movwm w0, ft0, is4; uvsw.write w0, 0x0"),
    (DRAWING, Rule::Combination, "mbyp ft1, s3; tst.f32.z ftt, p0, is1, _", "mbyp ft0, s0; mbyp ft1, s3; tst.f32.z ftt, p0, is1, _"),
    (DRAWING, Rule::PhaseTwoArithmetic, "is1 = fte; mbyp ft0, s0; fmul ft2, is0, ft0; tst.f32.z ftt, p0, is1, _", "is1 = fte; mbyp ft0, s0; pck.zero ft2, _; tst.f32.z ftt, p0, is1, _"),
    (DRAWING, Rule::PhaseZeroOnly, "mbyp ft0, s0; imadd32 ft1, s3, s4, s5, _", "imadd32 ft0, s0, s1, s2, _; mbyp ft1, s3"),
    (DRAWING, Rule::PhaseZeroOnly, "mbyp ft0, s0; unpck.u32 ft1, s3", "unpck.u32 ft0, s0; mbyp ft1, s3"),
    (DRAWING, Rule::ComplexPhase, "mbyp ft0, s0; frcp w0, s3", "mbyp ft0, s0; fdsx ft1, s3"),
    (DRAWING, Rule::ComplexAlone, "frcp w0, s0; mbyp ft1, s3; w0 = r0", "frcp w0, s0; w0 = r0"),
    (DRAWING, Rule::FredAlone, "fred.sin.a w0, w1, _, s0, s3, 0; tst.f32.z ftt, p0, is1, _; w1 = r0", "fred.sin.a w0, w1, _, s0, s3, 0; w1 = r0"),
    (DRAWING, Rule::ComplexDestination, "flog w0, s0; w1 = r0", "flog w0, s0; w0 = r0"),
    (DRAWING, Rule::ComplexDestination, "is4 = fte; fexp w0, s0; w0 = r0", "fexp w0, s0; w0 = r0"),
    (DRAWING, Rule::FredDestination, "fred.sin.a w0, w1, _, s0, s3, 0; w0 = r0", "fred.sin.b w0, w1, _, s0, s3, 0; w0 = r0"),
    (DRAWING, Rule::FredDestination, "fred.cos.b w0, w1, _, s0, s3, 0; w0 = r0, w1 = r1", "fred.cos.a w0, w1, _, s0, s3, 0; w1 = r1"),
    (DRAWING, Rule::SincModifiers, "fsinc w0, p0, s0.neg; w0 = r0", "fsinc w0, p0, s0; w0 = r0"),
    (DRAWING, Rule::BitwisePhases, "logical.and ft4, _, ft2, _, s3; w0 = r0", "bbyp0s1 ft2, ft3, s2; logical.and ft4, _, ft2, _, s3; w0 = r0"),
    (DRAWING, Rule::Undocumented, "farctanc w0, s0; w0 = r0", "frsq w0, s0; w0 = r0"),
    (DRAWING, Rule::Undocumented, "bbyp0bm ft0, ft1, s0, s1; shift.cps ft5, ft4, s4, _", "bbyp0bm ft0, ft1, s0, s1; shift.rol ft5, ft4, s4, _"),
    (DRAWING, Rule::Undocumented, "sbo.coeff 0x4", "wop"),
    (DRAWING, Rule::Undocumented, "movmsk w0, w1; w0 = r0", "savmsk.vm w0, w1; w0 = r0"),
    (DRAWING, Rule::Undocumented, "iadd.i8 ft0, s0, s1, s2; w0 = r0", "imadd32 ft0, s0, s1, s2, _; w0 = r0"),
    (DRAWING, Rule::Undocumented, "mbyp ft0, s0; tst.u32.c ftt, p0, is1, _", "mbyp ft0, s0; tst.u32.z ftt, p0, is1, _"),
    (DRAWING, Rule::ControlHeader, "repeat(2) : wdf drc0", ": wdf drc0"),
    (DRAWING, Rule::ControlHeader, "atom : nop", ": nop"),
    (DRAWING, Rule::ControlCondition, "if (p0) : wdf drc0", ": wdf drc0"),
    (DRAWING, Rule::ControlCondition, "(ignorepe) : mutex.lock 1", ": mutex.lock 1"),
    (DRAWING, Rule::ControlEnd, "end : wdf drc0", "end : nop"),
    (DRAWING, Rule::OutputCheck, "mbyp ft0, s0; w0 = po0", "olchk : mbyp ft0, s0; w0 = po0"),
    (DRAWING, Rule::OutputCheck, "s1 = output_part; is0 = s1; movwm w0, fte, is4; w0 = r0", "s1 = cluster_num; is0 = s1; movwm w0, fte, is4; w0 = r0"),
    (DRAWING, Rule::OutputCheck, "s0 = po0[idx0]; mbyp ft0, s0", "s0 = cf0[idx0]; mbyp ft0, s0"),
    (DRAWING, Rule::Kept, "ld.kept(1) s3, drc0, 1, s0; s0 = r2, s3 = r4", "ld s3, drc0, 1, s0; s0 = r2, s3 = r4"),
    (DRAWING, Rule::Kept, "st.tiled.writethrough.kept(5) s3, 2, drc0, 1, s0, s4", "st.tiled.writethrough s3, 2, drc0, 1, s0, s4"),
    (DRAWING, Rule::Kept, "bbyp0bm.b7 ft0, ft1, s0, s1; w0 = r0", "bbyp0bm ft0, ft1, s0, s1; w0 = r0"),
    (DRAWING, Rule::TooLong, "end : s0 = r200, s1 = r200, s2 = r200, s3 = r200, s4 = r200, s5 = r200; fmad.lp ft0, s0, s1, s2; fmad.lp ft1, s3, s4, s5; pck.u8888 ft2, is3; tst.u32.e ftt, p0, is1, is2; movwm.e0 w0, ft0, is4; smp.2d.tao.bias.f16.array s4, drc0, s0, s1, s2, s3, 4; w0 = cf200[idx0], w1 = r200", "s0 = r200, s1 = r200, s2 = r200, s3 = r200, s4 = r200, s5 = r200; fmad.lp ft0, s0, s1, s2; fmad.lp ft1, s3, s4, s5; pck.u8888 ft2, is3; tst.u32.e ftt, p0, is1, is2; movwm.e0 w0, ft0, is4; uvsw.write w0, 0x0; w0 = r200, w1 = r201"),
    (DRAWING, Rule::NoWord, "s1 = cf0[idx0]; fmul ft0, s0, s1", "s0 = cf0[idx0]; fmul ft0, s0, s1"),
    (DRAWING, Rule::NoWord, "s5 = sh1; mbyp ft0, s0; fmad ft1, s3, s4, s5", "s3 = sh1; mbyp ft0, s0; fmad ft1, s3, s4, s5"),
    (DRAWING, Rule::NoPlace, "s0 = r1; wdf drc0", "wdf drc0"),
    (DRAWING, Rule::NoPlace, "is4 = fte; bbyp0bm ft0, ft1, s0, s1; w0 = r0", "is4 = fte; mbyp ft0, s0; w0 = r0"),
    (DRAWING, Rule::PortCommon, "s1 = cf4; fmul ft0, s0, s1", "s0 = cf4; fmul ft0, s0, s1"),
    (DRAWING, Rule::PortCommon, "olchk : s4 = po1; mbyp ft0, s0; fmul ft1, s3, s4", "olchk : s3 = po1; mbyp ft0, s0; fmul ft1, s3, s4"),
    (DRAWING, Rule::PortSpecial, "s0 = x_p; mbyp ft0, s0", "s1 = x_p; is0 = s1; movwm w0, fte, is4"),
    (DRAWING, Rule::PortSpecial, "s3 = inst_num; mbyp ft0, s0; mbyp ft1, s3", "s4 = inst_num; mbyp ft0, s0; fmul ft1, s3, s4"),
    (DRAWING, Rule::UnknownSpecial, "s0 = sr200; mbyp ft0, s0", "s0 = sc143; mbyp ft0, s0"),
    (DRAWING, Rule::UnknownSpecial, "mbyp ft0, s0; w0 = sr161", "mbyp ft0, s0; w0 = i7"),
    (DRAWING, Rule::CoeffAlt, "s0 = cfa4; mbyp ft0, s0", "s0 = cf4; mbyp ft0, s0"),
    (DRAWING, Rule::CoeffAlt, "mbyp ft0, s0; w0 = cfa0", "mbyp ft0, s0; w0 = r0"),
    (DRAWING, Rule::RegisterLimit, "s0 = r248; mbyp ft0, s0", "s0 = r247; mbyp ft0, s0"),
    (DRAWING, Rule::RegisterLimit, "mbyp ft0, s0; w0 = vi248", "mbyp ft0, s0; w0 = vi247"),
    (DRAWING, Rule::RegisterLimit, "repeat(4) : s0 = r245; mbyp ft0, s0", "repeat(4) : s0 = r244; mbyp ft0, s0"),
    (DRAWING, Rule::RegisterLimit, "s3 = r233; ld s3, drc0, 16, s0", "s3 = r232; ld s3, drc0, 16, s0"),
    (DRAWING, Rule::RegisterLimit, "s4 = r246; smp.2d s4, drc0, s0, s1, s2, s3, 3", "s4 = r245; smp.2d s4, drc0, s0, s1, s2, s3, 3"),
    (SMALL, Rule::EightOutputs, "olchk : mbyp ft0, s0; w0 = po4", "olchk : mbyp ft0, s0; w0 = po3"),
    (DRAWING, Rule::FeedAbsent, "is4 = ft1; mbyp ft0, s0; w0 = r0", "is4 = ft1; mbyp ft0, s0; mbyp ft1, s3; w0 = r0"),
    (DRAWING, Rule::FeedAbsent, "is5 = ft2; mbyp ft0, s0; w0 = r0, w1 = r1", "is5 = fte; mbyp ft0, s0; w0 = r0, w1 = r1"),
    (DRAWING, Rule::FeedAbsent, "mbyp ft0, s0; tst.f32.g ftt, p0, is1, is2", "is2 = fte; mbyp ft0, s0; tst.f32.g ftt, p0, is1, is2"),
    (DRAWING, Rule::FeedAbsent, "pck.u8888 ft2, is3; is4 = ft2; w0 = r0", "is3 = fte; pck.u8888 ft2, is3; is4 = ft2; w0 = r0"),
    (DRAWING, Rule::FeedAbsent, "uvsw.write w0, 0x0", "is4 = fte; uvsw.write w0, 0x0"),
    (DRAWING, Rule::MoveWithoutTest, "mbyp ft0, s0; movc w0, _, ftt, ft0, is4, _, _; w0 = r0", "mbyp ft0, s0; movwm w0, ft0, is4; w0 = r0"),
    (DRAWING, Rule::TestElement, "mbyp ft0, s0; tst.u32.z.e1 ftt, p0, is1, _", "mbyp ft0, s0; tst.u16.z.e1 ftt, p0, is1, _"),
    (DRAWING, Rule::TestElement, "mbyp ft0, s0; tst.s16.z.e2 ftt, p0, is1, _", "mbyp ft0, s0; tst.s8.z.e3 ftt, p0, is1, _"),
    (DRAWING, Rule::PackElements, "repeat(4) : is3 = fte, is4 = ft2; pck.f16f16 ft2, is3; w0 = r0", "repeat(2) : is3 = fte, is4 = ft2; pck.f16f16 ft2, is3; w0 = r0"),
    (DRAWING, Rule::PackProgram, "mbyp ft0, s0; pck.prog.u32 ft2, is3, fte; w0 = r0", "mbyp ft0, s0; pck.prog ft2, is3, fte; w0 = r0"),
    (DRAWING, Rule::WriteConstant, "mbyp ft0, s0; w0 = sc1", "mbyp ft0, s0; w0 = global2"),
    (DRAWING, Rule::WriteConstant, "mbyp ft0, s0; w0 = x_p", "mbyp ft0, s0; w0 = idx1"),
    (DRAWING, Rule::TwoWrites, "mbyp ft0, s0; w0 = r1, w1 = r1", "mbyp ft0, s0; w0 = r1, w1 = sh1"),
    (DRAWING, Rule::RepeatedWork, "repeat(2) : frcp w0, s0; w0 = r0", "repeat(2) : mbyp ft0, s0; w0 = r0"),
    (DRAWING, Rule::RepeatedWork, "repeat(2) : ld s3, drc0, 1, s0; s0 = r2, s3 = r4", "repeat(2) : mbyp ft0, s0; movwm w0, ft0, is4; uvsw.write w0, 0x0"),
    (DRAWING, Rule::RepeatedRegister, "repeat(2) : s0 = idx0; mbyp ft0, s0; w0 = r0", "repeat(2) : s0 = cf0; mbyp ft0, s0; w0 = r0"),
    (DRAWING, Rule::RepeatedRegister, "repeat(2) : s1 = x_p; is0 = s1; movwm w0, fte, is4; w0 = r0", "repeat(2) : s1 = i0; is0 = s1; movwm w0, fte, is4; w0 = r0"),
    (COMPUTE, Rule::Stage, "s0 = r0; is4 = fte; depthf drc0, w0", "s0 = r0; alphatst p0, drc0, s0, s1, s2"),
    (COMPUTE, Rule::Stage, "fdsx ft0, s0; w0 = r0", "mbyp ft0, s0; w0 = r0"),
    (COMPUTE, Rule::Stage, "olchk : mbyp ft0, s0; w0 = po0", "mbyp ft0, s0; w0 = cf0"),
    (DRAWING, Rule::Stage, "olchk : mbyp ft0, s0; movwm w0, ft0, is4; uvsw.write w0, 0x0; w0 = po0", "mbyp ft0, s0; movwm w0, ft0, is4; uvsw.write w0, 0x0; w0 = r0"),
    (DRAWING, Rule::FredDestination, "is5 = ft1; fred.cos.a w0, w1, _, s0, s3, 0; w1 = r1", "fred.cos.a w0, w1, _, s0, s3, 0; w1 = r1"),
    (DRAWING, Rule::ComplexDestination, "fsinc w0, p0, s0", "fsinc w0, p0, s0; w0 = r0"),
    (DRAWING, Rule::ControlWrites, "savl w0", "savl w0; w0 = r0"),
    (DRAWING, Rule::Kept, "is0 = s1; bbyp0bm ft0, ft1, s0, s1; w0 = r0", "is0 = s1; mbyp ft0, s0; w0 = r0"),
    (DRAWING, Rule::WriteCoefficient, "mbyp ft0, s0; w0 = cf1[idx0]", "mbyp ft0, s0; w0 = r1[idx0]"),
    (DRAWING, Rule::ControlWrites, "wop; w0 = r0", "savl w0; w0 = r0"),
    (DRAWING, Rule::ControlWrites, "(ignorepe) : cndst.if(p0) pe, w0, s0, 1; w0 = r0, w1 = r1", "(ignorepe) : cndst.if(p0) pe, w0, s0, 1; w0 = r0"),
    (DRAWING, Rule::MaskIgnoresPe, "cndend pe, w0, s0, 1; w0 = r0", "(ignorepe) : cndend pe, w0, s0, 1; w0 = r0"),
    (DRAWING, Rule::MaskWrites, "(ignorepe) : cndend pe, w0, s0, 1", "(ignorepe) : cndend pe, w0, s0, 1; w0 = r0"),
    (DRAWING, Rule::MaskThird, "(ignorepe) : s3 = sc1; cndend pe, w0, s0, 1; w0 = r0", "(ignorepe) : s3 = sc0; cndend pe, w0, s0, 1; w0 = r0"),
    (SMALL, Rule::Iteration, "ditr.pixel r0, drc0, cf4, 1", "s0 = cf4, s3 = r0; fitr.pixel s3, drc0, s0, 1"),
    (DRAWING, Rule::MessageDestination, "s3 = cf0; ld s3, drc0, 1, s0", "s3 = sh0; ld s3, drc0, 1, s0"),
    (DRAWING, Rule::MessageDestination, "s4 = i0; smp.2d s4, drc0, s0, s1, s2, s3, 4", "s4 = vi0; smp.2d s4, drc0, s0, s1, s2, s3, 4"),
    (DRAWING, Rule::IteratedCoefficient, "s0 = r0, s3 = r0; fitr.pixel s3, drc0, s0, 1", "s0 = cf0, s3 = r0; fitr.pixel s3, drc0, s0, 1"),
    (DRAWING, Rule::IteratedCoefficient, "s0 = cf0, s3 = r0; fitrp.pixel s3, drc0, s0, s2, 1", "s0 = cf0, s2 = cf4, s3 = r0; fitrp.pixel s3, drc0, s0, s2, 1"),
    (DRAWING, Rule::AddressNeedsLod, "s4 = r0; smp.2d.tao s4, drc0, s0, s1, s2, s3, 4", "s4 = r0; smp.2d.bias.tao s4, drc0, s0, s1, s2, s3, 4"),
    (DRAWING, Rule::SharedLevel, "s3 = r1, s4 = r0; smp.2d s4, drc0, s0, s1, s2, s3, 4", "s4 = r0; smp.2d s4, drc0, s0, s1, s2, s3, 4"),
    (SMALL, Rule::IntegerLookup, "s4 = r0; smp.2d.integer s4, drc0, s0, s1, s2, s3, 4", "s4 = r0; smp.2d s4, drc0, s0, s1, s2, s3, 4"),
];

/// Rule, a program that breaks it, and the nearest that does not.
const PROGRAMS: &[(Rule, &str, &str)] = &[
    (Rule::LastAligned, "0 :\n wop\n1 : end pad(0)\n nop\n", "0 :\n wop\n1 : end\n nop\n"),
    (Rule::LastEnds, "0 : pad(2)\n wop\n", "0 : end\n nop\n"),
    (Rule::LastEnds, "0 :\n br @1\n1 :\n br.allinst @0\n", "0 :\n br @1\n1 :\n br @0\n"),
    (Rule::BranchTarget, "0 :\n br +10\n1 : end\n nop\n", "0 :\n br +8\n1 : end\n nop\n"),
    (Rule::BranchTarget, "0 :\n br.abs =6\n1 : end\n nop\n", "0 :\n br.abs =8\n1 : end\n nop\n"),
    (
        Rule::WaitBeforeUse,
        "0 :\n s0 = r2, s3 = r4\n ld s3, drc1, 4, s0\n1 :\n wdf drc0\n2 :\n s0 = r7\n mbyp ft0, s0\n w0 = r0\n3 : end\n nop\n",
        "0 :\n s0 = r2, s3 = r4\n ld s3, drc1, 4, s0\n1 :\n wdf drc1\n2 :\n s0 = r7\n mbyp ft0, s0\n w0 = r0\n3 : end\n nop\n",
    ),
    (
        Rule::WaitBeforeUse,
        "0 :\n ditr.pixel r4, drc0, cf4, 2\n1 :\n s2 = r5\n is0 = s2, is4 = fte\n uvsw.write w0, 0x0\n2 : end\n nop\n",
        "0 :\n ditr.pixel r4, drc0, cf4, 2\n1 :\n s2 = r6\n is0 = s2, is4 = fte\n uvsw.write w0, 0x0\n2 : end\n nop\n",
    ),
    // The last register that is loaded, and the high half of the address.
    (
        Rule::WaitBeforeWrite,
        "0 :\n s0 = r2, s3 = r4\n ld s3, drc1, 4, s0\n1 :\n mbyp ft0, s0\n w0 = r7\n2 : end\n nop\n",
        "0 :\n s0 = r2, s3 = r4\n ld s3, drc1, 4, s0\n1 :\n mbyp ft0, s0\n w0 = r8\n2 : end\n nop\n",
    ),
    (
        Rule::WaitBeforeWrite,
        "0 :\n s0 = r2, s3 = r4\n ld s3, drc1, 4, s0\n1 :\n mbyp ft0, s0\n w0 = r3\n2 : end\n nop\n",
        "0 :\n s0 = r2, s3 = r4\n ld s3, drc1, 4, s0\n1 :\n wdf drc1\n2 :\n mbyp ft0, s0\n w0 = r3\n3 : end\n nop\n",
    ),
    // A copy that repeats writes a register after the other, and a pack gathers into one.
    (
        Rule::WaitBeforeWrite,
        "0 :\n s0 = r2, s3 = r4\n ld s3, drc1, 4, s0\n1 : repeat(2)\n s0 = r8\n is4 = ft0\n mbyp ft0, s0\n w0 = r1\n2 : end\n nop\n",
        "0 :\n s0 = r2, s3 = r4\n ld s3, drc1, 4, s0\n1 : repeat(2)\n s0 = r8\n is0 = s0, is3 = fte, is4 = ft2\n pck.roundzero.f16f16 ft2, is3\n w0 = r1\n2 : end\n nop\n",
    ),
];

/// The group of these lines.
fn group(lines: &str) -> Group {
    let (header, body) = lines.split_once(" : ").unwrap_or(("", lines));
    let body: Vec<&str> = body.trim_start_matches(": ").split("; ").collect();
    let text = format!("0 : {header}\n {}\n", body.join("\n "));
    let groups = parse(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    groups.into_iter().next().expect("a group")
}

#[test]
fn every_rule_refuses_its_breach_and_no_neighbour() {
    let (mut seen, mut other) = (BTreeSet::new(), Vec::new());
    for (context, rule, wrong, right) in RULES {
        let broken = breaches(&group(wrong), context);
        if !broken.contains(rule) {
            other.push(format!("{rule:?} is not broken by {wrong}: {broken:?}"));
        }
        let neighbour = breaches(&group(right), context);
        if !neighbour.is_empty() {
            other.push(format!("{rule:?}: {neighbour:?} by {right}"));
        }
        assert!(admit(&group(wrong), context).is_err());
        seen.insert(*rule);
    }
    told("rules", &other, RULES.len());
    // No text says so many.
    for (repeat, legal) in [(0, false), (1, true), (4, true), (5, false)] {
        let group = Group { repeat, ..group("mbyp ft0, s0") };
        assert_eq!(breaches(&group, &DRAWING).contains(&Rule::Repeat), !legal);
        seen.insert(Rule::Repeat);
    }
    for (rule, wrong, right) in PROGRAMS {
        let asked = |text: &str| {
            let code = assemble(text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
            let program = decode_program(&code).expect("what was assembled");
            admit_program(&program, code.len(), &DRAWING).map_err(|breach| breach.rule)
        };
        assert_eq!(asked(wrong), Err(*rule), "{wrong}");
        assert_eq!(asked(right), Ok(()), "{right}");
        seen.insert(*rule);
    }
    let missing: Vec<&Rule> = Rule::ALL.iter().filter(|rule| !seen.contains(rule)).collect();
    assert!(missing.is_empty(), "no case of {missing:?}");
}

/// The main ALU and the bitwise ALU never stand in one group, and what the page's text forbids is no text.
#[test]
fn what_the_types_forbid_is_no_group() {
    for text in [
        "0 :\n mbyp ft0, s0\n logical.and ft4, _, ft2, _, s3\n",
        "0 :\n bbyp0bm ft0, ft1, s0, s1\n uvsw.write w0, 0x0\n",
        "0 :\n mbyp ft0, s0\n movc w0, _, ftt, ft0, is4, _, _\n tst.f32.z ftt, p0, is1, _\n",
        "0 :\n mbyp ft0, s0\n mbyp ft0, s0\n",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
    let example = "0 : if (p0)\n mul ft0, s0, s1\n mad ft1, s3, s4, s5\n mul ft2, is0, ft0\n";
    let group = &parse(example).expect("the page's words")[0];
    assert!(breaches(group, &DRAWING).contains(&Rule::PhaseTwoArithmetic));
}

/// What a foreign row breaks: vendors have bits that nobody explains, and so has one group of the older compiler. The public
/// compiler reads coefficients at S1 in selects of coefficients, which its own table of ports forbids.
fn known(row: &Value, broken: &BTreeSet<Rule>) -> bool {
    let source = row["source"].as_str().unwrap_or_default();
    let vendor = source.contains("usc/") || row["where"].is_string() || row["id"] == "rogue-00034";
    let select =
        row["asm"].as_str().is_some_and(|text| text.contains("s1 = cf") && text.contains("movc"));
    let only = |rule| broken.iter().all(|broken| *broken == rule);
    vendor && only(Rule::Kept) || select && only(Rule::PortCommon)
}

fn context(row: &Value) -> Context {
    let compute = row["note"].as_str().is_some_and(|note| note.starts_with("compute"));
    if compute { COMPUTE } else { DRAWING }
}

#[test]
fn groups_of_foreign_compilers_are_legal() {
    for (file, rows) in lists() {
        let (mut wrong, mut excused) = (Vec::new(), 0);
        for row in rows.iter().filter(|row| row["kind"] != "program") {
            let Ok((group, _)) = decode(&bytes(row)) else { continue };
            let broken = breaches(&group, &context(row));
            if known(row, &broken) {
                excused += usize::from(!broken.is_empty());
            } else if !broken.is_empty() {
                wrong.push(format!("{} {}: {broken:?}", row["id"], row["asm"]));
            }
        }
        told(file, &wrong, rows.len());
        assert!(excused <= 20, "{file}: {excused} groups break a rule");
    }
}

#[test]
fn programs_of_foreign_compilers_are_legal() {
    let mut seen = 0;
    for (file, rows) in lists() {
        let mut wrong = Vec::new();
        for row in rows.iter().filter(|row| row["kind"] == "program") {
            let code = bytes(row);
            let program = decode_program(&code).expect("a program");
            seen += 1;
            let asked = admit_program(&program, code.len(), &context(row));
            let known = |rule| matches!(rule, Rule::Kept | Rule::PortCommon);
            if let Some(breach) = asked.err().filter(|breach| !known(breach.rule)) {
                wrong.push(format!("{} {}: {breach}", row["id"], row["note"]));
            }
        }
        told(file, &wrong, rows.len());
    }
    assert!(seen == 0 || seen > 300, "only {seen} programs");
}
