//! The message gateway: bytes and notifications from thread to thread. G45 vol. 4, chapter 7.

use super::super::memory::Refused;
use super::super::message::{Message, Register, Reply};
use super::super::rule::Rule;
use super::{Functions, defined};
use std::collections::BTreeMap;

/// What a thread gets from another one.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The thread.
    pub thread: u32,
    /// A register, what is written there, and the bytes that are.
    pub data: Option<(u32, Register, u32)>,
    /// Its notification counter counts.
    pub notify: bool,
}

/// An open gateway.
#[derive(Copy, Clone, Debug)]
struct Open {
    base: u32,
    registers: u32,
    key: u32,
}

/// The gateways of the threads in flight.
#[derive(Clone, Debug, Default)]
pub struct Gateway {
    open: BTreeMap<u32, Open>,
}

impl Gateway {
    /// A thread is gone.
    pub fn forget(&mut self, thread: u32) {
        self.open.remove(&thread);
    }
}

impl Functions<'_> {
    /// # Errors
    /// The message is none of the gateway.
    pub(super) fn gateway(&mut self, message: &Message<'_>) -> Result<Reply, Refused> {
        let bits = message.descriptor & 0xffff;
        let (acknowledged, notify) = (bits >> 14 & 1 == 1, bits >> 15 & 1 == 1);
        let form = |what: &str| Err((Rule::Gateway, format!("{what} of {bits:#06x}")));
        if bits & 0x3ffc != 0 || message.payload.len() != 1 {
            return form("reserved bits or registers");
        }
        if message.response != u32::from(acknowledged) {
            return form("the reply");
        }
        let own = message.sender.thread;
        let code = match bits & 3 {
            0 => self.open(message, own)?,
            1 => match self.gateway.open.remove(&own) {
                Some(_) => 0,
                None => return Err((Rule::GatewayOpen, "no gateway is open".into())),
            },
            2 => self.forward(message, notify)?,
            _ => return form("the opcode"),
        };
        if !acknowledged {
            return Ok(Reply::default());
        }
        let mut register = Register::UNDEFINED;
        register.words[0] = 3 << 16 | code;
        register.undefined &= !15;
        Ok(Reply { registers: vec![(register, 1)] })
    }

    fn open(&mut self, message: &Message<'_>, own: u32) -> Result<u32, Refused> {
        let word = defined(message.payload, 0, 5)?;
        let key = defined(message.payload, 0, 4)? & 0xffff;
        let (base, size) = (word >> 21 & 0xff, word >> 8 & 7);
        if size > 5 || base > 127 {
            return Err((Rule::Gateway, format!("size {size} from register {base}")));
        }
        if self.gateway.open.contains_key(&own) {
            return Err((Rule::GatewayOpen, "a gateway is open".into()));
        }
        self.gateway.open.insert(own, Open { base, registers: 1 << size, key });
        Ok(0)
    }

    fn forward(&mut self, message: &Message<'_>, notify: bool) -> Result<u32, Refused> {
        let (word, target) = (defined(message.payload, 0, 5)?, defined(message.payload, 0, 4)?);
        let length = match word >> 8 & 7 {
            0 => 1,
            2 => 4,
            3 => 8,
            4 => 16,
            other => return Err((Rule::Gateway, format!("length {other}"))),
        };
        let offset = word >> 16 & 0x1fff;
        if word & 0xe000_f800 != 0 || offset % length != 0 {
            return Err((Rule::Gateway, format!("word 5 is {word:#x}")));
        }
        let threads = if self.model.is_early() { 4 } else { 5 };
        let thread = (target >> 24 & 15) * threads + (target >> 16 & 7);
        if !self.contexts.contains_key(&thread) {
            return Ok(2);
        }
        let Some(open) = self.gateway.open.get(&thread).copied() else { return Ok(2) };
        if open.key != target & 0xffff {
            return Ok(3);
        }
        if offset + length > 32 * open.registers {
            return Ok(4);
        }
        let (row, byte) = (offset / 32, offset % 32);
        let mut register = Register::new([0; 8]);
        let words = (length as usize).div_ceil(4);
        for word in 0..words {
            register.words[byte as usize / 4 + word] = defined(message.payload, 0, word)?;
        }
        let mask = ((1u64 << length) - 1) << byte;
        let data = Some((open.base + row, register, mask as u32));
        self.deliveries.push(Delivery { thread, data, notify });
        Ok(0)
    }
}
