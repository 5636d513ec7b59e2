//! Programs of chance: each ends, or names a rule.

use super::agree::{seeds, word};
use super::{Bench, Dice};
use crate::emu::{Model, Rule};
use std::collections::BTreeMap;

#[test]
fn programs_of_chance_end_or_name_a_rule() {
    let mut dice = Dice(11);
    let mut rules: BTreeMap<Rule, u32> = BTreeMap::new();
    for round in 0..20_000u32 {
        let model = if round % 2 == 0 { Model::I965 } else { Model::G45 };
        let known = seeds(model);
        let mut code = Vec::new();
        for _ in 0..1 + dice.below(12) {
            // Most instructions are right, so that programs go on for a while.
            let bits = match dice.below(4) {
                0 => word(&mut dice, model, &known),
                _ => known[dice.below(known.len() as u64) as usize],
            };
            code.extend(bits.to_le_bytes());
        }
        let mut bench = Bench::new(model).channels(dice.next() as u16);
        for register in 2..16 {
            bench = bench.register(register, [0; 8].map(|_| dice.next() as u32));
        }
        match bench.bytes(code) {
            Ok(_) => *rules.entry(Rule::Steps).or_default() += 1,
            Err(trap) => *rules.entry(trap.rule).or_default() += 1,
        }
    }
    assert!(rules.len() > 25, "{} rules are met: {rules:?}", rules.len());
}
