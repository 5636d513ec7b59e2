//! From places in what naga read to places in what the user wrote, where we rewrote it in between.

use crate::diagnostic::Diagnostic;
use gpucc_ir::ssa::Span;

/// Pieces of the rewritten source by their first byte, each with the user's byte that it stands for.
/// Empty: nothing was rewritten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    pieces: Vec<(u32, u32)>,
    /// What was rewritten before.
    earlier: Option<Box<Places>>,
    /// Texts that stand behind the user's.
    included: Vec<Included>,
}

/// A text that the user's, or an earlier one of these, includes. Its places follow those of the texts before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Included {
    /// What messages call it.
    pub name: String,
    /// The text.
    pub text: String,
    /// The place of its first byte.
    pub base: u32,
    /// Where it is included.
    pub at: Span,
}

impl Places {
    /// Nothing was rewritten.
    pub fn is_same(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Adds a piece; pieces come in ascending order.
    pub fn push(&mut self, rewritten: usize, original: usize) {
        let piece = (rewritten as u32, original as u32);
        let continues =
            self.pieces.last().is_some_and(|last| piece.0 - last.0 == piece.1.wrapping_sub(last.1));
        if !continues {
            self.pieces.push(piece);
        }
    }

    /// What was rewritten was the result of an earlier rewriting.
    pub fn after(&mut self, earlier: Places) {
        match &mut self.earlier {
            Some(own) => own.after(earlier),
            None => self.earlier = Some(Box::new(earlier)),
        }
    }

    /// What was read included these texts.
    pub fn include(&mut self, included: Vec<Included>) {
        self.included = included;
    }

    /// The way back from the texts that were included alone.
    pub fn unmoved(&self) -> Places {
        Places { included: self.included.clone(), ..Places::default() }
    }

    /// The user's place; of what is included that of the `#include`.
    pub fn original(&self, span: Span) -> Span {
        let (mut span, included) = self.exact(span);
        while let Some(text) = text_at(included, span) {
            span = text.at;
        }
        span
    }

    /// The place among all texts, and those that are included.
    fn exact(&self, span: Span) -> (Span, &[Included]) {
        let span = self.before(span);
        match &self.earlier {
            Some(earlier) => earlier.exact(span),
            None => (span, &self.included),
        }
    }

    /// Name, line and column of a place in a text that is included, and where that is included.
    pub fn told(&self, span: Span) -> Option<String> {
        let (mut span, included) = self.exact(span);
        let mut told = String::new();
        let mut depth = 0;
        while let Some(text) = text_at(included, span) {
            depth += 1;
            let at = (span.start - text.base) as usize;
            let before = text.text.get(..at)?;
            let line = before.matches('\n').count();
            let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
            let place = format!("{}:{}:{column}", text.name, line + 1);
            if told.is_empty() {
                let line = text.text.lines().nth(line).unwrap_or_default().trim();
                told = format!("at {place}: {line}");
            } else if depth <= 4 {
                told += &format!(", included at {place}");
            } else {
                told += ", ...";
                break;
            }
            span = text.at;
        }
        (!told.is_empty()).then_some(told)
    }

    fn before(&self, span: Span) -> Span {
        if self.pieces.is_empty() || span.is_none() {
            return span;
        }
        let byte = |at: u32| {
            let index = self.pieces.partition_point(|piece| piece.0 <= at);
            let Some(&(start, original)) = index.checked_sub(1).map(|index| &self.pieces[index])
            else {
                return at;
            };
            // What was put in stands for the place where it was put. Behind what is included the user's text goes on.
            match self.pieces.get(index) {
                Some(next) if next.1 >= original => (original + (at - start)).min(next.1),
                _ => original + (at - start),
            }
        };
        let start = byte(span.start);
        Span { start, end: byte(span.end).max(start + 1) }
    }

    /// Moves the labels of a message.
    pub fn mend(&self, diagnostic: &mut Diagnostic) {
        for label in &mut diagnostic.labels {
            let told = self.told(label.span).filter(|told| !diagnostic.notes.contains(told));
            diagnostic.notes.extend(told);
            label.span = self.original(label.span);
        }
    }
}

/// Bytes that go, and what stands there instead.
pub struct Edit {
    pub at: usize,
    pub removed: usize,
    pub added: String,
}

/// A text after some edits, and the way back. What only adds comes first of two at one place, then the earlier; an
/// edit within another is left out.
pub fn edited(text: &str, mut edits: Vec<Edit>) -> (String, Places) {
    edits.sort_by_key(|edit| (edit.at, edit.removed > 0));
    let mut places = Places::default();
    let mut made = String::with_capacity(text.len() + 64 * edits.len());
    let mut at = 0;
    places.push(0, 0);
    for edit in &edits {
        if edit.at < at {
            continue;
        }
        made.push_str(&text[at..edit.at]);
        places.push(made.len(), edit.at);
        made.push_str(&edit.added);
        at = edit.at + edit.removed;
        places.push(made.len(), at);
    }
    made.push_str(&text[at..]);
    (made, places)
}

/// The text that holds a place.
fn text_at(included: &[Included], span: Span) -> Option<&Included> {
    let index = included.partition_point(|text| text.base <= span.start);
    included.get(index.checked_sub(1)?).filter(|_| !span.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_stands_for_the_place_where_it_was_put() {
        // "abXXXXcd" from "abcd".
        let mut places = Places::default();
        places.push(0, 0);
        places.push(2, 2);
        places.push(6, 2);
        let span = |start, end| Span { start, end };
        assert_eq!(places.original(span(0, 2)), span(0, 2));
        assert_eq!(places.original(span(3, 5)), span(2, 3));
        assert_eq!(places.original(span(6, 8)), span(2, 4));
        assert_eq!(places.original(Span::NONE), Span::NONE);
        assert_eq!(Places::default().original(span(7, 9)), span(7, 9));
    }
}
