//! Random structured programs: the bytes on the emulator do what the interpreter says of the
//! expanded SSA, to the bit.

use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::ssa::random::{self, Config, Rng};
use gpucc_ir::ssa::{Func, Op, interp};
use gpucc_machine::described::{Driven, DriverWord, Setting, Takes};
use gpucc_passes::{Ctx, Plan, Quiet, Runner};
use gpucc_r700 as r700;
use gpucc_r700::emu;

/// What R700 has: no atomics, no storage textures, nothing of 16 or 64 bits, no subgroups.
fn on_machine(op: Op) -> bool {
    !matches!(
        op,
        Op::BufferAtomic
            | Op::MemAtomic
            | Op::ImageAtomic
            | Op::Ballot
            | Op::Shuffle
            | Op::Reduce
            | Op::ImageStore
            | Op::IsHelper
            | Op::FConvert
            // Its sign at a shift of the whole range is no promise of any machine.
            | Op::FSinTurns
            | Op::FCosTurns
    )
}

fn optimised(mut func: Func, level: gpucc_passes::Level) -> Func {
    let options = gpucc_passes::Options { level, ..gpucc_passes::Options::default() };
    let mut ctx = Ctx::new(options, r700::numerics(), r700::target_info());
    let plan = Plan::for_options(&ctx.options);
    Runner::default()
        .run(&plan, &mut func, &mut ctx, &mut Quiet)
        .expect("the shared passes accept their own text");
    func
}

fn words(rng: &mut Rng, count: usize) -> Vec<u8> {
    const EDGES: [u32; 12] = [
        0,
        1,
        2,
        31,
        32,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x3f80_0000,
        0xbf80_0000,
        0x4049_0fdb,
        0x0000_ffff,
    ];
    (0..count)
        .flat_map(|_| {
            let word = match rng.below(4) {
                0 => rng.pick(&EDGES),
                1 => ((rng.below(2000) as f32 - 1000.0) / 16.0).to_bits(),
                2 => rng.below(256) as u32,
                // No NaN: its payload is no machine's promise.
                _ => rng.bits() as u32 & 0xbfff_ffff,
            };
            word.to_le_bytes()
        })
        .collect()
}

/// Runs both and says where they differ.
fn compare(seed: u64, config: &Config, level: gpucc_passes::Level) -> Result<bool, String> {
    let func = random::program(seed, config);
    let func = optimised(func, level);
    let effort = match level {
        gpucc_passes::Level::O0 => r700::Effort::None,
        _ => r700::Effort::Full,
    };
    let mut options = r700::Options { effort, ..r700::Options::default() };
    options.pipeline.local_data_share = seed.is_multiple_of(2);
    let compiled = match r700::compile(func, &options) {
        Ok(compiled) => compiled,
        Err(r700::Failure::Internal { pass, message }) => {
            return Err(format!("{pass}: {message}"));
        }
        Err(_) => return Ok(false),
    };
    let func = &compiled.expanded;
    let mut rng = Rng::new(seed ^ 0x5eed);
    let mut bindings = Bindings::new(func);
    let groups = 2;
    let lanes = interp::Lanes::compute(func, [groups, 1, 1], 0, groups);
    let mut state = emu::State::new(r700::Chip::Rv770, emu::Stage::Compute, r700::numerics());
    let described = &compiled.described;
    for (_, setting) in &described.state {
        if let Setting::Register { address, value, .. } = setting {
            state.registers.insert(*address, *value);
        }
    }
    state.constants[15] = vec![0; 16 * 64];
    state.constants[15][..4].copy_from_slice(&groups.to_le_bytes());
    state.constants[15][4..8].copy_from_slice(&1u32.to_le_bytes());
    state.constants[15][8..12].copy_from_slice(&1u32.to_le_bytes());
    let mut aperture: Vec<u8> = Vec::new();
    let mut placed = Vec::new();
    for binding in &described.resources {
        let resource = binding.resource.expect("compiled just now");
        let size = match func.resources[resource].kind {
            gpucc_ir::ssa::ResourceKind::Uniform { size } => size as usize,
            _ => lanes.count * random::OUT_WORDS as usize * 4,
        };
        let bytes = words(&mut rng, size / 4);
        bindings.set(resource, Bound::Buffer(bytes.clone()));
        if let Some(kcache) = binding.place("kcache") {
            let mut constants = bytes.clone();
            constants.resize(bytes.len().next_multiple_of(256), 0);
            state.constants[kcache as usize] = constants;
        }
        let source = match binding.place("aperture_index") {
            Some(index) => {
                let start = aperture.len() as u32;
                placed.push((resource, start as usize, bytes.len()));
                let at = 16 * (2 + index as usize);
                state.constants[15][at..at + 4].copy_from_slice(&(start / 4).to_le_bytes());
                state.constants[15][at + 4..at + 8]
                    .copy_from_slice(&(bytes.len() as u32).to_le_bytes());
                aperture.extend_from_slice(&bytes);
                emu::FetchSource::Aperture { start, size: bytes.len() as u32 }
            }
            None => emu::FetchSource::Bytes(bytes.clone()),
        };
        if let Some(entry) = binding.place("resource") {
            let buffer = emu::BufferResource { source, stride: 4, format: None };
            state.resources.insert(entry, emu::FetchResource::Buffer(buffer));
        }
    }
    let Some(Takes::Threads { threads_per_workgroup, workgroup_dwords }) =
        described.dispatch.map(|dispatch| dispatch.takes)
    else {
        panic!("compute programs have a layout");
    };
    for constant in &described.driver_constants {
        if let (Some(number), DriverWord::Other(Driven::WorkgroupMemory)) =
            (constant.constant, constant.word)
        {
            let at = 16 * number as usize;
            let base = (aperture.len() / 4) as u32;
            state.constants[15][at..at + 4].copy_from_slice(&base.to_le_bytes());
            aperture.resize(aperture.len() + (groups * workgroup_dwords * 4) as usize, 0);
        }
    }
    state.aperture.words = aperture
        .chunks(4)
        .map(|word| u32::from_le_bytes(word.try_into().expect("whole words")))
        .collect();
    let numerics = r700::numerics();
    let mut run_options = interp::Options::new(&numerics);
    run_options.steps = 300_000;
    match interp::run(func, &lanes, &mut bindings, run_options) {
        Ok(_) => {}
        Err(interp::Stop::OutOfSteps(_)) => return Ok(false),
        Err(stop) => return Err(format!("interpreter: {stop}")),
    }
    let threads = groups * threads_per_workgroup;
    emu::run_compute(&compiled.code, &mut state, threads, None)
        .map_err(|trap| format!("emulator: {trap}"))?;
    for (resource, start, size) in placed {
        let wanted = bindings.get(resource, 0).bytes();
        for at in (0..size).step_by(4) {
            let mine = state.aperture.words[(start + at) / 4];
            let theirs = u32::from_le_bytes(wanted[at..at + 4].try_into().expect("a word"));
            let nan = |bits: u32| bits & 0x7fff_ffff > 0x7f80_0000;
            if mine != theirs && !(nan(mine) && nan(theirs)) {
                return Err(format!(
                    "{resource} word {}: machine {mine:#010x}, interpreter {theirs:#010x}",
                    at / 4
                ));
            }
        }
    }
    Ok(true)
}

fn sweep(first: u64, count: u64, config: &Config, level: gpucc_passes::Level) {
    let mut counted = 0;
    let mut wrong = Vec::new();
    for seed in first..first + count {
        match compare(seed, config, level) {
            Ok(true) => counted += 1,
            Ok(false) => {}
            Err(message) => wrong.push(format!("seed {seed}: {message}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(counted * 2 > count, "only {counted} of {count} programs counted");
}

const PLAIN: Config = Config {
    allow: on_machine,
    textures: false,
    workgroup: false,
    halves: false,
    doubles: false,
    ..Config::COMPUTE
};

fn budget() -> u64 {
    std::env::var("GPUCC_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(24)
}

#[test]
fn random_programs_run_as_the_interpreter_says() {
    sweep(1, budget(), &PLAIN, gpucc_passes::Level::O2);
}

#[test]
fn random_programs_without_optimisation_run_as_the_interpreter_says() {
    sweep(100_001, budget(), &PLAIN, gpucc_passes::Level::O0);
}

#[test]
fn random_programs_with_barriers_run_as_the_interpreter_says() {
    let config = Config { workgroup: true, ..PLAIN };
    sweep(200_001, budget(), &config, gpucc_passes::Level::O2);
}

/// `GPUCC_SEED=n` writes the code of one program of the barrier sweep to a file in the temporary folder.
#[test]
fn one_program_can_be_looked_at() {
    let Some(seed) = std::env::var("GPUCC_SEED").ok().and_then(|n| n.parse().ok()) else {
        return;
    };
    let config = Config { workgroup: true, ..PLAIN };
    let func = optimised(random::program(seed, &config), gpucc_passes::Level::O2);
    let compiled = r700::compile(
        func,
        &r700::Options {
            passes: gpucc_passes::mach::Control { dump: true, ..Default::default() },
            ..r700::Options::default()
        },
    )
    .expect("the program compiles");
    let folder = std::env::temp_dir();
    std::fs::write(folder.join("random.bin"), &compiled.code).expect("the folder is writable");
    std::fs::write(folder.join("random.mach"), &compiled.dumps[1].text)
        .expect("the folder is writable");
}
