//! Kernels that start from memory alone: control streams, programs of the data sequencer, programs of the core.

use super::bench::{END, WAIT, numerics};
use super::bytes;
use crate::emu::core::Core;
use crate::emu::gpu::{Bases, Gpu};
use crate::emu::machine::Run;
use crate::emu::rule::{Rule, Trap};

const CODE: u64 = 0x10_0000;
const PDS: u64 = 0x20_0000;
const STREAM: u64 = 0x30_0000;
const DATA: u64 = 0x40_0000;
const DATA_LEN: usize = 0x4000;

/// Where in the PDS heap things are.
const UPLOAD_DATA: u32 = 0x100;
const UPLOAD_CODE: u32 = 0x200;
const KICK_DATA: u32 = 0x300;
const KICK_CODE: u32 = 0x400;
const FENCE_CODE: u32 = 0x500;
/// Shared registers as a driver uploads them.
const ARGUMENTS: u64 = DATA + 0x3000;

/// HALT, and DOUTC with an end.
const HALT: u32 = 0xd300_0000;
const DOUTC_END: u32 = 0xf400_0005;

/// DOUT by its fields: condition, end, control word, source pair, destination.
const fn dout(cc: u32, end: u32, control: u32, source: u32, to: u32) -> u32 {
    0xf000_0000 | cc << 27 | end << 26 | control << 16 | source << 8 | to
}

/// What a driver writes, with one word that a test may change.
struct Chip {
    gpu: Gpu,
    stream: Vec<u32>,
    steps: u64,
}

fn put(gpu: &mut Gpu, at: u64, words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    gpu.memory().write(at, &bytes).expect("is mapped");
}

impl Chip {
    /// Three workgroups of 8 by 8 by 1 instances, which store their number behind an address in shared registers.
    fn new(code: &[u8]) -> Chip {
        Chip::of(Core::BXS_4_64, code)
    }

    fn of(core: Core, code: &[u8]) -> Chip {
        let mut gpu = Gpu::new(core, numerics(&core), Bases { code: CODE, pds: PDS });
        for (at, len) in [(CODE, 0x1000), (PDS, 0x1000), (STREAM, 0x100), (DATA, DATA_LEN)] {
            gpu.memory().map(at, len).expect("maps");
        }
        gpu.memory().write(CODE + 64, code).expect("is mapped");
        put(&mut gpu, ARGUMENTS, &[DATA as u32, 0, 0, 0]);
        // The upload: DOUTD of four words to sh0, then an end.
        let address = [ARGUMENTS as u32, 0];
        put(&mut gpu, PDS + u64::from(UPLOAD_DATA), &[address[0], address[1], 0x9000_0004, 0]);
        put(&mut gpu, PDS + u64::from(UPLOAD_CODE), &[dout(0, 0, 2, 0, 0), DOUTC_END]);
        // The kernel: a coefficient task writes the workgroup's number to cf0 to cf2; an instance gets its own in vi0.
        let temps = 2 << 3;
        let constants = [64, temps, 0x1000_0002, 0x9000_4001, 0x8000_0000, 0];
        put(&mut gpu, PDS + u64::from(KICK_DATA), &constants);
        let bra = 0xc000_0000 | 2 << 24 | 1 << 23 | 8 << 19 | 4;
        let code = [
            bra,
            dout(0, 0, 2, 64, 1),
            dout(0, 0, 3, 65, 1),
            HALT,
            dout(0, 0, 4, 64, 1),
            dout(1, 1, 0, 0, 2),
            HALT,
        ];
        put(&mut gpu, PDS + u64::from(KICK_CODE), &code);
        put(&mut gpu, PDS + u64::from(FENCE_CODE), &[DOUTC_END, HALT]);
        let block = |common: u32, inputs: u32, temps: u32, data: u32, fence: u32| {
            common << 18 | inputs << 12 | temps << 8 | data << 2 | fence
        };
        let size = |x: u32, y: u32| (x - 1) << 18 | (y - 1) << 9;
        let stream = vec![
            block(1, 0, 1, 1, 0),
            UPLOAD_DATA | 2,
            UPLOAD_CODE,
            0,
            0,
            0,
            size(1, 1),
            block(1, 1, 1, 2, 0) | 2,
            KICK_DATA | 2 << 2,
            KICK_CODE,
            2,
            0,
            0,
            size(64, 1),
            block(0, 0, 1, 1, 1),
            UPLOAD_DATA,
            FENCE_CODE,
            0,
            0,
            0,
            size(1, 1),
            2 << 30,
        ];
        Chip { gpu, stream, steps: 100_000 }
    }

    fn run(&mut self) -> Result<(), Trap> {
        let stream = self.stream.clone();
        put(&mut self.gpu, STREAM, &stream);
        let mut run = Run { steps: &mut self.steps, trace: None };
        self.gpu.compute(STREAM, &mut run)
    }

    fn rule(&mut self) -> Option<Rule> {
        self.run().err().map(|trap| trap.rule)
    }
}

/// The number of an instance in the launch is stored behind the address in sh0 and sh1.
fn numbers() -> Vec<u8> {
    let groups = [
        // r0 = cf0; r0 = r0 << 6; r0 = r0 + vi0; r3 = r0 << 2; r4 = sh1; {r4:r3} += sh0; [r3] = r0.
        "35 82 00 87 c0 04 00 00 00 40",
        "55 d2 40 00 02 80 a0 80 86 40",
        "36 82 00 e2 c0 41 00 80 00 00 40 ff",
        "55 d2 40 00 02 80 a0 80 82 43",
        "35 82 00 87 81 08 00 00 00 44",
        "37 86 00 e8 80 64 80 43 08 00 c0 83 44 ff",
        "65 a0 00 f2 64 08 40 43 00 ff",
        WAIT,
        "02 80 6e 00",
        "02 80 6e 00",
        "02 80 6e 00",
        "02 80 6e 00",
    ];
    let mut code: Vec<u8> = groups.iter().flat_map(|group| bytes(group)).collect();
    while !code.len().is_multiple_of(8) {
        code.extend(bytes("03 80 6e 00 f1 ff"));
    }
    code.extend(bytes(END));
    code
}

#[test]
fn a_kernel_starts_from_its_words_alone() {
    for seed in 0..4 {
        let mut chip = Chip::new(&numbers());
        chip.gpu.set_order(seed);
        chip.run().expect("runs");
        for index in 0..192u32 {
            let word = chip.gpu.memory().word(DATA + 4 * u64::from(index));
            assert_eq!(word, Ok(index));
        }
        assert_eq!(chip.gpu.memory().word(DATA + 4 * 192), Ok(0xdead_beef));
    }
}

#[test]
fn streams_that_break_a_rule() {
    let rule = |at: usize, word: u32| {
        let mut chip = Chip::new(&numbers());
        chip.stream[at] = word;
        chip.rule()
    };
    let right = Chip::new(&numbers()).stream;
    assert_eq!(rule(0, right[0]), None);
    assert_eq!(rule(0, 3 << 30), Some(Rule::Stream));
    assert_eq!(rule(1, right[1] | 1), Some(Rule::StreamReserved));
    assert_eq!(rule(8, right[8] | 1), Some(Rule::StreamReserved));
    // A data segment of four words where the program reads six; without temporaries.
    assert_eq!(rule(7, right[7] & !0xfc | 1 << 2), Some(Rule::PdsRegister));
    assert_eq!(rule(7, right[7] & !0xf00), Some(Rule::PdsRegister));
    // No vertex inputs, no coefficients, no shared registers.
    assert_eq!(rule(7, right[7] & !(0x3f << 12)), Some(Rule::PdsTarget));
    assert_eq!(rule(7, right[7] & !(0x1ff << 18)), Some(Rule::PdsTarget));
    assert_eq!(rule(0, right[0] & !(0x1ff << 18)), Some(Rule::PdsTarget));
    // 1024 instances of one workgroup, and 40, which are no whole tasks.
    assert_eq!(rule(13, 511 << 18 | 1 << 9), Some(Rule::Workgroup));
    assert_eq!(rule(13, 39 << 18), Some(Rule::Workgroup));
    // No fence behind the kernel.
    assert_eq!(rule(14, 2 << 30), Some(Rule::Fence));
    // A fence that starts a program.
    assert_eq!(rule(14, right[14] | 1 << 2), None);
    assert_eq!(rule(16, KICK_CODE), Some(Rule::PdsRegister));
    // No end: what follows are words that nobody wrote.
    assert_eq!(rule(21, 0), Some(Rule::StreamReserved));
}

#[test]
fn a_core_holds_so_many_invocations_and_temporaries() {
    let rule = |core: Core, size: u32, temps: u32, code: &[u8]| {
        let mut chip = Chip::of(core, code);
        chip.stream[10] = 0;
        chip.stream[13] = (size - 1) << 18;
        put(&mut chip.gpu, PDS + u64::from(KICK_DATA) + 4, &[(temps / 4) << 3]);
        chip.rule()
    };
    let (small, large, code) = (Core::AXE_1_16M, Core::BXS_4_64, numbers());
    assert_eq!(rule(small, 384, 8, &code), None);
    assert_eq!(rule(small, 416, 8, &code), Some(Rule::Workgroup));
    assert_eq!(rule(large, 512, 8, &code), None);
    assert_eq!(rule(small, 64, 128, &code), None);
    assert_eq!(rule(small, 64, 132, &code), Some(Rule::Temporaries));
    assert_eq!(rule(large, 64, 132, &code), None);
    // A task that locks a mutex and sleeps on it, for ever: the others must be there to wake it.
    let sleeps: Vec<u8> =
        ["02 80 6c c4", "02 80 6c 44", END].iter().flat_map(|group| bytes(group)).collect();
    for (core, size, most) in [
        (large, 128, 128),
        (large, 256, 64),
        (large, 512, 52),
        (small, 64, 40),
        (small, 128, 24),
        (small, 256, 12),
    ] {
        assert_eq!(rule(core, size, most, &sleeps), Some(Rule::Deadlock), "{size}");
        assert_eq!(rule(core, size, most + 4, &sleeps), Some(Rule::Resident), "{size}");
    }
}

#[test]
fn sequencer_programs_that_break_a_rule() {
    let rule = |at: u32, word: u32| {
        let mut chip = Chip::new(&numbers());
        put(&mut chip.gpu, PDS + u64::from(at), &[word]);
        chip.rule()
    };
    // A transfer that is not the last one, an output that none has, a condition that none has.
    assert_eq!(rule(UPLOAD_DATA + 8, 0x1000_0004), Some(Rule::PdsEnd));
    assert_eq!(rule(UPLOAD_CODE, dout(0, 0, 2, 0, 6)), Some(Rule::Undocumented));
    assert_eq!(rule(KICK_CODE, 0xc000_0000 | 12 << 24), Some(Rule::Undocumented));
    // Registers that do not exist; one that nobody wrote.
    assert_eq!(rule(UPLOAD_CODE, dout(0, 0, 170, 0, 0)), Some(Rule::PdsRegister));
    assert_eq!(rule(KICK_CODE + 16, dout(0, 0, 4, 66, 1)), Some(Rule::PdsRegister));
    // For ever: a branch to itself.
    assert_eq!(rule(UPLOAD_CODE, 0xc000_0000 | 1 << 24 | 8 << 19), Some(Rule::PdsEnd));
    // More temporaries than there are: 252.
    assert_eq!(rule(KICK_DATA + 4, 63 << 3), Some(Rule::Temporaries));
    // A comparison that is none.
    assert_eq!(rule(UPLOAD_CODE, 0xb000_0000), Some(Rule::PdsCode));
    // An address that is not mapped.
    assert_eq!(rule(UPLOAD_DATA + 4, 0x10), Some(Rule::Mapped));
}

#[test]
fn changed_bits_of_a_kernel_end_or_name_a_rule() {
    let mut dice = super::Dice::new(29);
    let mut rules = std::collections::BTreeMap::new();
    let code = numbers();
    for round in 0..3000 {
        let mut chip = Chip::new(&code);
        chip.steps = 3000;
        for _ in 0..1 + dice.below(3) {
            let bit = dice.below(32) as u32;
            if dice.below(2) == 0 {
                let at = dice.below(chip.stream.len() as u64) as usize;
                chip.stream[at] ^= 1 << bit;
                continue;
            }
            let at = [CODE + 64, PDS + 0x100, PDS + 0x300][dice.below(3) as usize];
            let at = at + 4 * dice.below(0x60);
            let word = chip.gpu.memory().word(at).expect("is mapped");
            put(&mut chip.gpu, at, &[word ^ 1 << bit]);
        }
        chip.gpu.set_order(round);
        *rules.entry(chip.rule()).or_insert(0) += 1;
    }
    assert!(rules.len() > 15, "{rules:?}");
}
