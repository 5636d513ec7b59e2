//! Clocks that no order of a program's instructions goes below.

use super::{Step, step, words};

/// Opcodes of branches and of what joins them: they end a piece of straight code. 13.3.
const FLOW: std::ops::RangeInclusive<u128> = 0x20..=0x2f;

/// A piece of straight code. Its instructions may stand in any order that keeps what each one reads, and in any registers:
/// names that are used again do not count.
struct Piece {
    /// When each general register's value is there, counted from the piece's start.
    ready: [u64; 128],
    /// When what a message register holds is there.
    held: [u64; 16],
    issue: u64,
    /// When the last instruction of the longest chain has been issued.
    path: u64,
    /// Extended math whose results the piece itself reads, so that it ends behind them.
    awaited: u64,
    /// Clocks of extended math that each general register's value comes from and nothing has read yet.
    unread: [u64; 128],
}

impl Piece {
    const NEW: Piece =
        Piece { ready: [0; 128], held: [0; 16], issue: 0, path: 0, awaited: 0, unread: [0; 128] };

    fn add(&mut self, step: &Step) {
        let mut from = 0;
        for (first, count) in step.reads.into_iter().flatten() {
            for register in first..(first + count).min(self.ready.len()) {
                from = from.max(self.ready[register]);
                self.awaited += std::mem::take(&mut self.unread[register]);
            }
        }
        for held in self.held.iter().take(step.payload.end).skip(step.payload.start) {
            from = from.max(*held);
        }
        let issued = from + step.issue;
        let done = issued + step.math + step.reply;
        self.issue += step.issue;
        self.path = self.path.max(issued);
        if let Some((to, count)) = step.write {
            for register in to..(to + count).min(self.ready.len()) {
                self.ready[register] = done;
                self.unread[register] = 0;
            }
            if let Some(unread) = self.unread.get_mut(to) {
                *unread = step.math;
            }
        }
        for register in step.message.into_iter().flatten() {
            if let Some(held) = self.held.get_mut(register) {
                *held = done;
            }
        }
    }
}

/// The clocks that a program of native words takes at least, and what bounds most of them: `issue`, `math` (extended math
/// computes one message after the other) or `latency` (a chain of instructions that read each other's results).
pub fn bound(code: &[u8]) -> (u64, &'static str) {
    let mut bounds = Bounds::default();
    let mut piece = Piece::NEW;
    let mut often = 1;
    for (word, times) in words(code) {
        piece.add(&step(word));
        often = times;
        if FLOW.contains(&(word & 0x7f)) {
            bounds.add(&std::mem::replace(&mut piece, Piece::NEW), times);
        }
    }
    bounds.add(&piece, often);
    let Bounds([issue, math, latency]) = bounds;
    let unit = match issue.max(math).max(latency) {
        most if most == issue => "issue",
        most if most == math => "math",
        _ => "latency",
    };
    (issue.saturating_add(math).saturating_add(latency), unit)
}

/// Clocks of the pieces that each unit bounds: issue, extended math, and latency.
#[derive(Default)]
struct Bounds([u64; 3]);

impl Bounds {
    fn add(&mut self, piece: &Piece, times: u64) {
        let bounds = [piece.issue, piece.awaited, piece.path];
        let mut unit = 0;
        for (at, bound) in bounds.iter().enumerate() {
            if *bound > bounds[unit] {
                unit = at;
            }
        }
        self.0[unit] = self.0[unit].saturating_add(bounds[unit].saturating_mul(times));
    }
}

#[cfg(test)]
mod tests {
    use super::super::clocks;
    use super::bound;
    use crate::isa::{Machine, assemble};

    fn of(text: &str) -> (u64, &'static str) {
        let code = assemble(Machine::G45, text).expect("it is a program");
        let (least, unit) = bound(&code);
        assert!(least <= clocks(&code), "{least} of {}", clocks(&code));
        (least, unit)
    }

    const MOV: &str = "mov(8) g2<1>F g4<8,8,1>F { align1 };\n";

    #[test]
    fn issue_bounds_what_waits_for_nothing() {
        assert_eq!(of(&MOV.repeat(5)), (10, "issue"));
    }

    #[test]
    fn extended_math_bounds_messages_whose_results_are_read() {
        let inverse = "send(8) 1 g10<1>F g4<8,8,1>F 0x01110001 { align1 };\n";
        let second = inverse.replace("g10", "g11");
        let both = "add(8) g3<1>F g10<8,8,1>F g11<8,8,1>F { align1 };\n";
        assert_eq!(of(&format!("{inverse}{second}{both}")), (2 * 176, "math"));
        // What nothing reads is waited for by nothing.
        assert_eq!(of(&format!("{inverse}{second}")), (4, "issue"));
    }

    #[test]
    fn a_chain_bounds_through_registers_and_messages() {
        let payload = "mov(8) m1<1>F g4<8,8,1>F { align1 };\n";
        let inverse = "send(8) 1 g10<1>F null<8,8,1>F 0x01110001 { align1 };\n";
        let again = "mul(8) m1<1>F g10<8,8,1>F g10<8,8,1>F { align1 };\n";
        let reader = "mov(8) g3<1>F g10<8,8,1>F { align1 };\n";
        let text = format!("{payload}{inverse}{again}{inverse}{reader}");
        assert_eq!(of(&text), (2 + 2 + 176 + 2 + 2 + 176 + 2, "latency"));
    }

    #[test]
    fn loops_count_ten_times_and_end_pieces() {
        let text = format!("do(8) {{ align1 }};\n{MOV}while(8) Jump: -1 {{ align1 }};\n{MOV}");
        assert_eq!(of(&text), (2 + 10 * (2 + 2) + 2, "issue"));
    }
}
