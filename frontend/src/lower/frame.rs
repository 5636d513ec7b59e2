//! Operands, places in memory, and the state of one inlined function.

use super::types::Layout;
use super::{Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{Inst, Mem, Region, Resource, Value};
use naga::{Expression, Function, Handle};

/// What a place is a part of.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// A variable.
    Mem(Mem),
    /// A buffer.
    Buffer(Resource),
}

/// A pointer: a variable or buffer, and a byte address in it.
#[derive(Clone, Debug)]
pub struct Place {
    pub base: Base,
    /// Element of an array of bindings.
    pub element: Option<Value>,
    /// Constant part of the address.
    pub offset: u32,
    /// Dynamic part of the address.
    pub dynamic: Option<Value>,
    /// First byte that a dynamic address may reach.
    pub lo: u32,
    /// One past the last byte that a dynamic address may reach.
    pub hi: u32,
    /// How the bytes lie.
    pub layout: Layout,
}

impl Place {
    /// A whole variable.
    pub fn mem(mem: Mem, size: u32) -> Self {
        let (base, layout) = (Base::Mem(mem), Layout::Dense);
        Place { base, element: None, offset: 0, dynamic: None, lo: 0, hi: size, layout }
    }

    /// A whole buffer.
    pub fn buffer(resource: Resource, element: Option<Value>) -> Self {
        Place {
            base: Base::Buffer(resource),
            element,
            offset: 0,
            dynamic: None,
            lo: 0,
            hi: u32::MAX,
            layout: Layout::Host,
        }
    }

    /// True for a block of workgroup memory, whose bytes lie as a buffer's do. Other blocks have the same bytes as
    /// other types, so all accesses are to words of 32 bits.
    pub fn is_shared_block(&self) -> bool {
        matches!(self.base, Base::Mem(_)) && self.layout == Layout::Host
    }
}

/// What an expression evaluates to.
#[derive(Clone, Debug)]
pub enum Operand {
    /// Scalars in order.
    Values(Values),
    /// A pointer.
    Place(Place),
    /// A texture, sampler or array of them, with the element that was chosen.
    Handle(Resource, Option<Value>),
}

/// Where an operand was recorded: region, and number of instructions in it.
pub type Position = (Region, usize);

/// One function while it is inlined.
pub struct Frame<'a> {
    pub function: &'a Function,
    pub info: &'a naga::valid::FunctionInfo,
    /// Operands of evaluated expressions, by expression.
    pub values: Vec<Option<Operand>>,
    /// Which expressions were recorded where, in order.
    pub log: Vec<(Handle<Expression>, Position)>,
    /// Operands of a loop's body while its `continuing` is lowered.
    pub carried: Vec<Option<Carried>>,
    /// Stores that carried operands need: after a position, a value into a variable.
    pub patches: Vec<(Position, Value, Mem)>,
    /// Variables that hold array values which are indexed dynamically.
    pub spilled: Vec<Option<Mem>>,
    /// Array values that are indexed dynamically.
    pub indexed: Vec<bool>,
    pub locals: Vec<Mem>,
    pub arguments: Vec<Operand>,
    /// The block around the function that a `return` exits.
    pub label: Inst,
    /// Where `return` puts its value when it is not the only one.
    pub slot: Option<Place>,
    /// What the only `return` gave.
    pub result: Option<Values>,
    /// What `break` leaves, innermost last.
    pub breaks: Vec<Target>,
}

/// An operand of a loop's body that its `continuing` may use.
#[derive(Clone, Debug)]
pub struct Carried {
    pub operand: Operand,
    /// Where it was recorded in the body.
    pub position: Position,
    /// Variables that bring its values over, as far as they were asked for.
    pub mems: Vec<(Value, Mem)>,
}

/// Where an inlined function left its result.
#[derive(Clone, Debug)]
pub enum ResultAt {
    Values(Values),
    Place(Place),
}

/// What the end of a list of statements does anyway, so that a jump there can be left out.
#[derive(Copy, Clone, Debug, Default)]
pub struct End {
    /// Leaves the innermost switch.
    pub leaves_switch: bool,
    /// Continues the innermost loop.
    pub continues: bool,
    /// Returns from the function.
    pub returns: bool,
}

/// Whether control reaches what follows a statement.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Flow {
    Open,
    Dead,
}

/// What a `break` leaves.
#[derive(Copy, Clone, Debug)]
pub enum Target {
    /// A loop; whether something broke out of it.
    Loop(bool),
    /// A switch: its block.
    Switch(Inst),
}

impl Frame<'_> {
    /// The scalars of an operand that must have some.
    pub fn scalars(operand: Operand) -> Result<Values> {
        match operand {
            Operand::Values(values) => Ok(values),
            Operand::Place(_) | Operand::Handle(..) => {
                Err(Stop::internal("a pointer or binding stands where a value is needed"))
            }
        }
    }
}
