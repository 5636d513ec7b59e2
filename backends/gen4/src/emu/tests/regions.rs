//! Regions, indices, both access modes, compressed instructions, the compact form.

use super::{Bench, code};
use crate::emu::{Model, Rule};

/// g2: words 0 to 15; g3: words 16 to 31; g4: dwords 100 to 107; g5: dwords 108 to 115.
fn bench(model: Model) -> Bench {
    Bench::new(model)
        .words(2, std::array::from_fn(|at| at as u16))
        .words(3, std::array::from_fn(|at| at as u16 + 16))
        .register(4, std::array::from_fn(|at| at as u32 + 100))
        .register(5, std::array::from_fn(|at| at as u32 + 108))
        .register(10, [0; 8])
        .register(11, [0; 8])
}

#[test]
fn sources_are_rows_of_elements() {
    let cases: &[(&str, [u16; 16])] = &[
        ("g2<16,16,1>UW", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]),
        ("g2.3<0,1,0>UW", [3; 16]),
        ("g2<4,4,1>UW", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]),
        ("g2<2,4,0>UW", [0, 0, 0, 0, 2, 2, 2, 2, 4, 4, 4, 4, 6, 6, 6, 6]),
        ("g2<1,8,2>UW", [0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15]),
        ("g2.8<8,8,1>UW", [8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23]),
        ("g2<16,8,2>UW", [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]),
        ("-g2<0,1,0>UW", [0; 16]),
    ];
    for (source, expected) in cases {
        let text = format!("mov(16) g10<1>UW {source} {{ align1 }};");
        assert_eq!(bench(Model::G45).run(&text).halves(10), *expected, "{source}");
    }
}

#[test]
fn destinations_are_elements_apart() {
    let ended = bench(Model::G45).run(
        "mov(8) g10.1<2>UW g2.1<8,8,1>UW { align1 };\nmov(4) g11.4<1>UD g2.1<4,4,1>UW { align1 };\nmov(1) g11.1<1>UB 7UW { align1 };\nmov(8) g11.8<1>UB g4<8,8,1>UB { align1 };",
    );
    assert_eq!(ended.words(10), [1, 2, 3, 4, 5, 6, 7, 8].map(|word: u32| word << 16));
    assert_eq!(ended.words(11), [0x700, 0, 100, 101, 1, 2, 3, 4]);
}

#[test]
fn disabled_channels_keep_what_stood_there() {
    let text = "mov(8) g10<1>UD 5UD { align1 };\nmov(8) g11<1>UD 5UD { align1 nomask };";
    let ended = bench(Model::I965).channels(0b1010_0001).run(text);
    assert_eq!(ended.words(10), [5, 0, 0, 0, 0, 5, 0, 5]);
    assert_eq!(ended.words(11), [5; 8]);
}

#[test]
fn four_elements_are_swizzled_and_masked() {
    let ended = bench(Model::I965).run(
        "mov(8) g10<1>.xyzwUD g4<4>.wzyxUD { align16 };\nmov(8) g11<1>.ywUD g4<0>.zzzzUD { align16 };",
    );
    assert_eq!(ended.words(10), [103, 102, 101, 100, 107, 106, 105, 104]);
    assert_eq!(ended.words(11), [0, 102, 0, 102, 0, 102, 0, 102]);
}

#[test]
fn indices_are_bytes_of_the_register_file() {
    let ended = bench(Model::G45).run(
        // a0.0 is byte 8 of g4; a0.2 and a0.3 begin two rows.
        "mov(1) a0<1>UW 136UW { align1 nomask };\nmov(1) a0.2<1>UW 128UW { align1 nomask };\nmov(1) a0.3<1>UW 172UW { align1 nomask };\nmov(8) g10<1>UD g[a0]<0,1,0>UD { align1 };\nmov(8) g11<1>UD g[a0.2 4]<VxH,4,1>UD { align1 };",
    );
    assert_eq!(ended.words(10), [102; 8]);
    assert_eq!(ended.words(11), [101, 102, 103, 104, 112, 113, 114, 115]);
    // An index a channel, and a destination by an index: backwards through g4.
    let ended = bench(Model::G45).run(
        "mov(8) g12<1>UW 0x76543210V { align1 };\nmul(8) g12<1>UW g12<8,8,1>UW -4W { align1 };\nadd(8) a0<1>UW g12<8,8,1>UW 156UW { align1 };\nmov(8) g10<1>UD g[a0]<VxH,1,0>UD { align1 };\nmov(1) a0<1>UW 352UW { align1 nomask };\nmov(8) g[a0]<1>UD g10<8,8,1>UD { align1 };",
    );
    assert_eq!(ended.words(10), [107, 106, 105, 104, 103, 102, 101, 100]);
    assert_eq!(ended.words(11), [107, 106, 105, 104, 103, 102, 101, 100]);
}

#[test]
fn an_index_that_is_undefined_or_too_large_is_refused() {
    let text = "mov(8) g10<1>UD g[a0]<0,1,0>UD { align1 };";
    assert_eq!(bench(Model::G45).breaks(text), Rule::Undefined);
    let set = |byte: u32| format!("mov(1) a0<1>UW {byte}UW {{ align1 nomask }};\n{text}");
    bench(Model::G45).run(&set(64));
    assert_eq!(bench(Model::G45).breaks(&set(2048)), Rule::RegisterCount);
    assert_eq!(bench(Model::G45).breaks(&set(66)), Rule::Alignment);
    let rows =
        "mov(1) a0<1>UW 144UW { align1 nomask };\nmov(8) g10<1>UD g[a0]<8,8,1>UD { align1 };";
    assert_eq!(bench(Model::G45).breaks(rows), Rule::Crosses);
}

#[test]
fn indices_have_twelve_bits_but_for_two() {
    let ended = bench(Model::I965)
        .run("mov(8) a0<1>UW 0xf123UW { align1 nomask };\nmov(8) g10<1>UD a0<8,8,1>UW { align1 };");
    assert_eq!(ended.words(10), [0xf123, 0xf123, 0x123, 0x123, 0x123, 0x123, 0x123, 0x123]);
}

#[test]
fn bytes_are_shuffled_by_index() {
    let ended = bench(Model::G45).run(
        "mov(8) g12<1>UW 0x01234567V { align1 };\nadd(8) a0<1>UW g12<8,8,1>UW 128UW { align1 };\nmovi(8) g10<1>UB g[a0]<VxH,1,0>UB { align1 };",
    );
    // Bytes 7 to 0 of g4: 0, 0, 0, 101, 0, 0, 0, 100.
    assert_eq!(ended.words(10)[..2], [101 << 24, 100 << 24]);
}

#[test]
fn words_of_a_compressed_sum_take_one_register() {
    let ended = bench(Model::I965).run("add(16) g10<1>D g2<8,8,1>UW 1D { align1 compr };");
    assert_eq!(ended.words(10), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(ended.words(11), [9, 10, 11, 12, 13, 14, 15, 16]);
    // Dwords take two, a scalar the same for both halves.
    let ended = bench(Model::I965).run("add(16) g10<1>D g4<8,8,1>D g4.1<0,1,0>D { align1 compr };");
    assert_eq!(ended.words(11), [209, 210, 211, 212, 213, 214, 215, 216]);
    // Packed words: 32 channels of two registers.
    let ended = bench(Model::G45).run("mov(32) g10<1>UW g2<16,16,1>UW { align1 compr nomask };");
    assert_eq!(ended.halves(11)[15], 31);
}

#[test]
fn message_registers_are_one_or_four_apart() {
    let send = "send(8) 2 null<1>UW null<8,8,1>UW 0x06600000 { align1 };";
    let mut bench = bench(Model::G45);
    bench.payload[1] = crate::emu::Register::new([9; 8]);
    let ended = bench.run(&format!(
        "mov(16) m2<1>UD g4<8,8,1>UD {{ align1 compr }};\nmov(16) m4<1>UD g1<0,1,0>UD {{ align1 compr4 }};\n{send}"
    ));
    let payload = &ended.mock.sent[0].payload;
    let firsts: Vec<(u32, u32)> =
        payload.iter().map(|register| (register.words[0], register.undefined)).collect();
    let unwritten = (0xdead_beef, !0);
    assert_eq!(firsts, [(100, 0), (108, 0), (9, 0), unwritten, unwritten, unwritten]);
    assert_eq!(payload.len(), 6);
}

#[test]
fn accumulators_belong_to_halves() {
    let ended = bench(Model::G45)
        .floats(2, [1.0; 8])
        .floats(3, [2.0; 8])
        .floats(6, [10.0; 8])
        .floats(7, [20.0; 8])
        .run(
            "mul(16) null<1>F g2<8,8,1>F g6<8,8,1>F { align1 compr };\nmac(16) g10<1>F g2<8,8,1>F 0.5F { align1 compr };\nadd(8) g12<1>F acc0<8,8,1>F 0.0F { align1 };\nadd(8) acc1<1>F g2<8,8,1>F 1.0F { align1 };\nmov(8) g13<1>F acc1<8,8,1>F { align1 };",
        );
    assert_eq!(ended.floats(10), [10.5; 8]);
    assert_eq!(ended.floats(11), [41.0; 8]);
    assert_eq!(ended.floats(12), [10.5; 8]);
    assert_eq!(ended.floats(13), [2.0; 8]);
}

#[test]
fn a_plane_takes_the_pair_of_its_half() {
    let ended = bench(Model::G45)
        .floats(1, [0.0, 0.0, 0.0, 0.0, 2.0, 3.0, 99.0, 5.0])
        .floats(6, [1.0; 8])
        .floats(7, [10.0; 8])
        .floats(8, [2.0; 8])
        .floats(9, [20.0; 8])
        .run(
            "pln(16) g10<1>F g1.4<0,1,0>F g6<8,8,1>F { align1 compr };\nline(8) null<1>F g1.4<0,1,0>F g6<8,8,1>F { align1 };\nmac(8) g12<1>F g1.5<0,1,0>F g7<8,8,1>F { align1 };",
        );
    assert_eq!(ended.floats(10), [37.0; 8]);
    assert_eq!(ended.floats(11), [69.0; 8]);
    assert_eq!(ended.floats(12), [37.0; 8]);
}

#[test]
fn disabled_channels_of_an_accumulator_are_undefined() {
    let ended = bench(Model::G45).channels(0x0f).floats(2, [1.0; 8]).run(
        "mul(8) null<1>F g2<8,8,1>F 3.0F { align1 };\nmov(8) g10<1>F acc0<8,8,1>F { align1 nomask };",
    );
    assert_eq!(ended.undefined(10), 0xffff_0000);
    // Rounding leaves nothing behind, and cr0.0 may keep what was there.
    let text = "mul(8) null<1>F g2<8,8,1>F 3.0F { align1 };\nrndd(8) null<1>F g2<8,8,1>F { align1 };\nmov(8) g10<1>F acc0<8,8,1>F { align1 nomask };";
    let ended = bench(Model::G45).floats(2, [1.0; 8]).run(text);
    assert_eq!(ended.undefined(10), !0);
    let off = "or(1) cr0<1>UD cr0<0,1,0>UD 2UD { align1 nomask switch };\nrndd";
    let ended = bench(Model::G45).floats(2, [1.0; 8]).run(&text.replace("rndd", off));
    assert_eq!(ended.floats(10), [3.0; 8]);
}

#[test]
fn an_accumulator_forgets_channels_that_are_disabled() {
    let all = "mul(8) null<1>F g2<8,8,1>F 2.0F { align1 nomask };\n";
    let half = "mul(8) null<1>F g2<8,8,1>F 3.0F { align1 };\n";
    let read = "mov(8) g10<1>F acc0<8,8,1>F { align1 nomask };";
    let bench = || bench(Model::G45).channels(0x0f).floats(2, [1.0; 8]);
    assert_eq!(bench().run(&format!("{all}{half}{read}")).undefined(10), 0xffff_0000);
    let dot = "dp4(8) g11<1>.xyzwF g2<4>.xyzwF g2<4>.xyzwF { align16 nomask };\n";
    assert_eq!(bench().run(&format!("{all}{dot}{read}")).undefined(10), !0);
    // Floats are no dwords.
    let other = "mov(8) g10<1>D acc0<8,8,1>D { align1 nomask };";
    assert_eq!(bench().run(&format!("{all}{other}")).undefined(10), !0);
    // A part of it, by its own place; a raw move goes in as it is.
    let part = "mov(4) acc0.4<1>F g2.4<4,4,1>F { align1 nomask };\nmov(4) g10.4<1>F acc0.4<4,4,1>F { align1 nomask };";
    assert_eq!(bench().floats(2, [7.0; 8]).run(part).words(10)[4..], [7.0f32.to_bits(); 4]);
}

#[test]
fn thirty_two_channels_of_the_965_share_an_accumulator() {
    let text = "add(32) g10<1>W g2<16,16,1>W 0W { align1 compr nomask };\nmov(16) g12<1>W acc0<16,16,1>W { align1 nomask };";
    assert_eq!(bench(Model::I965).run(text).halves(12)[0], 16);
    assert_eq!(bench(Model::G45).run(text).halves(12)[0], 0);
}

#[test]
fn a_compressed_index_of_a_scalar_advances_on_the_965() {
    let text = "mov(1) a0<1>UW 0xf080UW { align1 nomask };\nmov(1) a0.1<1>UW 164UW { align1 nomask };\nmov(16) g10<1>UD g[a0]<0,1,0>UD { align1 compr };";
    let early = bench(Model::I965).run(text);
    assert_eq!((early.words(10), early.words(11)), ([100; 8], [109; 8]));
    let late = bench(Model::G45).run(text);
    assert_eq!((late.words(10), late.words(11)), ([100; 8], [100; 8]));
}

#[test]
fn upper_words_of_a_compressed_source_begin_at_the_second() {
    let text = "mov(16) g10<1>UD g2.1<16,8,2>UW { align1 compr };";
    let ended = bench(Model::I965).run(text);
    assert_eq!(ended.words(10), [1, 3, 5, 7, 9, 11, 13, 15]);
    assert_eq!(ended.words(11), [17, 19, 21, 23, 25, 27, 29, 31]);
}

#[test]
fn two_compact_instructions_stand_in_one_word() {
    let text = "add(8) g10<1>F g2<8,8,1>F g3<8,8,1>F { align1 compacted };\nmul(8) g11<1>F g2<8,8,1>F g3<8,8,1>F { align1 compacted };\nadd(8) g12<1>F g2<8,8,1>F g3<8,8,1>F { align1 compacted };\nnenop;";
    let bytes = code(Model::G45, text);
    assert_eq!(bytes.len(), 48);
    let bench = bench(Model::G45).floats(2, [3.0; 8]).floats(3, [4.0; 8]);
    let ended = bench.run(text);
    assert_eq!(
        (ended.floats(10), ended.floats(11), ended.floats(12)),
        ([7.0; 8], [12.0; 8], [7.0; 8])
    );
}

#[test]
fn rows_from_outside_are_not_read_behind_a_branch_of_the_965() {
    let text = |between: &str| {
        format!(
            "mov(1) f0.0<1>UW 0UW {{ align1 nomask }};\n(+f0.0) iff(8) Jump: 2;\nendif(8) Pop: 1;\n{between}mov(8) g10<1>UD g4.4<4,4,1>UD {{ align1 }};"
        )
    };
    assert_eq!(bench(Model::I965).breaks(&text("")), Rule::TwoRows);
    bench(Model::I965).run(&text("nop;\n"));
    // Nor where the branch does not jump.
    let on = text("").replace("UW 0UW", "UW 1UW").replace("Jump: 2;\nendif(8) Pop: 1;", "Jump: 9;");
    assert_eq!(bench(Model::I965).breaks(&on), Rule::TwoRows);
    bench(Model::G45).run(&text(""));
    let written = "mov(16) g4<1>UD 7UD { align1 compr };\n";
    bench(Model::I965).run(&format!("{written}{}", text("")));
    // What a message brought is from outside again.
    let sent = "mov(8) null<1>UD g4<8,8,1>UD { align1 };\nmov(8) null<1>UD g5<8,8,1>UD { align1 };\nsend(8) 3 g4<1>UD g2<8,8,1>UD 0x02120000 { align1 };\n";
    let bench = bench(Model::I965).reply(&[([1; 8], 0xff), ([1; 8], 0xff)]);
    let read = "mov(8) g12<1>UD g4<8,8,1>UD { align1 };\n";
    assert_eq!(bench.breaks(&format!("{written}{sent}{read}{}", text(""))), Rule::TwoRows);
}

#[test]
fn packed_bytes_need_all_channels() {
    let text = "mov(8) g10<1>UB g2<16,8,2>UB { align1 };";
    bench(Model::G45).channels(0xff).run(text);
    assert_eq!(bench(Model::G45).channels(0x7f).breaks(text), Rule::PackedBytes);
    bench(Model::G45).channels(0x7f).run(&text.replace("align1", "align1 nomask"));
}
