//! A Promela model with names resolved, types known, and everything that is mere notation gone.
//!
//! Gone are: macros, `inline` calls (expanded in place, positions point to the text of the inline), `for` and
//! `select` (written out as SPIN does, so that the number of steps is SPIN's), `x++` and `x--`, structures (a
//! variable of a `typedef` is one [`VarData`] for each of its scalar parts), names of `mtype` constants.
//! Still there are: `if`, `do`, `unless`, `atomic`, `d_step` and jumps; the lowering makes a graph of them.

use pdnet_base::{IndexVec, index_type};
use pdnet_logic::Ltl;
use pdnet_source::Span;

index_type! {
    /// A scalar variable, or an array of scalars: global, or local to one proctype.
    pub struct Var = "v";
    /// A proctype; `init` is one too.
    pub struct Proc = "proc";
    /// A label of one proctype.
    pub struct Label = "l";
}

/// A model.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// All variables, in the order of their declaration (the parts of a structure in their order).
    pub vars: IndexVec<Var, VarData>,
    /// The proctypes in the order of their declaration, `init` among them where it stands.
    pub procs: IndexVec<Proc, ProcData>,
    /// `never` claims, in order.
    pub claims: Vec<Claim>,
    /// `ltl` blocks, in order.
    pub formulas: Vec<LtlBlock>,
    /// `trace` and `notrace` blocks.
    pub traces: Vec<Trace>,
    /// The constants of `mtype`, all sets together, for people: value and name, by set (the unnamed one is `""`).
    pub mtypes: Vec<MtypeSet>,
}

/// The constants of one set of `mtype`.
#[derive(Clone, Debug)]
pub struct MtypeSet {
    /// The name of the set; empty for the one without a name.
    pub name: String,
    /// The constants with their values, in order of declaration.
    pub constants: Vec<(String, i64)>,
}

/// The basic types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `bit`: 0 and 1.
    Bit,
    /// `bool`: 0 and 1.
    Bool,
    /// `byte`: 8 bits without sign.
    Byte,
    /// `pid`: as `byte`.
    Pid,
    /// `short`: 16 bits with sign.
    Short,
    /// `int`: 32 bits with sign.
    Int,
    /// `unsigned x : n`, 1 to 32 bits.
    Unsigned(u8),
    /// `mtype`, with the position of its set in [`Model::mtypes`].
    Mtype(usize),
    /// `chan`: 0 is no channel.
    Chan,
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One for the model.
    Global,
    /// One for each process of this proctype.
    Local(Proc),
}

/// A variable: a scalar, or an array of scalars.
#[derive(Clone, Debug)]
pub struct VarData {
    /// Its name for people, with the way through structures: `x`, `msg.data`, `a[].b`.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Where it lives.
    pub scope: Scope,
    /// The lengths of the arrays around it, the outermost first. Empty for a scalar; `[4]` for `byte a[4]`; more
    /// where arrays of structures have arrays.
    pub dims: Vec<u32>,
    /// What it is initially. Of an array, every element.
    pub init: Init,
    /// `hidden`: no part of the state.
    pub hidden: bool,
    /// `show`: its changes are to be shown in runs.
    pub show: bool,
    /// `local`: the modeller says that one process alone uses it.
    pub local: bool,
    /// For a parameter of a proctype: which one.
    pub param: Option<usize>,
    /// Where it is declared.
    pub span: Span,
}

/// How a variable begins.
#[derive(Clone, Debug)]
pub enum Init {
    /// 0.
    Zero,
    /// This value, computed when the model or the process starts (in the order of [`Model::vars`]). What SPIN
    /// executes as a statement of its own is an assignment in the body instead.
    Value(Expr),
    /// `[n] of { … }`: a new channel for each element.
    Channel(ChannelType),
    /// The elements of an array one by one: `byte a[3] = { 1, 2, 3 }`.
    List(Vec<Expr>),
}

/// What a channel is made with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelType {
    /// How many messages it holds; 0 is rendezvous.
    pub capacity: u32,
    /// The fields of a message, structures as their scalar parts.
    pub fields: Vec<Type>,
}

/// A proctype, or `init`.
#[derive(Clone, Debug)]
pub struct ProcData {
    /// Its name; `init` is called `:init:` as in SPIN.
    pub name: String,
    /// The parameters, in order.
    pub params: Vec<Var>,
    /// How many run from the start: `active [n]`, 1 for `init`, 0 where it is not active.
    pub active: u32,
    /// `D_proctype`.
    pub deterministic: bool,
    /// `provided ( … )`.
    pub provided: Option<Expr>,
    /// The labels, in order of their position.
    pub labels: IndexVec<Label, LabelData>,
    /// What `xr` and `xs` say: no other process receives from, or sends to, these channels.
    pub exclusive: Vec<Exclusive>,
    /// The statements.
    pub body: Sequence,
    /// The head in the source.
    pub span: Span,
    /// The closing brace.
    pub end: Span,
}

/// One `xr` or `xs`: a promise of the modeller about a channel.
#[derive(Clone, Debug)]
pub struct Exclusive {
    /// Which of the two.
    pub kind: ExclusiveKind,
    /// The channel, or the array of channels (then without indices).
    pub place: Place,
}

/// What only one process does with a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExclusiveKind {
    /// `xr`.
    Receive,
    /// `xs`.
    Send,
}

/// A label.
#[derive(Clone, Debug)]
pub struct LabelData {
    /// Its name. `end…`, `progress…` and `accept…` mean what SPIN says.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// Statements one after the other, with the steps that SPIN adds or takes away written out:
///
/// - A declaration that does not stand at the start of a proctype is a step: `x = 0`, `a[0] = 0` of an array, `1` of a
///   structure, and the initialiser where there is one.
/// - A `goto` or `break` behind a label `end…`, `progress…` or `accept…`, or behind a label that some `P@l` asks for, has
///   a step `1` in front, which has the labels.
/// - Of several `skip` in a row inside a choice, those that SPIN removes are not here.
/// - The first assignment of a `for` or `select` stands before the label of that statement.
pub type Sequence = Vec<Stmt>;

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// The labels in front of it, which stand for the control state before it.
    pub labels: Vec<Label>,
    /// What it does.
    pub kind: StmtKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of statements. Declarations leave nothing behind.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// A condition: executable where it is not zero. `skip` is `1`; `run P()` by itself is one, too; `timeout` may
    /// stand inside.
    Condition(Expr),
    /// An assignment, also of `x++` and `x--`.
    Assign(Place, Expr),
    /// `q ! …`, `q !! …`.
    Send {
        /// The channel.
        channel: Expr,
        /// The fields; `q ! a(b)` is `a, b`. As many as the channel has where its declaration has a type; a wrong
        /// number otherwise is a mistake of the model that SPIN finds when it happens. The same in receives.
        args: Vec<Expr>,
        /// `!!`.
        sorted: bool,
    },
    /// `q ? …`, `q ?? …`, `q ? < … >`.
    Receive {
        /// The channel.
        channel: Expr,
        /// The fields.
        args: Vec<ReceiveArg>,
        /// `??`: the first message that fits.
        random: bool,
        /// `< … >`: the message stays.
        keep: bool,
    },
    /// `if`.
    If(Vec<Choice>),
    /// `do`.
    Do(Vec<Choice>),
    /// `{ … }` that means nothing but itself (`for` and blocks leave none behind where they are unwrapped).
    Block(Sequence),
    /// `atomic`.
    Atomic(Sequence),
    /// `d_step`.
    DStep(Sequence),
    /// `{ … } unless { … }`.
    Unless {
        /// What is done.
        main: Sequence,
        /// What takes over as soon as it can begin.
        escape: Sequence,
    },
    /// `goto`.
    Goto(Label),
    /// `break`.
    Break,
    /// `else` at the beginning of a block, `atomic` or `d_step` that itself begins a choice: `:: atomic { else -> … }`.
    /// Executable where no other choice of that `if` or `do` is. The choice is the last one (else the syntax refuses
    /// it), and its [`Choice::otherwise`] is `None`.
    Else,
    /// `assert ( … )`.
    Assert(Expr),
    /// `printf`, `printm`.
    Print {
        /// The format, without quotes, escapes resolved.
        format: String,
        /// What is printed.
        args: Vec<Expr>,
    },
}

/// One `:: …` of `if` or `do`.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Whether it begins with `else` (which is then not among the statements), and where.
    pub otherwise: Option<Span>,
    /// The statements; empty only behind `else`.
    pub body: Sequence,
    /// From `::` on.
    pub span: Span,
}

/// One field of a receive.
#[derive(Clone, Debug)]
pub enum ReceiveArg {
    /// The field must be this: a constant, or `eval ( … )`.
    Match(Expr),
    /// The field goes here.
    Store(Place),
    /// The field goes nowhere: `_`.
    Ignore,
}

/// Something that can be assigned to.
#[derive(Clone, Debug)]
pub struct Place {
    /// The variable.
    pub var: Var,
    /// An index for each of its [`VarData::dims`].
    pub indices: Vec<Expr>,
    /// Where it stands.
    pub span: Span,
}

/// An expression. All arithmetic is done in `int`, 32 bits, wrapping, and cut to the type where it is stored.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number, or an `mtype` constant.
    Const(i64),
    /// The value of a variable.
    Load(Place),
    /// `_pid`.
    Pid,
    /// `_nr_pr`.
    ProcessCount,
    /// `_last`.
    Last,
    /// `np_`: no process is at a progress state. Only in claims and formulas.
    NonProgress,
    /// `_` in a send of a `trace`: any value.
    Anything,
    /// `timeout`.
    Timeout,
    /// A unary operator.
    Unary(UnaryOp, Box<Expr>),
    /// A binary operator. `&&` and `||` do not evaluate their right side in vain.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `( a -> b : c )`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `run P(…)`. Only as a condition by itself, or as the right side of an assignment.
    Run(Proc, Vec<Expr>),
    /// `len`, `empty`, `nempty`, `full`, `nfull`.
    Query(ChannelQuery, Box<Expr>),
    /// `q ? [ … ]`, `q ?? [ … ]`: whether a receive could be done now.
    Poll {
        /// The channel.
        channel: Box<Expr>,
        /// The fields; those that would be stored are [`ReceiveArg::Ignore`]. Of a channel without a declared type (a
        /// parameter, say) there may be fewer than fields: the rest is ignored.
        args: Vec<ReceiveArg>,
        /// `??`.
        random: bool,
    },
    /// `enabled ( p )`.
    Enabled(Box<Expr>),
    /// `pc_value ( p )`.
    PcValue(Box<Expr>),
    /// `P[p]:x`: a local variable of a process, mostly another one.
    Remote {
        /// The proctype.
        proc: Proc,
        /// Which process; the only one where it is not said.
        pid: Option<Box<Expr>>,
        /// The variable.
        place: Place,
    },
    /// `P[p]@l`: whether a process is at a label.
    At {
        /// The proctype.
        proc: Proc,
        /// Which process; the only one where it is not said.
        pid: Option<Box<Expr>>,
        /// The label.
        label: Label,
    },
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `~`
    BitNot,
    /// `!`
    Not,
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
}

/// Questions about a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelQuery {
    /// `len`: the number of messages.
    Len,
    /// `empty`
    Empty,
    /// `nempty`
    NotEmpty,
    /// `full`
    Full,
    /// `nfull`
    NotFull,
}

/// A `never` claim: an automaton that must accept no run. Its body has no side effects; `assert` is allowed.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name; `never` where it has none.
    pub name: String,
    /// Its labels.
    pub labels: IndexVec<Label, LabelData>,
    /// Its statements.
    pub body: Sequence,
    /// Where it stands.
    pub span: Span,
}

/// An `ltl` block: a formula that must hold on all runs.
#[derive(Clone, Debug)]
pub struct LtlBlock {
    /// Its name; `ltl_0` and so on where it has none.
    pub name: String,
    /// The formula over the atoms by number.
    pub formula: Ltl,
    /// The atoms.
    pub atoms: Vec<LtlAtom>,
    /// The formula as written, for people, in one line.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// An atom of a formula.
#[derive(Clone, Debug)]
pub struct LtlAtom {
    /// The expression as written, for people.
    pub text: String,
    /// True where it is not zero.
    pub expr: Expr,
}

/// A `trace` or `notrace` block.
#[derive(Clone, Debug)]
pub struct Trace {
    /// `notrace`.
    pub negated: bool,
    /// Its labels.
    pub labels: IndexVec<Label, LabelData>,
    /// Sends and receives, in `if`, `do`, `goto`, `break`.
    pub body: Sequence,
    /// Where it stands.
    pub span: Span,
}
