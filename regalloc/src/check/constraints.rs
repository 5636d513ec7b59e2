//! The part of the checker that looks at where operands lie, whatever they hold.

use super::{Checker, Refusal, Wrong};
use crate::api::Target;
use crate::work::{Origin, WorkNode};
use gpucc_ir::mach::{Cell, Demand, Inst, Operand, Part, Phases, Relation, Role, VReg};

impl<I: Inst, T: Target<I>> Checker<'_, I, T> {
    fn budget(&self, file: gpucc_ir::mach::FileId) -> u32 {
        let data = self.work.files.get(file);
        let rows = self.evidence.options.rows.get(file.0 as usize).copied();
        let budget =
            rows.map_or(u32::from(data.cells), |rows| u32::from(rows) * u32::from(data.row));
        budget.min(u32::from(data.cells))
    }

    /// Whether some cell of a register does not exist.
    fn in_hole(&self, cell: Cell, extent: u32) -> bool {
        let row = u32::from(self.work.files.get(cell.file).row);
        let first = u32::from(cell.index);
        let last = first + extent - 1;
        (first / row..=last / row).any(|row| self.evidence.options.is_hole(cell.file, row as u16))
    }

    fn find_fixed_beyond(&self) -> Vec<Cell> {
        let mut beyond: Vec<Cell> = Vec::new();
        let mut add = |this: &Self, cell: Cell| {
            let outside = u32::from(cell.index) >= this.budget(cell.file) || this.in_hole(cell, 1);
            if outside && !beyond.contains(&cell) {
                beyond.push(cell);
            }
        };
        for cell in self.work.regs.iter().filter_map(|reg| reg.pin) {
            add(self, cell);
        }
        for node in &self.work.nodes {
            node.inst.operands(&mut |operand| {
                if let Relation::Fixed(cell) = operand.relation {
                    add(self, cell);
                }
            });
        }
        beyond
    }

    /// A register lies inside its file's budget, at positions it allows.
    pub(super) fn within(
        &self,
        k: usize,
        operand: &Operand,
        demand: Demand,
    ) -> Result<(), Refusal> {
        let cell = operand.reg.cell();
        let file = self.work.files.get(demand.file);
        if cell.file != demand.file {
            return Err(self.misplaced(k, operand, "another file than the register's"));
        }
        let budget = self.budget(demand.file);
        let end = u32::from(cell.index) + demand.extent();
        let outside = end > budget || self.in_hole(cell, demand.extent());
        let fixed = || {
            let beyond = self.fixed_beyond.get_or_init(|| self.find_fixed_beyond());
            beyond.contains(&cell)
        };
        if end > u32::from(file.cells) || (outside && !fixed()) {
            return Err(self.misplaced(k, operand, "beyond the rows that may be used"));
        }
        if !demand.phases.has(cell.phase(file.row)) {
            return Err(self.misplaced(
                k,
                operand,
                "a position in the row that the register does not allow",
            ));
        }
        Ok(())
    }

    pub(super) fn misplaced(&self, k: usize, operand: &Operand, rule: &'static str) -> Refusal {
        self.wrong(Wrong::Misplaced { operand: k as u32, found: operand.reg, rule })
    }

    /// The constraints of an instruction's operands, on the cells they got.
    pub(super) fn constraints(
        &self,
        node: &WorkNode<I>,
        operands: &[Operand],
    ) -> Result<(), Refusal> {
        let values = match node.origin {
            Origin::Program(number) => self.evidence.recorded.of(number),
            Origin::Again(_) | Origin::Move { .. } => &[],
        };
        for (k, operand) in operands.iter().enumerate() {
            let cell = operand.reg.cell();
            let row = self.work.files.get(cell.file).row;
            if operand.phases != Phases::ANY && !operand.phases.has(cell.phase(row)) {
                return Err(self.misplaced(
                    k,
                    operand,
                    "a position in the row that the operand does not allow",
                ));
            }
            // Earlier operands of the same set.
            let twins = || {
                operands[..k].iter().enumerate().filter_map(|(at, other)| {
                    match (other.relation, operand.relation) {
                        (Relation::SameRow(a), Relation::SameRow(b)) if a == b => {
                            Some((at, other, 0i32))
                        }
                        (
                            Relation::Group { set: a, offset: x },
                            Relation::Group { set: b, offset: y },
                        ) if a == b => Some((at, other, i32::from(y) - i32::from(x))),
                        _ => None,
                    }
                })
            };
            match operand.relation {
                Relation::Any => {}
                Relation::Fixed(wanted) => {
                    if cell != wanted {
                        return Err(self.misplaced(k, operand, "not in its fixed cell"));
                    }
                }
                Relation::Tied(to) => {
                    if operands.get(to as usize).is_none_or(|other| other.reg != operand.reg) {
                        return Err(self.misplaced(
                            k,
                            operand,
                            "not where the use it is tied to is",
                        ));
                    }
                }
                Relation::SameRow(_) => {
                    for (at, other, _) in twins() {
                        if other.reg.cell().row(row) != cell.row(row) {
                            return Err(self.misplaced(k, operand, "not in the row of its set"));
                        }
                        let named = |k: usize| values.get(k).map(|&(v, part, _)| (v, part));
                        let distinct = named(at) != named(k);
                        if other.reg == operand.reg
                            && distinct
                            && other.role == operand.role
                            && !values.is_empty()
                        {
                            // One cell may hold two names of one value after a copy.
                            let both = |(v, part, _): (VReg, Part, Role)| {
                                self.holds(self.cell(cell, 1, 0), (v, part.cells(0).start))
                            };
                            if operand.role.is_def() || !both(values[at]) || !both(values[k]) {
                                return Err(self.misplaced(
                                    k,
                                    operand,
                                    "in the cell of another of its set",
                                ));
                            }
                        }
                    }
                }
                Relation::Group { .. } => {
                    for (_, other, distance) in twins() {
                        if i32::from(cell.index) - i32::from(other.reg.cell().index) != distance {
                            return Err(self.misplaced(
                                k,
                                operand,
                                "not at its offset in its group",
                            ));
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
