//! Words of foreign encoders through our table and back. The foreign words stay in ../shared; without them these tests
//! say so and pass, and the words below, stated by hand, still judge.

use crate::common::shared;
use gpucc_isa::Op;
use gpucc_r700::isa::{
    AluOp, CfOp, FetchOp, R700, UnitKind, assemble, assemble_unit, decode_program, disassemble,
    disassemble_unit, encode_program, flag, ops,
};
use serde_json::Value;

fn rows(file: &str) -> Option<Vec<Value>> {
    let text = shared(file)?;
    Some(text.lines().map(|line| serde_json::from_str(line).expect("a JSON row")).collect())
}

fn words(row: &Value) -> Vec<u32> {
    let words = row["words"].as_array().expect("words");
    words.iter().map(|word| hex(word.as_str().expect("a word"))).collect()
}

fn hex(word: &str) -> u32 {
    u32::from_str_radix(word.trim_start_matches("0x"), 16).expect("a hexadecimal word")
}

fn kind(row: &Value) -> UnitKind {
    match row["kind"].as_str().expect("kind") {
        "alu-group" => UnitKind::Alu,
        other => UnitKind::named(other).expect("a known kind"),
    }
}

#[test]
fn every_foreign_word_comes_back_from_its_text() {
    let Some(rows) = rows("golden/r700.jsonl") else {
        return;
    };
    let mut wrong = Vec::new();
    for row in &rows {
        let (kind, words) = (kind(row), words(row));
        let result = disassemble_unit(&R700, kind, &words)
            .map_err(|error| error.to_string())
            .and_then(|text| {
                let back = assemble_unit(&R700, kind, &text)
                    .map_err(|error| format!("{error} in {text}"))?;
                if back == words { Ok(()) } else { Err(format!("{back:08x?} from {text}")) }
            });
        if let Err(error) = result {
            wrong.push(format!("{} {words:08x?}: {error}", row["id"]));
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn every_foreign_program_comes_back_from_bytes_and_from_the_decoded_form() {
    let Some(rows) = rows("golden/r700.jsonl") else {
        return;
    };
    for row in rows.iter().filter(|row| row["kind"] == "program") {
        let words = words(row);
        let program = decode_program(&words).expect("accepted");
        assert_eq!(encode_program(&program).as_ref(), Ok(&words), "{}", row["id"]);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let text = disassemble(&bytes).expect("accepted");
        assert_eq!(assemble(&text).as_ref(), Ok(&bytes), "{}\n{text}", row["id"]);
    }
}

/// The names under which foreign tools know our rows, where they are not ours.
fn our_name(foreign: &str) -> &str {
    match foreign {
        "ALU_NOP" => "NOP",
        "RET" => "RETURN",
        "GET_LOD" => "GET_COMP_TEX_LOD",
        "MEM_REDUCT" => "MEM_REDUCTION",
        _ => foreign,
    }
}

#[test]
fn our_mnemonics_are_the_instructions_that_foreign_tools_name() {
    let Some(rows) = rows("golden/r700.jsonl") else {
        return;
    };
    let mut checked = 0;
    for row in &rows {
        let fields: Vec<&Value> = match &row["fields"] {
            Value::Array(slots) => slots.iter().collect(),
            Value::Object(_) => vec![&row["fields"]],
            _ => continue,
        };
        let line = disassemble_unit(&R700, kind(row), &words(row)).expect("accepted");
        for (text, slot) in line.split(" ; ").zip(fields) {
            let op = our_name(slot["op"].as_str().expect("op"));
            let mnemonics = text.split([' ', ':']).filter(|word| word.len() > 1);
            assert_eq!(mnemonics.into_iter().next(), Some(op), "{}: {line}", row["id"]);
            checked += 1;
        }
    }
    assert!(checked > 2000, "only {checked} mnemonics were checked");
}

#[test]
fn every_field_has_the_value_that_the_collector_decoded() {
    let Some(rows) = rows("golden/r700.jsonl") else {
        return;
    };
    let mut checked = 0;
    for row in &rows {
        let words = words(row);
        let number = |words: &[u32]| {
            words.iter().rev().fold(0u128, |bits, word| bits << 32 | u128::from(*word))
        };
        let units: Vec<(u128, &Value)> = match (&row["fields"], kind(row)) {
            (Value::Array(slots), _) => slots
                .iter()
                .enumerate()
                .map(|(i, slot)| (number(&words[2 * i..2 * i + 2]), slot))
                .collect(),
            (fields @ Value::Object(_), _) => vec![(number(&words), fields)],
            _ => continue,
        };
        let table = match kind(row) {
            UnitKind::Cf => &R700.cf,
            UnitKind::Fetch => &R700.fetch,
            _ => &R700.alu,
        };
        for (bits, fields) in units {
            let inst = table.decode(bits).expect("accepted");
            for (name, value) in fields.as_object().expect("an object") {
                let name = match name.as_str() {
                    "fmt" | "op" => continue,
                    "update_exec_mask" => "UPDATE_EXECUTE_MASK",
                    "wqm" => "WHOLE_QUAD_MODE",
                    _ => name,
                };
                let field = inst.op().format.field_named(name);
                let field =
                    field.unwrap_or_else(|| panic!("{} has no {name}", inst.op().format.name));
                assert_eq!(
                    u64::from(field.get(bits)),
                    value.as_u64().expect("a number"),
                    "{} {name}",
                    row["id"]
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 30_000, "only {checked} fields were checked");
}

#[test]
fn words_known_to_be_wrong_are_refused() {
    let Some(rows) = rows("golden/r700_known_bad.jsonl") else {
        return;
    };
    for row in &rows {
        let error = disassemble_unit(&R700, kind(row), &words(row))
            .expect_err("an opcode of another machine");
        assert!(error.to_string().contains("ALU has no instruction with this opcode"), "{error}");
    }
}

#[test]
fn every_opcode_number_is_the_one_that_two_sources_agree_on() {
    let Some(text) = shared("golden/r700_opcodes.csv") else {
        return;
    };
    let mut seen = 0;
    for line in text.lines().skip(1) {
        // `flags` may be quoted, with a comma inside; it is the tenth of the columns.
        let columns: Vec<&str> = line.split(',').collect();
        let (class, name, opcode) = (columns[0], columns[1], columns[4]);
        let Ok(opcode) = opcode.parse::<u32>() else {
            assert_eq!(name, "MOVA_GPR_INT", "the only row without an R700 opcode");
            continue;
        };
        let (table, bits) = match class {
            "CF" | "CF_EXPORT" => (&R700.cf, u128::from(opcode) << 55),
            "CF_ALU" => (&R700.cf, u128::from(opcode) << 58),
            "OP2" => (&R700.alu, u128::from(opcode) << 39),
            "OP3" => (&R700.alu, u128::from(opcode) << 45),
            "VTX" | "MEM" | "TEX" => (&R700.fetch, u128::from(opcode)),
            _ => panic!("class {class}"),
        };
        let op = table.find(bits);
        let op = op.unwrap_or_else(|| panic!("{class} {name} {opcode} is not in the table"));
        assert_eq!(op.name, our_name(name));
        if let "OP2" | "OP3" = class {
            check_alu_row(op, columns[7], columns[8], columns[9]);
        }
        seen += 1;
    }
    let ours = CfOp::ALL.len() + AluOp::ALL.len() + FetchOp::ALL.len();
    assert_eq!(seen, ours - 1, "MOVA_GPR_INT alone is ours and not the list's");
}

/// Slots, sources and properties, where the list and the documents agree.
fn check_alu_row(op: &Op, slots: &str, sources: &str, flags: &str) {
    assert_eq!(op.sources.to_string(), sources, "{}", op.name);
    let units = match slots {
        "AF_V" | "AF_4V" => ops::VECTOR,
        "AF_S" => ops::TRANS,
        // The document lists these for Trans alone; nobody was seen to use them.
        _ if op.name.starts_with("MUL_LIT_") => ops::TRANS,
        _ => ops::VECTOR | ops::TRANS,
    };
    assert_eq!(op.units, units, "{}", op.name);
    assert_eq!(op.has(flag::REDUCTION), slots == "AF_4V", "{}", op.name);
    let foreign = |name: &str| flags.split(" | ").any(|flag| flag == name);
    let pairs = [
        (flag::KILL, foreign("AF_KILL")),
        (flag::MOVA, foreign("AF_MOVA")),
        (flag::PRED_PUSH, foreign("AF_PRED_PUSH")),
        (flag::PRED_SET, foreign("AF_PRED") || foreign("AF_PRED_PUSH")),
    ];
    for (flag, expected) in pairs {
        assert_eq!(op.has(flag), expected, "{} flag {flag:#x}", op.name);
    }
    let wide = op.flags & (flag::PAIR_64 | flag::QUAD_64) != 0;
    assert_eq!(wide, foreign("AF_64"), "{}", op.name);
    if foreign("AF_INT_DST") || foreign("AF_UINT_DST") {
        assert!(op.has(flag::INT_DST), "{}", op.name);
    }
    if foreign("AF_INT_CMP") || foreign("AF_UINT_CMP") {
        assert!(op.has(flag::INT_SRC), "{}", op.name);
    }
}

/// Words that we state ourselves, with the text that we expect. The first eight are facts about one LLVM encoder's output
/// for RV770; the others follow from the field tables.
#[rustfmt::skip]
const OWN: &[(UnitKind, &[u32], &str)] = &[
    (UnitKind::Cf, &[0x0000_0004, 0xa068_0000], "ALU: ADDR(4) COUNT(27)"),
    (UnitKind::Cf, &[0x0000_0014, 0xa40c_0000], "ALU_PUSH_BEFORE: ADDR(20) COUNT(4)"),
    (UnitKind::Cf, &[0x0000_000b, 0x8300_0000], "LOOP_START_DX10 ADDR(11)"),
    (UnitKind::Cf, &[0x0000_0006, 0x8500_0001], "JUMP ADDR(6) POP_COUNT(1)"),
    (UnitKind::Cf, &[0x0000_000a, 0x8480_0000], "LOOP_BREAK ADDR(10)"),
    (UnitKind::Cf, &[0x0000_000a, 0x8700_0001], "POP ADDR(10) POP_COUNT(1)"),
    (UnitKind::Cf, &[0x0000_0002, 0x8280_0000], "LOOP_END ADDR(2)"),
    (UnitKind::Cf, &[0xc000_8000, 0x9420_0a88], "EXPORT_DONE: PIXEL[0], R1.xyz1 ELEM_SIZE(3) END_OF_PROGRAM"),
    (UnitKind::Cf, &[0x0000_0000, 0x0000_0000], "NOP NO_BARRIER"),
    (UnitKind::Cf, &[0x0000_0004, 0x8088_1c00], "TEX: ADDR(4) COUNT(16)"),
    (UnitKind::Cf, &[0x4040_0007, 0xa004_0c09], "ALU: ADDR(7) COUNT(2) KCACHE0(CB1:32-47) KCACHE1(CB0:48-63)"),
    (UnitKind::Cf, &[0xc280_a003, 0x9d00_7fff], "MEM_EXPORT: WRITE_IND[3], R1.xyz_, R5.x ELEM_SIZE(3) ARRAY_SIZE(4095)"),
    (UnitKind::AluSlot, &[0x8000_0001, 0x0000_3710], "SIN R0.x, R1.x LAST"),
    (UnitKind::AluSlot, &[0x801f_10fe, 0x6fc7_c0fd], "CNDGE_INT R126.w, -PV.x, 0.0, L.x LAST VEC_021"),
    (UnitKind::Alu, &[0x819f_bcff, 0x0000_0010, 0x3e22_f983, 0, 0, 0x4049_0fdb],
        "x: ADD R0.x, -PS.w, (0x40490fdb, 3.1415927).w ; literal.x 0x3e22f983"),
    (UnitKind::Fetch, &[0x7c00_a000, 0x88cd_1002, 0x0008_0010, 0],
        "VFETCH R2.xyzw, R0.x, b160 MEGA_FETCH_COUNT(32) DATA_FORMAT(32_32_32_32_FLOAT) SRF_MODE_ALL(NO_ZERO) OFFSET(16) MEGA_FETCH"),
    (UnitKind::Fetch, &[0x0000_0310, 0xf00d_1000, 0x6880_8000, 0], "SAMPLE R0.xyzw, R0.xyzw, t3, s1"),
    (UnitKind::Fetch, &[0x0001_0011, 0x70ad_7e82, 0x7fc0_801c, 0],
        "SAMPLE_L R2[aL].__zw, R1.0__w, t0, s1 LOD_BIAS(0.3125) COORD_TYPE_W(UNNORMALIZED) OFFSET_X(-2)"),
    (UnitKind::Fetch, &[0x0003_1062, 0x0000_8e01, 0xff08_0005, 0],
        "READ_SCRATCH R1._xyx, R3.x ELEM_SIZE(3) INDEXED ARRAY_BASE(5) MEGA_FETCH ARRAY_SIZE(4080)"),
    (UnitKind::Fetch, &[0xe490_0c02, 0x0040_0004, 0, 0], "DS_LOCAL_WRITE R1.yyy_ DST_INDEX(4) DST_STRIDE(64)"),
    (UnitKind::Fetch, &[0x0080_1502, 0x0002_1e03, 0, 0], "DS_LOCAL_READ R3.xyzw, R2.xy WATERFALL"),
];

#[test]
fn words_stated_by_hand_have_the_stated_text() {
    for (kind, words, text) in OWN {
        let ours =
            disassemble_unit(&R700, *kind, words).unwrap_or_else(|error| panic!("{text}: {error}"));
        let back =
            assemble_unit(&R700, *kind, text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((ours.as_str(), back.as_slice()), (*text, *words), "{:08x?}", back);
    }
}
