//! Static cost of a program: clocks of one thread that runs alone, in order. docs/perf-gen4.md; isa/gen4.md 6.

mod bound;

pub use bound::bound;

/// Clocks in which an instruction of eight channels is issued; a compressed one takes two of them.
const ISSUE: u64 = 2;
/// Clocks of a round of extended math for one channel, as public schedulers count.
const ROUND: u64 = 22;
/// Channels of a message of extended math.
const CHANNELS: u64 = 8;
/// Clocks from a message to the sampler or the data port to its reply.
const MEMORY: u64 = 400;
/// Clocks from another message to its reply.
const REPLY: u64 = 20;
/// How often a loop is taken to run.
const TRIPS: u64 = 10;
/// Loops within each other that count.
const DEEPEST: u32 = 4;

/// Shared functions. Table 14-15.
const MATH: u32 = 1;
const SAMPLER: u32 = 2;
const READ: u32 = 4;
const WRITE: u32 = 5;

/// Opcodes. 13.3.
const DO: u32 = 0x26;
const WHILE: u32 = 0x27;
const SEND: u32 = 0x31;

/// Rounds a channel of each function of extended math. 6.1.2.
const fn rounds(function: u32) -> u64 {
    match function {
        1 => 1,
        5 => 2,
        2 | 4 | 11 | 12 => 3,
        3 | 13 => 4,
        6 | 7 => 6,
        8 => 12,
        _ => 8,
    }
}

/// Instructions that are issued while a message to the sampler or the data port is under way, each of so many registers.
pub fn memory(rows: u32) -> u32 {
    MEMORY as u32 / (ISSUE as u32 * rows)
}

/// Instructions that are issued while extended math computes a function of as many channels as they have.
pub const fn math(function: u32) -> u32 {
    (rounds(function) * CHANNELS * ROUND / ISSUE) as u32
}

/// The general register that an operand names directly: its file, and the upper half of its doubleword's low bits.
fn general(file: u32, operand: u32) -> Option<usize> {
    (file & 3 == 1 && operand >> 15 & 1 == 0).then_some((operand >> 5 & 0xff) as usize)
}

/// What an instruction of four doublewords reads, writes and takes.
struct Step {
    /// Registers that are read: the first, and how many.
    reads: [Option<(usize, usize)>; 2],
    /// Registers that are written.
    write: Option<(usize, usize)>,
    /// Message registers that are read, of a message.
    payload: std::ops::Range<usize>,
    /// The message register that is written, with a compressed instruction's second one.
    message: Option<[usize; 2]>,
    /// Clocks in which it is issued.
    issue: u64,
    /// Clocks of extended math.
    math: u64,
    /// Clocks from the issue to the reply of another function.
    reply: u64,
}

impl Step {
    fn of([d0, d1, d2, d3]: [u32; 4]) -> Step {
        let send = d0 & 0x7f == SEND;
        let halves = if d0 >> 12 & 3 == 2 { 2 } else { 1 };
        let first = general(d1 >> 5, d2 & 0xffff);
        let second = general(d1 >> 10, d3 & 0xffff).filter(|_| !send);
        let replies = if send { halves * (d3 >> 16 & 15) as usize } else { halves };
        let payload = match send {
            true => (d0 >> 24 & 15) as usize..((d0 >> 24 & 15) + (d3 >> 20 & 15)) as usize,
            false => 0..0,
        };
        let named = (d1 >> 21 & 0xf) as usize;
        // COMPR4: the second half goes four registers further. 5.3.3.
        let far = if d1 >> 28 & 1 == 1 { 4 } else { 1 };
        let message = (d1 & 3 == 2).then_some([named, named + if halves == 2 { far } else { 0 }]);
        let (math, reply) = match (send, d3 >> 24 & 15) {
            (false, _) => (0, 0),
            (true, MATH) => (rounds(d3 & 15) * halves as u64 * CHANNELS * ROUND, 0),
            (true, SAMPLER | READ | WRITE) => (0, MEMORY),
            (true, _) => (0, REPLY),
        };
        Step {
            reads: [first, second].map(|read| read.map(|from| (from, halves))),
            write: general(d1, d1 >> 16).map(|to| (to, replies)),
            payload,
            message,
            issue: ISSUE * halves as u64,
            math,
            reply,
        }
    }
}

/// What is known while the thread goes on.
struct Thread {
    now: u64,
    /// When each register is there.
    ready: [u64; 128],
    /// When extended math takes the next message: it computes one after the other.
    math: u64,
}

impl Thread {
    fn wait(&mut self, (from, count): (usize, usize)) {
        let registers = self.ready.iter().skip(from).take(count);
        self.now = registers.copied().fold(self.now, u64::max);
    }

    fn issue(&mut self, step: &Step) {
        // A register that a reply still comes to is waited for.
        for registers in step.reads.into_iter().chain([step.write]).flatten() {
            self.wait(registers);
        }
        self.now += step.issue;
        let mut done = self.now + step.reply;
        if step.math > 0 {
            self.math = self.now.max(self.math) + step.math;
            done = self.math;
        }
        if let Some((to, count)) = step.write {
            self.ready.iter_mut().skip(to).take(count).for_each(|ready| *ready = done);
        }
    }
}

fn step(word: u128) -> Step {
    Step::of([word as u32, (word >> 32) as u32, (word >> 64) as u32, (word >> 96) as u32])
}

/// Counts the clocks of one instruction after the other.
pub struct Clock(Thread);

impl Default for Clock {
    fn default() -> Clock {
        Clock(Thread { now: 0, ready: [0; 128], math: 0 })
    }
}

impl Clock {
    /// Clocks from the issue of the instruction before a native word to that of the word.
    pub fn issue(&mut self, word: u128) -> u64 {
        let before = self.0.now;
        self.0.issue(&step(word));
        self.0.now - before
    }
}

/// The native words of a program, each with how often it is taken to run.
fn words(code: &[u8]) -> impl Iterator<Item = (u128, u64)> {
    let mut depth = 0u32;
    let (words, _) = code.as_chunks::<16>();
    words.iter().map(move |word| {
        let word = u128::from_le_bytes(*word);
        let times = TRIPS.pow(depth.min(DEEPEST));
        match word as u32 & 0x7f {
            DO => depth += 1,
            WHILE => depth = depth.saturating_sub(1),
            _ => {}
        }
        (word, times)
    })
}

/// The clocks of a program of native words. What stands in a loop counts as often as the loop is taken to run.
pub fn clocks(code: &[u8]) -> u64 {
    let mut clock = Clock::default();
    words(code).fold(0, |total: u64, (word, times)| {
        total.saturating_add(clock.issue(word).saturating_mul(times))
    })
}

#[cfg(test)]
mod tests {
    use super::clocks;
    use crate::isa::{Machine, assemble};

    fn of(text: &str) -> u64 {
        clocks(&assemble(Machine::G45, text).expect("it is a program"))
    }

    #[test]
    fn an_instruction_takes_two_clocks_and_a_compressed_one_four() {
        let mov = "mov(8) g2<1>F g4<8,8,1>F { align1 };\n";
        assert_eq!(of(mov), 2);
        assert_eq!(of("mov(16) g2<1>F g4<8,8,1>F { align1 compr };"), 4);
        assert_eq!(of(&mov.repeat(5)), 10);
    }

    #[test]
    fn a_reply_is_waited_for_where_it_is_read() {
        let inverse = "send(8) 1 g10<1>F g4<8,8,1>F 0x01110001 { align1 };\n";
        let other = "mov(8) g2<1>F g4<8,8,1>F { align1 };\n";
        let reader = "mov(8) g3<1>F g10<8,8,1>F { align1 };\n";
        // One round of eight channels.
        assert_eq!(of(&format!("{inverse}{other}")), 4);
        assert_eq!(of(&format!("{inverse}{reader}")), 2 + 176 + 2);
        assert_eq!(of(&format!("{inverse}{other}{other}{reader}")), 2 + 176 + 2);
        // Extended math computes one message after the other.
        let second = inverse.replace("g10", "g11");
        let both = format!("{inverse}{second}mov(8) g3<1>F g11<8,8,1>F {{ align1 }};");
        assert_eq!(of(&both), 2 + 2 * 176 + 2);
        // Both halves of one instruction.
        let wide = "send(16) 2 g10<1>F g4<8,8,1>F 0x01110001 { align1 compr };\n";
        let last = "mov(8) g3<1>F g11<8,8,1>F { align1 };";
        assert_eq!(of(&format!("{wide}{last}")), 4 + 2 * 176 + 2);
        // The same register is written again.
        assert_eq!(of(&format!("{inverse}mov(8) g10<1>F g4<8,8,1>F {{ align1 }};")), 180);
    }

    #[test]
    fn loops_count_ten_times() {
        let body = "mov(8) g2<1>F g4<8,8,1>F { align1 };\n";
        let text = format!("do(8) {{ align1 }};\n{body}while(8) Jump: -1 {{ align1 }};\n{body}");
        assert_eq!(of(&text), 2 + 10 * (2 + 2) + 2);
    }
}
