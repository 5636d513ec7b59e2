//! Which instructions the emulator executed in this run of the tests, by family, table and row.

use crate::Chip;
use crate::emu::AluOp;
use crate::emu::decode::{AluKind, CfBody, ExportOp, Fetch};
use crate::isa::FetchOp;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Family, table, row.
pub type Row = (&'static str, &'static str, String);

static EXECUTED: Mutex<BTreeSet<Row>> = Mutex::new(BTreeSet::new());

fn note(chip: Chip, table: &'static str, row: String) {
    let mut all = EXECUTED.lock().expect("nobody panics inside");
    all.insert((chip.family().name(), table, row));
}

/// Everything so far.
pub fn all() -> BTreeSet<Row> {
    EXECUTED.lock().expect("nobody panics inside").clone()
}

/// `PopPushElse` as the table writes it.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_uppercase());
    }
    out
}

/// A control-flow instruction.
pub fn cf(chip: Chip, body: &CfBody) {
    let name = match body {
        CfBody::Flow(flow) => snake(&format!("{:?}", flow.op)),
        CfBody::Alu(alu) => match alu.kind {
            AluKind::Plain => "ALU".into(),
            kind => format!("ALU_{}", snake(&format!("{kind:?}"))),
        },
        CfBody::Export(export) => match export.op {
            ExportOp::Export => "EXPORT".into(),
            ExportOp::ExportDone => "EXPORT_DONE".into(),
            ExportOp::MemExport => "MEM_EXPORT".into(),
            ExportOp::Stream(n) => format!("MEM_STREAM{n}"),
            ExportOp::Scratch => "MEM_SCRATCH".into(),
            ExportOp::Reduction => "MEM_REDUCTION".into(),
            ExportOp::Ring => "MEM_RING".into(),
        },
    };
    note(chip, "CF", name);
}

/// An ALU instruction.
pub fn alu(chip: Chip, op: AluOp) {
    note(chip, "ALU", op.name().into());
}

/// A fetch.
pub fn fetch(chip: Chip, fetch: &Fetch) {
    let name = match fetch {
        Fetch::Vertex(v) if v.semantic.is_some() => "SEMFETCH",
        Fetch::Vertex(_) => "VFETCH",
        Fetch::Texture(t) => {
            let ops = FetchOp::ALL;
            ops[FetchOp::LD as usize + t.op as usize - 3].name()
        }
        Fetch::Memory(m) => ["READ_SCRATCH", "READ_REDUCT", "READ_MEM"][m.op as usize],
        Fetch::ShareWrite(_) => "DS_LOCAL_WRITE",
        Fetch::ShareRead(_) => "DS_LOCAL_READ",
    };
    note(chip, "fetch", name.into());
}
