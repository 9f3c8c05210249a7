//! What the tree of a model is: constructs written out as SPIN does, names resolved.

mod support;

use expect_test::{Expect, expect};
use pdnet_front_promela::dump;

#[track_caller]
fn assert_tree(text: &str, expected: Expect) {
    let (_, loaded) = support::accept(text);
    expected.assert_eq(&dump(&loaded.model));
}

/// Only what a proctype `P` does.
#[track_caller]
fn assert_body(body: &str, expected: Expect) {
    let text =
        format!("byte x, y, a[4]; chan q = [2] of {{ byte, byte }};\nactive proctype P() {{\n{body}\n}}\n");
    let (_, loaded) = support::accept(&text);
    let dump = dump(&loaded.model);
    let (_, body) = dump.split_once("P()").expect("a proctype");
    // Without the indentation, which is not part of an expected text.
    let lines = body.trim_start_matches('\n').lines();
    let text: String = lines.map(|line| format!("{}\n", line.strip_prefix("  ").unwrap_or(line))).collect();
    expected.assert_eq(&text);
}

#[test]
fn data() {
    assert_tree(
        support::MODELS[0],
        expect![[r#"
        mtype = red=2 green=1
        mtype:shape = round=3 square=2 flat=1
        byte x = 3
        byte y[4] = 2
        hidden int h
        show short s = -1
        local pid p
        bool flags[3] = {1, 0, 1}
        chan c = [0] of { byte, mtype }
        chan d[2] = [4] of { int, byte, byte, bit, chan }
        byte o.in[].a[3][2]
        bit o.in[].b[3] = 1
        chan o.q = [1] of { byte, byte, byte, bit }
        unsigned:5 o.w
        mtype:shape o.s
        byte many[].in[].a[2][3][2]
        bit many[].in[].b[2][3] = 1
        chan many[].q[2] = [1] of { byte, byte, byte, bit }
        unsigned:5 many[].w[2]
        mtype:shape many[].s[2]
        active[1] proctype :init:()
          byte k = (x + 1)
          byte m.a[2]
          bit m.b = 1
          byte t
          byte u.a[2]
          bit u.b = 1
          byte v[3]
          byte z
          x = (97 + 10)
          o.in[].a[1][0] = many[].in[].a[x][0][y[1]]
          many[].w[1] = (many[].w[1] + 1)
          y[2] = (y[2] - 1)
          d[0] ! 7, m.a[0], m.a[1], m.b, c
          d[0] ? x, m.a[0], m.a[1], m.b, _
          d[1] !! 1, m.a[0], m.a[1], m.b, c
          d[1] ?? =1, m.a[0], m.a[1], m.b, =c
          c ? <x, =2>
          ((c ? [_, =2] && (len(d[0]) < 2)) || (empty(c) && nfull(d[1])))
          x = ((x > 2) -> (x * -1) : (((~x % 3) << 1) | ((5 & 6) ^ 1)))
          block
            t = 0
            1
            v[0] = 0
            z = 3
            t = z
            v[1] = u.b
          print "%d %e\n" x, 2
          print "%e" 1
          assert ((x != 2) && !(y[0] >= 3))
    "#]],
    );
}

#[test]
fn control() {
    assert_tree(
        support::MODELS[1],
        expect![[r#"
            byte n
            chan q = [2] of { byte }
            active[2] proctype P() provided (n < 100)
              xr q
              byte i
              byte j
              start: do
              ::
                atomic
                  (n < 3)
                  n = (n + 1)
              ::
                (n == 3)
                break
              ::
                timeout
                goto start
              :: else
                1
              i = 1
              do
              ::
                (i <= 3)
                n = i
                i = (i + 1)
              :: else
                break
              j = 0
              do
              ::
                (j < 40)
                j = (j + 1)
              ::
                break
              if
              ::
                j = 0
              ::
                j = 1
              ::
                j = 2
              ::
                j = 3
              ::
                j = 4
              block
                i = (i + j)
                if
                ::
                  (i > 2)
                  goto done
                :: else
                i = (i + 1)
                done: 1
              block
                block
                  n = (n + 2)
                  if
                  ::
                    (n > 2)
                    goto done#2
                  :: else
                  n = (n + 1)
                  done#2: 1
                d_step
                  n = 1
                  n = 2
              main
                q ! 1
                n = 2
              unless
                (n == 7)
                n = 0
              end1: q ? i
              progress: 1
              goto start
            D_proctype Q(byte a; byte b; chan out)
              xs out
              out ! a
              if
              ::
                (a == b)
              ::
                atomic
                  else
                  1
            active[1] proctype :init:()
              pid r
              atomic
                r = run Q(1, 2, q)
                run P()
            never named
              accept: do
              ::
                (!(P[0]@start && (P:i == 0)) || np_)
            trace
              do
              ::
                q ! 1
              ::
                q ? =1
            ltl safe G(`(n < 3)` -> F `(n == 1)`) && `(n == 0)` U `P[1]@end1`
        "#]],
    );
}

#[test]
fn protocol() {
    assert_tree(
        support::MODELS[2],
        expect![[r#"
        mtype = msg0=4 msg1=3 ack0=2 ack1=1
        chan sender = [1] of { mtype }
        chan receiver = [1] of { mtype }
        proctype Sender()
          again: do
          ::
            receiver ! 3
            if
            ::
              sender ? =1
              break
            ::
              sender ? =2
            ::
              timeout
          do
          ::
            receiver ! 4
            sender ? =2
            break
          goto again
        proctype Receiver()
          do
          ::
            receiver ? =3
            sender ! 1
          ::
            receiver ? =4
            sender ! 2
        active[1] proctype :init:()
          atomic
            run Sender()
            run Receiver()
        ltl p1 G F `(len(sender) > 0)`
        ltl p2 `(len(sender) == 0)` W `(len(receiver) != 0)` -> X true
    "#]],
    );
}

#[test]
fn constants_of_mtype_count_from_the_last_of_each_declaration() {
    assert_tree(
        "mtype = { a, b, c }; mtype = { d, e }; mtype:s = { f g }; init { skip }",
        expect![[r#"
        mtype = a=3 b=2 c=1 d=5 e=4
        mtype:s = f=2 g=1
        active[1] proctype :init:()
          1
    "#]],
    );
}

#[test]
fn declarations_behind_the_first_statement_are_steps() {
    assert_body(
        "byte i = 1; skip; byte j; byte k = 2, l; byte m[3]; byte n[2] = 7",
        expect![[r#"
          byte i = 1
          byte j
          byte k
          byte l
          byte m[3]
          byte n[2]
          1
          j = 0
          k = 2
          l = 0
          m[0] = 0
          n[0] = 7
    "#]],
    );
}

#[test]
fn line_ends_end_statements() {
    assert_body(
        "x = 1\ny = 2\nx++\nif\n:: x == 1\n-> y = 3\n:: else\nfi\nx = (1\n+ 2)\n{ x = 1 }\n{ x = 2 } y = 3",
        expect![[r#"
          x = 1
          y = 2
          x = (x + 1)
          if
          ::
            (x == 1)
            y = 3
          :: else
          x = (1 + 2)
          block
            x = 1
          block
            x = 2
          y = 3
    "#]],
    );
}

#[test]
fn a_line_end_can_cut_an_expression() {
    assert_body(
        "x = y\n- 1",
        expect![[r#"
          x = y
          -1
    "#]],
    );
}

#[test]
fn separators_may_be_too_many() {
    assert_body(
        ";; x = 1;;; -> y = 2 ->; if :: ; x; -> ; :: y fi ;",
        expect![[r#"
          x = 1
          y = 2
          if
          ::
            x
          ::
            y
    "#]],
    );
}

#[test]
fn of_several_skips_in_a_choice_some_are_removed() {
    assert_body(
        "if :: x -> skip; skip; skip; y = 1 :: skip; skip :: printf(\"a\"); skip; L: skip; skip fi; skip; skip; goto L",
        expect![[r#"
          if
          ::
            x
            1
            y = 1
          ::
            1
            1
          ::
            print "a" 
            L: 1
            1
          1
          1
          goto L
    "#]],
    );
}

#[test]
fn for_and_select_are_written_out() {
    assert_body(
        "L: for (x : y .. 3) { y = 1; if :: break :: else fi }; for (x in a) { a[x] = 0 }",
        expect![[r#"
          x = y
          L: do
          ::
            (x <= 3)
            y = 1
            if
            ::
              break
            :: else
            x = (x + 1)
          :: else
            break
          x = 0
          do
          ::
            (x <= 3)
            a[x] = 0
            x = (x + 1)
          :: else
            break
    "#]],
    );
    assert_body(
        "select (x : 1 .. 3); M: select (x : 0 .. y); select (y : 0 .. 33)",
        expect![[r#"
          if
          ::
            x = 1
          ::
            x = 2
          ::
            x = 3
          x = 0
          M: do
          ::
            break
          ::
            (x < y)
            x = (x + 1)
          y = 0
          do
          ::
            (y < 33)
            y = (y + 1)
          ::
            break
    "#]],
    );
}

#[test]
fn a_loop_over_messages_takes_them_round() {
    assert_tree(
        "typedef T { byte a; byte b }; chan q = [3] of { T }; init { T m; for (m in q) { m.a++ } }",
        expect![[r#"
            chan q = [3] of { byte, byte }
            active[1] proctype :init:()
              byte m.a
              byte m.b
              byte for counter
              for counter = 0
              do
              ::
                (for counter < len(q))
                q ? m.a, m.b
                q ! m.a, m.b
                m.a = (m.a + 1)
                for counter = (for counter + 1)
              :: else
                break
        "#]],
    );
}

#[test]
fn special_labels_of_jumps_get_a_step() {
    assert_body(
        "L: do :: end: goto L :: x -> progress1: break :: y -> M: goto L od",
        expect![[r#"
          L: do
          ::
            end: 1
            goto L
          ::
            x
            progress1: 1
            break
          ::
            y
            M: goto L
    "#]],
    );
}

#[test]
fn labels_that_are_asked_for_get_a_step() {
    assert_tree(
        "byte x; active proctype P() { L: do :: x -> M: goto L :: N: x = 1 od } ltl { [] !P@M && <> P[0]@N }",
        expect![[r#"
            byte x
            active[1] proctype P()
              L: do
              ::
                x
                M: 1
                goto L
              ::
                N: x = 1
            ltl ltl_0 G !`P@M` && F `P[0]@N`
        "#]],
    );
}

#[test]
fn inlines_are_texts() {
    assert_tree(
        "typedef T { byte f }; T t; byte g;\ninline set(a, b) { a.f = b + b }\ninline both(a, b) { set(a, b); L: b = 1; goto L }\n\
         inline get(a) { return a + 1 }\ninit { both(t, g); set(t, 1 + 2); g = get(t.f); both(t, g) }",
        expect![[r#"
            byte t.f
            byte g
            active[1] proctype :init:()
              block
                block
                  t.f = (g + g)
                L: g = 1
                goto L
              block
                t.f = (((1 + 2) + 1) + 2)
              block
                g = (t.f + 1)
              block
                block
                  t.f = (g + g)
                L#2: g = 1
                goto L#2
        "#]],
    );
}

#[test]
fn jumps_find_the_label_of_their_own_block_first() {
    assert_body(
        "{ x = 1; L: x = 2; goto L }; { y = 1; L: y = 2; goto L }; goto L; M: skip; { goto M; skip }",
        expect![[r#"
            block
              x = 1
              L: x = 2
              goto L
            block
              y = 1
              L#2: y = 2
              goto L#2
            goto L#2
            M: 1
            block
              goto M
              1
        "#]],
    );
}

#[test]
fn escapes() {
    assert_body(
        "x = 1 unless y = 2; L: { x; y } unless { y == 1; x = 2 }; atomic { x = 1 } unless atomic { y -> x = 3 }; do :: x :: break od unless skip",
        expect![[r#"
          main
            x = 1
          unless
            y = 2
          L: block
            main
              x
              y
            unless
              (y == 1)
              x = 2
          main
            atomic
              x = 1
          unless
            atomic
              y
              x = 3
          main
            do
            ::
              x
            ::
              break
          unless
            1
    "#]],
    );
}

#[test]
fn an_else_that_begins_no_choice_is_always_executable() {
    assert_body(
        "if :: x -> else -> y = 1 :: atomic { else -> x = 1 } fi",
        expect![[r#"
          if
          ::
            x
            1
            y = 1
          ::
            atomic
              else
              x = 1
    "#]],
    );
}

#[test]
fn messages() {
    assert_body(
        "q!1,2; q!1(2); q!!x,y; q?x,y; q?1(y); q?eval(x + 1),_; q??x,-1; q?<x,y>; q??<x,2>; q?[x,2] && q??[_,y]; q?(x,y)",
        expect![[r#"
          q ! 1, 2
          q ! 1, 2
          q !! x, y
          q ? x, y
          q ? =1, y
          q ? =(x + 1), _
          q ?? x, =-1
          q ? <x, y>
          q ?? <x, =2>
          (q ? [_, =2] && q ?? [_, _])
          q ? x, y
    "#]],
    );
}

#[test]
fn ranks_of_operators() {
    assert_body(
        "x || y && x | y ^ x & y == x < y << x + y * -x; !x == ~y; (x -> y : x + 1) == 2",
        expect![[r#"
          (x || (y && (x | (y ^ (x & (y == (x < (y << (x + (y * -x))))))))))
          (!x == ~y)
          ((x -> y : (x + 1)) == 2)
    "#]],
    );
}
