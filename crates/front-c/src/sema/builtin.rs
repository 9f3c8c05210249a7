//! Functions that need no declaration: the compiler's own, atomics, and the best-known of the library.

use lang_c::ast;
use pdnet_source::{Diagnostic, Span};

use super::{Sema, plain, pointer_to};
use crate::prepass::{ALIGNOF, COMPUTED_GOTO, LABEL_ADDRESS, TYPES_COMPATIBLE};
use crate::tree::{Callee, Expr, ExprKind, Function};
use crate::types::{FloatKind, FunctionType, IntKind, QualType, Qualifiers, Type};

/// Library functions by name; each letter is a type: `v` void, `i` int, `u` unsigned, `l` long, `m`
/// unsigned long, `L` long long, `M` unsigned long long, `z` size_t, `p` void pointer, `q` pointer to const
/// void, `s` char pointer, `t` pointer to const char, `d` double, `f` float, `b` _Bool, `.` more arguments. The first
/// is the result.
const LIBRARY: &[(&str, &str)] = &[
    (crate::prepass::ASSERT, "vb"),
    ("abort", "v"),
    ("abs", "ii"),
    ("alloca", "pz"),
    ("atoi", "it"),
    ("bswap16", "uu"),
    ("bswap32", "uu"),
    ("bswap64", "MM"),
    ("calloc", "pzz"),
    ("clz", "iu"),
    ("clzl", "im"),
    ("clzll", "iM"),
    ("ctz", "iu"),
    ("ctzl", "im"),
    ("ctzll", "iM"),
    ("exit", "vi"),
    ("_Exit", "vi"),
    ("fabs", "dd"),
    ("ffs", "ii"),
    ("ffsl", "il"),
    ("ffsll", "iL"),
    ("fprintf", "ipt."),
    ("free", "vp"),
    ("getchar", "i"),
    ("labs", "ll"),
    ("llabs", "LL"),
    ("malloc", "pz"),
    ("memcmp", "iqqz"),
    ("memcpy", "ppqz"),
    ("memmove", "ppqz"),
    ("memset", "ppiz"),
    ("parity", "iu"),
    ("popcount", "iu"),
    ("popcountl", "im"),
    ("popcountll", "iM"),
    ("printf", "it."),
    ("putchar", "ii"),
    ("puts", "it"),
    ("realloc", "ppz"),
    ("scanf", "it."),
    ("snprintf", "iszt."),
    ("sprintf", "ist."),
    ("strcat", "sst"),
    ("strchr", "sti"),
    ("strcmp", "itt"),
    ("strcpy", "sst"),
    ("strlen", "zt"),
    ("strncmp", "ittz"),
    ("strncpy", "sstz"),
    ("trap", "v"),
    ("unreachable", "v"),
];

/// Those of the list above that exist only with `__builtin_` in front.
const ONLY_BUILTIN: &[&str] = &[
    "bswap16",
    "bswap32",
    "bswap64",
    "clz",
    "clzl",
    "clzll",
    "ctz",
    "ctzl",
    "ctzll",
    "parity",
    "popcount",
    "popcountl",
    "popcountll",
    "trap",
    "unreachable",
];

impl<'a> Sema<'a> {
    /// A library function that the program uses without declaring it, with the type that it has.
    pub(super) fn library_function(&mut self, name: &str, span: Span) -> Option<Function> {
        let short = name.strip_prefix("__builtin_");
        let (_, letters) = LIBRARY.iter().find(|(known, _)| *known == short.unwrap_or(name))?;
        let only_builtin = ONLY_BUILTIN.contains(&short.unwrap_or(name));
        if only_builtin && short.is_none() {
            return None;
        }
        // The two spellings of one function are one function; `__builtin_trap` has only one.
        let full = match short {
            Some(short) if !only_builtin => short,
            _ => name,
        };
        if let Some(super::scope::Entity::Function(function)) = self.scopes[0].names.get(full) {
            return Some(*function);
        }
        if let Some(&function) = self.builtins.get(full) {
            return Some(function);
        }
        let variadic = letters.ends_with('.');
        let mut types =
            letters.chars().filter(|letter| *letter != '.').map(|letter| self.letter_type(letter));
        let result = plain(types.next()?);
        let params: Vec<QualType> = types.map(plain).collect();
        let ty = FunctionType { result, params, variadic };
        let function = self.new_function(full, &ty, span, true);
        self.builtins.insert(full.to_owned(), function);
        Some(function)
    }

    fn letter_type(&self, letter: char) -> Type {
        let constant =
            |ty: Type| QualType { ty, quals: Qualifiers { is_const: true, ..Qualifiers::default() } };
        match letter {
            'v' => Type::Void,
            'u' => Type::Int(IntKind::UnsignedInt),
            'l' => Type::Int(IntKind::Long),
            'm' => Type::Int(IntKind::UnsignedLong),
            'L' => Type::Int(IntKind::LongLong),
            'M' => Type::Int(IntKind::UnsignedLongLong),
            'z' => Type::Int(self.size_type()),
            'p' => pointer_to(plain(Type::Void)),
            'q' => pointer_to(constant(Type::Void)),
            's' => pointer_to(plain(Type::Int(IntKind::Char))),
            't' => pointer_to(constant(Type::Int(IntKind::Char))),
            'd' => Type::Float(FloatKind::Double),
            'f' => Type::Float(FloatKind::Float),
            'b' => Type::Int(IntKind::Bool),
            _ => Type::INT,
        }
    }

    /// A call of a name that is not declared but that the compiler knows.
    pub(super) fn builtin_call(
        &mut self,
        name: &str,
        call: &'a ast::CallExpression,
        callee: Span,
        span: Span,
    ) -> Option<Expr> {
        let args = &call.arguments;
        match name {
            "__builtin_expect" | "__builtin_expect_with_probability" => {
                let value = self.rvalue_expr(args.first()?);
                let value = self.cast(value, &Type::Int(IntKind::Long));
                Some(Expr { span, ..value })
            }
            "__builtin_assume_aligned" => {
                let value = self.rvalue_expr(args.first()?);
                let value = self.cast(value, &pointer_to(plain(Type::Void)));
                Some(Expr { span, ..value })
            }
            "__builtin_constant_p" => {
                let value = self.rvalue_expr(args.first()?);
                let known = self.fold_strict(&value).is_some() || matches!(value.kind, ExprKind::Float(_));
                Some(Expr { kind: ExprKind::Int(i128::from(known)), ty: Type::INT, span })
            }
            "__builtin_choose_expr" => {
                let [condition, yes, no] = args.as_slice() else { return None };
                let (value, _) =
                    self.integer_constant(condition, "the first argument of `__builtin_choose_expr`")?;
                let chosen = if value != 0 { yes } else { no };
                Some(self.rvalue_expr(chosen))
            }
            TYPES_COMPATIBLE => {
                let [left, right] = args.as_slice() else { return None };
                let (left, right) = (self.measured_type(left)?, self.measured_type(right)?);
                let same = self.same_type(&left.ty, &right.ty);
                Some(Expr { kind: ExprKind::Int(i128::from(same)), ty: Type::INT, span })
            }
            ALIGNOF => {
                let ty = self.measured_type(args.first()?)?;
                Some(self.size_constant(self.align_of(&ty.ty), span))
            }
            LABEL_ADDRESS => {
                let ty = pointer_to(plain(Type::Void));
                Some(Self::unsupported("the address of a label", ty, span))
            }
            COMPUTED_GOTO => Some(Self::unsupported("a computed goto", Type::Void, span)),
            "__builtin_va_start" | "__builtin_va_end" | "__builtin_va_copy" => {
                Some(Self::unsupported("variable arguments", Type::Void, span))
            }
            _ => {
                // clang's names for what its <stdatomic.h> is made of.
                let spelled = name.strip_prefix("__c11_atomic_").map(|operation| match operation {
                    "init" | "thread_fence" | "signal_fence" => format!("atomic_{operation}"),
                    _ => format!("atomic_{operation}_explicit"),
                });
                let name = spelled.as_deref().unwrap_or(name);
                if let Some(shape) = atomic_shape(name) {
                    return Some(self.atomic_call(name, &shape, call, callee, span));
                }
                if name == "__builtin_tgmath" {
                    let ty = Type::Float(FloatKind::Double);
                    return Some(Self::unsupported("a type-generic mathematical function", ty, span));
                }
                if is_overflow_builtin(name) {
                    return Some(self.overflow_call(name, call, callee, span));
                }
                None
            }
        }
    }

    /// The type inside of a `sizeof` that the pre-pass has put around it.
    fn measured_type(&mut self, node: &'a lang_c::span::Node<ast::Expression>) -> Option<QualType> {
        match &node.node {
            ast::Expression::SizeOfTy(size) => Some(self.type_name(&size.node.0)),
            ast::Expression::SizeOfVal(size) => {
                let value = self.expr(&size.node.0);
                Some(self.type_of_value(&value))
            }
            _ => None,
        }
    }

    fn generic_function(&mut self, name: &str, span: Span) -> Function {
        if let Some(&function) = self.builtins.get(name) {
            return function;
        }
        let ty = FunctionType { result: plain(Type::Void), params: Vec::new(), variadic: true };
        let function = self.new_function(name, &ty, span, false);
        self.builtins.insert(name.to_owned(), function);
        function
    }

    /// `__builtin_add_overflow(a, b, &r)` and the like: the operands keep their own types.
    fn overflow_call(&mut self, name: &str, call: &'a ast::CallExpression, callee: Span, span: Span) -> Expr {
        let mut args = Vec::new();
        for argument in &call.arguments {
            let expr = self.rvalue_expr(argument);
            args.push(self.promote_argument(expr));
        }
        let valid = match args.as_slice() {
            [left, right, result] => {
                matches!((&left.ty, &right.ty, &result.ty), (Type::Int(_), Type::Int(_), Type::Pointer(_)))
            }
            _ => false,
        };
        if !valid && !args.iter().any(Self::is_poison) {
            self.report(
                Diagnostic::error("invalid-operand", format!("`{name}` needs two integers and a pointer"))
                    .at(callee, "called with something else"),
            );
            return Self::poison(span);
        }
        let function = self.generic_function(name, callee);
        Expr { kind: ExprKind::Call(Callee::Direct(function), args), ty: Type::Int(IntKind::Bool), span }
    }

    /// A generic atomic function: its types follow from the object that the first argument points to.
    fn atomic_call(
        &mut self,
        name: &str,
        shape: &Shape,
        call: &'a ast::CallExpression,
        callee: Span,
        span: Span,
    ) -> Expr {
        let mut args: Vec<Expr> = Vec::new();
        for argument in &call.arguments {
            args.push(self.rvalue_expr(argument));
        }
        if args.iter().any(Self::is_poison) {
            return Self::poison(span);
        }
        if args.len() < shape.roles.len() || (args.len() > shape.roles.len() && !shape.more) {
            self.report(
                Diagnostic::error(
                    "wrong-argument-count",
                    format!("`{name}` takes {} arguments, not {}", shape.roles.len(), args.len()),
                )
                .at(callee, "called here"),
            );
            return Self::poison(span);
        }
        let object = match args.first().map(|first| &first.ty) {
            Some(Type::Pointer(target)) => target.ty.clone(),
            _ if !shape.roles.starts_with('P') => Type::Void,
            first => {
                let shown = first.map_or(String::new(), |ty| self.show(ty));
                let at = args.first().map_or(callee, |first| first.span);
                self.report(
                    Diagnostic::error("not-a-pointer", format!("`{name}` needs a pointer, not `{shown}`"))
                        .at(at, format!("this is `{shown}`")),
                );
                return Self::poison(span);
            }
        };
        let mut converted = Vec::new();
        for (position, expr) in args.into_iter().enumerate() {
            let what = format!("argument {} of `{name}`", position + 1);
            let role = shape.roles.chars().nth(position);
            converted.push(match role {
                Some('P') => expr,
                Some('V') => self.assign_convert(expr, &object, &what),
                // What is added to a pointer is a number.
                Some('A') if matches!(object, Type::Pointer(_)) => {
                    let ty = Type::Int(self.difference_type());
                    self.assign_convert(expr, &ty, &what)
                }
                Some('A') => self.assign_convert(expr, &object, &what),
                Some('E') => {
                    let ty = pointer_to(plain(object.clone()));
                    self.assign_convert(expr, &ty, &what)
                }
                Some(_) => self.assign_convert(expr, &Type::INT, &what),
                None => self.promote_argument(expr),
            });
        }
        let ty = match shape.result {
            'T' => object,
            'B' => Type::Int(IntKind::Bool),
            _ => Type::Void,
        };
        let function = self.generic_function(name, callee);
        Expr { kind: ExprKind::Call(Callee::Direct(function), converted), ty, span }
    }
}

/// What an atomic function takes and gives: `P` pointer to the object, `V` a value of its type, `A` what is
/// added to it, `E` a pointer to a plain value of its type, `O` a memory order or flag; the result is the
/// object's type `T`, `B` or void.
struct Shape {
    roles: String,
    result: char,
    more: bool,
}

fn atomic_shape(name: &str) -> Option<Shape> {
    let shape = |roles: &str, result: char| Some(Shape { roles: roles.to_owned(), result, more: false });
    if let Some(operation) = name.strip_prefix("__sync_") {
        let (roles, result) = match operation {
            "bool_compare_and_swap" => ("PVV", 'B'),
            "val_compare_and_swap" => ("PVV", 'T'),
            "synchronize" => ("", 'V'),
            "lock_test_and_set" => ("PV", 'T'),
            "lock_release" => ("P", 'V'),
            _ => {
                let after = operation.strip_prefix("fetch_and_").is_some_and(is_operation);
                let before = operation.strip_suffix("_and_fetch").is_some_and(is_operation);
                if !after && !before {
                    return None;
                }
                ("PA", 'T')
            }
        };
        return Some(Shape { roles: roles.to_owned(), result, more: true });
    }
    if let Some(operation) = name.strip_prefix("__atomic_") {
        return match operation {
            "load_n" => shape("PO", 'T'),
            "load" => shape("PEO", 'V'),
            "store_n" => shape("PVO", 'V'),
            "store" => shape("PEO", 'V'),
            "exchange_n" => shape("PVO", 'T'),
            "exchange" => shape("PEEO", 'V'),
            "compare_exchange_n" => shape("PEVOOO", 'B'),
            "compare_exchange" => shape("PEEOOO", 'B'),
            "test_and_set" => shape("PO", 'B'),
            "clear" => shape("PO", 'V'),
            "thread_fence" | "signal_fence" => shape("O", 'V'),
            "is_lock_free" | "always_lock_free" => {
                Some(Shape { roles: String::new(), result: 'B', more: true })
            }
            _ => {
                let after = operation.strip_prefix("fetch_").is_some_and(is_operation);
                let before = operation.strip_suffix("_fetch").is_some_and(is_operation);
                if after || before { shape("PAO", 'T') } else { None }
            }
        };
    }
    let operation = name.strip_prefix("atomic_")?;
    let (operation, explicit) = match operation.strip_suffix("_explicit") {
        Some(operation) => (operation, true),
        None => (operation, false),
    };
    let (roles, orders, result) = match operation {
        "init" if !explicit => ("PV", 0, 'V'),
        "load" => ("P", 1, 'T'),
        "store" => ("PV", 1, 'V'),
        "exchange" => ("PV", 1, 'T'),
        "compare_exchange_strong" | "compare_exchange_weak" => ("PEV", 2, 'B'),
        "thread_fence" | "signal_fence" if !explicit => ("O", 0, 'V'),
        "is_lock_free" if !explicit => ("P", 0, 'B'),
        _ if operation.strip_prefix("fetch_").is_some_and(is_operation) => ("PA", 1, 'T'),
        _ => return None,
    };
    let orders = if explicit { orders } else { 0 };
    Some(Shape { roles: format!("{roles}{}", "O".repeat(orders)), result, more: false })
}

fn is_operation(word: &str) -> bool {
    matches!(word, "add" | "sub" | "and" | "or" | "xor" | "nand")
}

fn is_overflow_builtin(name: &str) -> bool {
    matches!(name, "__builtin_add_overflow" | "__builtin_sub_overflow" | "__builtin_mul_overflow")
}
