//! Convenient construction of one transition.

use pdnet_base::IndexVec;
use pdnet_source::Pos;

use crate::net::{
    ArcData, Base, BytesData, Domain, Function, Pattern, Place, Transition, TransitionData, Var, VarData,
};
use crate::{Action, Expr, Net};

/// Builds a transition arc by arc. It starts with the variables `t` and `d` and the arc that takes the
/// moving frame's token.
#[derive(Clone, Debug)]
pub struct TransitionBuilder {
    data: TransitionData,
}

impl TransitionBuilder {
    /// A step of a frame that stands on `from`.
    #[must_use]
    pub fn new(action: Action, function: Function, from: Place, label: impl Into<String>) -> Self {
        let mut vars = IndexVec::new();
        let thread =
            vars.push(VarData { name: "t".to_owned(), base: Base::Thread, choice: None, note: None });
        let depth = vars.push(VarData { name: "d".to_owned(), base: Base::Depth, choice: None, note: None });
        let take = ArcData::Take { place: from, token: vec![Pattern::Bind(thread), Pattern::Bind(depth)] };
        let data = TransitionData {
            action,
            label: label.into(),
            function,
            calls: None,
            pos: None,
            atomic: false,
            rank: 0,
            late: false,
            bytes: Vec::new(),
            vars,
            arcs: vec![take],
            guard: None,
        };
        Self { data }
    }

    /// The moving thread.
    #[must_use]
    pub fn thread() -> Expr {
        Expr::Var(TransitionData::thread_var())
    }

    /// The depth of the moving frame.
    #[must_use]
    pub fn depth() -> Expr {
        Expr::Var(TransitionData::depth_var())
    }

    /// The token of the moving frame.
    #[must_use]
    pub fn frame() -> Vec<Expr> {
        vec![Self::thread(), Self::depth()]
    }

    /// Sets the position.
    #[must_use]
    pub fn at(mut self, pos: Option<Pos>) -> Self {
        self.data.pos = pos;
        self
    }

    /// Names the function that the step calls.
    #[must_use]
    pub fn calling(mut self, name: impl Into<String>) -> Self {
        self.data.calls = Some(name.into());
        self
    }

    /// Makes its accesses to memory atomic operations.
    #[must_use]
    pub const fn atomic(mut self) -> Self {
        self.data.atomic = true;
        self
    }

    /// Sets its rank among the steps of the same activation.
    #[must_use]
    pub const fn rank(mut self, rank: u8) -> Self {
        self.data.rank = rank;
        self
    }

    /// Lets it wait until nothing else can move.
    #[must_use]
    pub const fn late(mut self) -> Self {
        self.data.late = true;
        self
    }

    /// Adds a variable that some arc will bind.
    pub fn var(&mut self, name: &str, base: Base) -> Var {
        self.data.vars.push(VarData { name: name.to_owned(), base, choice: None, note: None })
    }

    /// Adds a variable that ranges over a domain.
    pub fn choose(&mut self, name: &str, base: Base, domain: Domain) -> Var {
        self.data.vars.push(VarData { name: name.to_owned(), base, choice: Some(domain), note: None })
    }

    /// Says that a place's cells are accessed in part only.
    pub fn bytes(&mut self, place: Place, first: Expr, count: u8) -> &mut Self {
        self.data.bytes.push(BytesData { place, first, count });
        self
    }

    /// Adds any arc.
    pub fn arc(&mut self, arc: ArcData) -> &mut Self {
        self.data.arcs.push(arc);
        self
    }

    /// Reads a cell; the result is the variable that holds the value.
    pub fn read(&mut self, net: &Net, place: Place, key: Vec<Expr>) -> Expr {
        let base = *net.components(place).last().expect("cells have a value");
        let var = self.var(&net.places[place].name, base);
        self.arc(ArcData::Read { place, key, var, when: None });
        Expr::Var(var)
    }

    /// Writes a cell.
    pub fn write(&mut self, place: Place, key: Vec<Expr>, value: Expr) -> &mut Self {
        self.arc(ArcData::Write { place, key, value, when: None })
    }

    /// Moves the frame on to another place.
    #[must_use]
    pub fn to(mut self, place: Place) -> Self {
        self.data.arcs.push(ArcData::Put { place, token: Self::frame() });
        self
    }

    /// Adds a condition to the guard.
    pub fn guard(&mut self, condition: Expr) -> &mut Self {
        self.data.guard = Some(match self.data.guard.take() {
            None => condition,
            Some(guard) => Expr::both(guard, condition),
        });
        self
    }

    /// Puts the transition into the net.
    pub fn finish(self, net: &mut Net) -> Transition {
        net.transitions.push(self.data)
    }
}
