//! Messages as the execution unit sends them, and replies as they arrive.

use super::Bench;
use crate::emu::{Model, Rule};

const BOTH: [Model; 2] = [Model::I965, Model::G45];

/// g2: 0 to 7.
fn bench(model: Model) -> Bench {
    Bench::new(model).register(2, [0, 1, 2, 3, 4, 5, 6, 7])
}

#[test]
fn an_implied_move_is_a_whole_register() {
    for model in BOTH {
        // One channel is enabled, and all of r2 goes out.
        let ended =
            bench(model).channels(1).run("send(1) 3 null<1>UW g2<0,1,0>UD 0x06100000 { align1 };");
        let sent = &ended.mock.sent[0];
        assert_eq!(sent.payload[0].words, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!((sent.enabled, sent.channels, sent.ends), (1, 1, false));
        assert!(ended.mock.sent[1].ends);
    }
}

#[test]
fn extended_math_moves_elements() {
    let ended = bench(Model::G45)
        .floats(2, [1.0, -2.0, 3.0, -4.0, 5.0, -6.0, 7.0, -8.0])
        .reply(&[([9; 8], 0xff)])
        .run("send(8) 3 g10<1>F (abs)g2.1<0,1,0>F 0x01110001 { align1 };\nadd(8) g11<1>D g10<8,8,1>D 1D { align1 };");
    assert_eq!(ended.mock.sent[0].payload[0].words, [2.0f32.to_bits(); 8]);
    assert!(!ended.mock.sent[0].signed);
    assert_eq!(ended.words(11), [10; 8]);
    let ended = bench(Model::I965)
        .reply(&[([9; 8], 0xff)])
        .run("send(8) 3 g10<1>D g2<8,8,1>D 0x0121001c { align1 };\nmov(8) null<1>D g10<8,8,1>D { align1 };");
    assert!(ended.mock.sent[0].signed);
    let ended = bench(Model::I965)
        .reply(&[([9; 8], 0xff)])
        .run("send(8) 3 g10<1>D g2<8,8,1>UD 0x0121000c { align1 };\nmov(8) null<1>D g10<8,8,1>D { align1 };");
    assert!(!ended.mock.sent[0].signed);
}

#[test]
fn the_channels_of_the_bus_are_those_of_the_type() {
    let cases = [
        ("send(16) 3 null<1>UW g2<8,8,1>UD 0x06100000 { align1 };", 0xbeef),
        ("send(8) 3 null<1>UW g2<8,8,1>UD 0x06100000 { align1 };", 0xef),
        ("send(8) 3 null<1>UD g2<8,8,1>UD 0x06100000 { align1 };", 0xef),
        ("send(8) 3 null<1>UW g2<8,8,1>UD 0x06100000 { align1 sechalf };", 0xbe),
        // One element further within the register.
        ("send(4) 3 null.4<1>UD g2<4,4,1>UD 0x06100000 { align1 };", 0xf0),
        ("(+f0.0) send(8) 3 null<1>UD g2<8,8,1>UD 0x06100000 { align1 };", 0x0f),
        ("send(8) 3 null<1>UD g2<8,8,1>UD 0x06100000 { align1 nomask };", 0xff),
    ];
    for (text, expected) in cases {
        let text = format!("mov(1) f0.0<1>UW 0x0f1fUW {{ align1 nomask }};\n{text}");
        let ended = bench(Model::G45).channels(0xbeef).run(&text);
        let expected = if text.contains("(+f0.0)") { 0xef & 0x1f } else { expected };
        assert_eq!(ended.mock.sent[0].enabled, expected, "{text}");
        assert_eq!(ended.mock.sent[0].second_half, text.contains("sechalf"));
    }
}

#[test]
fn a_reply_arrives_where_it_is_read_first() {
    for model in BOTH {
        // The second register of the reply leaves the upper half as it was.
        let ended = bench(model)
            .register(10, [7; 8])
            .register(11, [7; 8])
            .reply(&[([1, 2, 3, 4, 5, 6, 7, 8], 0xff), ([9; 8], 0x0f)])
            .run(
                "mov(8) null<1>UD g10<8,8,1>UD { align1 };\nsend(8) 3 g10<1>UD g2<8,8,1>UD 0x02120000 { align1 };\nnop;\nadd(8) g12<1>UD g10<8,8,1>UD 1UD { align1 };\nmov(8) g13<1>UD g11<8,8,1>UD { align1 };",
            );
        assert_eq!(ended.words(12), [2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(ended.words(13), [9, 9, 9, 9, 7, 7, 7, 7]);
    }
}

#[test]
fn a_descriptor_comes_from_the_address_register() {
    let text =
        |set: &str| format!("{set}\nsend(8) 3 null<1>UW g2<8,8,1>UD a0<0,1,0>UD {{ align1 }};");
    let ended = bench(Model::G45).run(&text("mov(1) a0<1>UD 0x06100400UD { align1 nomask };"));
    assert_eq!(ended.mock.sent[0].descriptor, 0x0610_0400);
    assert_eq!(bench(Model::G45).breaks(&text("")), Rule::Undefined);
    let null = text("mov(1) a0<1>UD 0x00100000UD { align1 nomask };");
    assert_eq!(bench(Model::G45).breaks(&null), Rule::Function);
}

#[test]
fn replies_under_way_do_not_overlap() {
    for model in BOTH {
        let send = |register: u32| {
            format!("send(8) 3 g{register}<1>UD g2<8,8,1>UD 0x02120000 {{ align1 }};\n")
        };
        let reply = |bench: Bench| bench.reply(&[([1; 8], 0xff), ([1; 8], 0xff)]);
        let bench = || reply(reply(bench(model)));
        let read = |register: u32| format!("mov(8) null<1>UD g{register}<8,8,1>UD {{ align1 }};\n");
        bench().run(&format!("{}{}{}{}", send(10), send(12), read(10), read(12)));
        let rule = bench().breaks(&format!("{}{}", send(10), send(11)));
        assert_eq!(rule, Rule::RepliesOverlap);
    }
}

#[test]
fn a_thread_ends_when_its_replies_are_there() {
    for model in BOTH {
        let bench = || bench(model).reply(&[([1; 8], 0xff)]);
        let send = "send(8) 3 g10<1>UD g2<8,8,1>UD 0x02110000 { align1 };\n";
        assert_eq!(bench().breaks(send), Rule::ReplyLeft);
        bench().run(&format!("{send}mov(8) null<1>UD g10<8,8,1>UD {{ align1 }};"));
    }
}

#[test]
fn a_write_that_does_not_wait_is_overtaken() {
    let text = |options: &str| {
        format!(
            "send(8) 3 g10<1>UD g2<8,8,1>UD 0x02110000 {{ align1 }};\nmov(8) g10<1>UD 4UD {{ align1{options} }};"
        )
    };
    let bench = |model| bench(model).reply(&[([1; 8], 0xff)]);
    assert_eq!(bench(Model::G45).run(&text("")).words(10), [4; 8]);
    assert_eq!(bench(Model::G45).breaks(&text(" NoDDChk")), Rule::Overtaken);
    // The 965 must read the reply first.
    assert_eq!(bench(Model::I965).breaks(&text("")), Rule::ReplyUnread);
    let read = "mov(8) null<1>UD g10<8,8,1>UD { align1 };\nmov(8) g10";
    let read = text("").replace("mov(8) g10", read);
    assert_eq!(bench(Model::I965).run(&read).words(10), [4; 8]);
}

#[test]
fn the_965_reads_a_register_before_a_message_writes_it() {
    let text = |between: &str, options: &str| {
        format!(
            "mov(8) g10<1>UD 4UD {{ align1{options} }};\n{between}send(8) 3 g10<1>UD g2<8,8,1>UD 0x02110000 {{ align1 }};\nmov(8) g11<1>UD g10<8,8,1>UD {{ align1 }};"
        )
    };
    let bench = |model| bench(model).reply(&[([1; 8], 0xff)]);
    assert_eq!(bench(Model::I965).breaks(&text("", "")), Rule::SendUnread);
    bench(Model::G45).run(&text("", ""));
    bench(Model::I965).run(&text("", " NoDDClr"));
    bench(Model::I965).run(&text("mov(8) null<1>UD g10<8,8,1>UD { align1 };\n", ""));
    bench(Model::I965).run(&text("mov(8) g12<1>UD 4UD { align1 switch };\n", ""));
}

#[test]
fn a_thread_of_the_965_leaves_its_stacks_empty() {
    let text = "mov(1) f0.0<1>UW 1UW { align1 nomask };\n(+f0.0) if(8) Jump: 1;";
    assert_eq!(bench(Model::I965).breaks(text), Rule::StackLeft);
    bench(Model::G45).run(text);
    bench(Model::I965).run(&format!("{text}\nendif(8) Pop: 1;"));
    let reset = "mov(8) ms0<1>UD 0UD { align1 nomask };\nmov(1) msd0<1>UD 0UD { align1 nomask };";
    bench(Model::I965).run(&format!("{text}\n{reset}"));
}

#[test]
fn a_compressed_message_of_math_is_two() {
    let ended = bench(Model::G45)
        .floats(2, [1.0; 8])
        .floats(3, [2.0; 8])
        .reply(&[([5; 8], 0xff)])
        .reply(&[([6; 8], 0xff)])
        .run("send(16) 4 g10<1>F g2<8,8,1>F 0x01110001 { align1 compr };\nmov(16) g12<1>UD g10<8,8,1>UD { align1 compr };");
    assert_eq!((ended.words(12), ended.words(13)), ([5; 8], [6; 8]));
    assert_eq!(ended.mock.sent[1].payload[0].words, [2.0f32.to_bits(); 8]);
    assert!(ended.mock.sent[1].second_half && !ended.mock.sent[0].second_half);
    let odd = "send(16) 4 g11<1>F g2<8,8,1>F 0x01110001 { align1 compr };";
    assert_eq!(bench(Model::G45).breaks(odd), Rule::CompressedOperand);
}

#[test]
fn what_is_undefined_goes_out_by_bytes() {
    let ended = bench(Model::G45)
        .undefined(4)
        .run("mov(8) m3<1>UD g4<8,8,1>UD { align1 };\nmov(8) m3<2>UW 5UW { align1 };\nsend(8) 3 null<1>UW null<8,8,1>UW 0x06100000 { align1 };");
    assert_eq!(ended.mock.sent[0].payload[0].undefined, 0xcccc_cccc);
}

#[test]
fn the_gateway_writes_bytes_of_a_register() {
    let mut thread = bench(Model::G45).start();
    let value = crate::emu::Register::new([0x0403_0201; 8]);
    assert!(thread.receive(2, &value, 0b0110).is_ok());
    assert_eq!(thread.general(2).words[..2], [0x0003_0200, 1]);
    let trap = thread.receive(64, &value, 1).map_err(|trap| trap.rule);
    assert_eq!(trap, Err(Rule::RegisterCount));
}

#[test]
fn a_message_in_place_waits_for_its_own_source() {
    let text = "mov(8) g10<1>F 2.0F { align1 };\nsend(8) 3 g10<1>F g10<8,8,1>F 0x01110001 { align1 };\nmov(8) null<1>F g10<8,8,1>F { align1 };";
    bench(Model::I965).reply(&[([1; 8], 0xff)]).run(text);
}

#[test]
fn a_reply_that_clears_nothing_is_not_read() {
    let text = "send(8) 3 g10<1>F g2<8,8,1>F 0x01110001 { align1 NoDDClr };\nmov(8) g11<1>F g10<8,8,1>F { align1 };";
    let bench = || bench(Model::G45).reply(&[([1; 8], 0xff), ([2; 8], 0xff)]);
    assert_eq!(bench().breaks(text), Rule::Held);
    // What a function answers beyond the length that was asked for goes nowhere.
    let ended =
        bench().register(11, [7; 8]).run(&text.replace(" NoDDClr", "").replace("g11<", "g12<"));
    assert_eq!((ended.words(12), ended.words(11)), ([1; 8], [7; 8]));
}
