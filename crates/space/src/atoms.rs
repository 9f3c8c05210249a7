//! The atoms of properties on unpacked states.

use pdnet_net::{Expr, Net, Place};

use crate::code::{Code, Observed, Operand, depth};
use crate::layout::{Home, Layout, Slot, no_room};
use crate::successors::is_frame_marked;
use crate::{Compiled, State, Unsupported};

/// The atoms of one property, compiled. At most 64: their truth values are the bits of a letter.
#[derive(Clone, Debug)]
pub struct Atoms {
    code: Code,
    operands: Vec<Operand>,
    registers: Vec<i64>,
    looks_for_deadlock: bool,
    /// The letter of every state that is no deadlock, where there is one.
    usual: Option<u64>,
}

impl Atoms {
    /// Compiles atoms of a net.
    ///
    /// # Errors
    /// Where an atom speaks of tokens that states have no room for, or where there are more than 64.
    pub fn new<'e>(
        net: &Net,
        compiled: &Compiled,
        atoms: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<Self, Unsupported> {
        let atoms: Vec<&Expr> = atoms.into_iter().collect();
        if atoms.len() > 64 {
            return Err(Unsupported(format!("{} atoms in one formula: at most 64", atoms.len())));
        }
        let mut code = Code::new(0, atoms.iter().map(|atom| depth(atom)).max().unwrap_or(0));
        let mut operands = Vec::new();
        let (mut failed, mut looks_for_deadlock) = (None, false);
        let mut usual = Some(0);
        for (bit, atom) in atoms.into_iter().enumerate() {
            let value = value_without_deadlock(atom);
            usual = usual.zip(value).map(|(letter, value)| letter | u64::from(value != 0) << bit);
            atom.walk(&mut |expr| match expr {
                Expr::Cell(place, key) => {
                    if !matches!(compiled.layout.slots[*place], Slot::Cells(_))
                        || key.len() + 1 != net.components(*place).len()
                    {
                        failed = Some(no_room(net, *place));
                    }
                }
                Expr::Marked(place, _) => {
                    if matches!(compiled.layout.slots[*place], Slot::Cells(_) | Slot::Other) {
                        failed = Some(no_room(net, *place));
                    }
                }
                Expr::Var(_) => failed = Some(Unsupported("an atom with a free variable".to_owned())),
                Expr::Deadlock => looks_for_deadlock = true,
                Expr::Const(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::Convert(..) | Expr::If(..) => {}
            });
            operands.push(code.compile(atom)?);
        }
        let registers = code.registers();
        failed.map_or(Ok(Self { code, operands, registers, looks_for_deadlock, usual }), Err)
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.operands.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.operands.is_empty()
    }

    /// The letter of a state: bit `i` is the truth of atom `i`. Whether the state is a deadlock has to be
    /// known already; it is looked at only by atoms that ask for it.
    pub fn letter(&mut self, compiled: &Compiled, state: &State, is_deadlock: bool) -> u64 {
        let view = View { layout: &compiled.layout, state, is_deadlock };
        let mut letter = 0;
        for (bit, operand) in self.operands.iter().enumerate() {
            let value = self.code.observe(*operand, &mut self.registers, &view);
            letter |= u64::from(value != 0) << bit;
        }
        letter
    }

    /// The letter of every state that is no deadlock, where they all have the same: where atoms ask first whether it is one.
    #[must_use]
    pub const fn usual_letter(&self) -> Option<u64> {
        self.usual
    }

    /// Whether some atom asks for deadlocks.
    #[must_use]
    pub const fn looks_for_deadlock(&self) -> bool {
        self.looks_for_deadlock
    }
}

/// The value of an atom in states that are no deadlock, if it is always the same.
fn value_without_deadlock(atom: &Expr) -> Option<i64> {
    match atom {
        Expr::Const(value) => Some(*value),
        Expr::Deadlock => Some(0),
        Expr::Unary(op, ty, operand) => Some(op.apply(*ty, value_without_deadlock(operand)?)),
        Expr::Binary(op, ty, left, right) => {
            Some(op.apply(*ty, value_without_deadlock(left)?, value_without_deadlock(right)?))
        }
        Expr::Convert(ty, operand) => Some(ty.wrap(value_without_deadlock(operand)?)),
        Expr::If(condition, then, otherwise) => match value_without_deadlock(condition) {
            Some(0) => value_without_deadlock(otherwise),
            Some(_) => value_without_deadlock(then),
            None => None,
        },
        Expr::Var(_) | Expr::Cell(..) | Expr::Marked(..) => None,
    }
}

struct View<'a> {
    layout: &'a Layout,
    state: &'a State,
    is_deadlock: bool,
}

impl Observed for View<'_> {
    fn cell(&self, place: Place, key: &[i64]) -> i64 {
        let Slot::Cells(cells) = self.layout.slots[place] else { return 0 };
        let part = |position: usize| key.get(position).copied().unwrap_or(0);
        let (thread, depth, index) = match cells.home {
            Home::Global => (0, 0, part(0)),
            Home::Thread => (part(0), 0, part(1)),
            Home::Frame(_) => (part(0), part(1), part(2)),
        };
        self.state.cell(self.layout, &cells, thread, depth, index)
    }

    fn marked(&self, place: Place, prefix: &[i64]) -> bool {
        let (first, second) = (prefix.first().copied(), prefix.get(1).copied());
        match self.layout.slots[place] {
            Slot::Nothing | Slot::Cells(_) | Slot::Other => false,
            Slot::Frames => is_frame_marked(self.state, self.layout, place, first, second),
            Slot::Count(offset) => prefix.is_empty() && self.state.globals[offset] != 0,
            Slot::Sets { offset, rows, has_rows } => {
                let (row, thread) = if has_rows { (first, second) } else { (None, first) };
                let mut words = self.layout.members((offset, rows), row, thread);
                words.any(|(word, bits)| self.state.globals[word] & bits != 0)
            }
        }
    }

    fn deadlock(&self) -> bool {
        self.is_deadlock
    }
}
