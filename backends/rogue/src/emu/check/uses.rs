//! Which ports a group's operations name. 1.2, 1.5.

use super::super::inst::{
    Address, Alu, Backend, Burst, Conditional, Control, Feed, FirstShift, Format, Group, Kind,
    LogicalOp, Main, Mask, Register, ShiftOp, Wide,
};
use super::super::rule::{Refused, Rule};

/// What a group reads and writes by its ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Sources whose value is read.
    pub sources: [bool; 6],
    /// Sources that name registers which a message reads or writes.
    pub ranges: [bool; 6],
    /// The source that names a message's destination.
    pub destination: Option<usize>,
    /// The message is a load.
    pub loads: bool,
    /// The external feedthrough is read as a source.
    pub external: bool,
}

impl Uses {
    /// Of a group.
    ///
    /// # Errors
    /// A feedthrough that is read and nobody drives.
    pub fn of(group: &Group) -> Result<Uses, Refused> {
        let mut uses = Uses::default();
        match &group.kind {
            Kind::Main(main) => uses.main(group, main)?,
            Kind::Bitwise(op) => {
                let mask = op.p0.mask;
                let masked = uses_mask(group);
                let counted = group.writes[1].is_some()
                    || op.shift.is_some_and(|shift| shift.predicate && shift.tests_count);
                let shifted = op.logical.is_some() || counted && op.p0.counts_shifted;
                uses.sources[0] = masked && mask == Mask::Ones
                    || op.shift.is_some_and(|shift| shift.op == ShiftOp::ArithmeticMask);
                uses.sources[1] = masked && matches!(mask, Mask::Ones | Mask::Bypass)
                    || shifted && matches!(op.p0.shift, FirstShift::Left | FirstShift::Interleave);
                uses.sources[2] = shifted || counted;
                let b = op.logical.is_some_and(|logical| logical.op != LogicalOp::Bypass);
                uses.sources[3] = b;
                uses.sources[4] = op.shift.is_some();
            }
            Kind::Control(Control::Conditional { op, .. }) => {
                uses.sources[0] = true;
                uses.sources[2] = *op == Conditional::Set;
            }
            Kind::Control(_) => {}
        }
        Ok(uses)
    }

    /// Ports that name something.
    pub fn named(&self) -> impl Iterator<Item = usize> + '_ {
        (0..6).filter(|port| {
            self.sources[*port] || self.ranges[*port] || self.destination == Some(*port)
        })
    }

    /// Every register that is named.
    pub fn registers<'a>(&'a self, group: &'a Group) -> impl Iterator<Item = Register> + 'a {
        let sources = self.named().map(|port| group.sources[port]);
        sources.chain(group.writes.iter().flatten().copied())
    }

    fn main(&mut self, group: &Group, main: &Main) -> Result<(), Refused> {
        for (op, base) in [(main.p0, 0), (main.p1, 3)] {
            let Some(op) = op else { continue };
            let count = match op {
                Alu::Float { .. } => 2,
                Alu::Single(..) | Alu::Unpack { .. } | Alu::Reduce { .. } => 1,
                Alu::Mad { .. } | Alu::Wide { .. } | Alu::Short { .. } => 3,
            };
            self.sources[base..base + count].fill(true);
            match op {
                Alu::Reduce { second: true, .. } => self.sources[3] = true,
                Alu::Wide { op: Wide::Mad64, .. } => self.external = true,
                _ => {}
            }
        }
        for feed in feeds(group, main) {
            let driven = match feed {
                Feed::Ft0 => main.p0.is_some(),
                Feed::Ft1 => main.p1.is_some(),
                Feed::Ft2 => main.pack.is_some(),
                Feed::Fte => {
                    self.external |= !drives_external(main);
                    true
                }
            };
            if !driven {
                return Err((Rule::Feedthrough, format!("{feed:?}")));
            }
        }
        // A move asks the test for both ports, whoever takes them.
        if main.mov.is_some_and(|mov| !mov.always) && main.test.is_none() {
            return Err((Rule::Feedthrough, "the test's, by a move".into()));
        }
        if self.external {
            self.sources[usize::from(main.external)] = true;
        }
        if let Some(backend) = &main.backend {
            self.backend(backend);
        }
        Ok(())
    }

    fn backend(&mut self, backend: &Backend) {
        let mut value = |port: u8| self.sources[usize::from(port)] = true;
        match *backend {
            Backend::Uvsw(uvsw) => {
                if let Some((_, Address::Port(port))) = uvsw.write {
                    value(port);
                }
            }
            Backend::MoveMask(port) => port.into_iter().for_each(value),
            Backend::AlphaTest { .. } => [0, 1, 2].into_iter().for_each(value),
            Backend::EmitPixel { .. } => [0, 2].into_iter().for_each(value),
            Backend::Iterate { perspective, .. } => {
                self.ranges[0] = true;
                self.ranges[2] = perspective;
                self.destination = Some(3);
            }
            Backend::Fence { address, .. } => self.ranges[usize::from(address)] = true,
            Backend::Load { address, burst, .. } => {
                if let Burst::Port(port) = burst {
                    value(port);
                }
                self.ranges[usize::from(address)] = true;
                self.destination = Some(3);
                self.loads = true;
            }
            Backend::Store { address, data, burst, tiled, .. } => {
                if let Burst::Port(port) = burst {
                    value(port);
                }
                if let Some((port, _)) = tiled {
                    value(port);
                }
                self.ranges[usize::from(address)] = true;
                self.ranges[usize::from(data)] = true;
            }
            Backend::Sample(sample) => {
                self.ranges[..3].fill(true);
                if !sample.write {
                    self.destination = Some(4);
                }
            }
            Backend::Atomic { source, destination, .. } => {
                self.ranges[usize::from(source)] = true;
                self.destination = Some(usize::from(destination));
            }
            Backend::SaveMask(_) | Backend::Phase | Backend::SetLink(_) | Backend::Depth => {}
        }
    }
}

/// The mask goes on: to a logical operation, a shift, or W0.
fn uses_mask(group: &Group) -> bool {
    let Kind::Bitwise(op) = &group.kind else { return false };
    match op.logical {
        Some(logical) => logical.mask_a || logical.mask_b,
        None => op.shift.is_some() || group.writes[0].is_some(),
    }
}

/// Phase 0 drives the external feedthrough: its high word. 1.5.
pub fn drives_external(main: &Main) -> bool {
    matches!(main.p0, Some(Alu::Wide { op: Wide::Add64By32 | Wide::Add64 | Wide::Mad64, .. }))
}

/// Which of W0 and W1 have a value that somebody takes: the port, or the backend.
pub fn taken(group: &Group, main: &Main) -> [bool; 2] {
    let mut taken = [group.writes[0].is_some(), group.writes[1].is_some()];
    match main.backend {
        Some(Backend::SaveMask(_)) => taken = [false, false],
        Some(Backend::Uvsw(uvsw)) => {
            if let Some((second, _)) = uvsw.write {
                taken[usize::from(second)] = true;
            }
        }
        Some(Backend::SetLink(port)) => taken[usize::from(port)] = true,
        Some(Backend::Depth) => taken[0] = true,
        _ => {}
    }
    taken
}

/// Every feedthrough that the group reads.
fn feeds(group: &Group, main: &Main) -> Vec<Feed> {
    let mut feeds = Vec::new();
    if let Some(test) = main.test {
        feeds.push(main.tested[0]);
        if test.relation.of_two() {
            feeds.push(main.tested[1]);
        }
    }
    if let Some(pack) = main.pack
        && !matches!(pack.format, Format::Zero | Format::One)
    {
        feeds.push(main.packed);
        if pack.programmed {
            feeds.push(Feed::Fte);
        }
    }
    let taken = taken(group, main);
    for port in (0..2).filter(|port| taken[*port]) {
        let Some(mov) = main.mov else {
            feeds.push(main.defaults[port]);
            continue;
        };
        let mask = if port == 0 { mov.mask } else { 15 };
        if mask != 0 {
            feeds.push(mov.taken[port]);
        }
        if mask != 15 || !mov.always {
            feeds.push(main.defaults[port]);
        }
    }
    feeds
}
