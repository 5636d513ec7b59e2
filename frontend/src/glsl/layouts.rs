//! Layouts of blocks that naga has no words for: places of members, rows before columns, matrices of
//! two rows where a column fills four words.

use super::text::Work;
use gpucc_ir::Map;

/// A member whose place the text says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The block's name.
    pub block: String,
    /// The member's.
    pub member: String,
    /// Its first byte.
    pub offset: u32,
}

/// What a block says of all of its members.
#[derive(Copy, Clone)]
struct Block<'a> {
    name: &'a str,
    /// The name in front of its members, if it has one.
    instance: &'a str,
    instances: usize,
    rows: bool,
    std140: bool,
}

/// Columns and rows of a matrix type of 32-bit floats.
fn matrix(ty: &str) -> Option<(u32, u32)> {
    let shape = ty.strip_prefix("mat")?;
    let digit = |at: usize| {
        let digit = shape.as_bytes().get(at)?.wrapping_sub(b'0');
        (2..=4).contains(&digit).then_some(u32::from(digit))
    };
    match (digit(0)?, shape.as_bytes().get(1), shape.len()) {
        (columns, None, 1) => Some((columns, columns)),
        (columns, Some(b'x'), 3) => Some((columns, digit(2)?)),
        _ => None,
    }
}

impl<'a> Work<'a> {
    /// Takes such layouts out of blocks of uniforms and buffers.
    pub fn layouts(&mut self) {
        let mut index = 0;
        while index + 2 < self.tokens.len() {
            let interface =
                matches!(self.word(index), "uniform" | "buffer") && self.depth(index) == 0;
            let mut open = index + 1;
            while interface
                && matches!(
                    self.word(open),
                    "readonly" | "writeonly" | "coherent" | "volatile" | "restrict"
                )
            {
                open += 1;
            }
            if !interface || !self.is_word(open) || self.word(open + 1) != "{" {
                index += 1;
                continue;
            }
            let Some(close) = self.closing(open + 1) else {
                return;
            };
            self.block(index, open + 1, close);
            index = close;
        }
    }

    fn block(&mut self, index: usize, open: usize, close: usize) {
        let first = self.declaration_start(index);
        let says = |work: &Self, word: &str| (first..index).any(|at| work.word(at) == word);
        let is_name = self.is_word(close + 1);
        let end = self.after_index(close + 2);
        let block = Block {
            name: self.word(open - 1),
            instance: if is_name { self.word(close + 1) } else { "" },
            instances: self.between(close + 2, end).matches('[').count(),
            rows: says(self, "row_major"),
            std140: !says(self, "std430")
                && !says(self, "push_constant")
                && (self.word(index) == "uniform" || says(self, "std140")),
        };
        let mut rows_left = false;
        let mut at = open + 1;
        while at < close {
            let end = (at..close).find(|&end| self.word(end) == ";");
            let Some(end) = end else { break };
            rows_left |= !self.member(block, at, end);
            at = end + 1;
        }
        let mut gone = vec!["column_major"];
        if !rows_left {
            gone.push("row_major");
        }
        self.drop_from_layout(first, index, &gone);
    }

    /// One declaration in a block; false where rows stay before columns.
    fn member(&mut self, block: Block<'a>, first: usize, end: usize) -> bool {
        let mut rows = block.rows;
        let mut ty = first;
        let mut offset = None;
        if self.word(ty) == "layout" {
            let Some(close) = self.closing(ty + 1) else {
                return false;
            };
            for at in ty..close {
                match self.word(at) {
                    "row_major" => rows = true,
                    "column_major" => rows = false,
                    "offset" => offset = self.word(at + 2).parse::<u32>().ok(),
                    _ => {}
                }
            }
            ty = close + 1;
        }
        while matches!(
            self.word(ty),
            "highp"
                | "mediump"
                | "lowp"
                | "readonly"
                | "writeonly"
                | "restrict"
                | "coherent"
                | "volatile"
        ) {
            ty += 1;
        }
        let shape = matrix(self.word(ty));
        let columns = self.after_index(ty + 1);
        let name = self.word(columns);
        let plain = self.is_word(columns) && self.after_index(columns + 1) == end;
        let mut gone = vec!["column_major"];
        if let (Some(offset), true) = (offset, plain) {
            self.placed.push(Placed {
                block: block.name.to_owned(),
                member: name.to_owned(),
                offset,
            });
            gone.push("offset");
        }
        let mut done = !rows;
        if let (Some((columns_count, rows_count)), true) = (shape, plain) {
            // As it lies: vectors, and how many.
            let (vectors, length) =
                if rows { (rows_count, columns_count) } else { (columns_count, rows_count) };
            let narrow = length == 2 && block.std140;
            if (rows || narrow)
                && self.rewrite_member(block, columns, end, ty, rows, narrow, vectors, length)
            {
                done = true;
            }
        } else if rows && shape.is_none() && is_no_matrix(self.word(ty)) {
            done = true;
        }
        if done {
            gone.push("row_major");
        }
        if self.word(first) == "layout" {
            self.drop_from_layout(first, end, &gone);
        }
        done
    }

    /// Declares a matrix as it lies and puts every use into what makes it whole.
    #[expect(clippy::too_many_arguments)]
    fn rewrite_member(
        &mut self,
        block: Block<'a>,
        name: usize,
        end: usize,
        ty: usize,
        rows: bool,
        narrow: bool,
        vectors: u32,
        length: u32,
    ) -> bool {
        let own = self.between(name + 1, end);
        let dims = self.between(ty + 1, name);
        let levels = own.matches('[').count() + dims.matches('[').count();
        let Some(uses) = self.paths(block, name, levels) else {
            return false;
        };
        let whole = format!("mat{vectors}x{length}");
        if narrow {
            self.replace_exactly(ty, &format!("vec{length}"));
            let at = self.tokens[end - 1].end;
            self.insert(at, format!("[{vectors}]"));
        } else {
            self.replace_exactly(ty, &whole);
        }
        for (start, after) in uses {
            let path = self.between(start, after).to_owned();
            let mut text = path.clone();
            if narrow {
                let parts: Vec<String> = (0..vectors).map(|k| format!("{path}[{k}]")).collect();
                text = format!("{whole}({})", parts.join(", "));
            }
            if rows {
                text = format!("transpose({text})");
            }
            self.replace_text(start, after - 1, &text);
        }
        true
    }

    /// The places that read a member, with its indices; `None` where that is not all that is done with it.
    fn paths(
        &self,
        block: Block<'a>,
        declared: usize,
        levels: usize,
    ) -> Option<Vec<(usize, usize)>> {
        let name = self.word(declared);
        let mut found = Vec::new();
        for &at in self.uses(name) {
            if at == declared {
                continue;
            }
            let before = at.checked_sub(1).map_or("", |before| self.word(before));
            let start = match (block.instance, before) {
                ("", ".") => continue,
                ("", _) => {
                    let keyword = matches!(before, "return" | "else" | "do" | "case");
                    if at > 0 && self.is_word(at - 1) && !keyword {
                        return None;
                    }
                    at
                }
                (instance, ".") => {
                    let mut start = at - 2;
                    for _ in 0..block.instances {
                        start = self.opening(start)?.checked_sub(1)?;
                    }
                    if self.word(start) != instance {
                        continue;
                    }
                    start
                }
                _ => continue,
            };
            let mut end = at + 1;
            for _ in 0..levels {
                if self.word(end) != "[" {
                    return None;
                }
                end = self.closing(end)? + 1;
            }
            // What is written cannot be put into a function.
            let mut after = self.after_index(end);
            while self.word(after) == "." {
                after = self.after_index(after + 2);
            }
            let operator =
                matches!(self.word(after), "+" | "-" | "*" | "/") && self.word(after + 1) == "=";
            let assigns = self.word(after) == "=" && self.word(after + 1) != "=";
            if operator || assigns {
                return None;
            }
            found.push((start, end));
        }
        Some(found)
    }
}

fn is_no_matrix(ty: &str) -> bool {
    ["float", "int", "uint", "bool", "double", "vec", "ivec", "uvec", "bvec"]
        .iter()
        .any(|prefix| ty.starts_with(prefix))
}

/// Moves members to where the text says; those behind follow.
pub fn place(module: &mut naga::Module, placed: &[Placed]) {
    if placed.is_empty() {
        return;
    }
    let mut layouter = naga::proc::Layouter::default();
    if layouter.update(module.to_ctx()).is_err() {
        return;
    }
    let mut offsets: Map<(&str, &str), u32> = Map::default();
    for one in placed {
        offsets.insert((&one.block, &one.member), one.offset);
    }
    let structs: Vec<_> = module
        .types
        .iter()
        .filter(|(_, ty)| matches!(ty.inner, naga::TypeInner::Struct { .. }))
        .map(|(handle, ty)| (handle, ty.clone()))
        .collect();
    for (handle, mut ty) in structs {
        let (Some(block), naga::TypeInner::Struct { members, span }) = (&ty.name, &mut ty.inner)
        else {
            continue;
        };
        let mut moved = 0i64;
        let mut any = false;
        for member in members.iter_mut() {
            let name = member.name.as_deref().unwrap_or_default();
            let said = offsets.get(&(block.as_str(), name)).copied();
            let natural = i64::from(member.offset);
            if let Some(offset) = said {
                moved = i64::from(offset) - natural;
                any = true;
            } else if moved != 0 {
                // Blocks align arrays and structures to 16 bytes at least as their offsets tell.
                let mut align = i64::from(layouter[member.ty].alignment.round_up(1).max(4));
                if natural % 16 == 0
                    && !matches!(module.types[member.ty].inner, naga::TypeInner::Scalar(_))
                {
                    align = align.max(1);
                }
                moved = (natural + moved + align - 1) / align * align - natural;
            }
            member.offset = (natural + moved).clamp(0, i64::from(u32::MAX)) as u32;
        }
        *span = (i64::from(*span) + moved.max(0)).clamp(0, i64::from(u32::MAX)) as u32;
        *span = span.div_ceil(16).saturating_mul(16);
        if any {
            module.types.replace(handle, ty);
        }
    }
}
