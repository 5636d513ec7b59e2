//! A program as a driver uploads it: each word must be an instruction of the chip, whether a run reaches it or not. Whatever
//! lanes do, another run may reach it.

use super::rule::{Rule, Trap};
use super::{Model, check, decode};

/// Looks at all words of a program.
///
/// # Errors
/// The rule that the first wrong one breaks, at its byte.
pub fn admit(model: Model, code: &[u8]) -> Result<(), Trap> {
    let mut offset = 0;
    while let Some(rest) = code.get(offset..).filter(|rest| !rest.is_empty()) {
        let trap = |(rule, detail): decode::Broken| Trap::new(rule, offset as u32, detail);
        let word = |bytes: usize| {
            let short = || Trap::new(Rule::Code, offset as u32, "a word is cut off");
            let bytes = rest.get(..bytes).ok_or_else(short)?;
            Ok(bytes.iter().rev().fold(0u128, |word, byte| word << 8 | u128::from(*byte)))
        };
        let compact = decode::is_compact(word(4)? as u32);
        let (read, bytes) = if compact {
            (decode::compact(model, word(8)? as u64), 8)
        } else {
            (decode::native(model, word(16)?), 16)
        };
        let inst = read.map_err(trap)?;
        check::instruction(model, &inst).map_err(trap)?;
        offset += bytes;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Machine, assemble};

    #[test]
    fn a_word_that_no_run_reaches_is_looked_at() {
        let code = |last: &str| {
            let text = format!("jmpi(1) 1D {{ align1 nomask }};\n{last}\nnop;");
            assemble(Machine::G45, &text).expect("a program")
        };
        assert!(admit(Model::G45, &code("mov(8) g10<1>F g2<8,8,1>F { align1 };")).is_ok());
        let wrong = admit(Model::G45, &code("endif(8) Pop: 0;")).expect_err("a wrong word");
        assert_eq!((wrong.rule, wrong.offset), (Rule::PopCount, 16));
        let whole = code("nop;");
        assert!(admit(Model::G45, &whole[..whole.len() - 4]).is_err());
    }
}
