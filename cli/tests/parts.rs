//! Loads and stores of up to four values one after the other: every sequence of 16, 32 and 64 bits, in every kind of
//! memory, at every even byte of two lines of 16 bytes and behind addresses that are known to be aligned so far.

use gpucc::pipeline::Uniforms;
use gpucc::verify::verify;
use gpucc::{Compiler, Options, SourceText, Target};
use gpucc_ir::ssa::{
    Access, Builder, Builtin, Func, ImageAccess, Input, InputData, InputKind, Mem, MemData,
    MemSpace, Op, Resource, ResourceData, ResourceKind, Scalar, Stage, Type, Value,
    verify as check,
};

/// Where values are loaded from, or stored to and loaded from.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Memory {
    Uniform,
    Storage,
    Written,
    Private,
    Workgroup,
    Constant,
}

const MEMORIES: [Memory; 6] = [
    Memory::Uniform,
    Memory::Storage,
    Memory::Written,
    Memory::Private,
    Memory::Workgroup,
    Memory::Constant,
];

/// Bytes of each memory; bytes of one invocation in what is written.
const BYTES: u32 = 256;
/// Invocations of a workgroup.
const SIZE: u32 = 4;

/// Every sequence of one to four values in which all words are aligned when one is. A variable has a word for each 16
/// bits, so that they come last.
fn sequences(in_variable: bool) -> Vec<Vec<Type>> {
    let mut all: Vec<Vec<Type>> = vec![Vec::new()];
    let mut done = 0;
    while all[done].len() < 4 {
        for ty in [Type::B16, Type::B32, Type::B64] {
            let mut longer = all[done].clone();
            longer.push(ty);
            all.push(longer);
        }
        done += 1;
    }
    all.remove(0);
    all.retain(|types| {
        let halves_last = types.iter().rev().skip(1).all(|&ty| ty != Type::B16);
        phase(types).is_some() && (halves_last || !in_variable)
    });
    all
}

/// Which bytes of a word the first value may begin at, modulo 4: any even one where there are no words. `None` where
/// words of the sequence are never aligned together.
fn phase(types: &[Type]) -> Option<Vec<u32>> {
    let allowed = |start: &u32| {
        let mut at = *start;
        types.iter().all(|ty| {
            let aligned = at.is_multiple_of(ty.bytes().min(4));
            at += ty.bytes();
            aligned
        })
    };
    let starts: Vec<u32> = [0, 2].into_iter().filter(allowed).collect();
    (!starts.is_empty()).then_some(starts)
}

struct Program {
    func: Func,
    id: Input,
    source: Option<Resource>,
    variable: Option<Mem>,
    sink: Resource,
}

impl Program {
    fn new(memory: Memory) -> Program {
        let mut func = Func::new("parts", Stage::Compute);
        func.workgroup_size = [SIZE, 1, 1];
        let id = func.inputs.push(InputData {
            kind: InputKind::Builtin(Builtin::LocalInvocationIndex),
            components: 1,
            scalar: Scalar::U32,
            name: "id".into(),
        });
        let storage = |size: u32, store: bool| ResourceKind::Storage {
            size,
            stride: 0,
            access: ImageAccess { load: true, store, atomic: false },
        };
        let mut bind = |binding: u32, name: &str, kind| {
            func.resources.push(ResourceData {
                group: 0,
                binding,
                name: name.into(),
                kind,
                count: None,
                scalar: Scalar::U32,
                mixed: false,
            })
        };
        let source = match memory {
            Memory::Uniform => Some(ResourceKind::Uniform { size: BYTES }),
            Memory::Storage => Some(storage(BYTES, false)),
            Memory::Written => Some(storage(BYTES * SIZE, true)),
            // Something to store.
            Memory::Private | Memory::Workgroup => Some(storage(BYTES, false)),
            Memory::Constant => None,
        };
        let source = source.map(|kind| bind(0, "source", kind));
        let sink = bind(1, "sink", storage(SINK * SIZE, true));
        let space = match memory {
            Memory::Private => Some(MemSpace::Private),
            Memory::Workgroup => Some(MemSpace::Workgroup),
            Memory::Constant => Some(MemSpace::Constant),
            Memory::Uniform | Memory::Storage | Memory::Written => None,
        };
        let variable = space.map(|space| {
            let words = (0..BYTES / 4).map(|word| word.wrapping_mul(0x9e37_92b9)).collect();
            let constant = space == MemSpace::Constant;
            func.mems.push(MemData {
                name: "variable".into(),
                size: BYTES,
                space,
                words: if constant { words } else { Vec::new() },
            })
        });
        Program { func, id, source, variable, sink }
    }
}

/// Bytes that an invocation stores.
const SINK: u32 = 4096;

/// Addresses: bytes, and by how many bytes an index moves them.
fn addresses(types: &[Type]) -> Vec<(u32, Option<u32>)> {
    let starts = phase(types).expect("only such sequences are drawn");
    let mut list = Vec::new();
    for at in (0..32).step_by(2) {
        if starts.contains(&(at % 4)) {
            list.push((at, None));
        }
    }
    for scale in [2, 4, 8, 12, 16, 20] {
        for at in (0..8).step_by(2) {
            let kept = scale % 4 == 0 || starts.len() == 2;
            if kept && starts.contains(&(at % 4)) {
                list.push((at, Some(scale)));
            }
        }
    }
    list
}

/// A program that moves such a sequence at every address.
fn program(memory: Memory, types: &[Type], halves_are_stored: bool) -> Func {
    let Program { mut func, id, source, variable, sink } = Program::new(memory);
    let mut b = Builder::at_body(&mut func);
    let id = b.input(id, 0);
    let size = b.u32(SIZE);
    let id = b.op2(Op::Index, id, size);
    let stride = b.u32(SINK);
    let base = b.op2(Op::IMul, id, stride);
    let mut kept = 0;
    let mut keep = |b: &mut Builder<'_>, values: &[Value]| {
        for &value in values {
            let words = match b.func.ty(value) {
                Type::B16 => vec![b.convert(Op::UConvert, Type::B32, value)],
                Type::B64 => vec![b.op1(Op::Lo64, value), b.op1(Op::Hi64, value)],
                Type::B1 | Type::B32 => vec![value],
            };
            for word in words {
                let offset = b.u32(kept);
                kept += 4;
                let address = b.op2(Op::IAdd, base, offset);
                b.buffer_store(sink, None, address, &[word]);
            }
        }
        assert!(kept <= SINK);
    };
    let whole = Access { mem: variable.unwrap_or(Mem::from_u32(0)), lo: 0, hi: BYTES };
    for (at, scale) in addresses(types) {
        let mut address = b.u32(at);
        if let Some(scale) = scale {
            let scale = b.u32(scale);
            let moved = b.op2(Op::IMul, id, scale);
            address = b.op2(Op::IAdd, moved, address);
        }
        let own = |b: &mut Builder<'_>| {
            let stride = b.u32(BYTES);
            let own = b.op2(Op::IMul, id, stride);
            b.op2(Op::IAdd, own, address)
        };
        match (memory, source, variable) {
            (Memory::Uniform | Memory::Storage, Some(source), _) => {
                let values = b.buffer_load(source, None, address, types);
                keep(&mut b, &values);
            }
            (Memory::Written, Some(source), _) => {
                let address = own(&mut b);
                let values = b.buffer_load(source, None, address, types);
                let two = b.u32(64);
                let to = b.op2(Op::IAdd, address, two);
                if halves_are_stored || !types.contains(&Type::B16) {
                    b.buffer_store(source, None, to, &values);
                }
                keep(&mut b, &values);
            }
            (Memory::Private | Memory::Workgroup, Some(source), Some(_)) => {
                let from = b.u32(at & !3);
                let count = types.len();
                let words = b.buffer_load(source, None, from, &[Type::B32; 4]);
                let values: Vec<Value> = (0..count)
                    .map(|k| match types[k] {
                        Type::B16 => b.op1(Op::Hi16, words[k]),
                        Type::B64 => b.op2(Op::Join64, words[k], words[(k + 1) % 4]),
                        Type::B1 | Type::B32 => words[k],
                    })
                    .collect();
                // A line of the workgroup's for each invocation.
                let mut address = address;
                if memory == Memory::Workgroup {
                    let line = b.u32(64);
                    let line = b.op2(Op::IMul, id, line);
                    let at = b.u32(at);
                    address = b.op2(Op::IAdd, line, at);
                }
                b.mem_store(whole, address, &values);
                let values = b.mem_load(whole, address, types);
                keep(&mut b, &values);
            }
            (Memory::Constant, _, Some(_)) => {
                let values = b.mem_load(whole, address, types);
                keep(&mut b, &values);
            }
            _ => unreachable!("each memory has its source or its variable"),
        }
    }
    b.end(Op::Yield, &[]);
    check(&func).unwrap_or_else(|broken| panic!("{broken}\n{func}"));
    func
}

/// Compiles and compares every program of a machine; gives how many.
fn all(target: Target, halves_are_stored: bool, uniforms: Uniforms) -> usize {
    let compiler = Compiler::new(target, None).expect("the target is built");
    let mut options = Options::default();
    options.pipeline.uniforms = uniforms;
    let mut count = 0;
    for memory in MEMORIES {
        if uniforms == Uniforms::Pushed && memory != Memory::Uniform {
            continue;
        }
        let in_variable = matches!(memory, Memory::Private | Memory::Workgroup | Memory::Constant);
        for types in sequences(in_variable) {
            let func = program(memory, &types, halves_are_stored);
            let what = format!("{} {memory:?} {types:?}", target.name());
            let source = SourceText::new("parts", None);
            let summary = compiler
                .compile(&func, &options)
                .and_then(|compiled| verify(&compiler, &compiled, &source, &options, 2, 1))
                .unwrap_or_else(|failure| panic!("{what}: {}", failure.summary()));
            assert!(summary.holds() && summary.words > 0, "{what}: {:?}", summary.first);
            count += 1;
        }
    }
    count
}

#[test]
fn every_sequence_is_moved_on_valhall() {
    // Of 120 sequences of up to four values of three widths; the rest have words that are never aligned together.
    assert_eq!(sequences(false).len(), 92);
    assert_eq!(sequences(true).len(), 45);
    assert_eq!(all(Target::VALHALL, true, Uniforms::Loaded), 3 * 92 + 3 * 45);
    assert_eq!(all(Target::VALHALL, true, Uniforms::Pushed), 92);
}

#[test]
fn every_sequence_is_moved_on_r700() {
    assert_eq!(all(Target::R700, false, Uniforms::Loaded), 3 * 92 + 3 * 45);
}

#[test]
fn words_that_are_never_aligned_together_are_no_program() {
    let text = |types: &str| {
        format!(
            "func \"main\" compute {{\n  res0 = \"u\" group 0 binding 0 uniform 512 as i32\n}} body {{\n  \
             %0: b32 = const 0x8\n  {types} = buffer_load res0, %0\n  yield\n}}\n"
        )
    };
    let parse = |types: &str| {
        let module = gpucc_ir::ssa::parse(&text(types)).expect("it parses");
        check(&module.funcs[0])
    };
    assert!(parse("%1: b32, %2: b16, %3: b16, %4: b64").is_ok());
    assert!(parse("%1: b16, %2: b32, %3: b32").is_ok());
    let broken =
        parse("%1: b32, %2: b16, %3: b32").expect_err("4 and 6 are never both multiples of 4");
    assert!(broken.to_string().contains("buffer_load"), "{broken}");
}
