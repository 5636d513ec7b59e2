//! Which cells of a file hold something at some time.

use smallvec::SmallVec;

/// A set of cells, one bit each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Named(SmallVec<[u64; 4]>);

impl Named {
    pub fn insert(&mut self, cell: u16) {
        let word = usize::from(cell / 64);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (cell % 64);
    }

    fn word(&self, at: usize) -> u64 {
        self.0.get(at).copied().unwrap_or(0)
    }

    /// The 64 cells from `first` on: cell `first + i` is bit `i`.
    #[inline]
    pub fn window(&self, first: u16) -> u64 {
        let (word, shift) = (usize::from(first / 64), u32::from(first % 64));
        let low = self.word(word) >> shift;
        // A shift by 64 is none: the second word is not looked at then.
        let high = self.word(word + 1).checked_shl(64 - shift).unwrap_or(0);
        low | high
    }

    #[inline]
    pub fn contains(&self, cell: u16) -> bool {
        self.window(cell) & 1 != 0
    }

    /// The first cell from which on none is in the set.
    pub fn end(&self) -> u16 {
        let last = self.0.iter().rposition(|&word| word != 0);
        last.map_or(0, |at| (64 * at) as u16 + (64 - self.0[at].leading_zeros()) as u16)
    }

    /// How many cells are in the set.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

impl FromIterator<u16> for Named {
    fn from_iter<T: IntoIterator<Item = u16>>(cells: T) -> Named {
        let mut named = Named::default();
        cells.into_iter().for_each(|cell| named.insert(cell));
        named
    }
}

#[cfg(test)]
mod tests {
    use super::Named;

    #[test]
    fn windows_begin_anywhere() {
        let cells = [0, 3, 63, 64, 100, 191];
        let named: Named = cells.into_iter().collect();
        for first in 0..300u16 {
            for bit in 0..64 {
                let wanted = cells.contains(&(first + bit));
                assert_eq!(named.window(first) >> bit & 1 != 0, wanted, "{first} + {bit}");
            }
        }
        assert_eq!((named.len(), named.end()), (6, 192));
        assert_eq!((Named::default().len(), Named::default().end()), (0, 0));
    }
}
