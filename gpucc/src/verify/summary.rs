//! What a verification found, and when that is a proof.

use crate::Failure;
use gpucc_ir::ssa::Span;

/// Percent of the words that the reference wrote that must be compared.
pub const SHARE: u64 = 25;

/// What a verification found.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Entry point.
    pub entry: String,
    /// Invocations of one run.
    pub invocations: u64,
    /// Inputs tried.
    pub inputs: u32,
    /// Inputs that were compared to the end.
    pub counted: u32,
    /// Inputs on which a word differed.
    pub mismatches: u32,
    /// Words left out because their value depends on the order of invocations.
    pub racy_words: u64,
    /// Inputs that took too many steps.
    pub out_of_steps: u32,
    /// Inputs that lead beyond an array or a buffer, where bytes and reference part, of a shader that is
    /// trusted not to ([`crate::pipeline::Robust::Off`]).
    pub undefined: u32,
    /// Where the first of them leaves its memory.
    pub leaves_at: Option<Span>,
    /// Inputs on which not every single pass was compared, for want of steps.
    pub passes_cut: u32,
    /// Steps that interpreter and machine might take together.
    pub steps: u64,
    /// Steps that they took, those of the proof of whole colours left out.
    pub taken: u64,
    /// Words compared.
    pub words: u64,
    /// Words that the reference wrote.
    pub owed: u64,
    /// Of these, words compared.
    pub proved: u64,
    /// The first word that differed.
    pub first: Option<Difference>,
    /// The proof of whole colours. Of it, `mismatches` and `first` count here as well, and nothing else.
    pub whole: Whole,
}

/// The proof of the same entry point without targets, which is owed where a program packs its colours.
#[derive(Clone, Debug, Default)]
pub enum Whole {
    /// Not owed: the program packs none, the plan asks for no such proof, or the first one is none.
    #[default]
    NotOwed,
    /// The machine has no room for it, or not what it needs, as the message says.
    Skipped(String),
    /// What was found.
    Tried(Box<Summary>),
}

impl Summary {
    /// True when nothing differed and enough was compared.
    pub fn holds(&self) -> bool {
        self.mismatches == 0 && self.lack().is_none()
    }

    /// Why what was compared is too little for a proof; `None` where it is enough.
    pub fn lack(&self) -> Option<String> {
        self.lacking().map(|(_, lack)| lack)
    }

    /// What compared too little, this or the proof of whole colours, and why it is too little.
    fn lacking(&self) -> Option<(&Summary, String)> {
        if let Some(lack) = self.own_lack() {
            return Some((self, lack));
        }
        let Whole::Tried(found) = &self.whole else { return None };
        Some((found.as_ref(), format!("without targets, {}", found.own_lack()?)))
    }

    fn own_lack(&self) -> Option<String> {
        if self.counted * 2 < self.inputs {
            return Some(format!(
                "only {} of {} inputs could be compared",
                self.counted, self.inputs
            ));
        }
        if self.owed == 0 {
            return Some("nothing is written on any input, so there is nothing to compare".into());
        }
        if self.proved == 0 || self.proved * 100 < self.owed * SHARE {
            return Some(format!(
                "only {} of the {} words written could be compared",
                self.proved, self.owed
            ));
        }
        None
    }

    /// The line that the command prints.
    pub fn line(&self, target: &str) -> String {
        let whole = match &self.whole {
            Whole::NotOwed => String::new(),
            Whole::Skipped(why) => format!(", without targets no proof: {why}"),
            Whole::Tried(found) => {
                let Summary { proved, owed, .. } = **found;
                format!(", without targets {proved} of {owed} words written compared")
            }
        };
        format!(
            "verified: {target} entry '{}': {} invocations x {} inputs, {} mismatches (racy words {}, out of steps {}){whole}",
            self.entry,
            self.invocations,
            self.inputs,
            self.mismatches,
            self.racy_words,
            self.out_of_steps
        )
    }

    /// The failure that a summary without success is.
    pub fn failure(&self, target: &str) -> Option<Failure> {
        let entry = &self.entry;
        if let Some(first) = &self.first {
            let failure = Failure::mismatch(format!("{target} entry '{entry}': {first}"));
            return Some(
                failure.also(first.span, "the value comes from here").note(self.line(target)),
            );
        }
        let (found, lack) = self.lacking()?;
        let mut failure = Failure::mismatch(format!("{target} entry '{entry}': no proof: {lack}"));
        if found.out_of_steps > 0 {
            failure = failure.note(format!(
                "{} inputs are out of steps: a run has {} in the interpreter, and all runs of the proof, interpreter \
                 and machine together, have {} (--max-steps N sets it; fewer --inputs leave more for each)",
                found.out_of_steps,
                super::LONGEST_RUN,
                found.steps
            ));
        }
        if let Some(at) = found.leaves_at {
            failure = failure.at(at).note(format!(
                "on {} inputs an index lies beyond its array, for which --robust off has no rule",
                found.undefined
            ));
        }
        if found.racy_words > 0 && found.proved < found.owed {
            failure = failure.note(format!(
                "{} words depend on the order of invocations, on a clock or on a rounded level, of which no machine promises any",
                found.owed - found.proved
            ));
        }
        if found.counted * 2 >= found.inputs {
            failure = failure.note(format!(
                "a proof compares at least {SHARE} % of the words that the interpreter writes, and at least one"
            ));
        }
        Some(failure.note(self.line(target)))
    }
}

/// One word that differs.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Number of the input.
    pub input: u32,
    /// Which word, in words.
    pub place: String,
    /// What the reference says.
    pub expected: String,
    /// Who disagrees.
    pub who: String,
    /// What it says.
    pub got: String,
    /// Source of the word, when known.
    pub span: Span,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "input {}: {} is {} in the interpreter and {} {}",
            self.input, self.place, self.expected, self.got, self.who
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twelve inputs, all compared, every word that was written among what was compared.
    fn proof() -> Summary {
        Summary {
            inputs: 12,
            counted: 12,
            words: 100,
            owed: 100,
            proved: 100,
            ..Summary::default()
        }
    }

    #[track_caller]
    fn no_proof(summary: &Summary, words: &[&str]) {
        let failure = summary.failure("a machine").expect("is no proof");
        assert_eq!(failure.exit_code(), 5);
        let text = format!("{failure:?}");
        for word in words {
            assert!(text.contains(word), "{word}: {text}");
        }
    }

    #[test]
    fn fewer_than_half_of_the_inputs_is_no_proof() {
        assert!(proof().holds());
        let few = Summary { counted: 5, out_of_steps: 7, steps: 8000, ..proof() };
        no_proof(&few, &["5 of 12", "7 inputs are out of steps", "8000"]);
        let half = Summary { counted: 6, ..proof() };
        assert!(half.holds());
    }

    #[test]
    fn the_proof_without_targets_is_judged_by_itself() {
        let with = |found| Summary { whole: Whole::Tried(Box::new(found)), ..proof() };
        assert!(with(proof()).holds());
        // Together they would be more than the share.
        let few = Summary { proved: 24, racy_words: 9, ..proof() };
        no_proof(&with(few), &["without targets, only 24 of the 100 words", "76 words depend"]);
        let starved = Summary { counted: 0, proved: 0, out_of_steps: 12, steps: 77, ..proof() };
        no_proof(&with(starved), &["without targets, only 0 of 12 inputs", "have 77"]);
        let skipped = Summary { whole: Whole::Skipped("no room".into()), ..proof() };
        assert!(skipped.holds());
        assert!(skipped.line("a machine").ends_with("without targets no proof: no room"));
    }

    #[test]
    fn no_word_or_less_than_the_share_of_those_written_is_no_proof() {
        let with = |owed, proved, words| Summary { owed, proved, words, racy_words: 1, ..proof() };
        // Words that nobody writes are compared too, but they are no proof of what is computed.
        no_proof(&with(0, 0, 256), &["nothing is written"]);
        no_proof(&with(64, 0, 192), &["0 of the 64 words", "64 words depend on the order"]);
        no_proof(&with(100, 24, 400), &["24 of the 100 words", "25 %"]);
        assert!(with(100, 25, 400).holds());
    }
}
