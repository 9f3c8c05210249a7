//! The typed tree: a C program after parsing, name resolution and type checking.
//!
//! Everything that C leaves implicit is explicit here: each expression has its type, each implicit
//! conversion is a [`ExprKind::Cast`], each read of an object is a [`ExprKind::Load`], names are
//! indices. The types of the parser library do not occur: it can be replaced without touching what
//! comes after. The tree describes all of C that the parser accepts; what cannot be turned into a net
//! yet is refused by the lowering, with a diagnostic at its place.

use pdnet_base::{IndexVec, index_type};
use pdnet_source::Span;

use crate::types::{QualType, RecordData, Type};

index_type! {
    /// A variable: global, static, local, or parameter.
    pub struct Variable = "var";
    /// A function, defined or only declared.
    pub struct Function = "fn";
    /// A struct or union type.
    pub struct Record = "rec";
    /// A label of a function.
    pub struct Label = "lab";
}

/// A whole program, out of one translation unit or several.
#[derive(Clone, Debug)]
pub struct Program {
    /// The sizes of the types.
    pub data_model: crate::types::DataModel,
    /// All variables of the program, of every storage.
    pub variables: IndexVec<Variable, VariableData>,
    /// All functions, declared or defined.
    pub functions: IndexVec<Function, FunctionData>,
    /// All structs and unions.
    pub records: IndexVec<Record, RecordData>,
    /// Enumeration constants of file scope, for the atoms of properties.
    pub enumerators: Vec<(String, i128)>,
    /// `main`.
    pub main: Function,
    /// Functions of the C library that stand in for those that the program declares only, by name.
    pub library: std::collections::BTreeMap<String, Function>,
    /// `errno`, where the program looks at it: a variable of each thread.
    pub errno: Option<Variable>,
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// File scope; one object for the whole process.
    Global,
    /// Declared `static` inside the function: one object for the whole process, seen in one function.
    Static(Function),
    /// One object for each activation of the function.
    Local(Function),
    /// A parameter: like a local, written by the call.
    Param(Function),
    /// `_Thread_local` or `__thread`: one object for each thread.
    ThreadLocal,
}

/// Who else means the same object or function by the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// Nobody: a local variable or a parameter.
    None,
    /// The rest of its translation unit: `static`.
    Internal,
    /// All translation units.
    External,
    /// All translation units, and each may have a definition of its own that says the same.
    Inline,
}

/// What is known of a variable.
#[derive(Clone, Debug)]
pub struct VariableData {
    /// The name in the source.
    pub name: String,
    /// Its type; an array whose length comes from the initialiser has that length here.
    pub ty: QualType,
    /// Where it lives.
    pub storage: Storage,
    /// The declarator.
    pub span: Span,
    /// The initialiser of a global or static variable; those of locals stand in [`StmtKind::Declare`].
    pub init: Option<Init>,
    /// Declared `extern` and never defined.
    pub extern_only: bool,
    /// Who else means it by its name.
    pub linkage: Linkage,
    /// Of a local array whose length is only known at run time: the numbers of elements, that of the outermost
    /// array first. They are computed where the array is declared. Empty for all others.
    pub lengths: Vec<Expr>,
}

/// An initialiser, with designators resolved.
#[derive(Clone, Debug)]
pub enum Init {
    /// `= e`, converted to the variable's type.
    Value(Expr),
    /// `= { … }`: the given elements; everything else is zero.
    List(Vec<(Vec<InitStep>, Expr)>),
    /// The initialiser of a mutex, condition variable or the like: its kind, which is 0 for all but recursive
    /// (1) and error-checking (2) mutexes. As a part of a list it is an integer of the object's type.
    Sync(i128),
}

/// One step on the way from the whole object to the initialised part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitStep {
    /// Element of an array.
    Index(u64),
    /// Field of a struct or union, by position.
    Field(usize),
}

/// What is known of a function.
#[derive(Clone, Debug)]
pub struct FunctionData {
    /// The name in the source.
    pub name: String,
    /// The result type.
    pub result: QualType,
    /// The parameters' types.
    pub param_types: Vec<QualType>,
    /// The parameters of a defined function, in order.
    pub params: Vec<Variable>,
    /// Takes further arguments (`...`), or was declared without a prototype.
    pub variadic: bool,
    /// Where the name is declared.
    pub span: Span,
    /// Who else means it by its name.
    pub linkage: Linkage,
    /// The body of a defined function that could be checked.
    pub body: Option<Body>,
}

/// The body of a function.
#[derive(Clone, Debug)]
pub struct Body {
    /// The statements.
    pub stmts: Vec<Stmt>,
    /// The labels that occur in it, with their names.
    pub labels: IndexVec<Label, LabelData>,
    /// The closing brace: where a function without `return` ends.
    pub end: Span,
}

/// A label.
#[derive(Clone, Debug)]
pub struct LabelData {
    /// The name in the source.
    pub name: String,
    /// Where it is set.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it stands. For compound statements: the keyword up to the closing parenthesis.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// An expression for its effects.
    Expr(Expr),
    /// A declaration of a local variable, with its initialiser. (Static locals do not occur here.)
    Declare(Variable, Option<Init>),
    /// `{ … }`.
    Block(Vec<Stmt>),
    /// `if`.
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    /// `while`.
    While(Expr, Box<Stmt>),
    /// `do … while`.
    DoWhile(Box<Stmt>, Expr),
    /// `for`; the initial part is a list of statements.
    For(Vec<Stmt>, Option<Expr>, Option<Expr>, Box<Stmt>),
    /// `switch`; the controlling expression is promoted.
    Switch(Expr, Box<Stmt>),
    /// `case low ... high:`, converted to the promoted type of the `switch`.
    Case(i128, i128, Box<Stmt>),
    /// `default:`.
    Default(Box<Stmt>),
    /// `name:`.
    Label(Label, Box<Stmt>),
    /// `goto`.
    Goto(Label),
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `return`, with the value converted to the function's result type.
    Return(Option<Expr>),
    /// Inline assembly: kept so that the lowering can refuse it where it stands.
    Asm,
}

/// An expression that yields a value.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// The type of the value, without qualifiers.
    pub ty: Type,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An integer constant: literal, character, enumerator, `sizeof`; within the range of its type.
    Int(i128),
    /// A floating constant.
    Float(f64),
    /// The value of an object.
    Load(Box<Lvalue>),
    /// `&x`.
    AddressOf(Box<Lvalue>),
    /// An array used as a pointer to its first element.
    Decay(Box<Lvalue>),
    /// A function used as a value.
    FunctionRef(Function),
    /// `-e`, `~e`, `!e`, with the operand promoted (`!` takes any scalar and gives `int`).
    Unary(UnaryOp, Box<Expr>),
    /// An operator on two operands that already have their common type (shifts: each its own promoted
    /// type). Comparisons give `int`; their operands may be pointers.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// Pointer plus (or minus, when `negate`) integer, counted in elements.
    PointerOffset {
        /// The pointer.
        pointer: Box<Expr>,
        /// The integer.
        offset: Box<Expr>,
        /// `p - i`.
        negate: bool,
    },
    /// Pointer minus pointer, counted in elements.
    PointerDifference(Box<Expr>, Box<Expr>),
    /// `a && b`, `int`.
    LogicalAnd(Box<Expr>, Box<Expr>),
    /// `a || b`, `int`.
    LogicalOr(Box<Expr>, Box<Expr>),
    /// `c ? a : b`, both converted to the common type.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a, b`.
    Comma(Box<Expr>, Box<Expr>),
    /// A conversion, explicit or implicit, to the type of this expression.
    Cast(Box<Expr>),
    /// `target = value`, with the value converted to the target's type. The result is the new value.
    Assign(Box<Lvalue>, Box<Expr>),
    /// `target op= value`: the target's value is converted to `computation`, the operator applied (the
    /// value has the type `computation`, or its own promoted type for shifts, or is a plain integer for
    /// pointers), and the result converted back.
    CompoundAssign {
        /// The object read and written.
        target: Box<Lvalue>,
        /// The operator.
        op: BinaryOp,
        /// The type in which it is computed.
        computation: Type,
        /// The right operand.
        value: Box<Expr>,
    },
    /// `++` and `--`.
    Step {
        /// The object read and written.
        target: Box<Lvalue>,
        /// `--`.
        decrement: bool,
        /// The result is the old value (`x++`), not the new one.
        postfix: bool,
    },
    /// A call; the arguments are converted to the parameters' types or promoted.
    Call(Callee, Vec<Expr>),
    /// `({ … })`: the value of the last expression statement, if it has one.
    Statement(Vec<Stmt>),
    /// Something that the parser accepts and no room can treat; the text says what.
    Unsupported(String),
}

/// Whom a call calls.
#[derive(Clone, Debug)]
pub enum Callee {
    /// A function by name.
    Direct(Function),
    /// Through a pointer.
    Indirect(Box<Expr>),
}

/// An expression that names an object.
#[derive(Clone, Debug)]
pub struct Lvalue {
    /// Which object.
    pub kind: LvalueKind,
    /// The object's type, with qualifiers (`_Atomic`, `volatile`).
    pub ty: QualType,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of lvalues.
#[derive(Clone, Debug)]
pub enum LvalueKind {
    /// A variable.
    Variable(Variable),
    /// An element of an array object (`a[i]` and `i[a]` where `a` is an array; through a pointer it is a
    /// [`LvalueKind::Deref`] of a [`ExprKind::PointerOffset`]). The index has its promoted type.
    Index(Box<Lvalue>, Box<Expr>),
    /// `*p`.
    Deref(Box<Expr>),
    /// Field number `n` of a struct or union object (`p->f` is a field of a [`LvalueKind::Deref`]).
    Field(Box<Lvalue>, usize),
    /// A string literal: an array of characters, with its terminating zero.
    String(Vec<u8>),
    /// A compound literal, turned into a variable of its own.
    Compound(Variable, Box<Init>),
}

/// Operators on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Negate,
    /// `~`
    Complement,
    /// `!`
    Not,
}

/// Operators on two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `&`
    And,
    /// `^`
    Xor,
    /// `|`
    Or,
}
