//! Compute: the sequencer's program of a kernel, and the stream of the compute data master: an upload of shared registers, the
//! kernel, a fence, an end. isa/rogue-pipeline.md 4.3, 5.1, 5.2.

use super::Facts;
use super::block::Block;
use super::sequencer::{BOTH, DOUTC, DOUTU, DOUTW, HIGH, LOW, Sequencer, TEMPS, Transfer, When};
use crate::abi::{ARRIVED, Abi, GROUP_COUNT, GROUP_ID, MET};
use crate::words::pds::bra;
use crate::words::streams::{
    cdm_groups, cdm_kernel0, cdm_kernel1, cdm_kernel2, cdm_kernel8, cdm_terminate,
};
use gpucc_ir::ssa::Func;
use gpucc_machine::Named;
use gpucc_machine::described::Setting;

/// The program of the sequencer that launches instances: data and code.
pub const KERNEL_DATA: &str = "PDS_KERNEL_DATA";
pub const KERNEL_CODE: &str = "PDS_KERNEL_CODE";
/// The program of the sequencer behind a kernel. It has no data.
pub const FENCE: &str = "PDS_FENCE_CODE";
/// The stream.
pub const CDM: &str = "CDM_STREAM";

/// The temporaries of the kernel's program, of a unit of 16 bytes.
const UNIT: u32 = 4;
/// Instances of a task.
const TASK: u32 = 32;
/// Conditions of branches.
const IF1: u32 = 2;
const KEEP: u32 = 8;
/// Words of the data that the driver fills in: how many workgroups there are. docs/abi-rogue.md, Words.
const COUNTS: usize = 4;

/// The words of a kernel.
pub fn words(func: &Func, abi: &Abi, facts: &Facts, state: &mut Named<Setting>) {
    let (data, code, constants) = program(facts);
    state.set(KERNEL_DATA, data);
    state.set(KERNEL_CODE, code);
    let mut fence = Sequencer::default();
    fence.out(DOUTC, 0, 0, When::End);
    fence.halt();
    fence.code.tell("instructions", 2);
    state.set(FENCE, fence.code.setting());
    let mut stream = Block::default();
    let has_shared = facts.shareds > 0;
    if has_shared {
        let first = cdm_kernel0::word()
            .with(cdm_kernel0::COMMON, facts.shareds.div_ceil(16))
            .with(cdm_kernel0::PDS_TEMP, 1)
            .with(cdm_kernel0::PDS_DATA, 1);
        let second = cdm_kernel1::word().with(cdm_kernel1::COMMON_SHARED, 1);
        kernel(&mut stream, "upload", [first, second], 1, false);
    }
    let first = cdm_kernel0::word()
        .with(cdm_kernel0::COMMON, u32::from(abi.coefficients).div_ceil(16))
        .with(cdm_kernel0::UNIFIED, u32::from(abi.inputs).div_ceil(4))
        .with(cdm_kernel0::PDS_TEMP, 1)
        .with(cdm_kernel0::PDS_DATA, constants.div_ceil(UNIT))
        .with(cdm_kernel0::TARGET, 1);
    let second = cdm_kernel1::word().with(cdm_kernel1::SD_TYPE, if has_shared { 2 } else { 0 });
    let width = func.workgroup_size.iter().fold(1u32, |all, &n| all.saturating_mul(n));
    kernel(&mut stream, "kernel", [first, second], width.next_multiple_of(TASK), true);
    let first = cdm_kernel0::word().with(cdm_kernel0::FENCE, 1);
    kernel(&mut stream, "fence", [first, cdm_kernel1::word()], 1, false);
    stream.instruction(cdm_terminate::word());
    state.set(CDM, stream.setting());
}

/// The seven words of a kernel whose instances lie on one axis. 5.2.
fn kernel(
    stream: &mut Block,
    label: &str,
    [first, second]: [gpucc_isa::Inst; 2],
    width: u32,
    counted: bool,
) {
    // An indirect kernel has two words with an address in place of the counts.
    let indirect = if counted { &[cdm_kernel0::INDIRECT][..] } else { &[] };
    stream.word(label, first, indirect);
    stream.word(label, second, &[cdm_kernel1::DATA_ADDR]);
    stream.word(label, cdm_kernel2::word(), &[cdm_kernel2::CODE_ADDR]);
    for axis in ["x", "y", "z"] {
        let counts = if counted { &[cdm_groups::COUNT_LESS_ONE][..] } else { &[] };
        stream.word(&format!("{label} groups {axis}"), cdm_groups::word(), counts);
    }
    // A width of one less.
    let size = cdm_kernel8::word().with(cdm_kernel8::X, width.max(1) - 1);
    stream.word(&format!("{label} size"), size, &[]);
}

/// The program that a kernel's workgroups and instances run, and how many constants it has. A coefficient task runs the
/// words behind the branch, instances those to which it leads.
fn program(facts: &Facts) -> (Setting, Setting, u32) {
    let mut program = Sequencer::default();
    let start = program.start(facts.temps);
    let common = |words, register: u16, last| Transfer {
        words,
        register: register.into(),
        common: true,
        last,
    };
    // The word 3 of the counts is 0, as are the words behind it.
    let counts = program.pair();
    program.data.driver(COUNTS - 1);
    program.data.fixed(0);
    let nothing = program.pair();
    program.data.fixed(0);
    program.data.fixed(0);
    let id = program.transfer("workgroup id xy", &common(BOTH, GROUP_ID, false));
    let id_z = program.transfer("workgroup id z", &common(HIGH, GROUP_ID + 2, false));
    let count = program.transfer("workgroups xy", &common(BOTH, GROUP_COUNT, false));
    let count_z = program.transfer("workgroups z", &common(LOW, GROUP_COUNT + 2, false));
    let arrived = program.transfer("tasks at the barrier", &common(LOW, ARRIVED, false));
    let met = program.transfer("barriers met", &common(LOW, MET, true));
    let instance = Transfer { words: LOW, register: 0, common: false, last: true };
    let instance = program.transfer("invocation", &instance);
    // Six outputs and an end stand between the branch and where it leads.
    let branch =
        bra::word().with(bra::SRCC, IF1).with(bra::NEG, 1).with(bra::SETC, KEEP).with(bra::ADDR, 8);
    program.code.instruction(branch);
    // The number of the workgroup is in temporaries 0, 1 and 3.
    program.out(DOUTW, TEMPS, id, When::Always);
    program.out(DOUTW, TEMPS + 1, id_z, When::Always);
    program.out(DOUTW, counts, count, When::Always);
    program.out(DOUTW, counts + 1, count_z, When::Always);
    program.out(DOUTW, nothing, arrived, When::Always);
    program.out(DOUTW, nothing, met, When::Always);
    program.halt();
    program.out(DOUTW, TEMPS, instance, When::Always);
    program.out(DOUTU, start, 0, When::LastInstance);
    program.halt();
    program.data.whole();
    let constants = program.data.len();
    program.code.tell("instructions", program.code.len());
    (program.data.setting(), program.code.setting(), constants)
}
