//! A program between registers and words, on which the last machine passes run.

use super::{Config, Entry};
use crate::api::{Failure, Stats};
use crate::group::{self, Clause, Item};
use crate::isa;
use crate::live::Cells;
use crate::slot::Slot;
use crate::{cost, legal, retarget, temporaries, text, value};
use gpucc_ir::ssa::Span;

/// The instruction at one place leads to another.
#[derive(Copy, Clone)]
pub(super) struct Jump {
    pub at: usize,
    pub target: usize,
    pub pops: u32,
}

/// ALU work between two marks of control flow, fetches or exports.
#[derive(Clone)]
pub(super) struct Run {
    pub items: Vec<Item>,
    /// What matters behind it.
    pub live: Cells,
    /// What its operations became, once they are packed.
    pub clauses: Option<Vec<Clause>>,
    /// Groups that any schedule of its operations has.
    pub least: u32,
}

impl Run {
    /// The operations, each alone until they are packed.
    fn groups(&self) -> Vec<Vec<Slot>> {
        match &self.clauses {
            None => self.items.iter().map(|item| item.slots().to_vec()).collect(),
            Some(clauses) => {
                let groups = clauses.iter().flat_map(|clause| &clause.groups);
                groups
                    .map(|packed| packed.group.slots.iter().flatten().copied().collect())
                    .collect()
            }
        }
    }
}

/// Arrays that the operations reach into.
fn ranges(items: &[Item]) -> Vec<group::Range> {
    items.iter().filter_map(|item| item.range).collect()
}

/// A program between registers and words.
pub struct Draft {
    pub(super) config: Config,
    pub(super) entries: Vec<(Entry, Span)>,
    pub(super) runs: Vec<Run>,
    pub(super) jumps: Vec<Jump>,
    pub(super) fetches: Vec<(Vec<isa::Inst>, Vec<Span>)>,
    pub(super) landing: u8,
    pub(super) gprs: u32,
    pub(super) stack: u32,
    pub(super) stats: Stats,
    pub(super) writes_memory: bool,
}

impl Draft {
    /// Takes out moves that need not be.
    pub fn retarget(&mut self) {
        let isa = self.config.isa();
        for run in &mut self.runs {
            if run.live != Cells::ALL {
                retarget::run(&mut run.items, &run.live, isa);
            }
        }
    }

    /// Packs every run.
    ///
    /// # Errors
    /// An operation that no group admits.
    pub fn group(&mut self) -> Result<(), Failure> {
        let Config { chip, search, .. } = self.config;
        for run in &mut self.runs {
            run.least = cost::least_groups(&run.items, chip.family().isa());
            let packed = group::pack(&run.items, chip, run.least, search);
            run.clauses =
                Some(packed.map_err(|message| Failure::Internal { pass: "group", message })?);
        }
        Ok(())
    }

    /// Moves values of one clause to clause temporaries.
    pub fn temporaries(&mut self) {
        for run in &mut self.runs {
            let ranges = ranges(&run.items);
            if let Some(clauses) = &mut run.clauses {
                temporaries::run(clauses, run.live, &ranges, self.landing);
            }
        }
    }

    /// Whether every run leaves in the cells that matter what its operations left there in `before`, the draft that the
    /// steps began with; once the runs are packed, whether the program is legal too.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check(&self, before: &Draft) -> Result<(), String> {
        let isa = self.config.isa();
        if self.runs.len() != before.runs.len() {
            return Err("a run of ALU work came or went".into());
        }
        for (number, (run, before)) in self.runs.iter().zip(&before.runs).enumerate() {
            let mut values = value::Values::new(isa, ranges(&before.items));
            let expected = values.of_items(&before.items);
            let found = match &run.clauses {
                Some(clauses) => values.of_clauses(clauses),
                None => values.of_items(&run.items),
            };
            found
                .differs(&expected, &before.live)
                .map_err(|message| format!("run {number}: {message}"))?;
        }
        if self.runs.iter().all(|run| run.clauses.is_some()) {
            let emitted = self.emit().map_err(|failure| failure.to_string())?;
            legal::legal(isa, &emitted.program, 128)
                .map_err(|finished| format!("{} (quadword {})", finished.violation, finished.at))?;
        }
        Ok(())
    }

    /// The draft as text: the CF instructions in order, the operations of each run.
    pub fn print(&self) -> String {
        let mut out = String::new();
        for (at, (entry, _)) in self.entries.iter().enumerate() {
            out += &format!("{at:4}: ");
            match entry {
                Entry::Plain(inst) => isa::disasm::write_cf(&mut out, inst),
                Entry::Pop => out += "POP",
                Entry::Fetch(_, op) => out += &format!("{op}"),
                Entry::Run(_, op) => out += &format!("{op}"),
            }
            for jump in self.jumps.iter().filter(|jump| jump.at == at) {
                out += &format!(" -> {}", jump.target);
            }
            out += "\n";
            match entry {
                Entry::Run(run, _) => text::run(&mut out, &self.runs[*run].groups()),
                Entry::Fetch(fetches, _) => {
                    for inst in &self.fetches[*fetches].0 {
                        out += "        ";
                        isa::disasm::write_fetch(&mut out, inst);
                        out += "\n";
                    }
                }
                Entry::Plain(_) | Entry::Pop => {}
            }
        }
        out
    }
}

/// Faults for the tests of the runner.
#[cfg(test)]
impl Draft {
    /// The longest run loses an operation.
    pub fn lose_operation(&mut self) {
        let longest = self.runs.iter_mut().max_by_key(|run| run.items.len());
        longest.expect("there is ALU work").items.remove(0);
    }

    /// The first two groups of the longest run change places.
    pub fn swap_groups(&mut self) {
        let clauses = self.runs.iter_mut().filter_map(|run| run.clauses.as_mut());
        let longest = clauses.flatten().max_by_key(|clause| clause.groups.len());
        longest.expect("there is ALU work").groups.swap(0, 1);
    }
}
