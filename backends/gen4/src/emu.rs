//! The strict emulator of Intel Gen4 (965) and G45.
//!
//! It reads bytes: words of a program, commands and state in memory. It shares no table with the assembler
//! and no code with the legality rules. A run ends with the name of the rule where the manual forbids, or
//! leaves undefined, what the program does.
//!
//! | file | what |
//! |---|---|
//! | `rule` | the rules, by name |
//! | `message` | what passes between a thread and a shared function |
//! | `run` | the bound of a run |
//! | `decode`, `compact` | words to instructions |
//! | `check` | what the manual forbids of an instruction |
//! | `rows` | the elements of a source |
//! | `value`, `float`, `alu` | elements, floats, and one channel's operation |
//! | `register`, `control` | register files, hazards; masks and control flow |
//! | `whole` | a program that is uploaded |
//! | `thread`, `execute`, `send` | a thread: its steps, regions, messages |
//! | `memory`, `surface`, `state` | memory with its caches; surface states; what commands have set |
//! | `color` | blending, the depth buffer, and what they make of a pixel thread's payload |
//! | `functions` | the shared functions: extended math, sampler, data port, URB, gateway, thread spawner |
//! | `dispatch` | threads in flight and their order |
//! | `gpu` | the chip: commands, and the units that start threads |
//! | `undocumented` | what no document settles, and what is done |

mod alu;
mod check;
mod color;
mod compact;
mod control;
mod decode;
mod dispatch;
mod execute;
mod float;
mod functions;
mod gpu;
mod memory;
mod message;
mod register;
mod rows;
mod rule;
mod run;
mod send;
mod state;
mod surface;
#[cfg(test)]
mod tests;
mod thread;
mod undocumented;
mod value;
mod whole;

pub use gpu::{Emitted, Given, Gpu, Left, Object, Placed, Subspan};
pub use memory::{Bytes, Memory, Refused, Through};
pub use message::{Message, Register, Reply, Sender, SharedFunctions, Unit};
pub use rule::{Rule, Trap};
pub use run::Run;
pub use thread::{Start, Status, Thread};
pub use whole::admit;

/// The chip.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Model {
    /// 965: Gen4, gen4 of the public assembler.
    I965,
    /// GM965: as the 965, with stacks of masks that are half as deep.
    Gm965,
    /// G45: Gen4.5.
    G45,
}

impl Model {
    /// One of the first two: [DevBW, DevCL] of the manual.
    pub const fn is_early(self) -> bool {
        !matches!(self, Model::G45)
    }

    /// Masks that each stack holds. Table 11-16: what exceeds the trigger is lost.
    const fn mask_depth(self) -> u8 {
        match self {
            Model::I965 => 15,
            Model::Gm965 => 7,
            Model::G45 => 12,
        }
    }
}
