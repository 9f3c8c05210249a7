use pdnet_logic::*;
use pdnet_base::Idx as _;
#[test] fn x() {
    let f = Ltl::next(Ltl::globally(Ltl::atom(Atom::new(0))));
    println!("{:?}", translate(&f.negated(), vec![]));
    let f = Ltl::globally(Ltl::atom(Atom::new(0)));
    println!("{:?}", translate(&f.negated(), vec![]));
}
