use super::super::rule::Rule;
use super::super::state::THREAD_BASE;
use super::{Bench, refused};
use crate::state;

/// r0:r1 the address of 64 bytes 0, 1, 2..., r2 and r3 numbers.
fn memory() -> Bench {
    let mut bench = Bench::new().reg(0, 0x1000).reg(1, 0).reg(2, 7).reg(3, 0x8899_AABB);
    bench.state.memory.map(0x1000, (0..64).collect(), true);
    bench.state.memory.map(0x2000, vec![0x80; 8], false);
    bench.lanes = 1;
    bench
}

/// The word at an address after a program.
fn stored(bench: &mut Bench, text: &str, address: u64) -> u32 {
    bench.run(text).unwrap_or_else(|trap| panic!("{text}: {trap}"));
    bench.state.memory.word(address).expect("mapped")
}

#[test]
fn narrow_loads_land_where_their_lane_says() {
    let text = |load: &str| format!("{load}\nNOP.end");
    let mut bench = memory().reg(4, 0xFFFF_FFFF);
    for (load, value) in [
        ("LOAD.i32.unsigned.slot0.wait0 @r4, r0, offset:8", 0x0B0A_0908),
        ("LOAD.i8.unsigned.w0.slot0.wait0 @r4, r0, offset:3", 3),
        ("LOAD.i16.unsigned.w0.slot0.wait0 @r4, r0, offset:2", 0x0302),
        ("LOAD.i16.unsigned.h1.slot0.wait0 @r4, r0, offset:2", 0x0302_FFFF),
        ("LOAD.i8.unsigned.b2.slot0.wait0 @r4, r0, offset:5", 0xFF05_FFFF),
    ] {
        assert_eq!(bench.result(&text(load), 4), value, "{load}");
    }
    let mut bench = memory().reg(0, 0x2000);
    assert_eq!(bench.result("LOAD.i8.w0.slot0.wait0 @r4, r0, offset:0\nNOP.end", 4), 0xFFFF_FF80);
}

#[test]
fn wide_loads_and_stores_move_words_in_order() {
    let mut bench = memory();
    assert_eq!(
        bench.result("LOAD.i128.unsigned.slot0.wait0 @r4:r5:r6:r7, r0, offset:16\nNOP.end", 7),
        0x1F1E_1D1C
    );
    assert_eq!(
        stored(&mut bench, "STORE.i64.slot1 @r2:r3, r0, offset:32\nNOP.end", 0x1024),
        0x8899_AABB
    );
    assert_eq!(
        stored(&mut bench, "STORE.i8.slot1 @r3, r0, offset:40\nNOP.end", 0x1028),
        0x2B2A_29BB
    );
}

#[test]
fn what_is_not_mapped_not_aligned_or_read_only_is_refused() {
    for (text, rule) in [
        ("LOAD.i32.unsigned.slot0 @r4, r0, offset:64\nNOP.end", Rule::MemoryMap),
        ("LOAD.i64.unsigned.slot0 @r4:r5, r0, offset:60\nNOP.end", Rule::MemoryMap),
        ("LOAD.i32.unsigned.slot0 @r4, r0, offset:2\nNOP.end", Rule::MemoryAlign),
        ("STORE.i16.slot0 @r2, r0, offset:1\nNOP.end", Rule::MemoryAlign),
    ] {
        assert_eq!(refused(memory, text), rule, "{text}");
    }
    let read_only = || memory().reg(0, 0x2000);
    assert_eq!(refused(read_only, "STORE.i32.slot0 @r2, r0, offset:0\nNOP.end"), Rule::MemoryWrite);
}

#[test]
fn an_access_of_what_an_unwaited_message_writes_is_refused() {
    let store = "STORE.i32.slot0 @r2, r0, offset:8\n";
    for next in [
        "LOAD.i32.unsigned.slot1 @r4, r0, offset:8",
        "LOAD.i64.unsigned.slot1 @r4:r5, r0, offset:4",
        "STORE.i32.slot1 @r3, r0, offset:8",
        "STORE.i32.slot0 @r3, r0, offset:8",
    ] {
        assert_eq!(
            refused(memory, &format!("{store}{next}\nNOP.end")),
            Rule::MemoryOrder,
            "{next}"
        );
    }
    for next in [
        "LOAD.i32.unsigned.slot1 @r4, r0, offset:12",
        "NOP.wait0\nLOAD.i32.unsigned.slot1 @r4, r0, offset:8",
    ] {
        assert!(memory().run(&format!("{store}{next}\nNOP.end")).is_ok(), "{next}");
    }
    let load = "LOAD.i32.unsigned.slot1 @r4, r0, offset:8\n";
    assert!(
        memory().run(&format!("{load}LOAD.i32.unsigned.slot2 @r5, r0, offset:8\nNOP.end")).is_ok()
    );
    assert_eq!(refused(memory, &format!("{load}{store}NOP.end")), Rule::MemoryOrder);
}

#[test]
fn messages_of_every_kind_end_before_a_barrier() {
    let store = "STORE.i32.slot0 @r2, r0, offset:8\n";
    assert_eq!(
        refused(memory, &format!("{store}BARRIER.slot7.wait\nNOP.end")),
        Rule::BarrierMemory
    );
    assert!(memory().run(&format!("{store}NOP.wait0\nBARRIER.slot7.wait\nNOP.end")).is_ok());
    // What touches no memory that another warp sees: an address of a buffer, storage of the thread.
    let lea = "LEA_BUFFER.slot0 @r4:r5, r2, 0x0\n";
    let own = "MOV.i32 r6, thread_local_pointer.w0\nMOV.i32 r7, thread_local_pointer.w1
               STORE.i32.force.slot0 @r2, r6, offset:0\n";
    let bench = || {
        let mut bench = buffers();
        bench.state.thread_bytes = 16;
        bench
    };
    for message in [lea, own] {
        let text = format!("{message}BARRIER.slot7.wait\nNOP.end");
        assert_eq!(refused(bench, &text), Rule::BarrierMemory, "{message}");
        let waited = format!("{message}NOP.wait0\nBARRIER.slot7.wait\nNOP.end");
        assert!(bench().run(&waited).is_ok(), "{message}");
    }
}

#[test]
fn thread_storage_belongs_to_each_lane_and_is_undefined_at_first() {
    let bench = || {
        let mut bench = Bench::new().lane_numbers(0);
        bench.state.thread_bytes = 32;
        bench
    };
    let address = "MOV.i32 r2, thread_local_pointer.w0\nMOV.i32 r3, thread_local_pointer.w1\n";
    let warp = bench()
        .run(&format!(
            "{address}STORE.i32.force.slot0.wait0 @r0, r2, offset:16
             LOAD.i32.force.unsigned.slot0.wait0 @r5, r2, offset:16
             NOP.end"
        ))
        .unwrap_or_else(|trap| panic!("{trap}"));
    assert_eq!(warp.regs[5].word.v[9], 9);
    let unwritten = format!(
        "{address}LOAD.i32.force.unsigned.slot0.wait0 @r5, r2, offset:16
         BRANCHZ.eq.reconverge r5, offset:0
         NOP.end"
    );
    assert_eq!(refused(bench, &unwritten), Rule::Undefined);
    let crosses = format!("{address}LOAD.i64.force.unsigned.slot0 @r4:r5, r2, offset:12\nNOP.end");
    assert_eq!(refused(bench, &crosses), Rule::ThreadMemory);
    let beyond = format!("{address}LOAD.i32.force.unsigned.slot0 @r4, r2, offset:32\nNOP.end");
    assert_eq!(refused(bench, &beyond), Rule::MemoryMap);
    assert_eq!(THREAD_BASE & 15, 0);
}

#[test]
fn atomics_give_the_old_value_and_leave_the_new_one() {
    let text = |op: &str| format!("{op}\nNOP.end");
    for (op, new) in [
        ("ATOM_RETURN.i32.slot0.aadd.wait0 @r4, @r2, r0, offset:0x0", 0x0302_0107),
        ("ATOM_RETURN.i32.slot0.aumax.wait0 @r4, @r2, r0, offset:0x0", 0x0302_0100),
        ("ATOM_RETURN.i32.slot0.aumin.wait0 @r4, @r2, r0, offset:0x0", 7),
        ("ATOM_RETURN.i32.slot0.axchg.wait0 @r4, @r2, r0, offset:0x0", 7),
        ("ATOM1_RETURN.i32.slot0.ainc.wait0 @r4, r0, offset:0x0", 0x0302_0101),
    ] {
        let mut bench = memory();
        assert_eq!(bench.result(&text(op), 4), 0x0302_0100, "{op}");
        assert_eq!(bench.state.memory.word(0x1000).ok(), Some(new), "{op}");
    }
}

/// Errata 121: whatever stands first is what memory gets.
#[test]
fn compare_exchange_takes_the_new_value_before_the_comparator() {
    let exchange = "ATOM_RETURN.i32.slot0.axchg.compare.wait0 @r4, @r6:r7, r0, offset:0x0\nNOP.end";
    let mut bench = memory().reg(6, 99).reg(7, 0x0302_0100);
    assert_eq!(bench.result(exchange, 4), 0x0302_0100);
    assert_eq!(bench.state.memory.word(0x1000).ok(), Some(99));
    let mut reversed = memory().reg(6, 0x0302_0100).reg(7, 99);
    assert_eq!(reversed.result(exchange, 4), 0x0302_0100);
    assert_eq!(reversed.state.memory.word(0x1000).ok(), Some(0x0302_0100));
    let wide =
        "ATOM_RETURN.i64.slot0.axchg.compare.wait0 @r4:r5, @r6:r7:r8:r9, r0, offset:0x0\nNOP.end";
    let mut bench = memory().reg(6, 5).reg(7, 6).reg(8, 0x0302_0100).reg(9, 0x0706_0504);
    assert_eq!(bench.result(wide, 5), 0x0706_0504);
    assert_eq!(bench.state.memory.word(0x1000).ok(), Some(5));
    assert_eq!(bench.state.memory.word(0x1004).ok(), Some(6));
}

/// Tables at 0x8000: table 0 with one buffer of 16 bytes.
fn buffers() -> Bench {
    let mut bench = memory();
    let mut tables = Vec::new();
    for word in state::resource_table(0x9000, 1).into_iter().chain([0; 4]) {
        tables.extend(word.to_le_bytes());
    }
    let descriptor: Vec<u8> =
        state::buffer(0x1000, 16).into_iter().flat_map(u32::to_le_bytes).collect();
    bench.state.memory.map(0x8000, tables, false);
    bench.state.memory.map(0x9000, descriptor, false);
    bench.state.tables = 0x8000 | 2;
    bench
}

#[test]
fn buffers_are_found_by_their_handles_and_end_where_the_descriptor_says() {
    let load = |offset: u32| {
        format!(
            "IADD_IMM.i32 r8, 0x0, #{offset:#x}
             LD_BUFFER.i32.unsigned.slot0.wait0 @r4, r8, 0x0
             NOP.end"
        )
    };
    assert_eq!(buffers().result(&load(4), 4), 0x0706_0504);
    assert_eq!(buffers().result(&load(16), 4), 0);
    assert_eq!(buffers().result(&load(14), 4), 0);
    let lea = "LEA_BUFFER.slot0.wait0 @r4:r5, r2, 0x0\nNOP.end";
    assert_eq!(buffers().result(lea, 4), 0x1007);
    // Entry 1 is null, table 2 is not there.
    let null =
        "IADD_IMM.i32 r8, 0x0, #0x1\nLD_BUFFER.i32.unsigned.slot0.wait0 @r4, 0x0, r8\nNOP.end";
    assert_eq!(buffers().result(null, 4), 0);
    let none =
        "IADD_IMM.i32 r8, 0x0, #0x2000000\nLD_BUFFER.i32.unsigned.slot0 @r4, 0x0, r8\nNOP.end";
    assert_eq!(refused(buffers, none), Rule::Table);
}

#[test]
fn a_descriptor_of_another_kind_is_refused() {
    let text = "LEA_BUF_IMM.slot0 @r4:r5, r2, table:0x0, index:0x0\nNOP.end";
    assert_eq!(refused(buffers, text), Rule::Descriptor);
}
