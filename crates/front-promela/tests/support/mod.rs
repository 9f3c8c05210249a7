//! What the tests of the syntax share.
#![allow(dead_code, reason = "each test uses a part of it")]

use pdnet_front_promela::{Loaded, load_text};
use pdnet_source::{ColorChoice, Diagnostic, SourceMap, render};

/// Reads a model that needs no preprocessor.
pub(crate) fn load(text: &str) -> (SourceMap, Result<Loaded, Vec<Diagnostic>>) {
    let mut map = SourceMap::new();
    let file = map.add("test.pml", text);
    let result = load_text(&mut map, file);
    (map, result)
}

/// Reads a model that must be accepted.
#[track_caller]
pub(crate) fn accept(text: &str) -> (SourceMap, Loaded) {
    match load(text) {
        (map, Ok(loaded)) => (map, loaded),
        (map, Err(diagnostics)) => panic!("{}", rendered(&map, &diagnostics)),
    }
}

/// What is said about a model.
pub(crate) fn rendered(map: &SourceMap, diagnostics: &[Diagnostic]) -> String {
    let texts: Vec<String> =
        diagnostics.iter().map(|diagnostic| render(map, diagnostic, ColorChoice::Plain)).collect();
    texts.join("\n")
}

/// Models with every construct, to start from.
pub(crate) const MODELS: &[&str] = &[
    r#"/* Everything about data. */
mtype = { red, green };
mtype:shape = { round, square, flat };
typedef Inner { byte a[2]; bit b = 1 };
typedef Outer { Inner in[3]; chan q = [1] of { byte, Inner }; unsigned w : 5; mtype:shape s }
byte x = 3, y[4] = 2;
hidden int h;
show short s = -1;
local pid p;
bool flags[3] = { 1, 0, 1 };
chan c = [0] of { byte, mtype };
chan d[2] = [4] of { int, Inner, chan };
Outer o, many[2];
init {
  byte k = x + 1;
  Inner m;
  x = 'a' + '\n';
  o.in[1].a[0] = many[x].in[0].a[y[1]];
  many[1].w++;
  y[2]--;
  d[0]!7,m,c;
  d[0]?x,m,_;
  d[1]!!1(m, c);
  d[1]??1,m,eval(c);
  c?<x,red>;
  (c?[_,red] && len(d[0]) < 2 || empty(c) && nfull(d[1]));
  x = (x > 2 -> x * -1 : ~x % 3 << 1 | 5 & 6 ^ 1);
  { byte t; Inner u; byte v[3]; byte z = 3; t = z; v[1] = u.b }
  printf("%d %e\n", x, red);
  printm(green);
  assert(x != 2 && !(y[0] >= 3));
}
"#,
    r#"byte n;
chan q = [2] of { byte };
inline twice(v, w) { v = v + w; if :: v > 2 -> goto done :: else fi; v++; done: skip }
inline outer(a) { twice(a, 2); d_step { a = 1; a = 2 } }
active [2] proctype P() priority 3 provided (n < 100) {
  byte i, j;
  xr q;
start:
  do
  :: atomic { n < 3 -> n++ }
  :: n == 3 -> break
  :: timeout -> goto start
  :: else -> skip
  od;
  for (i : 1 .. 3) { n = i }
  select (j : 0 .. 40);
  select (j : 0 .. 4);
  twice(i, j)
  outer(n);
  { q!1; n = 2 } unless { n == 7 -> n = 0 }
end1: q?i
progress: goto start
}
D_proctype Q(byte a, b; chan out) {
  xs out;
  out!a;
  if :: a == b :: atomic { else -> skip } fi
}
init { pid r; atomic { r = run Q(1, 2, q); run P() } }
never named {
accept: do :: !(P[0]@start && P:i == 0) || np_ od
}
trace { do :: q!1 :: q?1 od }
ltl safe { [] (n < 3 -> <> n == 1) && ((n == 0) U (P[1]@end1)) }
"#,
    r#"mtype = { msg0, msg1, ack0, ack1 }
chan sender = [1] of { mtype };
chan receiver = [1] of { mtype };
proctype Sender()
{
again:
	do
	:: receiver!msg1 ->
		if
		:: sender?ack1 -> break
		:: sender?ack0
		:: timeout
		fi
	od
	do
	:: receiver!msg0
	   sender?ack0; break
	od
	goto again
}
proctype Receiver() { do :: receiver?msg1 -> sender!ack1; :: receiver?msg0 -> sender!ack0 od }
init { atomic { run Sender(); run Receiver(); } }
ltl p1 { always eventually (len(sender) > 0) }
ltl p2 { (len(sender) == 0) weakuntil (len(receiver) != 0) implies X true }
"#,
];
