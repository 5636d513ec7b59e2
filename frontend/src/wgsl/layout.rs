//! `@align` of a member raises the alignment of its structure wherever that stands (WGSL 14.4.1).
//!
//! naga forgets it outside of the structure itself. There the member that holds the structure, or arrays of it, gets
//! an attribute that says it.

use super::constants::Reader;
use crate::places::Edit;
use crate::stop::{READING, Stop};
use gpucc_ir::Map;
use gpucc_ir::ssa::Span;

/// Structures within structures.
const DEPTH: u32 = 128;

/// The alignment of a type, and what naga takes it for.
#[derive(Copy, Clone)]
struct Alignment {
    right: u64,
    nagas: u64,
}

struct Layouts<'r, 't, 'a> {
    reader: &'r mut Reader<'t, 'a>,
    known: Map<&'a str, Option<Alignment>>,
    edits: Vec<Edit>,
    depth: u32,
}

/// The attributes that are missing.
///
/// # Errors
/// An alignment that is smaller than its member's type needs, and one that is not understood where it matters.
pub fn alignments(reader: &mut Reader<'_, '_>) -> Result<Vec<Edit>, Stop> {
    let names = reader.structures();
    let mut layouts = Layouts { reader, known: Map::default(), edits: Vec::new(), depth: 0 };
    for name in names {
        layouts.structure(name)?;
    }
    Ok(layouts.edits)
}

impl<'a> Layouts<'_, '_, 'a> {
    /// `None` for what has no alignment that is known.
    fn structure(&mut self, name: &'a str) -> Result<Option<Alignment>, Stop> {
        if let Some(&known) = self.known.get(name) {
            return Ok(known);
        }
        let Some(open) = self.reader.structure(name) else {
            return Ok(None);
        };
        // A structure that holds itself; naga says so.
        self.known.insert(name, None);
        let close = self.reader.partner(open);
        let mut whole = Some(Alignment { right: 1, nagas: 1 });
        let mut at = open + 1;
        while at < close && whole.is_some() {
            let (member, next) = self.member(at, close)?;
            whole = whole.zip(member).map(|(whole, member)| Alignment {
                right: whole.right.max(member.right),
                nagas: whole.nagas.max(member.nagas),
            });
            at = next;
        }
        self.known.insert(name, whole);
        Ok(whole)
    }

    /// The alignment of the member that begins at a token, and the token behind it.
    fn member(&mut self, start: usize, close: usize) -> Result<(Option<Alignment>, usize), Stop> {
        let tokens = self.reader.tokens;
        let mut at = start;
        let mut given = None;
        while tokens.word(at) == "@" && at < close {
            let bracket = tokens.word(at + 2) == "(";
            if tokens.word(at + 1) == "align" && bracket {
                given = Some(at + 3);
            }
            at = if bracket { self.reader.partner(at + 2) + 1 } else { at + 2 };
        }
        let name = at;
        let (ty, end) = match tokens.word(name + 1) == ":" {
            true => (self.ty(name + 2)?, tokens.member_end(name + 2)),
            false => (None, close),
        };
        let next = end.min(close) + 1;
        let Some(ty) = ty else {
            return Ok((None, next));
        };
        let raised = ty.right != ty.nagas;
        let Some(given) = given else {
            if raised {
                let added = format!("@align({}) ", ty.right);
                self.edits.push(Edit { at: tokens.start(start) as usize, removed: 0, added });
            }
            // What naga finds in the type, not the attribute, is what it hands on.
            return Ok((Some(ty), next));
        };
        let last = self.reader.partner(given - 1).saturating_sub(1).max(given);
        let span = Span {
            start: tokens.start(given),
            end: tokens.start(last) + tokens.word(last).len() as u32,
        };
        let Some(value) = self.reader.integer(given).and_then(|value| u64::try_from(value).ok())
        else {
            let feature = "`@align` of a value that is not computed here";
            return Err(Stop::unsupported(feature, READING).at(span));
        };
        if raised && value < ty.right {
            let least = ty.right;
            let message =
                format!("the alignment is {value}, and the type of the member needs {least}");
            return Err(Stop::invalid(message).at(span));
        }
        Ok((Some(Alignment { right: ty.right.max(value), ..ty }), next))
    }

    /// The alignment of the type that begins at a token.
    fn ty(&mut self, at: usize) -> Result<Option<Alignment>, Stop> {
        if self.depth > DEPTH {
            return Ok(None);
        }
        self.depth += 1;
        let tokens = self.reader.tokens;
        let name = tokens.word(at);
        let template = tokens.word(at + 1) == "<";
        let found = if let Some(alias) = self.reader.alias(name) {
            self.ty(alias)
        } else if self.reader.structure(name).is_some() {
            self.structure(name)
        } else if matches!(name, "array" | "atomic") && template {
            self.ty(at + 2)
        } else {
            let component = if template { self.ty(at + 2)? } else { None };
            Ok(builtin(name, component))
        };
        self.depth -= 1;
        found
    }
}

/// Types that the language has. Vectors of three are aligned as those of four, and matrices as their columns.
fn builtin(name: &str, component: Option<Alignment>) -> Option<Alignment> {
    let of = |right| Some(Alignment { right, nagas: right });
    let rows = match name {
        "f16" => return of(2),
        "i32" | "u32" | "f32" | "bool" => return of(4),
        "i64" | "u64" | "f64" => return of(8),
        _ if name.starts_with("vec") => name.get(3..4)?,
        _ if name.starts_with("mat") => name.get(5..6)?,
        _ => return None,
    };
    let width = match component {
        Some(component) => component.right,
        None if name.ends_with('h') => 2,
        None => 4,
    };
    match rows {
        "2" => of(2 * width),
        "3" | "4" => of(4 * width),
        _ => None,
    }
}
