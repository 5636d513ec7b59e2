//! Streams, rings, reduction buffers, semantic fetches and constants of another kind of program, on both families where
//! both have them.

use super::build::*;
use super::r600::{exported, of, r600_state, zeros};
use crate::Chip;
use crate::emu::AluOp::*;
use crate::emu::{
    BufferResource, Emitted, FetchResource, FetchSource, Primitive, Rule, Stage, State, Stream,
    Trap, address, run_compute, run_geometry, run_vertices,
};

const CHIPS: [Chip; 2] = [Chip::Rv770, Chip::Rv670];

/// R`gpr` = these words.
fn fill(chip: Chip, gpr: u32, words: [u32; 4]) -> Vec<u32> {
    of(chip, &group(&[0, 1, 2, 3].map(|c| i(MOV, gpr, c, &[lit(c)])), &words))
}

/// MEM_* number: TYPE, ARRAY_BASE, RW_GPR, INDEX_GPR, ELEM_SIZE, ARRAY_SIZE, COMP_MASK.
fn memory(number: u32, f: [u32; 7]) -> Cf {
    let [kind, base, gpr, index, elem, size, mask] = f;
    Cf::Raw(
        base | kind << 13 | gpr << 15 | index << 23 | elem << 30,
        size | mask << 12 | number << 23 | 1 << 31,
    )
}

#[test]
pub fn vertices_stream_out_in_their_order() {
    for chip in CHIPS {
        let mut state = r600_state(chip);
        state.registers.insert(address::VGT_STRMOUT_EN, 1);
        state.registers.insert(address::VGT_STRMOUT_BUFFER_EN, 0b1111);
        for stream in &mut state.streams {
            *stream = Some(Stream { words: vec![0; 8], stride: 5 });
        }
        // R1 = (vertex, 7, 8, 9); its x to dword 1 of streams 0 to 3, all four to dword 1 of stream 2.
        let list = [
            alu(&[fill(chip, 1, [0, 7, 8, 9]), of(chip, &group(&[i(MOV, 1, 0, &[r(0, 0)])], &[]))]),
            memory(32, [0, 1, 1, 0, 0, 0xFFF, 1]),
            memory(33, [0, 0, 1, 0, 1, 0xFFF, 3]),
            memory(34, [0, 1, 1, 0, 3, 0xFFF, 15]),
            memory(35, [0, 4, 1, 0, 0, 0xFFF, 1]),
        ];
        exported(&list, &mut state).expect("legal");
        let words = |n: usize| state.streams[n].as_ref().expect("bound").words.clone();
        // Vertices 4 and 5 are the first and second of the launch; the second's end does not fit.
        assert_eq!(words(0), [0, 4, 0, 0, 0, 0, 5, 0]);
        assert_eq!(words(1), [4, 7, 0, 0, 0, 5, 7, 0]);
        assert_eq!(words(2), [0, 4, 7, 8, 9, 0, 5, 7]);
        assert_eq!(words(3), [0, 0, 0, 0, 4, 0, 0, 0]);
        state.registers.insert(address::VGT_STRMOUT_BUFFER_EN, 0b0111);
        let refused = exported(&list, &mut state).map_err(|trap| trap.rule);
        assert_eq!(refused, Err(Rule::State));
    }
}

fn geometry_state(chip: Chip, stage: Stage) -> State {
    let mut state = r600_state(chip);
    state.stage = stage;
    for at in [address::SQ_PGM_RESOURCES_ES, address::SQ_PGM_RESOURCES_GS] {
        state.registers.insert(at, 8 | 4 << 8 | 1 << 21);
    }
    state
}

/// Ends a program that exports nothing.
fn nop_end() -> Cf {
    Cf::Raw(0, 1 << 21 | 1 << 31)
}

#[test]
pub fn geometry_programs_read_one_ring_write_the_other_and_emit() {
    for chip in CHIPS {
        // Each vertex leaves 10 * its number at dword 1 of its item of 2 in the ES-GS ring.
        let mut state = geometry_state(chip, Stage::Export);
        state.registers.insert(address::SQ_ESGS_RING_ITEMSIZE, 2);
        let times_ten = group(&[i(MULLO_INT, 1, 0, &[r(0, 0), lit(0)])], &[10]);
        let list = [alu(&[of(chip, &times_ten)]), memory(38, [0, 1, 1, 0, 0, 0xFFF, 1]), nop_end()];
        let ids = [(3, 0), (4, 0), (5, 0)];
        let left = run_vertices(&link(&list), &mut state, &ids, None).expect("legal");
        let ring = [None, Some(30), None, Some(40), None, Some(50)];
        assert_eq!(left.ring, ring);
        // A geometry thread reads the first and the last vertex, and leaves two vertices of one dword.
        let mut state = geometry_state(chip, Stage::Geometry);
        state.registers.insert(address::SQ_GSVS_RING_ITEMSIZE, 2);
        let bytes = ring.iter().flat_map(|w| w.unwrap_or(0).to_le_bytes());
        let buffer =
            BufferResource { source: FetchSource::Bytes(bytes.collect()), stride: 4, format: None };
        state.resources.insert(0, FetchResource::Buffer(buffer));
        let fetch = |dst: u32, channel: u32| {
            [
                2 << 5 | channel << 24 | 3 << 26,
                dst | 7 << 12 | 7 << 15 | 7 << 18 | 13 << 22 | 1 << 28,
                4 | 1 << 19,
                0,
            ]
        };
        let one = group(&[i(MOV, 5, 0, &[r(250, 0)])], &[]);
        let list = [
            alu(&[of(chip, &one)]),
            Cf::Fetch(2, vec![fetch(2, 0), fetch(3, 3)]),
            memory(38, [0, 0, 2, 0, 0, 0xFFF, 1]),
            Cf::Flow(21, 0, 0),
            Cf::Flow(23, 0, 0),
            // By index: R5.x is 1.
            memory(38, [1, 0, 3, 5, 0, 0xFFF, 1]),
            Cf::Flow(22, 0, 0),
            nop_end(),
        ];
        let primitive = Primitive {
            // In dwords: the fetch multiplies by the stride.
            vertices: [0, 2, 4, 0, 0, 0],
            primitive: 7,
            invocation: 0,
        };
        let left = run_geometry(&link(&list), &mut state, &[primitive], None).expect("legal");
        assert_eq!(left.ring, [Some(30), Some(50)]);
        let (vertex, cut) = (Emitted::Vertex, Emitted::Cut);
        assert_eq!(left.emitted, [(0, vertex), (0, cut), (0, vertex), (0, cut)]);
    }
}

/// A write to dword `at` of a ring item of one dword.
pub fn ring_write(at: u32) -> Result<(), Trap> {
    let mut state = geometry_state(Chip::Rv770, Stage::Export);
    state.registers.insert(address::SQ_ESGS_RING_ITEMSIZE, 1);
    let list = [memory(38, [0, at, 0, 0, 0, 0xFFF, 1]), nop_end()];
    run_vertices(&link(&list), &mut state, &[(0, 0)], None).map(drop)
}

#[test]
pub fn reduction_buffers_keep_what_a_thread_put_there() {
    for chip in CHIPS {
        let mut state = r600_state(chip);
        state.registers.insert(address::SQ_REDUC_RING_ITEMSIZE, 8);
        let mut list = vec![alu(&[of(chip, &zeros()), fill(chip, 2, [5, 6, 7, 8])])];
        if chip == Chip::Rv770 {
            list.push(memory(37, [2, 1, 2, 0, 3, 0, 15]));
            list.push(Cf::Flow(WAIT_ACK, 0, 0));
            // READ_REDUCT R1 from vector 1, UNCACHED.
            let read = [
                2 | 3 << 5 | 1 << 8 | 1 << 11,
                1 | 1 << 12 | 2 << 15 | 3 << 18 | 34 << 22 | 1 << 28,
                1 | 1 << 19,
                0,
            ];
            list.push(Cf::Fetch(2, vec![read]));
        } else {
            list.push(memory(37, [0, 1, 2, 0, 3, 0, 15]));
            list.push(memory(37, [2, 1, 1, 0, 3, 0, 0]));
        }
        assert_eq!(exported(&list, &mut state), Ok([5, 6, 7, 8]));
    }
}

#[test]
pub fn a_semantic_fetch_writes_the_register_of_its_place_in_the_table() {
    for chip in CHIPS {
        let mut state = r600_state(chip);
        // Semantic 9 is entry 0: R1.
        state.registers.insert(address::SQ_VTX_SEMANTIC_0 + 4, 3);
        state.registers.insert(address::SQ_VTX_SEMANTIC_0, 9);
        let bytes: Vec<u8> = (0..64).collect();
        let buffer = BufferResource { source: FetchSource::Bytes(bytes), stride: 4, format: None };
        state.resources.insert(0, FetchResource::Buffer(buffer));
        let fetch = |semantic: u32| {
            [
                1 | 2 << 5 | 3 << 26,
                semantic | 4 << 12 | 4 << 15 | 4 << 18 | 13 << 22 | 1 << 28,
                1 << 19,
                0,
            ]
        };
        let run = |state: &mut State, semantic| {
            exported(&[Cf::Fetch(2, vec![fetch(semantic)])], state).map_err(|trap| trap.rule)
        };
        // Vertex 5: bytes 20 to 23.
        assert_eq!(run(&mut state, 9), Ok([0x1716_1514, 0, 0, 0]));
        assert_eq!(run(&mut state, 8), Err(Rule::State));
    }
}

#[test]
pub fn alternate_constants_are_those_of_the_other_program() {
    let chip = Chip::Rv770;
    let mut state = r600_state(chip);
    let mut other = r600_state(chip);
    state.constants[0] = vec![1; 256];
    other.constants[0] = vec![2; 256];
    let buffer = |byte: u8| {
        FetchResource::Buffer(BufferResource {
            source: FetchSource::Bytes(vec![byte; 64]),
            stride: 4,
            format: None,
        })
    };
    state.resources.insert(0, buffer(3));
    other.resources.insert(0, buffer(4));
    // The set's line stands at bit 2: bit 23 of it is ALT_CONST.
    let list = |alternate: u32| {
        let read = group(&[i(MOV, 1, 0, &[k(0, 0)])], &[]);
        let fetch = [
            2 << 5 | 3 << 26,
            2 | 7 << 12 | 7 << 15 | 7 << 18 | 13 << 22 | 1 << 28,
            1 << 19 | alternate << 20,
            0,
        ];
        [
            alu(&[zeros()]),
            Cf::Alu(ALU, read, (0, 1, alternate << 23)),
            Cf::Fetch(2, vec![fetch]),
            alu(&[group(&[i(MOV, 1, 1, &[r(2, 0)])], &[])]),
        ]
    };
    assert_eq!(exported(&list(0), &mut state).expect("legal")[..2], [0x0101_0101, 0x0303_0303]);
    let alone = exported(&list(1), &mut state).map_err(|trap| trap.rule);
    assert_eq!(alone, Err(Rule::State));
    state.alternate = Some(Box::new(other));
    assert_eq!(exported(&list(1), &mut state).expect("legal")[..2], [0x0202_0202, 0x0404_0404]);
}

/// ADD_INT R1.x += n.
fn add(chip: Chip, n: u32) -> Cf {
    alu(&[of(chip, &group(&[i(ADD_INT, 1, 0, &[r(1, 0), lit(0)])], &[n]))])
}

#[test]
pub fn control_flow_that_pops_and_pushes_at_once() {
    for chip in CHIPS {
        let never = |number: u32, target: u32, pop: u32| {
            Cf::Raw(target, pop | 1 << 8 | number << 23 | 1 << 31)
        };
        let start = alu(&[of(chip, &zeros())]);
        let run = |list: &[Cf]| exported(list, &mut r600_state(chip)).map(|words| words[0]);
        // PUSH_ELSE pushes even when nobody passes, and jumps: POP finds its frame.
        let list =
            [start.clone(), never(12, 3, 0), add(chip, 1), Cf::Flow(POP, 4, 1), add(chip, 2)];
        assert_eq!(run(&list), Ok(2));
        let list =
            [start.clone(), Cf::Flow(12, 3, 0), add(chip, 1), Cf::Flow(POP, 4, 1), add(chip, 2)];
        assert_eq!(run(&list), Ok(3));
        // POP_PUSH changes one frame for another; when nobody passes there is none.
        let list = [
            start.clone(),
            Cf::Flow(PUSH, 5, 0),
            Cf::Flow(16, 5, 1),
            add(chip, 1),
            Cf::Flow(POP, 5, 1),
            add(chip, 2),
        ];
        assert_eq!(run(&list), Ok(3));
        let list =
            [start.clone(), Cf::Flow(PUSH, 4, 0), never(16, 4, 1), add(chip, 1), add(chip, 2)];
        assert_eq!(run(&list), Ok(2));
        // POP_PUSH_ELSE: the frame is there either way.
        let list = [
            start.clone(),
            Cf::Flow(PUSH, 5, 0),
            never(17, 4, 1),
            add(chip, 1),
            Cf::Flow(POP, 5, 1),
            add(chip, 2),
        ];
        assert_eq!(run(&list), Ok(2));
        // POP_JUMP pops first.
        let list =
            [start.clone(), Cf::Flow(PUSH, 4, 0), never(15, 4, 1), add(chip, 1), add(chip, 2)];
        assert_eq!(run(&list), Ok(2));
        // A loop of three trips that leaves aL alone, with a subroutine in it.
        let mut state = r600_state(chip);
        state.registers.insert(address::SQ_LOOP_CONST + 4 * 33, 3 | 5 << 12 | 1 << 24);
        let list = [
            start,
            Cf::Raw(4, 1 << 3 | 7 << 23 | 1 << 31),
            add(chip, 1),
            Cf::Raw(2, 1 << 3 | 5 << 23 | 1 << 31),
            Cf::Flow(JUMP, 5, 0),
        ];
        assert_eq!(exported(&list, &mut state).map(|words| words[0]), Ok(3));
    }
}

#[test]
pub fn a_fetch_program_returns_to_its_caller() {
    for chip in CHIPS {
        let mut state = r600_state(chip);
        let load = [
            alu(&[of(chip, &zeros()), of(chip, &group(&[i(MOV, 1, 0, &[lit(0)])], &[6]))]),
            Cf::Flow(RETURN, 0, 0),
        ];
        state.fetch_program = Some(link(&load));
        let found = exported(&[Cf::Flow(19, 0, 0), add(chip, 1)], &mut state);
        assert_eq!(found, Ok([7, 0, 0, 0]));
    }
}

/// Runs the flows of the other tests on R6xx: what a compute program stores there leaves by exports here.
#[test]
pub fn branches_and_loops_are_the_same_on_both() {
    for chip in CHIPS {
        let test = |target: &str| match target {
            // Vertex 5 passes, vertex 4 does not.
            "odd" => vec![
                of(chip, &group(&[i(AND_INT, 2, 0, &[r(0, 0), r(250, 0)])], &[])),
                of(chip, &group(&[i(PRED_SETNE_INT, 0, 0, &[r(2, 0), zero()]).exec()], &[])),
            ],
            _ => {
                vec![of(chip, &group(&[i(PRED_SETGT_INT, 0, 0, &[lit(0), r(1, 0)]).exec()], &[3]))]
            }
        };
        let run = |list: &[Cf]| exported(list, &mut r600_state(chip)).map(|words| words[0]);
        let start = alu(&[of(chip, &zeros())]);
        // if odd { += 1 } else { += 10 }, three ways.
        let list = [
            start.clone(),
            alu_kind(ALU_PUSH_BEFORE, &test("odd")),
            Cf::Flow(JUMP, 4, 0),
            add(chip, 1),
            Cf::Flow(ELSE, 6, 1),
            match add(chip, 10) {
                Cf::Alu(_, words, sets) => Cf::Alu(ALU_POP_AFTER, words, sets),
                other => other,
            },
        ];
        assert_eq!(run(&list), Ok(1));
        let list = [
            start.clone(),
            Cf::Flow(PUSH, 3, 0),
            alu_kind(ALU_ELSE_AFTER, &test("odd")),
            add(chip, 10),
            Cf::Flow(POP, 5, 1),
        ];
        assert_eq!(run(&list), Ok(0));
        let list = [
            start.clone(),
            alu_kind(ALU_PUSH_BEFORE, &test("odd")),
            alu_kind(ALU_PUSH_BEFORE, &test("odd")),
            match add(chip, 5) {
                Cf::Alu(_, words, sets) => Cf::Alu(11, words, sets),
                other => other,
            },
        ];
        assert_eq!(run(&list), Ok(5));
        // loop { += 1; if !(3 > r1) break }, by LOOP_BREAK and by ALU_BREAK.
        let list = [
            start.clone(),
            Cf::Flow(LOOP_START_DX10, 4, 0),
            add(chip, 1),
            alu_kind(ALU_BREAK, &test("small")),
            Cf::Flow(LOOP_END, 2, 0),
        ];
        let list: Vec<Cf> = list.to_vec();
        assert_eq!(run(&list), Ok(3));
        // LOOP_BREAK ends the loop at once; LOOP_CONTINUE and ALU_CONTINUE end a trip.
        let list = [
            start.clone(),
            Cf::Flow(LOOP_START_DX10, 5, 0),
            add(chip, 1),
            Cf::Flow(LOOP_BREAK, 4, 0),
            Cf::Flow(LOOP_END, 2, 0),
        ];
        assert_eq!(run(&list), Ok(1));
        let list = [
            start.clone(),
            Cf::Flow(LOOP_START_DX10, 6, 0),
            add(chip, 1),
            alu_kind(ALU_BREAK, &test("small")),
            Cf::Flow(LOOP_CONTINUE, 5, 0),
            Cf::Flow(LOOP_END, 2, 0),
        ];
        assert_eq!(run(&list), Ok(3));
        let mut state = r600_state(chip);
        state.registers.insert(address::SQ_LOOP_CONST + 4 * 33, 2 | 1 << 24);
        let list = [
            start.clone(),
            Cf::Raw(6, 1 << 3 | 4 << 23 | 1 << 31),
            alu_kind(ALU_CONTINUE, &test("odd")),
            add(chip, 1),
            Cf::Flow(CF_NOP, 0, 0),
            Cf::Raw(2, 1 << 3 | 5 << 23 | 1 << 31),
        ];
        assert_eq!(exported(&list, &mut state).map(|words| words[0]), Ok(2));
        // A subroutine: 0 zero, 1 call 6, 2 jump over it to 4 with COND false.
        let list = [
            start.clone(),
            Cf::Raw(4, CALL << 23 | 1 << 13 | 1 << 31),
            Cf::Raw(6, 1 << 8 | JUMP << 23 | 1 << 31),
            Cf::Flow(CF_NOP, 0, 0),
            add(chip, 4),
            Cf::Flow(RETURN, 0, 0),
        ];
        assert_eq!(run(&list), Ok(4));
    }
}

#[test]
pub fn address_loads_round_as_their_names_say_and_nop_leaves_nothing() {
    for chip in CHIPS {
        let waterfall = u32::from(chip == Chip::Rv670) << 23;
        // R1 = 0, R2.x = 20, R3.x = 30; the index is 1.5: MOVA rounds to 2, MOVA_FLOOR down to 1.
        for (op, expected) in [(MOVA, 30), (MOVA_FLOOR, 20)] {
            let clause = [
                of(chip, &zeros()),
                of(chip, &group(&[i(MOV, 2, 0, &[lit(0)])], &[20])),
                of(chip, &group(&[i(MOV, 3, 0, &[lit(0)])], &[30])),
                of(chip, &group(&[i(op, 0, 0, &[lit(0)]).mask()], &[1.5f32.to_bits()])),
                of(chip, &group(&[i(MOV, 1, 0, &[r(1, 0).rel()])], &[])),
            ];
            let list = [Cf::Alu(ALU, clause.concat(), (0, 0, waterfall))];
            let found = exported(&list, &mut r600_state(chip)).map(|words| words[0]);
            assert_eq!(found, Ok(expected), "{}", op.name());
        }
        let after_nop = |read: Src| {
            let list = [
                of(chip, &zeros()),
                of(chip, &group(&[i(NOP, 0, 0, &[]).mask()], &[])),
                of(chip, &group(&[i(MOV, 1, 0, &[read])], &[])),
            ];
            exported(&[alu(&list)], &mut r600_state(chip)).map_err(|trap| trap.rule)
        };
        assert_eq!(after_nop(r(1, 1)), Ok([0; 4]));
        assert_eq!(after_nop(pv(0)), Err(Rule::StalePv));
        // A position before the last one is an EXPORT.
        let list = [alu(&[of(chip, &zeros())]), export(false, 1, 61, 1, [0, 1, 2, 3], false)];
        assert_eq!(exported(&list, &mut r600_state(chip)), Ok([0; 4]));
    }
}

/// Every thread of eight leaves 10 times its number in the share, and takes that of the thread after it; the last of the
/// eight takes the first's. `group` counts threads from the group's start, `clauses` ends the clause between write and
/// read, and `barrier` orders the second.
fn exchange(group_relative: bool, clauses: bool, barrier: bool) -> Result<Vec<u32>, Trap> {
    let write = [
        2 | 4 << 8 | 1 << 11 | 7 << 23 | 7 << 26 | 7 << 29,
        4 | 8 << 16 | u32::from(group_relative) << 31,
        0,
        0,
    ];
    // Bank from R1.y, address from R1.z, offset 4, to R2.x, waterfall.
    let read = [2 | 5 << 8 | 1 << 11 | 1 << 20 | 2 << 23 | 4 << 26, 2 | 1 << 9 | 1 << 17, 0, 0];
    let next = [
        group(&[i(MULLO_INT, 1, 0, &[r(0, 0), lit(0)])], &[10]),
        group(&[i(ADD_INT, 1, 1, &[r(0, 0), lit(0)])], &[1]),
        group(&[i(AND_INT, 1, 1, &[r(1, 1), lit(0)])], &[7]),
        group(&[i(AND_INT, 1, 2, &[r(1, 1), lit(0)])], &[4]),
        group(&[i(LSHL_INT, 1, 2, &[r(1, 2), lit(0)])], &[1]),
    ];
    let mut list = vec![alu(&next)];
    if clauses {
        list.push(Cf::Fetch(1, vec![write]));
        list.push(Cf::Fetch(1, vec![read]));
    } else {
        list.push(Cf::Fetch(1, vec![write, read]));
    }
    list.push(scatter(2, 0, 1));
    list.extend(tail());
    let mut code = link(&list);
    if !barrier {
        // BARRIER of the third instruction.
        code[2 * 8 + 7] &= 0x7f;
    }
    let mut state = state();
    run_compute(&code, &mut state, 8, None)?;
    Ok(state.aperture.words)
}

#[test]
pub fn threads_exchange_through_the_share_within_a_clause_or_behind_a_barrier() {
    let turned: Vec<u32> = (0..8).map(|t| (t + 1) % 8 * 10).collect();
    let wave = exchange(false, false, true).expect("one clause writes and reads");
    assert_eq!(wave[..8], turned);
    let group = exchange(true, true, true).expect("a barrier stands between");
    assert_eq!(group[..8], turned);
    // What a clause wrote at places that all wavefronts share is lost behind it.
    let lost = exchange(false, true, true).map_err(|trap| trap.rule);
    assert_eq!(lost, Err(Rule::Uninitialised));
    for (clauses, barrier) in [(false, true), (true, false)] {
        let early = exchange(true, clauses, barrier).map_err(|trap| trap.rule);
        assert_eq!(early, Err(Rule::Barrier));
    }
}
