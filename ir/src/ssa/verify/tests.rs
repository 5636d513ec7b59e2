//! One broken function for each invariant; each is refused by that invariant's number.

use super::*;
use crate::ssa::Builder;
use crate::ssa::func::{Access, Corners, Emits, MemData};
use crate::ssa::resource::{InputData, InputKind, Interpolation, OutputData, Sampling, Scalar};

/// A compute function that `fill` ends.
fn built(fill: impl FnOnce(&mut Builder<'_>)) -> Func {
    let mut func = Func::new("main", Stage::Compute);
    let mut b = Builder::at_body(&mut func);
    fill(&mut b);
    if !b.ended() {
        b.end(Op::Yield, &[]);
    }
    func
}

fn invariant(func: &Func) -> u8 {
    verify(func).expect_err("the function is broken").invariant
}

fn good_loop(b: &mut Builder<'_>) -> Inst {
    let one = b.u32(1);
    b.loop_(
        &[one],
        &[Type::B32],
        &[Type::B32],
        |b, params| {
            b.end(Op::Continue, params);
        },
        |b, params| {
            let done = b.bool(true);
            b.end(Op::BreakIf, &[done, params[0], params[0]]);
        },
    );
    *b.func.regions[b.region].insts.last().expect("the loop")
}

#[test]
fn a_function_with_every_construct_is_accepted() {
    let func = built(|b| {
        good_loop(b);
        let c = b.bool(true);
        b.block(&[Type::B32], |b, label| {
            b.if_else(
                c,
                &[],
                |b| {
                    let two = b.u32(2);
                    b.exit(label, &[two]);
                    vec![]
                },
                |_| vec![],
            );
            vec![b.u32(3)]
        });
    });
    assert_eq!(verify(&func), Ok(()));
}

#[test]
fn a_region_without_a_terminator_breaks_1() {
    let mut func = Func::new("main", Stage::Compute);
    Builder::at_body(&mut func).u32(1);
    assert_eq!(invariant(&func), 1);
    let func = built(|b| {
        b.end(Op::Yield, &[]);
        b.u32(1);
        b.end(Op::Yield, &[]);
    });
    assert_eq!(invariant(&func), 1);
}

#[test]
fn an_instruction_in_two_places_breaks_2() {
    let mut func = built(|b| {
        b.u32(1);
    });
    let first = func.regions[func.body].insts[0];
    func.regions[func.body].insts.insert(0, first);
    assert_eq!(invariant(&func), 2);
}

#[test]
fn a_use_outside_of_the_defining_region_breaks_3() {
    let func = built(|b| {
        let c = b.bool(true);
        let mut inner = None;
        b.if_else(
            c,
            &[],
            |b| {
                inner = Some(b.u32(1));
                vec![]
            },
            |_| vec![],
        );
        let inner = inner.expect("built");
        b.op1(Op::INeg, inner);
    });
    assert_eq!(invariant(&func), 3);
}

#[test]
fn wrong_operand_types_break_4() {
    let func = built(|b| {
        let (c, one) = (b.bool(true), b.u32(1));
        b.inst(Op::IAdd, Imm::None, &[one, c], &[], &[Type::B32]);
    });
    assert_eq!(invariant(&func), 4);
    let func = built(|b| {
        b.inst(Op::Const, Imm::Bits(2), &[], &[], &[Type::B1]);
    });
    assert_eq!(invariant(&func), 4);
}

#[test]
fn a_wrong_immediate_breaks_5() {
    let func = built(|b| {
        let one = b.u32(1);
        b.inst(Op::INeg, Imm::Bits(1), &[one], &[], &[Type::B32]);
    });
    assert_eq!(invariant(&func), 5);
}

#[test]
fn parameters_that_do_not_fit_the_initial_values_break_6() {
    let func = built(|b| {
        let inst = good_loop(b);
        b.func.insts[inst].args.clear();
    });
    assert_eq!(invariant(&func), 6);
}

#[test]
fn a_yield_that_carries_too_little_breaks_7() {
    let func = built(|b| {
        let c = b.bool(true);
        b.if_else(c, &[Type::B32], |_| vec![], |_| vec![]);
    });
    assert_eq!(invariant(&func), 7);
}

#[test]
fn a_break_outside_of_loops_breaks_8() {
    let func = built(|b| {
        b.end(Op::Break, &[]);
    });
    assert_eq!(invariant(&func), 8);
}

#[test]
fn next_outside_of_continuing_breaks_9() {
    let func = built(|b| {
        b.end(Op::Next, &[]);
    });
    assert_eq!(invariant(&func), 9);
}

#[test]
fn an_exit_to_a_block_that_does_not_enclose_it_breaks_10() {
    let func = built(|b| {
        b.block(&[], |_, _| vec![]);
        let block = *b.func.regions[b.region].insts.last().expect("the block");
        b.exit(block, &[]);
    });
    assert_eq!(invariant(&func), 10);
}

#[test]
fn an_access_beyond_its_variable_breaks_11() {
    for (lo, hi, address) in [(0, 12, 0), (4, 8, 0), (4, 4, 4)] {
        let func = built(|b| {
            let mem = b.func.mems.push(MemData {
                name: "m".into(),
                size: 8,
                space: MemSpace::Private,
                words: Vec::new(),
            });
            let address = b.u32(address);
            b.mem_load(Access { mem, lo, hi }, address, &[Type::B32]);
        });
        assert_eq!(invariant(&func), 11, "{lo}..{hi} at {address}");
    }
}

#[test]
fn each_value_of_an_access_lies_at_a_multiple_of_its_bytes() {
    use Type::{B16, B32};
    let with = |address, types: &[Type]| {
        built(|b| {
            let mem = b.func.mems.push(MemData {
                name: "m".into(),
                size: 16,
                space: MemSpace::Private,
                words: Vec::new(),
            });
            let address = b.u32(address);
            b.mem_load(Access { mem, lo: 0, hi: 16 }, address, types);
        })
    };
    for (address, types) in [(2, &[B16, B32][..]), (4, &[B32]), (6, &[B16, B16])] {
        assert_eq!(verify(&with(address, types)), Ok(()), "{types:?}");
    }
    for (address, types) in [(0, &[B16, B32][..]), (2, &[B32]), (5, &[B16])] {
        assert_eq!(invariant(&with(address, types)), 11, "{types:?}");
    }
}

#[test]
fn distances_outside_of_their_two_rows_break_12() {
    let with = |first, components| {
        let mut func = built(|_| {});
        func.stage = Stage::Vertex;
        func.outputs.push(OutputData {
            kind: OutputKind::Builtin(Builtin::ClipDistance(first)),
            components,
            scalar: Scalar::F32,
            name: "clip".into(),
        });
        func
    };
    assert_eq!(verify(&with(4, 4)), Ok(()));
    assert_eq!(verify(&with(6, 2)), Ok(()));
    for (first, components) in [(8, 1), (250, 1), (6, 3), (1, 4)] {
        assert_eq!(invariant(&with(first, components)), 12);
    }
}

#[test]
fn two_inputs_or_two_outputs_of_one_location_break_12() {
    let with = |inputs: [u32; 2], outputs: [(u32, u8); 2]| {
        let mut func = Func::new("main", Stage::Fragment);
        let interpolation = Interpolation::Flat;
        for location in inputs {
            func.inputs.push(InputData {
                kind: InputKind::Location { location, interpolation, sampling: Sampling::Center },
                components: 1,
                scalar: Scalar::U32,
                name: String::new(),
            });
        }
        for (location, blend_src) in outputs {
            func.outputs.push(OutputData {
                kind: OutputKind::Location { location, blend_src, interpolation },
                components: 1,
                scalar: Scalar::U32,
                name: String::new(),
            });
        }
        Builder::at_body(&mut func).end(Op::Yield, &[]);
        func
    };
    assert!(verify(&with([0, 1], [(0, 0), (0, 1)])).is_ok());
    assert_eq!(invariant(&with([1, 1], [(0, 0), (1, 0)])), 12);
    assert_eq!(invariant(&with([0, 1], [(1, 0), (1, 0)])), 12);
}

#[test]
fn built_in_values_of_more_components_than_they_have_break_12() {
    let with = |builtin, components| {
        let mut func = Func::new("main", Stage::Fragment);
        func.inputs.push(InputData {
            kind: InputKind::Builtin(builtin),
            components,
            scalar: Scalar::F32,
            name: "i".into(),
        });
        Builder::at_body(&mut func).end(Op::Yield, &[]);
        func
    };
    assert_eq!(verify(&with(Builtin::PointCoord, 2)), Ok(()));
    for (builtin, components) in
        [(Builtin::PointCoord, 3), (Builtin::FrontFacing, 2), (Builtin::Position, 5)]
    {
        assert_eq!(invariant(&with(builtin, components)), 12);
    }
}

#[test]
fn a_missing_component_and_a_quad_op_in_compute_break_12() {
    let func = built(|b| {
        let input = b.func.inputs.push(InputData {
            kind: InputKind::Location {
                location: 0,
                interpolation: Interpolation::Perspective,
                sampling: Sampling::Center,
            },
            components: 2,
            scalar: Scalar::F32,
            name: "i".into(),
        });
        b.input(input, 2);
    });
    assert_eq!(invariant(&func), 12);
    let func = built(|b| {
        let one = b.f32(1.0);
        b.op1(Op::Ddx, one);
    });
    assert_eq!(invariant(&func), 12);
}

#[test]
fn nesting_beyond_the_limit_breaks_13() {
    fn nest(b: &mut Builder<'_>, depth: u32) {
        if depth > 0 {
            b.block(&[], |b, _| {
                nest(b, depth - 1);
                vec![]
            });
        }
    }
    assert_eq!(verify(&built(|b| nest(b, MAX_NESTING - 1))), Ok(()));
    assert_eq!(invariant(&built(|b| nest(b, MAX_NESTING))), 13);
}

#[test]
fn a_workgroup_of_none_or_of_too_many_breaks_14() {
    for size in [[0, 1, 1], [u32::MAX; 3], [1 << 16, 2, 1]] {
        let mut func = built(|_| {});
        func.workgroup_size = size;
        assert_eq!(invariant(&func), 14);
    }
}

#[test]
fn what_only_geometry_programs_have_breaks_16_elsewhere() {
    let geometry = |most, invocations, vertex| {
        let mut func = Func::new("main", Stage::Geometry);
        func.geometry =
            Some(Geometry { takes: Corners::Lines, emits: Emits::Points, most, invocations });
        func.inputs.push(InputData {
            kind: InputKind::Corner { vertex, part: Part::Builtin(Builtin::Position) },
            components: 4,
            scalar: Scalar::F32,
            name: "p".into(),
        });
        let mut b = Builder::at_body(&mut func);
        b.inst(Op::EmitVertex, Imm::None, &[], &[], &[]);
        b.inst(Op::EndPrimitive, Imm::None, &[], &[], &[]);
        b.end(Op::Yield, &[]);
        func
    };
    assert_eq!(verify(&geometry(MAX_EMITTED, MAX_INVOCATIONS, 1)), Ok(()));
    for (most, invocations, vertex) in
        [(MAX_EMITTED + 1, 1, 0), (1, 0, 0), (1, MAX_INVOCATIONS + 1, 0), (1, 1, 2)]
    {
        assert_eq!(invariant(&geometry(most, invocations, vertex)), 16);
    }
    let mut silent = geometry(1, 1, 0);
    silent.geometry = None;
    assert_eq!(invariant(&silent), 16);
    let vertex = built(|b| {
        b.inst(Op::EmitVertex, Imm::None, &[], &[], &[]);
    });
    assert_eq!(invariant(&vertex), 16);
    let mut two = geometry(1, 1, 0);
    for _ in 0..2 {
        two.inputs.push(InputData {
            kind: InputKind::Corner { vertex: 1, part: Part::Location(3) },
            components: 1,
            scalar: Scalar::F32,
            name: "c".into(),
        });
    }
    assert_eq!(invariant(&two), 12);
}
