//! Programs that compilers made for the hardware: this reading accepts their words, which break no rule of it, and they
//! run without a hazard.

use super::{BASE, Dice, shared};
use crate::emu::decode::{self, Opcode, is_compact};
use crate::emu::{
    Message, Model, Register, Reply, Rule, Run, Sender, SharedFunctions, Start, Status, Thread,
    Trap, check,
};
use serde_json::Value;

/// The lists, and the chip that each is for.
const FILES: &[(&str, Model)] = &[
    ("golden/gen4.jsonl", Model::I965),
    ("golden/gen45.jsonl", Model::G45),
    ("golden/gen4-extra.jsonl", Model::I965),
    ("golden/gen45-extra.jsonl", Model::G45),
];

/// What compilers' words break, and where: an odd register that one made for the 965, and a line of a test suite.
const KNOWN: &[(Rule, Opcode)] =
    &[(Rule::CompressedOperand, Opcode::Mov), (Rule::Saturation, Opcode::Frc)];

/// A row: where it is from, whether it is a whole program, its words.
struct Row {
    id: String,
    program: bool,
    words: Vec<u32>,
}

fn rows(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).expect("a JSON row");
        let source = row["source"].as_str().expect("a source");
        if !source.contains("crocus") && !source.contains("elk/tests") {
            continue;
        }
        let words = row["words"].as_array().expect("words").iter();
        let number = |word: &Value| {
            let digits = word.as_str().expect("a word").trim_start_matches("0x");
            u32::from_str_radix(digits, 16).expect("a hexadecimal word")
        };
        rows.push(Row {
            id: format!("{} {source}", row["id"]),
            program: row["kind"] == "program",
            words: words.map(number).collect(),
        });
    }
    rows
}

#[test]
fn what_compilers_made_breaks_no_rule() {
    for (file, model) in FILES {
        let Some(text) = shared::text_or_skip(file) else { continue };
        let (mut all, mut known, mut wrong) = (0, 0, Vec::new());
        for row in rows(&text) {
            let mut at = 0;
            while at < row.words.len() {
                let wide = |count: usize| {
                    row.words[at..at + count]
                        .iter()
                        .rev()
                        .fold(0u128, |bits, word| bits << 32 | u128::from(*word))
                };
                let (read, taken) = if is_compact(row.words[at]) {
                    (decode::compact(*model, wide(2) as u64), 2)
                } else {
                    (decode::native(*model, wide(4)), 4)
                };
                all += 1;
                at += taken;
                let inst = match read {
                    Ok(inst) => inst,
                    Err(why) => {
                        wrong.push(format!("{}: {why:?}", row.id));
                        continue;
                    }
                };
                let Err(why) = check::instruction(*model, &inst) else { continue };
                if KNOWN.contains(&(why.0, inst.opcode)) {
                    known += 1;
                } else {
                    wrong.push(format!("{}: {why:?} {inst:?}", row.id));
                }
            }
        }
        assert!(wrong.is_empty(), "{file}: {} of {all}\n{}", wrong.len(), wrong.join("\n"));
        assert!(all > 2000 && known <= 6, "{file}: {known} of {all} are known to be wrong");
    }
}

/// Shared functions that answer with numbers of chance.
struct Oracle {
    code: Vec<u8>,
    dice: Dice,
}

impl Oracle {
    fn register(&mut self) -> Register {
        // Small floats, which are small integers' neighbours in no way: loops end by either.
        Register::new([0; 8].map(|_| ((self.dice.next() % 64) as f32).to_bits()))
    }
}

impl SharedFunctions for Oracle {
    fn send(&mut self, message: &Message<'_>) -> Result<Reply, Trap> {
        Ok(Reply { registers: (0..message.response).map(|_| (self.register(), 0xff)).collect() })
    }

    fn fetch(&mut self, address: u32) -> Result<[u8; 16], Trap> {
        let at = address.wrapping_sub(BASE) as usize;
        match self.code.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
            Some(word) => Ok(*word),
            None => Err(Trap::new(Rule::Mapped, address.wrapping_sub(BASE), "no program there")),
        }
    }
}

/// Programs that break a rule: an odd register; replies on the 965 of which one register of two was read, or none before
/// it was written again; and twice a condition on bits that a comparison leaves undefined.
const FAULTY: &[&str] = &[
    "gen4-03014",
    "gen4-01607",
    "xgen4-00330",
    "xgen4-00422",
    "xgen4-06620",
    "xgen4-06776",
    "gen4-03498",
    "gen45-02206",
];

/// What numbers of chance bring about by themselves: loops without end, indices out of the file.
const CHANCE: &[Rule] = &[Rule::Steps, Rule::Crosses, Rule::RegisterCount, Rule::Alignment];

/// A thread of 128 registers, all of them written.
fn started(model: Model, oracle: &mut Oracle) -> Thread {
    let payload: Vec<Register> = (0..128).map(|_| oracle.register()).collect();
    let start = Start {
        payload: &payload,
        program: BASE,
        dispatched: 0xffff,
        single_program_flow: false,
        alternate_floats: false,
        registers: 128,
        sender: Sender::default(),
    };
    Thread::start(model, start)
}

#[test]
fn programs_of_compilers_run_without_a_hazard() {
    for (file, model) in FILES {
        let Some(text) = shared::text_or_skip(file) else { continue };
        let (mut ended, mut faulty, mut chance, mut wrong) = (0, 0, 0, Vec::new());
        for row in rows(&text).into_iter().filter(|row| row.program) {
            let mut code: Vec<u8> = row.words.iter().flat_map(|word| word.to_le_bytes()).collect();
            code.resize(code.len().next_multiple_of(16), 0);
            let mut oracle = Oracle { code, dice: Dice(1) };
            let mut thread = started(*model, &mut oracle);
            let mut steps = 20_000;
            let mut run = Run { steps: &mut steps, trace: None };
            let trap = loop {
                match thread.step(&mut oracle, &mut run) {
                    Ok(Status::Done) => break None,
                    Ok(_) => {}
                    Err(trap) => break Some(trap),
                }
            };
            match trap {
                None => ended += 1,
                Some(trap) if CHANCE.contains(&trap.rule) => chance += 1,
                Some(_) if FAULTY.iter().any(|id| row.id.contains(id)) => faulty += 1,
                Some(trap) => wrong.push(format!("{}: {trap}", row.id)),
            }
        }
        assert!(wrong.is_empty(), "{file}: {}\n{}", wrong.len(), wrong.join("\n"));
        let counts = format!("{ended} ended, {chance} by chance not, {faulty} are faulty");
        assert!(ended > 60 && chance < 30 && faulty < 5, "{file}: {counts}");
    }
}
