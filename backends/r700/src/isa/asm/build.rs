//! Lines put together to a program: clauses filled, counted and placed.

use super::{CfText, GroupText, error_at};
use crate::isa::Inst;
use crate::isa::fields::f;
use crate::isa::ops::flag;
use crate::isa::program::MAX_DWORDS;
use crate::isa::program::{Body, Cf, Clause, ClauseId, EncodeError, Program, Raw, encode_program};
use gpucc_isa::lex::{Diagnostic, Token};

/// Puts lines together to a program.
#[derive(Default)]
pub(super) struct Builder<'a> {
    program: Program,
    /// Where each control-flow instruction, clause and raw run stands in the text.
    cf_at: Vec<Token<'a>>,
    clause_at: Vec<ClauseText<'a>>,
    raw_at: Vec<Token<'a>>,
    open: Option<Open<'a>>,
}

/// Where a clause comes from.
struct ClauseText<'a> {
    token: Token<'a>,
    /// Which control-flow instruction starts it.
    cf: usize,
    /// Whether ADDR was said.
    placed: bool,
}

/// The clause that lines are added to.
struct Open<'a> {
    cf: CfText<'a>,
    body: Body,
    group: Option<GroupText<'a>>,
}

impl<'a> Builder<'a> {
    pub(super) fn cf(
        &mut self,
        cf: CfText<'a>,
        at: Option<u32>,
        token: Token<'a>,
    ) -> Result<(), Diagnostic> {
        self.close(token)?;
        let next = self.program.cf.last().map_or(0, |last| last.at + 1);
        let at = at.unwrap_or(next);
        if at < next || at >= MAX_DWORDS / 2 {
            return Err(error_at(
                token,
                format!("expected an address from {next} to {}, found {token}", MAX_DWORDS / 2 - 1),
            ));
        }
        self.program.cf.push(Cf { at, inst: cf.inst, clause: None });
        self.cf_at.push(cf.name);
        let op = cf.inst.op();
        if op.has(flag::ALU_CLAUSE) {
            self.open = Some(Open { cf, body: Body::Alu(Vec::new()), group: None });
        } else if op.has(flag::FETCH_CLAUSE) {
            self.open = Some(Open { cf, body: Body::Fetch(Vec::new()), group: None });
        }
        Ok(())
    }

    pub(super) fn in_fetch_clause(&self) -> bool {
        matches!(&self.open, Some(Open { body: Body::Fetch(_), .. }))
    }

    pub(super) fn fetch(&mut self, inst: Inst) {
        if let Some(Open { body: Body::Fetch(fetches), .. }) = &mut self.open {
            fetches.push(inst);
        }
    }

    /// The group that a slot line belongs to.
    pub(super) fn group(
        &mut self,
        starts: bool,
        token: Token<'a>,
    ) -> Result<&mut GroupText<'a>, Diagnostic> {
        let Some(Open { body: Body::Alu(groups), group, .. }) = &mut self.open else {
            return Err(error_at(token, "a slot stands in a clause, below ALU"));
        };
        if starts && let Some(done) = group.take() {
            groups.push(done.finish(token)?);
        }
        Ok(group.get_or_insert_with(GroupText::default))
    }

    pub(super) fn raw(&mut self, at: u32, words: Vec<u32>, token: Token<'a>) {
        self.program.raw.push(Raw { at, words });
        self.raw_at.push(token);
    }

    /// Ends the open clause.
    pub(super) fn close(&mut self, token: Token<'a>) -> Result<(), Diagnostic> {
        let Some(mut open) = self.open.take() else {
            return Ok(());
        };
        if let (Some(group), Body::Alu(groups)) = (open.group.take(), &mut open.body) {
            groups.push(group.finish(token)?);
        }
        let count = open.body.count();
        if count == 0 {
            return Ok(());
        }
        let place = self.program.cf.len() - 1;
        let cf = &mut self.program.cf[place];
        let said = cf.inst.get(f::COUNT) + 1;
        if open.cf.count && said != count {
            let message = format!("COUNT is {said}, but the clause has {count}");
            return Err(error_at(open.cf.name, message));
        }
        cf.inst.set(f::COUNT, count - 1).map_err(|_| {
            let most = cf.inst.op().format.field(f::COUNT).map_or(0, |field| 1u32 << field.width());
            error_at(
                open.cf.name,
                format!("the clause has {count} instruction slots, it can have {most}"),
            )
        })?;
        let id = ClauseId(self.program.clauses.len() as u32);
        cf.clause = Some(id);
        self.program.clauses.push(Clause { at: cf.inst.get(f::ADDR), body: open.body });
        self.clause_at.push(ClauseText { token: open.cf.name, cf: place, placed: open.cf.addr });
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Vec<u32>, Diagnostic> {
        let mut dwords = 0;
        for (cf, token) in self.program.cf.iter().zip(&self.cf_at) {
            dwords = dwords.max(check_end(2 * u64::from(cf.at) + 2, *token)?);
        }
        for (raw, token) in self.program.raw.iter().zip(&self.raw_at) {
            dwords = dwords.max(check_end(u64::from(raw.at) + raw.words.len() as u64, *token)?);
        }
        let clauses = self.program.clauses.iter().zip(&self.clause_at);
        for (clause, text) in clauses.filter(|(_, text)| text.placed) {
            dwords = dwords.max(clause_end(clause, text.token)?);
        }
        self.program.dwords = self.place(dwords)?;
        encode_program(&self.program).map_err(|error| self.locate(&error))
    }

    /// Gives addresses to clauses that have none, after the `dwords` of everything that has one; the new end.
    fn place(&mut self, mut dwords: u32) -> Result<u32, Diagnostic> {
        let clauses = self.program.clauses.iter_mut().zip(&self.clause_at);
        for (clause, text) in clauses.filter(|(_, text)| !text.placed) {
            let qwords = match clause.body {
                Body::Alu(_) => dwords.div_ceil(2),
                Body::Fetch(_) => dwords.div_ceil(2).next_multiple_of(2),
            };
            clause.at = qwords;
            dwords = clause_end(clause, text.token)?;
            let cf = &mut self.program.cf[text.cf].inst;
            cf.set(f::ADDR, qwords).map_err(|error| error_at(text.token, error.to_string()))?;
        }
        Ok(dwords)
    }

    /// An encoding error at the last part of the text that covers the place.
    fn locate(&self, error: &EncodeError) -> Diagnostic {
        let at = match error {
            EncodeError::Overlap { at }
            | EncodeError::Outside { at, .. }
            | EncodeError::Literals { at, .. }
            | EncodeError::Last { at } => *at,
        };
        let mut parts = Vec::new();
        for (cf, token) in self.program.cf.iter().zip(&self.cf_at) {
            parts.push((u64::from(cf.at) * 2, 2, *token));
        }
        for (clause, text) in self.program.clauses.iter().zip(&self.clause_at) {
            let dwords = u64::from(clause.body.qwords()) * 2;
            parts.push((u64::from(clause.at) * 2, dwords, text.token));
        }
        for (raw, token) in self.program.raw.iter().zip(&self.raw_at) {
            parts.push((raw.at.into(), raw.words.len() as u64, *token));
        }
        let covers = |(start, dwords, _): &&(u64, u64, _)| (*start..start + dwords).contains(&at);
        let token = parts.iter().rev().find(covers);
        match token {
            Some((_, _, token)) => error_at(*token, error.to_string()),
            None => Diagnostic { line: 1, column: 1, message: error.to_string() },
        }
    }
}

fn clause_end(clause: &Clause, token: Token<'_>) -> Result<u32, Diagnostic> {
    let qwords = u64::from(clause.at) + u64::from(clause.body.qwords());
    check_end(2 * qwords, token)
}

fn check_end(end: u64, token: Token<'_>) -> Result<u32, Diagnostic> {
    if end > u64::from(MAX_DWORDS) {
        return Err(error_at(
            token,
            format!("the program would have {end} dwords, at most {MAX_DWORDS}"),
        ));
    }
    Ok(end as u32)
}
