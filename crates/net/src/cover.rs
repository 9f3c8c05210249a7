//! Whether some of a few transitions is enabled whatever the marking.
//!
//! The transitions out of one place read the same cells, and their guards are true and false in complementary
//! ways: `x < 3` and `3 <= x`, or the cases of a `switch`. Each guard becomes a formula over *questions*:
//! comparisons and other conditions that are taken as they are written, so that two questions are the same only
//! where they are the same expression of the same cells. If every way to answer the questions makes one of the
//! formulas true, then in every marking a transition is enabled. The converse is not so: what this does not
//! see through counts as not covered.

use pdnet_base::{FxHashMap, Idx as _};

use crate::net::{ArcData, Pattern, Place, Transition, TransitionData, Var};
use crate::{BinaryOp, Expr, IntType, Net};

/// So many ways to answer the questions are looked at.
const MAX_CASES: usize = 4096;

/// When each of some transitions is enabled.
pub(crate) struct Cover {
    conditions: Vec<Formula>,
}

/// A condition over numbered questions.
#[derive(Clone, Debug)]
enum Formula {
    Const(bool),
    Question(usize),
    Not(Box<Formula>),
    If(Box<Formula>, Box<Formula>, Box<Formula>),
    All(Vec<Formula>),
}

/// What can be asked of a marking.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Question {
    /// Whether the expression, over common variables, is true.
    Holds(Expr),
    /// Whether a token with these first components is there.
    Marked(Place, Vec<Expr>),
    /// Something that nobody else asks.
    Other(usize),
}

/// Numbers that the transitions have in common: the same cell, read under the same condition, is one variable.
#[derive(Default)]
struct Common {
    reads: FxHashMap<(Place, Vec<Expr>, Option<Expr>), Var>,
    n_vars: usize,
    questions: FxHashMap<Question, usize>,
    guards_only: bool,
}

impl Cover {
    pub(crate) fn of(net: &Net, transitions: impl Iterator<Item = Transition>) -> Self {
        // The first two variables are the frame that stands there.
        let mut common = Common { n_vars: 2, ..Common::default() };
        Self {
            conditions: transitions.map(|transition| common.enabled(&net.transitions[transition])).collect(),
        }
    }

    /// As if the tokens were there that the transitions ask for.
    pub(crate) fn of_guards(net: &Net, transitions: impl Iterator<Item = Transition>) -> Self {
        let mut common = Common { n_vars: 2, guards_only: true, ..Common::default() };
        let conditions = transitions.map(|transition| common.enabled(&net.transitions[transition]));
        Self { conditions: conditions.collect() }
    }

    /// Whether one of them is enabled in every marking.
    pub(crate) fn is_total(&self) -> bool {
        let mut budget = MAX_CASES;
        self.holds(&mut FxHashMap::default(), &mut budget)
    }

    /// Whether no two of them are enabled in the same marking.
    pub(crate) fn is_exclusive(&self) -> bool {
        let mut budget = MAX_CASES;
        self.never_two(&mut FxHashMap::default(), &mut budget)
    }

    fn never_two(&self, answers: &mut FxHashMap<usize, bool>, budget: &mut usize) -> bool {
        if *budget == 0 {
            return false;
        }
        *budget -= 1;
        let (mut open, mut n_true, mut n_open) = (None, 0, 0);
        for condition in &self.conditions {
            match condition.value(answers) {
                Ok(true) => n_true += 1,
                Ok(false) => {}
                Err(question) => {
                    open = Some(question);
                    n_open += 1;
                }
            }
        }
        if n_true > 1 {
            return false;
        }
        let Some(question) = open.filter(|_| n_true + n_open > 1) else { return true };
        let both = [true, false].into_iter().all(|answer| {
            answers.insert(question, answer);
            self.never_two(answers, budget)
        });
        answers.remove(&question);
        both
    }

    fn holds(&self, answers: &mut FxHashMap<usize, bool>, budget: &mut usize) -> bool {
        if *budget == 0 {
            return false;
        }
        *budget -= 1;
        let mut open = None;
        for condition in &self.conditions {
            match condition.value(answers) {
                Ok(true) => return true,
                Ok(false) => {}
                Err(question) => open = open.or(Some(question)),
            }
        }
        let Some(question) = open else { return false };
        let both = [true, false].into_iter().all(|answer| {
            answers.insert(question, answer);
            self.holds(answers, budget)
        });
        answers.remove(&question);
        both
    }
}

impl Formula {
    /// The value, or a question that must be answered first.
    fn value(&self, answers: &FxHashMap<usize, bool>) -> Result<bool, usize> {
        match self {
            Self::Const(value) => Ok(*value),
            Self::Question(question) => answers.get(question).copied().ok_or(*question),
            Self::Not(operand) => operand.value(answers).map(|value| !value),
            Self::If(condition, then, otherwise) => {
                if condition.value(answers)? {
                    then.value(answers)
                } else {
                    otherwise.value(answers)
                }
            }
            Self::All(parts) => {
                let mut open = None;
                for part in parts {
                    match part.value(answers) {
                        Ok(false) => return Ok(false),
                        Ok(true) => {}
                        Err(question) => open = open.or(Some(question)),
                    }
                }
                open.map_or(Ok(true), Err)
            }
        }
    }
}

impl Common {
    /// When a transition is enabled for a frame that stands on its source.
    fn enabled(&mut self, data: &TransitionData) -> Formula {
        let mut names: FxHashMap<Var, Var> = FxHashMap::default();
        let mut parts = Vec::new();
        for (var, var_data) in data.vars.iter_enumerated().take(2) {
            debug_assert!(var_data.choice.is_none());
            names.insert(var, var);
        }
        for arc in data.arcs.iter().skip(1) {
            match arc {
                ArcData::Take { .. } | ArcData::Test { .. } | ArcData::Inhibit { .. } if self.guards_only => {
                }
                ArcData::Take { place, token } | ArcData::Test { place, token } => {
                    let known = token.iter().map_while(|part| match part {
                        Pattern::Is(expr) => self.rename(expr, &names),
                        Pattern::Bind(_) => None,
                    });
                    let prefix: Vec<Expr> = known.collect();
                    let rest = &token[prefix.len()..];
                    // A token with more conditions behind a free component is another matter.
                    let is_plain = rest.iter().all(|part| matches!(part, Pattern::Bind(_)));
                    let question = if is_plain { Question::Marked(*place, prefix) } else { self.other() };
                    parts.push(Formula::Question(self.number(question)));
                }
                ArcData::Inhibit { place, prefix } => {
                    let prefix: Option<Vec<Expr>> =
                        prefix.iter().map(|part| self.rename(part, &names)).collect();
                    let question = match prefix {
                        Some(prefix) => Question::Marked(*place, prefix),
                        None => self.other(),
                    };
                    parts.push(Formula::Not(Box::new(Formula::Question(self.number(question)))));
                }
                ArcData::Read { place, key, var, when } => {
                    let key: Option<Vec<Expr>> = key.iter().map(|part| self.rename(part, &names)).collect();
                    let when = match when {
                        None => Some(None),
                        Some(when) => self.rename(when, &names).map(Some),
                    };
                    if let (Some(key), Some(when)) = (key, when) {
                        let next = Var::new(self.n_vars);
                        let common = *self.reads.entry((*place, key, when)).or_insert(next);
                        self.n_vars = self.n_vars.max(common.index() + 1);
                        names.insert(*var, common);
                    }
                }
                ArcData::Put { .. }
                | ArcData::Drain { .. }
                | ArcData::Write { .. }
                | ArcData::Governed { .. }
                | ArcData::Governs { .. } => {}
            }
        }
        parts.extend(data.guard.as_ref().map(|guard| self.formula(guard, &names)));
        Formula::All(parts)
    }

    fn formula(&mut self, expr: &Expr, names: &FxHashMap<Var, Var>) -> Formula {
        let not = |formula: Formula| Formula::Not(Box::new(formula));
        match expr {
            Expr::Const(value) => Formula::Const(*value != 0),
            Expr::If(condition, then, otherwise) => Formula::If(
                Box::new(self.formula(condition, names)),
                Box::new(self.formula(then, names)),
                Box::new(self.formula(otherwise, names)),
            ),
            Expr::Binary(BinaryOp::Eq, IntType::I64, left, right) if **right == Expr::Const(0) => {
                not(self.formula(left, names))
            }
            Expr::Binary(BinaryOp::Ne, IntType::I64, left, right) if **right == Expr::Const(0) => {
                self.formula(left, names)
            }
            Expr::Binary(BinaryOp::Ne, ty, left, right) => {
                let equal = Expr::Binary(BinaryOp::Eq, *ty, left.clone(), right.clone());
                not(self.question(&equal, names))
            }
            Expr::Binary(BinaryOp::Le, ty, left, right) => {
                let less = Expr::Binary(BinaryOp::Lt, *ty, right.clone(), left.clone());
                not(self.question(&less, names))
            }
            _ => self.question(expr, names),
        }
    }

    fn question(&mut self, expr: &Expr, names: &FxHashMap<Var, Var>) -> Formula {
        let question = match self.rename(expr, names) {
            Some(expr) => Question::Holds(expr),
            None => self.other(),
        };
        Formula::Question(self.number(question))
    }

    fn number(&mut self, question: Question) -> usize {
        let next = self.questions.len();
        *self.questions.entry(question).or_insert(next)
    }

    fn other(&self) -> Question {
        Question::Other(self.questions.len())
    }

    /// The expression over common variables; none where it has others, such as choices.
    fn rename(&self, expr: &Expr, names: &FxHashMap<Var, Var>) -> Option<Expr> {
        let is_known = expr.vars().iter().all(|var| names.contains_key(var));
        is_known.then(|| expr.replace_vars(&|var| Expr::Var(names[&var])))
    }
}

#[cfg(test)]
mod tests {
    use pdnet_source::SourceMap;

    use crate::{Flow, PlaceKind, parse_net};

    /// Whether the place `at` is total, with these transitions out of it.
    fn is_total(steps: &str) -> bool {
        let text = format!(
            r#"net "cover" threads 2 depth 1
            color c0 = thread depth
            color c1 = i32
            color c2 = thread
            function f0 "main" entry p0 exit p1
            place p0 execution c0 "at" of f0 tokens (0 0)
            place p1 execution c0 "out" of f0 tokens
            place p2 variable c1 "x" cells global i32 = 0
            place p3 execution c2 "waiters" tokens
            {}"#,
            steps.replace("STEP", "assign f0 \"s\"\n var x0 thread \"t\"\n var x1 depth \"d\"\n var x2 i32 \"x\"\n take p0 (?x0 ?x1)\n read p2 () x2\n put p1 (x0 x1)\n")
        );
        let mut map = SourceMap::new();
        let file = map.add("net", &text);
        let net = parse_net(&map, file).unwrap();
        let at = net.find_place("at", PlaceKind::Execution).unwrap();
        Flow::new(&net).is_total(&net, at)
    }

    #[test]
    fn guards_that_cover_all_cases_and_guards_that_do_not() {
        let cases: [(&[&str], bool); 9] = [
            (&["(lt i32 x2 3)", "(le i32 3 x2)"], true),
            (&["(lt i32 x2 3)", "(lt i32 3 x2)"], false),
            (&["(lt i32 x2 3)"], false),
            (&["(eq i64 x2 0)", "(ne i64 x2 0)"], true),
            (&["(eq i64 x2 1)", "(eq i64 x2 2)", "(if (ne i64 x2 1) (ne i64 x2 2) 0)"], true),
            (&["(eq i64 x2 1)", "(eq i64 x2 2)", "(if (ne i64 x2 1) (ne i64 x2 3) 0)"], false),
            (&["(if (lt i32 x2 3) 1 0)", "(eq i64 (if (lt i32 x2 3) 1 0) 0)"], true),
            (&["(if (lt i32 x2 3) (lt i32 0 x2) 0)", "(if (lt i32 x2 3) (le i32 x2 0) 0)"], false),
            (
                &[
                    "(if (lt i32 x2 3) (lt i32 0 x2) 0)",
                    "(if (lt i32 x2 3) (le i32 x2 0) 0)",
                    "(le i32 3 x2)",
                ],
                true,
            ),
        ];
        for (guards, expected) in cases {
            let step = |(number, guard): (usize, &&str)| format!("transition t{number} STEP guard {guard}\n");
            let steps: String = guards.iter().enumerate().map(step).collect();
            assert_eq!(is_total(&steps), expected, "{guards:?}");
        }
    }

    #[test]
    fn tokens_that_may_not_be_there() {
        let free = "transition t0 STEP";
        assert!(is_total(free));
        let signal = "transition t0 assign f0 \"s\"\n var x0 thread \"t\"\n var x1 depth \"d\"\n var x2 thread \"u\"\n take p0 (?x0 ?x1)\n take p3 (?x2)\n put p1 (x0 x1)\n";
        assert!(!is_total(signal));
        let nobody = "transition t1 assign f0 \"s\"\n var x0 thread \"t\"\n var x1 depth \"d\"\n take p0 (?x0 ?x1)\n inhibit p3 ()\n put p1 (x0 x1)\n";
        assert!(is_total(&format!("{signal}{nobody}")));
        let not_me = nobody.replace("p3 ()", "p3 (x0)");
        assert!(!is_total(&format!("{signal}{not_me}")));
    }
}
