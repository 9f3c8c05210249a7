//! New numbers for what a tree refers to.

use pdnet_base::IndexVec;

use crate::tree::{
    Callee, Expr, ExprKind, Function, FunctionData, Init, Lvalue, LvalueKind, Record, Stmt, StmtKind,
    Storage, Variable, VariableData,
};
use crate::types::{QualType, Type};

/// For each number of a unit the number in the whole program.
pub(super) struct Renumber {
    pub(super) records: IndexVec<Record, Record>,
    pub(super) variables: IndexVec<Variable, Variable>,
    pub(super) functions: IndexVec<Function, Function>,
}

impl Renumber {
    /// The types of a function. The parameters and the body keep the numbers of the unit.
    pub(super) fn signature(&self, data: &mut FunctionData) {
        self.qual_type(&mut data.result);
        data.param_types.iter_mut().for_each(|ty| self.qual_type(ty));
    }

    /// The type of a variable, and whose it is. Its initialiser keeps the numbers of the unit.
    pub(super) fn variable_type(&self, data: &mut VariableData) {
        self.qual_type(&mut data.ty);
        match &mut data.storage {
            Storage::Static(function) | Storage::Local(function) | Storage::Param(function) => {
                *function = self.functions[*function];
            }
            Storage::Global | Storage::ThreadLocal => {}
        }
    }

    /// The parameters and the body of a function.
    pub(super) fn body(&self, data: &mut FunctionData) {
        data.params.iter_mut().for_each(|variable| *variable = self.variables[*variable]);
        if let Some(body) = &mut data.body {
            body.stmts.iter_mut().for_each(|stmt| self.stmt(stmt));
        }
    }

    /// The initialiser of a variable.
    pub(super) fn init(&self, data: &mut VariableData) {
        if let Some(init) = &mut data.init {
            self.initializer(init);
        }
        data.lengths.iter_mut().for_each(|length| self.expr(length));
    }

    pub(super) fn qual_type(&self, ty: &mut QualType) {
        self.ty(&mut ty.ty);
    }

    fn ty(&self, ty: &mut Type) {
        match ty {
            Type::Record(record) => *record = self.records[*record],
            Type::Pointer(target) | Type::Array(target, _) => self.qual_type(target),
            Type::Function(function) => {
                self.qual_type(&mut function.result);
                function.params.iter_mut().for_each(|param| self.qual_type(param));
            }
            Type::Void | Type::Int(_) | Type::Thread | Type::Float(_) | Type::Sync(_) => {}
        }
    }

    fn initializer(&self, init: &mut Init) {
        match init {
            Init::Value(expr) => self.expr(expr),
            Init::List(parts) => parts.iter_mut().for_each(|(_, expr)| self.expr(expr)),
            Init::Sync(_) => {}
        }
    }

    fn stmt(&self, stmt: &mut Stmt) {
        match &mut stmt.kind {
            StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::Declare(variable, init) => {
                *variable = self.variables[*variable];
                init.iter_mut().for_each(|init| self.initializer(init));
            }
            StmtKind::Block(stmts) => stmts.iter_mut().for_each(|stmt| self.stmt(stmt)),
            StmtKind::If(condition, yes, no) => {
                self.expr(condition);
                self.stmt(yes);
                no.iter_mut().for_each(|no| self.stmt(no));
            }
            StmtKind::While(condition, body) | StmtKind::DoWhile(body, condition) => {
                self.expr(condition);
                self.stmt(body);
            }
            StmtKind::For(init, condition, step, body) => {
                init.iter_mut().for_each(|stmt| self.stmt(stmt));
                condition.iter_mut().chain(step).for_each(|expr| self.expr(expr));
                self.stmt(body);
            }
            StmtKind::Switch(control, body) => {
                self.expr(control);
                self.stmt(body);
            }
            StmtKind::Case(_, _, body) | StmtKind::Default(body) | StmtKind::Label(_, body) => {
                self.stmt(body)
            }
            StmtKind::Return(value) => value.iter_mut().for_each(|value| self.expr(value)),
            StmtKind::Goto(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Asm => {}
        }
    }

    fn expr(&self, expr: &mut Expr) {
        self.ty(&mut expr.ty);
        match &mut expr.kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Unsupported(_) => {}
            ExprKind::Load(lvalue) | ExprKind::AddressOf(lvalue) | ExprKind::Decay(lvalue) => {
                self.lvalue(lvalue)
            }
            ExprKind::FunctionRef(function) => *function = self.functions[*function],
            ExprKind::Unary(_, operand) | ExprKind::Cast(operand) => self.expr(operand),
            ExprKind::Binary(_, left, right)
            | ExprKind::PointerOffset { pointer: left, offset: right, .. }
            | ExprKind::PointerDifference(left, right)
            | ExprKind::LogicalAnd(left, right)
            | ExprKind::LogicalOr(left, right)
            | ExprKind::Comma(left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Conditional(condition, yes, no) => {
                self.expr(condition);
                self.expr(yes);
                self.expr(no);
            }
            ExprKind::Assign(target, value) => {
                self.lvalue(target);
                self.expr(value);
            }
            ExprKind::CompoundAssign { target, computation, value, .. } => {
                self.lvalue(target);
                self.ty(computation);
                self.expr(value);
            }
            ExprKind::Step { target, .. } => self.lvalue(target),
            ExprKind::Call(callee, args) => {
                match callee {
                    Callee::Direct(function) => *function = self.functions[*function],
                    Callee::Indirect(expr) => self.expr(expr),
                }
                args.iter_mut().for_each(|arg| self.expr(arg));
            }
            ExprKind::Statement(stmts) => stmts.iter_mut().for_each(|stmt| self.stmt(stmt)),
        }
    }

    fn lvalue(&self, lvalue: &mut Lvalue) {
        self.qual_type(&mut lvalue.ty);
        match &mut lvalue.kind {
            LvalueKind::Variable(variable) => *variable = self.variables[*variable],
            LvalueKind::Index(array, index) => {
                self.lvalue(array);
                self.expr(index);
            }
            LvalueKind::Deref(pointer) => self.expr(pointer),
            LvalueKind::Field(object, _) => self.lvalue(object),
            LvalueKind::String(_) => {}
            LvalueKind::Compound(variable, init) => {
                *variable = self.variables[*variable];
                self.initializer(init);
            }
        }
    }
}
