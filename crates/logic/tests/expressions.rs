//! Random C expressions as atoms: what is printed must read back as the same expression.

mod support;

use pdnet_base::{Idx as _, IndexVec, Rng};
use pdnet_logic::{
    Atom, AtomKind, AtomSyntax, BinaryOp, ExprKind, ExprSyntax, Formula, IntSuffix, Ltl, Name, ThreadRef,
    UnaryOp,
};
use pdnet_source::{File, Span};
use support::parse;

const NOWHERE: fn() -> Span = || Span { file: File::new(0), start: 0, end: 0 };

const UNARY: [UnaryOp; 6] =
    [UnaryOp::Neg, UnaryOp::Plus, UnaryOp::BitNot, UnaryOp::Not, UnaryOp::Deref, UnaryOp::AddressOf];

const BINARY: [BinaryOp; 18] = [
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Rem,
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Shl,
    BinaryOp::Shr,
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::Gt,
    BinaryOp::Ge,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::BitAnd,
    BinaryOp::BitXor,
    BinaryOp::BitOr,
    BinaryOp::And,
    BinaryOp::Or,
];

fn name(rng: &mut Rng) -> Name {
    let names = ["x", "y", "U", "G", "end", "data", "race", "Fx", "call", "_a1", "m"];
    Name { text: (*rng.pick(&names)).to_owned(), span: NOWHERE() }
}

fn thread(rng: &mut Rng) -> ThreadRef {
    let index = if rng.chance(50) { Some(u32::try_from(rng.below(4)).expect("small")) } else { None };
    ThreadRef { function: name(rng), index }
}

fn expr(rng: &mut Rng, size: usize) -> ExprSyntax {
    let half = size / 2;
    let inner = |rng: &mut Rng| Box::new(expr(rng, half));
    let kind = if size <= 1 {
        match rng.below(6) {
            0 | 1 => {
                let longs = u8::try_from(rng.below(3)).expect("small");
                let suffix = IntSuffix { unsigned: rng.chance(20), longs, decimal: rng.chance(70) };
                ExprKind::Int(i128::try_from(rng.below(300)).expect("small"), suffix)
            }
            2 => ExprKind::Int(-1 - i128::try_from(rng.below(128)).expect("small"), IntSuffix::PLAIN),
            3 => ExprKind::Local { thread: thread(rng), name: name(rng) },
            _ => ExprKind::Name(name(rng).text),
        }
    } else {
        match rng.below(10) {
            0 | 1 => ExprKind::Unary(*rng.pick(&UNARY), inner(rng)),
            2 => ExprKind::Conditional(inner(rng), inner(rng), inner(rng)),
            3 => ExprKind::Index(inner(rng), inner(rng)),
            4 => ExprKind::Member(inner(rng), name(rng)),
            5 => ExprKind::Arrow(inner(rng), name(rng)),
            _ => ExprKind::Binary(*rng.pick(&BINARY), inner(rng), inner(rng)),
        }
    };
    ExprSyntax { kind, span: NOWHERE() }
}

#[test]
fn printed_expressions_parse_to_themselves() {
    let seed = Rng::test_seed(7);
    let mut rng = Rng::new(seed);
    for case in 0..20_000 {
        let size = 2 + rng.below(20);
        let object = expr(&mut rng, size);
        let kind = match rng.below(8) {
            0 => AtomKind::Holds { thread: thread(&mut rng), object },
            1 => AtomKind::Waiting { thread: thread(&mut rng), object },
            2 => AtomKind::Terminated(thread(&mut rng)),
            _ => AtomKind::Expr(object),
        };
        let atoms: IndexVec<Atom, AtomSyntax> = vec![AtomSyntax { kind, span: NOWHERE() }].into();
        let atom = Ltl::atom(Atom::new(0));
        let build = *rng.pick(&[Ltl::globally, Ltl::not, Ltl::finally]);
        let formula = Formula { ltl: Ltl::until(build(atom.clone()), atom), atoms };
        let text = formula.to_string();
        assert_eq!(parse(&text), formula, "seed {seed}, case {case}: {text}");
    }
}
