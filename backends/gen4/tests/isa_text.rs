//! Words that we state ourselves with their text, and what is refused, with the rule's name.

use gpucc_gen4::isa::{Machine, assemble, disassemble, message};

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))).collect()
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Words by hand from the layouts of 13.2 and their text.
#[rustfmt::skip]
const OWN: &[(&[u32], &str)] = &[
    (&[0x0060_0001, 0x20c0_03bd, 0x008d_0100, 0], "mov(8) g6<1>F g8<8,8,1>F { align1 };"),
    (&[0x0060_0101, 0x20cf_03bd, 0x006e_0104, 0], "mov(8) g6<1>F g8<4>F { align16 };"),
    (&[0x0060_0101, 0x20c0_03bd, 0x006e_0104, 0], "mov(8) g6<1>.noneF g8<4>F { align16 };"),
    (&[0x0060_0101, 0x00df_03bd, 0x006e_0104, 0], "mov(8) g6.4<0>F g8<4>F { align16 };"),
    (&[0x00a0_0040, 0x60c0_35ad, 0x0069_0102, 0x0042_0140], "add(32) g6<4>W g8.1<4,4,1>W g10<2,1,2>W { align1 };"),
    (&[0x0000_0001, 0xa600_03bd, 0x0000_8010, 0], "mov(1) g[a0.1 -512]<1>F g[a0 16]<0,1,0>F { align1 };"),
    (&[0x0060_0101, 0xa41f_03bd, 0x006e_87f4, 0], "mov(8) g[a0.1 16]<1>F g[a0.1 -16]<4>F { align16 };"),
    (&[0x0060_0001, 0x20c0_03bd, 0x01e0_9c00, 0], "mov(8) g6<1>F g[a0.7]<VxH,1,0>F { align1 };"),
    (&[0x0060_0001, 0xa800_03be, 0x008d_0100, 0], "mov(8) m[a0.2]<1>F g8<8,8,1>F { align1 };"),
    (&[0x4010_0001, 0x20c0_03bd, 0x0200_0100, 0], "mov(1) g6<1>F g8<0,1,0>F { align1 breakpoint predinv flag(1) };"),
    (&[0x0000_002c, 0x2a00_0108, 0x0000_0804, 0], "msave(1) ms0<1>UW mask0.2<0,1,0>UW { align1 };"),
    (&[0x0000_002d, 0x2800_0108, 0x0000_0a00, 0], "mrest(1) mask0<1>UW ms0<0,1,0>UW { align1 };"),
    (&[0x0000_002e, 0x2a10_0108, 0x0000_0804, 0], "push(1) ms0.8<1>UW mask0.2<0,1,0>UW { align1 };"),
    (&[0x0000_002f, 0x2000_0d08, 0x0000_0a00, 3], "pop(1) null<1>UW ms0<0,1,0>UW 0x00000003UD { align1 };"),
    (&[0x0000_0030, 0x3220_0000, 0x0000_1220, 0], "wait(1) n1<1>UD { align1 };"),
    (&[0x0000_0030, 0x3220_0000, 0x0000_1200, 0], "wait(1) n1<1>UD { align1 src0(n0<0,1,0>UD) };"),
    (&[0x0080_0022, 0x3400_1c00, 0x0000_1400, 7], "if(16) Jump: 7 { align1 src0(ip) };"),
    (&[0x0080_0025, 0x2000_1c84, 0x008d_0000, 0x0001_fffe], "endif(16) Jump: -2 Pop: 1 { align1 };"),
    (&[0x0080_0022, 0x2000_1c00, 0x0060_1400, 0x0002_8000], "if(16) Jump: -32768 Pop: 2 { align1 dst(null<1>UD) };"),
    (&[0x0000_0000, 0, 0, 0], "illegal ;"),
    (&[0x4000_007e, 0, 0, 0], "nop { breakpoint };"),
    (&[0x0060_0031, 0x2180_0c21, 0x008d_0140, 0x0710_0000], "send(8) 0 g12<1>UD g10<8,8,1>UD 0x07100000 thread_spawner MsgDesc: mlen 1 rlen 0 { align1 };"),
    (&[0x0360_0031, 0x2180_0021, 0x008d_0140, 0x0000_0200], "send(8) 3 g12<1>UD g10<8,8,1>UD a0<0,1,0>UD 0x00000200 null MsgDesc: indirect { align1 };"),
];

#[test]
fn words_stated_by_hand_have_the_stated_text() {
    for (own, text) in OWN {
        let ours = disassemble(Machine::G45, &bytes(own));
        assert_eq!(ours.as_deref().map(str::trim_end), Ok(*text), "{own:08x?}");
        let back = assemble(Machine::G45, text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(words(&back).as_slice(), *own, "{text}");
    }
}

#[test]
fn text_may_be_written_otherwise() {
    let same = [
        ("mov(8) g6<1>F g8<8,8,1>F", "mov(8)  g6<1>f   r8<8,8,1>F { align1 } ; // a comment"),
        ("cmp.z.f0.0(8) null<1>D g8<8,8,1>D 0D", "cmp.e.f0(8) null<1>D g8<8,8,1>D 0x0D { };"),
        ("mov(8) g6<1>F 0x3fc00000F { align1 };", "mov(8) g6<1>F 1.5F /* 1.5 */ {align1};"),
        ("mov(8) g6<1>F 0xbf800000F { align1 };", "mov(8) g6<1>F -1.0F { align1 };"),
        ("mov(8) g6<1>W -1W { align1 };", "mov(8) g6<1>W 0xffffW { align1 };"),
        (
            "mov(8) g6<1>F g8<4>F { align16 NoDDClr,NoDDChk };",
            "mov(8) g6<1>.xyzwF g8<4>.xyzwF { NoDDChk NoDDClr align16 };",
        ),
        ("mov(8) g6<1>F g8<4>.yF { align16 };", "mov(8) g6<1>F g8<4>.yyyyF { align16 };"),
        ("mov(1) g[a0.0 -128]<1>F g8<0,1,0>F { };", "mov(1) g[a0 896]<1>F g8<0,1,0>F {};"),
        (
            "send(8) 2 g12<1>F g10<8,8,1>F 0x81110001 math MsgDesc: inv mlen 1 rlen 1 { align1 EOT };",
            "send(8) 2 g12<1>F g10<8,8,1>F 0x01110001 { align1 EOT };",
        ),
    ];
    for (one, other) in same {
        let code =
            |text| assemble(Machine::G45, text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(code(one), code(other), "{one} / {other}");
    }
    let both = assemble(Machine::G45, "nop ; nop ;\n\n nop ;").expect("three instructions");
    assert_eq!(both.len(), 48);
}

/// Text that is refused: machine, text, column, part of the message.
#[rustfmt::skip]
const REFUSED: &[(Machine, &str, u32, &str)] = &[
    (Machine::G45, "frobnicate(8) g6<1>F g8<8,8,1>F", 1, "there is no instruction `frobnicate`"),
    (Machine::Gen4, "pln(16) g6<1>F g4<0,1,0>F g8<8,8,1>F", 1, "there is no instruction `pln`"),
    (Machine::Gen4, "movi(8) g6<1>F g[a0]<1,1,0>F", 1, "there is no instruction `movi`"),
    (Machine::Gen4, "mul(8) m4<1>F g3<8,8,1>F g2<8,8,1>F { align1 compacted };", 1, "no compact form (11.6)"),
    (Machine::G45, "mul(8) m4<1>F g3<8,8,1>F 0x0F { align1 compacted };", 1, "no compact form (11.6)"),
    (Machine::G45, "mov(7) g6<1>F g8<8,8,1>F", 5, "`7` is no execution size"),
    (Machine::G45, "mov(8) g128<1>F g8<8,8,1>F", 9, "no such register g"),
    (Machine::G45, "mov(8) m16<1>F g8<8,8,1>F", 9, "no such register m"),
    (Machine::G45, "mov(8) x6<1>F g8<8,8,1>F", 8, "expected a register"),
    (Machine::G45, "mov(8) g6.8<1>F g8<8,8,1>F", 10, "a register has 8 elements"),
    (Machine::G45, "mov(8) g6<3>F g8<8,8,1>F", 11, "`3` is no horizontal stride"),
    (Machine::G45, "mov(8) g6<1>F g8<8,8,1>", 24, "expected a type"),
    (Machine::G45, "mov(8) g6<1>F g8<8,8,1>VF", 15, "a register has no type VF"),
    (Machine::G45, "mov(8) g6<1>UB 1UB", 16, "a number has no type UB"),
    (Machine::G45, "mov(8) g6<1>UW 65536UW", 16, "`65536` is no number of type UW"),
    (Machine::G45, "add(8) g6<1>F 1F g8<8,8,1>F", 15, "expected a register"),
    (Machine::G45, "mov(8) g6<1>.wxF g8<4>F { align16 };", 13, "no set of channels"),
    (Machine::G45, "mov(8) g6<1>F g8<4>.xyF { align16 };", 20, "1 or 4 channels"),
    (Machine::G45, "mov(8) g6.2<1>F g8<4>F { align16 };", 10, "begins at byte 0 or 16"),
    (Machine::G45, "mov(1) f[a0]<1>F g8<0,1,0>F", 8, "only g and m can be indirect"),
    (Machine::G45, "mov(1) g[a0.8]<1>F g8<0,1,0>F", 14, "sub-registers 0 to 7"),
    (Machine::G45, "mov(1) g[a0 1024]<1>F g8<0,1,0>F", 13, "-512 to 511 bytes"),
    (Machine::G45, "(+f0.0.x) mov(8) g6<1>F g8<8,8,1>F", 11, "align1 has no predicate control `.x`"),
    (Machine::G45, "(+f0.1) mov.z.f0.0(8) g6<1>F g8<8,8,1>F", 12, "one flag register"),
    (Machine::G45, "if(8) Jump: 32768 { align1 };", 7, "-32768 to 32767"),
    (Machine::G45, "if(8) Pop: 16 { align1 };", 7, "4 bits"),
    (Machine::G45, "mov(8) g6<1>F g8<8,8,1>F { align2 };", 28, "expected an option, found `align2`"),
    (Machine::G45, "mov(8) g6<1>F g8<8,8,1>F { align1 EOT };", 35, "expected an option, found `EOT`"),
    (Machine::G45, "mov(8) g6<1>F g8<8,8,1>F { align1 src0(g1<8,8,1>F) };", 39, "says this operand itself"),
    (Machine::G45, "mov(8) g6<1>F g8<8,8,1>F { align1 compr4 };", 26, "compr4 needs a message register"),
    (Machine::G45, "mov(8) g6<1>F g8<8,8,1>F { align1 } more", 37, "expected `;`"),
    (Machine::G45, "send(8) 16 null<1>F g0<8,8,1>F 0x01110001", 9, "4 bits"),
    (Machine::G45, "send(8) 1 null<1>F g0<8,8,1>F 0x01110001 urb MsgDesc: { align1 };", 42, "is for math"),
    (Machine::G45, "send(8) 1 null<1>F g0<8,8,1>F 0x01110001 math MsgDesc: inv mlen 2 { align1 };", 42, "has mlen 1"),
    (Machine::G45, "send(8) 1 null<1>F g0<8,8,1>F 0x0a110001 { align1 };", 1, "the shared function 10 is reserved"),
    (Machine::G45, "send(8) 1 null<1>F g0<8,8,1>F g1<0,1,0>UD { align1 };", 1, "a number or a0.0"),
    (Machine::G45, "send(8) 1 null<1>F g0<8,8,1>F a0<0,1,0>UD { align1 EOT };", 43, "EOT needs"),
];

#[test]
fn wrong_text_is_refused_with_its_place() {
    for &(machine, text, column, message) in REFUSED {
        let error = assemble(machine, text).expect_err(text);
        assert!(error.message.contains(message), "{text}: {error}");
        assert_eq!((error.line, error.column), (1, column), "{text}: {error}");
    }
}

/// Words that are refused: the first is an instruction, each other breaks one rule of it.
#[rustfmt::skip]
const RESERVED: &[(&[u32], &str)] = &[
    (&[0x0060_0043, 0x20c0_03bd, 0x008d_0100, 0], ""),
    (&[0x0060_0053, 0x20c0_03bd, 0x008d_0100, 0], "no instruction with this opcode"),
    (&[0x0060_00c3, 0x20c0_03bd, 0x008d_0100, 0], "word 0 [7]"),
    (&[0x1060_0043, 0x20c0_03bd, 0x008d_0100, 0], "word 0 [28]"),
    (&[0x00c0_0043, 0x20c0_03bd, 0x008d_0100, 0], "ExecSize = 6 is reserved"),
    (&[0x0060_3043, 0x20c0_03bd, 0x008d_0100, 0], "ComprCtrl = 3 is reserved"),
    (&[0x0060_c043, 0x20c0_03bd, 0x008d_0100, 0], "ThreadCtrl = 3 is reserved"),
    (&[0x0a60_0043, 0x20c0_03bd, 0x008d_0100, 0], "CondModifier = 10 is reserved"),
    (&[0x006c_0043, 0x20c0_03bd, 0x008d_0100, 0], "predicate control 12 is reserved in align1"),
    (&[0x0068_0143, 0x20cf_03bd, 0x006e_0104, 0], "predicate control 8 is reserved in align16"),
    (&[0x0060_0043, 0x20c0_83bd, 0x008d_0100, 0], "word 1 [15]"),
    (&[0x0060_0043, 0x20c0_03bf, 0x008d_0100, 0], "Dst.RegFile = 3 is reserved"),
    (&[0x0060_0043, 0x20c0_03b9, 0x008d_0100, 0], "Dst.DstType = 6 is reserved"),
    (&[0x0060_0043, 0x20c0_03dd, 0x008d_0100, 0], "Src0.RegFile = 2 is reserved"),
    (&[0x0060_0043, 0x20c0_033d, 0x008d_0100, 0], "src0: type 6 is reserved for registers"),
    (&[0x0060_0043, 0x20c0_027d, 0, 0], "src0: type 4 is reserved for immediate numbers"),
    (&[0x0060_0043, 0x20c0_017d, 0, 0x0001_0002], "must stand in both halves"),
    (&[0x0060_0043, 0x20c0_03fd, 0x0000_0100, 0], "bits of src0 beside a number must be 0"),
    (&[0x0060_0043, 0x20c0_07bd, 0x008d_0100, 0], "Src1.RegFile = 1 is reserved"),
    (&[0x0060_0043, 0x20c0_03bd, 0x008d_0100, 1], "its word must be 0"),
    (&[0x0060_0043, 0x20c0_03bd, 0x048d_0100, 0], "word 2 [26]"),
    (&[0x0060_0043, 0x20c0_03bd, 0x00ed_0100, 0], "VertStride = 7 is reserved"),
    (&[0x0060_0043, 0x20c0_03bd, 0x01ed_0100, 0], "VertStride = 15 is reserved"),
    (&[0x0060_0043, 0x20c0_03bd, 0x0095_0100, 0], "Width = 5 is reserved"),
    (&[0x0060_0043, 0x20c0_03bd, 0x008d_1000, 0], "no register g128"),
    (&[0x0060_0043, 0x2200_03be, 0x008d_0100, 0], "no register m16"),
    (&[0x0060_0043, 0x20c0_039d, 0x008d_0160, 0], "architecture register 0x0b is reserved"),
    (&[0x0060_0043, 0x20c0_039d, 0x008d_1600, 0], "architecture register 0xb0 is reserved"),
    (&[0x0060_0043, 0x20c0_039d, 0x008d_8000, 0], "an architecture register cannot be indirect"),
    (&[0x0060_0043, 0x20c2_03bd, 0x008d_0100, 0], "byte 2 of a register is no place for 4-byte elements"),
    (&[0x0060_0143, 0x20cf_03bd, 0x008e_0104, 0], "VertStride = 4 is reserved"),
    (&[0x0060_0143, 0x20cf_03bd, 0x007e_0104, 0], "[20]"),
    (&[0x0060_0143, 0x40cf_03bd, 0x006e_0104, 0], "HorzStride = 2 is reserved"),
    (&[0x0060_0040, 0x20c0_77fd, 0, 0x008d_0100], "the last source alone can be a number"),
    (&[0x0060_0040, 0x20c0_77bd, 0x008d_0100, 0x028d_0100], "bits 127:121 must be 0"),
    (&[0x0060_0022, 0x3400_1c00, 0x0060_1400, 0x0010_0000], "word 3 [20]"),
    (&[0x0060_0022, 0x3400_1400, 0x0060_1400, 0], "Src1.RegFile = 1 is reserved"),
    (&[0x0060_0026, 0x2000_7f9c, 0x008d_0000, 0], "the instruction has no number"),
    (&[0x0060_0031, 0x2180_0fe1, 0, 0x0111_0001], "must not be a number"),
    (&[0x0000_007d, 0, 0, 0], "nenop has the compact form alone"),
    (&[0x0000_007e, 0, 0, 1], "word 3 [0]"),
    (&[0x2080_0040, 0], "word 0 [23]"),
    (&[0x2000_017d, 0], "nenop"),
];

#[test]
fn reserved_bits_and_broken_rules_are_refused_by_name() {
    for (own, message) in RESERVED {
        let found = disassemble(Machine::G45, &bytes(own));
        match (message, found) {
            (&"", found) => assert!(found.is_ok(), "{found:?}"),
            (_, Err(error)) => {
                assert!(error.to_string().contains(message), "{own:08x?}: {error}");
            }
            (_, Ok(text)) => panic!("{own:08x?} must not be {text}: {message}"),
        }
    }
    let compact = bytes(&[0x2000_665a, 0x0804_0608]);
    let error = disassemble(Machine::Gen4, &compact).expect_err("no compact form");
    assert!(error.to_string().contains("no compact form"), "{error}");
    assert!(disassemble(Machine::G45, &compact).is_ok());
    let error = disassemble(Machine::G45, &compact[..4]).expect_err("half of it");
    assert_eq!(error.to_string(), "offset 0x0: 4 bytes are no whole instruction of 8 bytes");
    let error = disassemble(Machine::G45, &[compact, vec![1, 0]].concat()).expect_err("a rest");
    assert_eq!(error.to_string(), "offset 0x8: 2 bytes are no whole instruction of 16 bytes");
}

#[test]
fn data_that_control_flow_does_not_reach_is_dwords() {
    let end = "send(8) 0 null<1>UD g0<8,8,1>UD 0x87100000 thread_spawner MsgDesc: mlen 1 rlen 0 { align1 EOT };\n";
    let data = ".dword 0x00000055\n.dword 0xffffffff\n.dword 0x3f800000\n.dword 0x00000000\n";
    let back = |text: &str| {
        let code = assemble(Machine::G45, text).unwrap_or_else(|error| panic!("{text}: {error}"));
        disassemble(Machine::G45, &code)
    };
    // Behind the end, in between, and as the last part of 16 bytes.
    let over = format!("jmpi(1) 1D {{ align1 nomask }};\n{data}{end}");
    let rest = format!("nop ;\n{end}{data}.dword 0x00000012\n");
    let half = format!(
        "{end}pln(16) g6<1>F g4<0,1,0>F g8<8,8,1>F {{ align1 compr compacted }};\n.dword 0x00000055\n.dword 0x00000001\n"
    );
    for text in [&over, &rest, &half] {
        assert_eq!(back(text).as_ref(), Ok(text));
    }
    // Reached by falling through, by a jump, or perhaps.
    let reached = [
        format!("nop ;\n{data}{end}"),
        format!("(+f0.0) jmpi(1) 1D {{ align1 nomask }};\n{data}{end}"),
        format!("(+f0.0) if(8) Jump: 2 {{ align1 switch }};\n{end}{data}"),
        format!("jmpi(1) g1<0,1,0>D {{ align1 nomask }};\n{end}{data}"),
        format!("add(1) ip ip 32D {{ align1 }};\n{end}{data}"),
        format!("(+f0.0) {end}{data}"),
    ];
    for text in &reached {
        let error = back(text).expect_err(text);
        assert!(error.offset >= 16, "{text}: {error}");
    }
    let error = assemble(Machine::G45, "nop ; .dword 12").expect_err("no number");
    assert_eq!((error.line, error.column), (1, 6));
}

/// Descriptors: machine, number, description, and what the manual's tables say of it where they refuse it.
#[rustfmt::skip]
const DESCRIPTORS: &[(Machine, u32, &str, &str)] = &[
    (Machine::Gen4, 0x0111_0001, " inv mlen 1 rlen 1", ""),
    (Machine::G45, 0x0122_00db, " intdivmod sat signed scalar mlen 2 rlen 2", ""),
    (Machine::G45, 0x0111_0009, " fdiv mlen 1 rlen 1", "Function = 9 is reserved"),
    (Machine::G45, 0x0111_0201, " inv mlen 1 rlen 1", "[9]"),
    (Machine::Gen4, 0x0298_e123, " (bti 35, sampler 1, msg_type 3, UD) mlen 9 rlen 8", ""),
    (Machine::G45, 0x0298_3123, " (bti 35, sampler 1, msg_type 3, ) mlen 9 rlen 8", ""),
    (Machine::Gen4, 0x0298_1000, " (bti 0, sampler 0, msg_type 0, *** invalid sampler target format value 1 ) mlen 9 rlen 8", "ReturnFormat = 1"),
    (Machine::G45, 0x0298_8000, " (bti 0, sampler 0, msg_type 8, ) mlen 9 rlen 8", "MessageType = 8"),
    (Machine::Gen4, 0x0310_4002, " (forward msg) mlen 1 rlen 0", ""),
    (Machine::Gen4, 0x0310_0003, " (get timestamp) mlen 1 rlen 0", "SubFunction = 3"),
    (Machine::Gen4, 0x0421_50ff, " OWord Dual Block Read MsgCtrl = 0x0 Surface = 255 mlen 2 rlen 1", ""),
    (Machine::G45, 0x0421_50ff, " OWord Dual Block Read MsgCtrl = 0x0 Surface = 255 mlen 2 rlen 1", ""),
    (Machine::Gen4, 0x0421_3203, " DWord Scattered Read MsgCtrl = 0x2 Surface = 3 mlen 2 rlen 1", ""),
    (Machine::G45, 0x0421_3303, " DWord Scattered Read MsgCtrl = 0x3 Surface = 3 mlen 2 rlen 1", ""),
    (Machine::G45, 0x0421_2803, "*** invalid DP read message type value 5 MsgCtrl = 0x0 Surface = 3 mlen 2 rlen 1", "no instruction with this opcode"),
    (Machine::Gen4, 0x0421_2903, " Media Block Read MsgCtrl = 0x9 Surface = 3 mlen 2 rlen 1", "[11]"),
    (Machine::G45, 0x0531_90ff, " OWord dual block write MsgCtrl = 0x0 Surface = 255 mlen 3 rlen 1", ""),
    (Machine::G45, 0x85a0_4802, " RT write SIMD16 LastRT Surface = 2 mlen 10 rlen 0", ""),
    (Machine::G45, 0x05a0_4502, " RT write*** invalid RT write message type value 5 Surface = 2 mlen 10 rlen 0", "RenderTargetType = 5"),
    (Machine::G45, 0x0560_6000, " RT UNORM write MsgCtrl = 0x0 Surface = 0 mlen 6 rlen 0", ""),
    (Machine::Gen4, 0x0560_6000, " RT UNORM write MsgCtrl = 0x0 Surface = 0 mlen 6 rlen 0", "no instruction with this opcode"),
    (Machine::Gen4, 0x0511_f000, " flush render cache MsgCtrl = 0x0 Surface = 0 mlen 1 rlen 1", ""),
    (Machine::Gen4, 0x8640_c8c0, " offset 12 urb_write transpose used complete mlen 4 rlen 0", ""),
    (Machine::Gen4, 0x0640_d800, " offset 0 urb_write transpose used complete mlen 4 rlen 0", "[12]"),
    (Machine::G45, 0x0640_d800, " offset 0 urb_write transpose used complete mlen 4 rlen 0", ""),
    (Machine::G45, 0x0640_0c00, " offset 0 urb_write*** invalid urb swizzle value 3 mlen 4 rlen 0", "Swizzle = 3"),
    (Machine::G45, 0x0640_0001, " offset 0*** invalid urb opcode value 1 mlen 4 rlen 0", "no instruction with this opcode"),
    (Machine::G45, 0x8710_0000, " mlen 1 rlen 0", ""),
    (Machine::G45, 0x8710_0020, " mlen 1 rlen 0", "[5]"),
    (Machine::G45, 0x0010_0000, " mlen 1 rlen 0", ""),
];

#[test]
fn descriptors_are_described_and_the_tables_know_which_exist() {
    for &(machine, descriptor, text, refused) in DESCRIPTORS {
        assert_eq!(message::describe(machine, descriptor), text, "{descriptor:#010x}");
        match (message::decode(machine, descriptor), refused) {
            (Ok(inst), "") => assert_eq!(inst.bits(), u128::from(descriptor)),
            (Ok(_), _) => panic!("{descriptor:#010x} on {machine:?} must not be: {refused}"),
            (Err(error), "") => panic!("{descriptor:#010x} on {machine:?}: {error}"),
            (Err(error), _) => {
                assert!(error.to_string().contains(refused), "{descriptor:#010x}: {error}");
            }
        }
    }
}
