//! Each control form under divergent lanes, memory, marks and stops, with results worked out by hand.

use super::*;
use crate::ssa::func::{Access, Imm, MemData, Type, Value};
use crate::ssa::op::Op;
use crate::ssa::resource::{
    AtomicOp, ImageAccess, InputData, ResourceData, ResourceKind, Scalar, Scan, Shuffle, TexQuery,
};
use crate::ssa::world::{Sample, TexelAddress};
use crate::ssa::{Builder, Numerics};

/// One storage buffer of words.
struct Words(Vec<u32>);

impl World for Words {
    fn buffer_size(&self, _: Resource, _: u32) -> u32 {
        self.0.len() as u32 * 4
    }
    fn load_word(&mut self, _: Resource, _: u32, address: u32) -> u32 {
        self.0.get(address as usize / 4).copied().unwrap_or(0)
    }
    fn store_word(&mut self, _: Resource, _: u32, address: u32, word: u32, mask: u32) {
        if let Some(to) = self.0.get_mut(address as usize / 4) {
            *to = *to & !mask | word & mask;
        }
    }
    fn sample(&mut self, _: &Sample) -> [u32; 4] {
        [0; 4]
    }
    fn load_texel(&mut self, _: &TexelAddress) -> [u32; 4] {
        [0; 4]
    }
    fn store_texel(&mut self, _: &TexelAddress, _: [u32; 4]) {}
    fn query(&self, _: (Resource, u32), _: TexQuery, _: i32) -> [u32; 3] {
        [0; 3]
    }
}

/// A compute function of 8 lanes with one storage buffer; `fill` gets the lane's index.
fn program(fill: impl FnOnce(&mut Builder<'_>, Value, Resource)) -> Func {
    let mut func = Func::new("main", Stage::Compute);
    func.workgroup_size = [8, 1, 1];
    let index = func.inputs.push(InputData {
        kind: InputKind::Builtin(Builtin::LocalInvocationIndex),
        components: 1,
        scalar: Scalar::U32,
        name: "i".into(),
    });
    let buffer = func.resources.push(ResourceData {
        group: 0,
        binding: 0,
        name: "out".into(),
        kind: ResourceKind::Storage {
            size: 0,
            stride: 4,
            access: ImageAccess { load: true, store: true, atomic: true },
        },
        count: None,
        scalar: Scalar::U32,
        mixed: false,
    });
    let mut b = Builder::at_body(&mut func);
    let i = b.input(index, 0);
    fill(&mut b, i, buffer);
    b.end(Op::Yield, &[]);
    func
}

fn store(b: &mut Builder<'_>, buffer: Resource, i: Value, value: Value) {
    let four = b.u32(4);
    let address = b.op2(Op::IMul, i, four);
    b.buffer_store(buffer, None, address, &[value]);
}

fn execute(func: &Func) -> (Vec<u32>, Result<Outcome, Stop>) {
    let mut world = Words(vec![0; 8]);
    let lanes = Lanes::compute(func, [1, 1, 1], 0, 1);
    let outcome = run(func, &lanes, &mut world, Options::new(&Numerics::REFERENCE));
    (world.0, outcome)
}

#[test]
fn both_arms_of_a_divergent_if_run_each_for_its_lanes() {
    let func = program(|b, i, buffer| {
        let three = b.u32(3);
        let low = b.op2(Op::ULt, i, three);
        let value = b.if_else(low, &[Type::B32], |b| vec![b.u32(7)], |_| vec![i]);
        store(b, buffer, i, value[0]);
    });
    assert_eq!(execute(&func).0, [7, 7, 7, 3, 4, 5, 6, 7]);
}

#[test]
fn each_lane_leaves_a_loop_on_its_own_trip() {
    // sum = 0 + 1 + ... + i
    let func = program(|b, i, buffer| {
        let zero = b.u32(0);
        let sum = b.loop_(
            &[zero, zero],
            &[Type::B32, Type::B32],
            &[Type::B32],
            |b, params| {
                let sum = b.op2(Op::IAdd, params[0], params[1]);
                b.end(Op::Continue, &[sum, params[1]]);
            },
            |b, params| {
                let done = b.op2(Op::IEq, params[1], i);
                let one = b.u32(1);
                let next = b.op2(Op::IAdd, params[1], one);
                b.end(Op::BreakIf, &[done, params[0], params[0], next]);
            },
        );
        store(b, buffer, i, sum[0]);
    });
    assert_eq!(execute(&func).0, [0, 1, 3, 6, 10, 15, 21, 28]);
}

#[test]
fn break_inside_an_if_takes_only_its_lanes_out() {
    // n counts up to 5, but odd lanes break at 2.
    let func = program(|b, i, buffer| {
        let zero = b.u32(0);
        let count = b.loop_(
            &[zero],
            &[Type::B32],
            &[Type::B32],
            |b, params| {
                let (one, two) = (b.u32(1), b.u32(2));
                let low = b.op2(Op::And, i, one);
                let odd = b.op2(Op::INe, low, zero);
                let at = b.op2(Op::IEq, params[0], two);
                let out = b.op2(Op::And, odd, at);
                let n = params[0];
                b.if_else(
                    out,
                    &[],
                    |b| {
                        b.end(Op::Break, &[n]);
                        vec![]
                    },
                    |_| vec![],
                );
                b.end(Op::Continue, &[n]);
            },
            |b, params| {
                let (one, five) = (b.u32(1), b.u32(5));
                let next = b.op2(Op::IAdd, params[0], one);
                let done = b.op2(Op::IEq, next, five);
                b.end(Op::BreakIf, &[done, next, next]);
            },
        );
        store(b, buffer, i, count[0]);
    });
    assert_eq!(execute(&func).0, [5, 2, 5, 2, 5, 2, 5, 2]);
}

#[test]
fn exit_leaves_a_block_through_a_loop() {
    let func = program(|b, i, buffer| {
        let value = b.block(&[Type::B32], |b, label| {
            let zero = b.u32(0);
            b.loop_(
                &[zero],
                &[Type::B32],
                &[],
                |b, params| {
                    let found = b.op2(Op::IEq, params[0], i);
                    let n = params[0];
                    b.if_else(
                        found,
                        &[],
                        |b| {
                            let ten = b.u32(10);
                            let value = b.op2(Op::IMul, n, ten);
                            b.exit(label, &[value]);
                            vec![]
                        },
                        |_| vec![],
                    );
                    b.end(Op::Continue, &[n]);
                },
                |b, params| {
                    let (one, six) = (b.u32(1), b.u32(6));
                    let next = b.op2(Op::IAdd, params[0], one);
                    let done = b.op2(Op::IEq, next, six);
                    b.end(Op::BreakIf, &[done, next]);
                },
            );
            vec![b.u32(99)]
        });
        store(b, buffer, i, value[0]);
    });
    assert_eq!(execute(&func).0, [0, 10, 20, 30, 40, 50, 99, 99]);
}

#[test]
fn a_word_written_by_two_lanes_is_racy_and_one_word_each_is_not() {
    let clean = program(|b, i, buffer| store(b, buffer, i, i));
    let outcome = execute(&clean).1.expect("runs");
    assert!(outcome.marks.is_empty());
    let racy = program(|b, i, buffer| {
        let zero = b.u32(0);
        b.buffer_store(buffer, None, zero, &[i]);
    });
    let outcome = execute(&racy).1.expect("runs");
    assert_eq!(outcome.marks.racy.len(), 1);
}

#[test]
fn a_barrier_orders_a_workgroups_accesses() {
    let exchange = |with_barrier: bool| {
        program(|b, i, buffer| {
            let mem = b.func.mems.push(MemData {
                name: "w".into(),
                size: 32,
                space: MemSpace::Workgroup,
                words: Vec::new(),
            });
            let access = Access { mem, lo: 0, hi: 32 };
            let (four, seven) = (b.u32(4), b.u32(7));
            let own = b.op2(Op::IMul, i, four);
            b.mem_store(access, own, &[i]);
            if with_barrier {
                let imm = Imm::Barrier { storage: false, workgroup: true, texture: false };
                b.inst(Op::Barrier, imm, &[], &[], &[]);
            }
            let mirrored = b.op2(Op::ISub, seven, i);
            let other = b.op2(Op::IMul, mirrored, four);
            let value = b.mem_load(access, other, &[Type::B32])[0];
            store(b, buffer, i, value);
        })
    };
    let (words, outcome) = execute(&exchange(true));
    assert_eq!(words, [7, 6, 5, 4, 3, 2, 1, 0]);
    assert!(outcome.expect("runs").marks.is_empty());
    let racy = exchange(false);
    let marks = execute(&racy).1.expect("runs").marks;
    assert_eq!(marks.racy.len(), 8);
    let mut world = Words(vec![0; 8]);
    let lanes = Lanes::compute(&racy, [1, 1, 1], 0, 1);
    let options = Options { marks: Some(&marks), ..Options::new(&Numerics::REFERENCE) };
    let excluded = run(&racy, &lanes, &mut world, options).expect("runs").excluded;
    let stored = excluded.words.iter().filter(|word| matches!(word, Word::Buffer(..))).count();
    assert_eq!(stored, 8, "what was read from racy words is followed into the buffer");
}

#[test]
fn a_barrier_that_some_lanes_miss_stops_the_run() {
    let func = program(|b, i, _| {
        let three = b.u32(3);
        let low = b.op2(Op::ULt, i, three);
        b.if_else(
            low,
            &[],
            |b| {
                let imm = Imm::Barrier { storage: true, workgroup: true, texture: false };
                b.inst(Op::Barrier, imm, &[], &[], &[]);
                vec![]
            },
            |_| vec![],
        );
    });
    assert!(matches!(execute(&func).1, Err(Stop::DivergentBarrier(_))));
}

#[test]
fn atomics_add_up_and_their_results_are_marked() {
    let func = program(|b, i, buffer| {
        let zero = b.u32(0);
        let imm = Imm::BufferAtomic(buffer, AtomicOp::Add);
        b.inst(Op::BufferAtomic, imm, &[zero, i], &[], &[Type::B32]);
    });
    let (words, outcome) = execute(&func);
    assert_eq!(words[0], 28);
    let marks = outcome.expect("runs").marks;
    assert!(marks.racy.is_empty() && marks.atomic_results);
}

#[test]
fn what_an_atomic_load_reads_hangs_on_the_order_unless_a_barrier_comes_before() {
    let excluded = |barrier: bool| {
        let func = program(|b, i, buffer| {
            let mem = b.func.mems.push(MemData {
                name: "sum".into(),
                size: 4,
                space: MemSpace::Workgroup,
                words: Vec::new(),
            });
            let sum = Access { mem, lo: 0, hi: 4 };
            let zero = b.u32(0);
            let imm = Imm::MemAtomic(sum, AtomicOp::Add);
            b.inst(Op::MemAtomic, imm, &[zero, i], &[], &[Type::B32]);
            if barrier {
                let imm = Imm::Barrier { storage: false, workgroup: true, texture: false };
                b.inst(Op::Barrier, imm, &[], &[], &[]);
            }
            let imm = Imm::MemAtomic(sum, AtomicOp::Load);
            let read = b.inst(Op::MemAtomic, imm, &[zero], &[], &[Type::B32]);
            let value = b.result(read);
            store(b, buffer, i, value);
        });
        let (_, outcome) = execute(&func);
        let marks = outcome.expect("runs").marks;
        let mut world = Words(vec![0; 8]);
        let options = Options { marks: Some(&marks), ..Options::new(&Numerics::REFERENCE) };
        let lanes = Lanes::compute(&func, [1, 1, 1], 0, 1);
        let outcome = run(&func, &lanes, &mut world, options).expect("runs");
        let words = outcome.excluded.words.into_iter();
        words.filter(|word| matches!(word, Word::Buffer(..))).count()
    };
    assert_eq!(excluded(true), 0);
    assert_eq!(excluded(false), 8);
}

#[test]
fn different_atomics_on_one_word_race_and_sums_do_not() {
    let outcome = |first: AtomicOp, second: AtomicOp| {
        let func = program(|b, i, buffer| {
            let zero = b.u32(0);
            for op in [first, second] {
                let imm = Imm::BufferAtomic(buffer, op);
                b.inst(Op::BufferAtomic, imm, &[zero, i], &[], &[Type::B32]);
            }
        });
        let marks = execute(&func).1.expect("runs").marks;
        marks.racy.is_empty()
    };
    assert!(outcome(AtomicOp::Add, AtomicOp::Sub));
    assert!(outcome(AtomicOp::SMax, AtomicOp::SMax));
    assert!(!outcome(AtomicOp::Sub, AtomicOp::SMin));
    assert!(!outcome(AtomicOp::And, AtomicOp::Or));
}

#[test]
fn an_endless_loop_runs_out_of_steps() {
    let func = program(|b, _, _| {
        b.loop_(
            &[],
            &[],
            &[],
            |b, _| {
                b.end(Op::Continue, &[]);
            },
            |b, _| {
                b.end(Op::Next, &[]);
            },
        );
    });
    assert!(matches!(execute(&func).1, Err(Stop::OutOfSteps(_))));
}

#[test]
fn derivatives_are_differences_of_the_own_row_and_column() {
    let mut func = Func::new("main", Stage::Fragment);
    let input = func.inputs.push(InputData {
        kind: InputKind::Builtin(Builtin::Position),
        components: 4,
        scalar: Scalar::F32,
        name: "p".into(),
    });
    let output = func.outputs.push(crate::ssa::OutputData {
        kind: crate::ssa::OutputKind::Builtin(Builtin::FragDepth),
        components: 2,
        scalar: Scalar::F32,
        name: "o".into(),
    });
    let mut b = Builder::at_body(&mut func);
    let p = b.input(input, 0);
    let (dx, dy) = (b.op1(Op::Ddx, p), b.op1(Op::Ddy, p));
    b.output(output, 0, dx);
    b.output(output, 1, dy);
    b.end(Op::Yield, &[]);
    let mut lanes = Lanes::new(&func, 4);
    for (lane, value) in [1.0f32, 2.0, 4.0, 8.0].into_iter().enumerate() {
        lanes.inputs[0][lane][0] = value.to_bits();
    }
    let mut world = Words(vec![]);
    let outcome = run(&func, &lanes, &mut world, Options::new(&Numerics::REFERENCE)).expect("runs");
    let got: Vec<[f32; 2]> =
        outcome.outputs[0].iter().map(|o| [f32::from_bits(o[0]), f32::from_bits(o[1])]).collect();
    assert_eq!(got, [[1.0, 3.0], [1.0, 6.0], [4.0, 3.0], [4.0, 6.0]]);
}

#[test]
fn variables_beyond_all_bounds_stop_the_run_before_it_begins() {
    let mut func = program(|_, _, _| {});
    func.mems.push(MemData {
        name: "huge".into(),
        size: u32::MAX,
        space: MemSpace::Private,
        words: Vec::new(),
    });
    let (_, outcome) = execute(&func);
    assert!(matches!(outcome, Err(Stop::Memory { .. })));
}

#[test]
fn active_lanes_of_a_subgroup_exchange_values() {
    // Lanes 2, 3, 6 and 7 of eight: their number, what is before them, the lane beside them, the first.
    let func = program(|b, lane, buffer| {
        let (two, one) = (b.u32(2), b.u32(1));
        let bits = b.op2(Op::And, lane, two);
        let c = b.op2(Op::IEq, bits, two);
        b.if_else(
            c,
            &[],
            |b| {
                let yes = b.bool(true);
                let ballot = b.inst(Op::Ballot, Imm::None, &[yes], &[], &[Type::B32; 4]);
                let scan = Imm::Reduce(Scan::Exclusive, Op::IAdd);
                let before = b.inst(Op::Reduce, scan, &[lane], &[], &[Type::B32]);
                let xor = Imm::Shuffle(Shuffle::Xor);
                let beside = b.inst(Op::Shuffle, xor, &[lane, one], &[], &[Type::B32]);
                let first = Imm::Shuffle(Shuffle::First);
                let first = b.inst(Op::Shuffle, first, &[lane], &[], &[Type::B32]);
                let all = Imm::Reduce(Scan::All, Op::UMax);
                let most = b.inst(Op::Reduce, all, &[lane], &[], &[Type::B32]);
                let stride = b.u32(20);
                let mut address = b.op2(Op::IMul, lane, stride);
                let four = b.u32(4);
                for inst in [ballot, before, beside, first, most] {
                    let value = b.result(inst);
                    b.buffer_store(buffer, None, address, &[value]);
                    address = b.op2(Op::IAdd, address, four);
                }
                vec![]
            },
            |_| vec![],
        );
    });
    let mut world = Words(vec![0; 40]);
    let lanes = Lanes::compute(&func, [1; 3], 0, 1);
    run(&func, &lanes, &mut world, Options::new(&Numerics::REFERENCE)).expect("it ends");
    let of = |lane: usize| world.0[lane * 5..lane * 5 + 5].to_vec();
    assert_eq!(of(2), [0b1100_1100, 0, 3, 2, 7]);
    assert_eq!(of(3), [0b1100_1100, 2, 2, 2, 7]);
    assert_eq!(of(6), [0b1100_1100, 5, 7, 2, 7]);
    assert_eq!(of(7), [0b1100_1100, 11, 6, 2, 7]);
    assert_eq!(of(0), [0; 5]);
}

#[test]
fn an_access_through_an_index_into_no_elements_does_not_happen() {
    // The buffer holds 8 words; the length says otherwise.
    for (length, stored, loaded) in [(0, 5, 0), (1, 9, 5), (8, 9, 5)] {
        let func = program(|b, _, buffer| {
            let (zero, four, five, nine) = (b.u32(0), b.u32(4), b.u32(5), b.u32(9));
            b.buffer_store(buffer, None, zero, &[five]);
            // Not a constant.
            let length = b.u32(length);
            let length = b.op2(Op::UMin, length, nine);
            let index = b.op2(Op::Index, zero, length);
            let address = b.op2(Op::Shl, index, four);
            let read = b.buffer_load(buffer, None, address, &[Type::B32])[0];
            b.buffer_store(buffer, None, address, &[nine]);
            let imm = Imm::BufferAtomic(buffer, AtomicOp::Add);
            let old = b.inst(Op::BufferAtomic, imm, &[address, zero], &[], &[Type::B32]);
            let old = b.result(old);
            b.buffer_store(buffer, None, four, &[read]);
            let eight = b.u32(8);
            b.buffer_store(buffer, None, eight, &[old]);
            // Used as a number, it is 0.
            let twelve = b.u32(12);
            b.buffer_store(buffer, None, twelve, &[index]);
        });
        let (words, _) = execute(&func);
        let old = if length == 0 { 0 } else { 9 };
        assert_eq!(words[..4], [stored, loaded, old, 0], "length {length}");
    }
}

/// The word that a compute program stores depends on what a machine approximates.
fn is_approximated(text: &str) -> bool {
    is_inexact(text, Inexact::Functions)
}

/// The word that a compute program stores follows from results that may have other bits: `%0` is 0, `%1` is 1.0, and `text` gives
/// `%9`.
fn is_inexact(text: &str, inexact: Inexact) -> bool {
    let func = crate::ssa::parse(&format!(
        "func \"main\" compute workgroup 1 1 1 {{
          res0 = \"t\" group 0 binding 0 texture d2 arrayed depth as f32
          res1 = \"s\" group 0 binding 1 sampler comparison as u32
          res2 = \"c\" group 0 binding 2 texture cube float as f32
          res3 = \"p\" group 0 binding 3 sampler as u32
          res4 = \"d\" group 0 binding 4 texture d2 float as f32
          res5 = \"out\" group 0 binding 5 storage 4 store as f32
        }} body {{
          %0: b32 = const 0x0
          %1: b32 = const 0x3f800000
          {text}
          buffer_store res5, %0, %9
          yield
        }}"
    ));
    let func = func.unwrap_or_else(|error| panic!("{text}: {error}")).funcs.remove(0);
    let lanes = Lanes::compute(&func, [1, 1, 1], 0, 1);
    let marks = run(&func, &lanes, &mut Words(vec![0]), Options::new(&Numerics::REFERENCE));
    let marks = marks.expect("runs").marks;
    let options = Options { marks: Some(&marks), inexact, ..Options::new(&Numerics::REFERENCE) };
    let followed = run(&func, &lanes, &mut Words(vec![0]), options).expect("runs");
    !followed.excluded.words.is_empty()
}

#[test]
fn what_a_machine_may_compute_by_approximated_functions_is_followed() {
    let four = "%9: b32, %8: b32, %7: b32, %6: b32";
    // Their own results.
    assert!(is_approximated("%9: b32 = frcp %1"));
    assert!(is_approximated("%8: b32 = fdiv %1, %1 %9: b32 = fadd %8, %1"));
    assert!(!is_approximated("%9: b32 = fmul %1, %1"));
    // A quotient of integers is exact, whatever a machine makes it of.
    assert!(!is_approximated("%9: b32 = udiv %1, %1"));
    // The place on a face is a quotient; other textures are sampled where the operands say.
    assert!(is_approximated(&format!("{four} = tex level res2 res3, %1, %0, %0, %0")));
    assert!(!is_approximated(&format!("{four} = tex level res4 res3, %1, %0, %0")));
    // A machine may have no place for the level of a comparison but gradients.
    assert!(is_approximated("%9: b32 = tex level res0 res1 compare, %1, %1, %0, %1, %1"));
    let gather = "tex gather res0 res1 compare component 0, %1, %1, %0, %1";
    assert!(!is_approximated(&format!("{four} = {gather}")));
}

#[test]
fn what_is_computed_of_floats_is_followed_and_what_is_passed_on_is_not() {
    let floats = |text: &str| is_inexact(text, Inexact::Floats);
    assert!(floats("%9: b32 = fmul %1, %1"));
    assert!(floats("%8: b32 = frcp %1 %9: b32 = iadd %8, %0"));
    assert!(!floats("%9: b32 = iadd %1, %0"));
    assert!(!floats("%9: b32 = udiv %1, %1"));
    // Filters are floats; a gather and a load give texels.
    let four = "%9: b32, %8: b32, %7: b32, %6: b32";
    assert!(floats(&format!("{four} = tex level res4 res3, %1, %0, %0")));
    assert!(!floats(&format!("{four} = tex gather res4 res3 component 0, %1, %1")));
    assert!(!floats(&format!("{four} = tex load res4, %0, %0, %0")));
}

#[test]
fn a_clock_rises_and_what_is_made_of_it_is_left_out_of_comparisons() {
    let timed = program(|b, i, buffer| {
        let [before, after] = [(); 2].map(|()| {
            let inst = b.inst(Op::Clock, Imm::None, &[], &[], &[Type::B32; 2]);
            b.func.insts[inst].results[0]
        });
        let took = b.op2(Op::ISub, after, before);
        let one = b.u32(1);
        let odd = b.op2(Op::And, i, one);
        let zero = b.u32(0);
        let is_odd = b.op2(Op::INe, odd, zero);
        let value = b.op3(Op::Select, is_odd, i, took);
        store(b, buffer, i, value);
    });
    let (words, outcome) = execute(&timed);
    let marks = outcome.expect("runs").marks;
    assert!(words[0] > 0 && words[0] < 100, "{words:?}");
    assert_eq!([words[1], words[3], words[5], words[7]], [1, 3, 5, 7]);
    assert!(!marks.is_empty());
    let lanes = Lanes::compute(&timed, [1, 1, 1], 0, 1);
    let options = Options { marks: Some(&marks), ..Options::new(&Numerics::REFERENCE) };
    let mut world = Words(vec![0; 8]);
    let excluded = run(&timed, &lanes, &mut world, options).expect("runs").excluded;
    // Selects follow both of their values.
    assert_eq!(excluded.words.len(), 8);
    assert!(!excluded.all);
}

#[test]
fn lanes_move_words_of_a_private_variable_together_as_they_do_one_by_one() {
    // Lanes from 3 on store their number and a one behind it, at their own word or at word 1; then all read one word. The one may
    // be computed of floats.
    let words = |own: bool, tainted: bool, from: u32| {
        let func = program(|b, i, buffer| {
            let mem = b.func.mems.push(MemData {
                name: "private".into(),
                size: 36,
                space: MemSpace::Private,
                words: Vec::new(),
            });
            let access = Access { mem, lo: 0, hi: 36 };
            let (three, four, one) = (b.u32(3), b.u32(4), b.u32(0x3f80_0000));
            let low = b.op2(Op::ULt, i, three);
            b.if_else(
                low,
                &[],
                |_| vec![],
                |b| {
                    let value = if tainted { b.op2(Op::FMul, one, one) } else { one };
                    let own_word = b.op2(Op::IMul, i, four);
                    b.mem_store(access, if own { own_word } else { four }, &[i, value]);
                    vec![]
                },
            );
            let from = b.u32(4 * from);
            let read = b.mem_load(access, from, &[Type::B32])[0];
            store(b, buffer, i, read);
        });
        let lanes = Lanes::compute(&func, [1, 1, 1], 0, 1);
        let mut world = Words(vec![0; 8]);
        let marks = run(&func, &lanes, &mut world, Options::new(&Numerics::REFERENCE));
        let marks = marks.expect("runs").marks;
        let inexact = Inexact::Floats;
        let options =
            Options { marks: Some(&marks), inexact, ..Options::new(&Numerics::REFERENCE) };
        let followed = run(&func, &lanes, &mut Words(vec![0; 8]), options).expect("runs");
        (world.0, followed.excluded.words.len())
    };
    let one = 1f32.to_bits();
    assert_eq!(words(false, false, 1), (vec![0, 0, 0, 3, 4, 5, 6, 7], 0));
    assert_eq!(words(false, true, 1), (vec![0, 0, 0, 3, 4, 5, 6, 7], 0));
    assert_eq!(words(false, true, 2), (vec![0, 0, 0, one, one, one, one, one], 5));
    assert_eq!(words(true, false, 4), (vec![0, 0, 0, one, 4, 0, 0, 0], 0));
    assert_eq!(words(true, true, 4), (vec![0, 0, 0, one, 4, 0, 0, 0], 1));
}

#[test]
fn constants_beyond_those_that_have_rows_of_their_own_are_computed() {
    let func = program(|b, i, buffer| {
        let mut sum = b.u32(0);
        for number in 0..3000u32 {
            let number = b.u32(number);
            sum = b.op2(Op::IAdd, sum, number);
        }
        let sum = b.op2(Op::IAdd, sum, i);
        store(b, buffer, i, sum);
    });
    let sum = 2999 * 3000 / 2;
    assert_eq!(execute(&func).0, (sum..sum + 8).collect::<Vec<u32>>());
}

#[test]
fn each_vertex_takes_what_the_outputs_hold_and_the_ones_beyond_the_most_are_dropped() {
    let text = r#"func "main" geometry lines to 3 line_strip {
  in0 = "c" u32 x 1 corner 1 location 0
  out0 = "a" u32 x 2 location 0 flat
} body {
  %0: b32 = input in0.0
  %1: b32 = const 0x2
  output out0.0, %0
  emit_vertex
  output out0.1, %1
  emit_vertex
  %2: b1 = ult %0, %1
  if %2 {
    end_primitive
    yield
  } else {
    yield
  }
  output out0.0, %1
  emit_vertex
  emit_vertex
  yield
}
"#;
    let module = crate::ssa::parse(text).unwrap();
    let func = &module.funcs[0];
    crate::ssa::verify(func).unwrap();
    let mut lanes = Lanes::new(func, 2);
    lanes.inputs[0] = vec![[1, 0, 0, 0], [7, 0, 0, 0]];
    let numerics = Numerics::REFERENCE;
    let outcome = run(func, &lanes, &mut Words(Vec::new()), Options::new(&numerics)).unwrap();
    let found: Vec<Vec<(u32, u32, bool)>> = outcome
        .emitted
        .iter()
        .map(|all| {
            all.iter().map(|one| (one.outputs[0][0], one.outputs[0][1], one.begins)).collect()
        })
        .collect();
    assert_eq!(found[0], [(1, 0, true), (1, 2, false), (2, 2, true)]);
    assert_eq!(found[1], [(7, 0, true), (7, 2, false), (2, 2, false)]);
}
