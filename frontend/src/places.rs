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
}

impl Places {
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

    /// The user's place.
    pub fn original(&self, span: Span) -> Span {
        let span = self.before(span);
        match &self.earlier {
            Some(earlier) => earlier.original(span),
            None => span,
        }
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
            // What was put in stands for the place where it was put.
            match self.pieces.get(index) {
                Some(next) => (original + (at - start)).min(next.1.max(original)),
                None => original + (at - start),
            }
        };
        let start = byte(span.start);
        Span { start, end: byte(span.end).max(start + 1) }
    }

    /// Moves the labels of a message.
    pub fn mend(&self, diagnostic: &mut Diagnostic) {
        for label in &mut diagnostic.labels {
            label.span = self.original(label.span);
        }
    }
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
