//! Memory that can be run, and the call.

#![expect(unsafe_code, reason = "machine code can be called in no other way; see the comments")]

use std::fmt;
use std::sync::{Arc, OnceLock};

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir;
use cranelift_codegen::isa::{self, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable as _};
use cranelift_frontend::FunctionBuilderContext;
use memmap2::{Mmap, MmapMut};

use crate::NoCode;
use crate::lower::{lower, signature};
use crate::program::{Bounds, Program};

/// The addresses of the registers, of the global words, of the thread's words and of its frame.
type Entry = unsafe extern "sysv64" fn(*mut i64, *mut i64, *mut i64, *mut i64) -> i64;

/// Functions begin at a multiple of this.
const ALIGNMENT: usize = 16;

/// A compiled program.
#[derive(Clone)]
pub struct Function {
    entry: Entry,
    bounds: Bounds,
    /// The code lives as long as somebody can call it.
    _memory: Arc<Mmap>,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

impl Function {
    /// Runs a program that stores nothing. `base` is where the frame begins in the words of the thread.
    ///
    /// # Panics
    /// Where there are fewer registers or words than the program could touch, or it stores something.
    #[inline]
    pub fn look(&self, registers: &mut [i64], globals: &[i64], thread: &[i64], base: usize) -> i64 {
        assert!(!self.bounds.stores && self.fits(registers, globals, thread, base), "too few words");
        let (words, frame) = (thread.as_ptr().cast_mut(), thread[base..].as_ptr().cast_mut());
        // SAFETY: the entry is that of code which `compile` made of a program with these bounds, and `_memory` keeps it. It
        // takes four addresses and returns a word, by the convention that its type names. It loads and stores registers below
        // `bounds.registers`, loads words below the other bounds, and stores no words. All of them are inside of the slices,
        // as was just seen, and the slices are borrowed for as long as the call takes.
        unsafe { (self.entry)(registers.as_mut_ptr(), globals.as_ptr().cast_mut(), words, frame) }
    }

    /// Runs a program that may store words.
    ///
    /// # Panics
    /// Where there are fewer registers or words than the program could touch.
    #[inline]
    pub fn act(&self, registers: &mut [i64], globals: &mut [i64], thread: &mut [i64], base: usize) -> i64 {
        assert!(self.fits(registers, globals, thread, base), "too few words");
        let words = thread.as_mut_ptr();
        let frame = words.wrapping_add(base);
        // SAFETY: as in `look`, and what it stores is borrowed mutably. The frame is a part of the thread's words, and both
        // addresses come from the same borrow.
        unsafe { (self.entry)(registers.as_mut_ptr(), globals.as_mut_ptr(), words, frame) }
    }

    /// Whether all that the program could touch is there.
    #[inline]
    const fn fits(&self, registers: &[i64], globals: &[i64], thread: &[i64], base: usize) -> bool {
        let bounds = &self.bounds;
        base <= thread.len()
            && bounds.frame <= thread.len() - base
            && bounds.registers <= registers.len()
            && bounds.globals <= globals.len()
            && bounds.thread <= thread.len()
    }
}

/// Makes functions of programs, all or none of them.
///
/// # Errors
/// Where a program has something for which there is no code, or the system does not let us run code that we made.
pub fn compile(programs: &[Program]) -> Result<Vec<Function>, NoCode> {
    let isa = isa()?;
    let (mut context, mut frontend) = (Context::new(), FunctionBuilderContext::new());
    let (mut code, mut entries) = (Vec::new(), Vec::new());
    for program in programs {
        let bounds = program.bounds()?;
        context.clear();
        context.func = ir::Function::with_name_signature(ir::UserFuncName::default(), signature());
        lower(program, &mut context.func, isa.frontend_config(), &mut frontend)?;
        let compiled = context
            .compile(&**isa, &mut ControlPlane::default())
            .map_err(|error| NoCode(format!("the code generator refuses a program: {:?}", error.inner)))?;
        if !compiled.buffer.relocs().is_empty() || compiled.buffer.alignment as usize > ALIGNMENT {
            return Err(NoCode("code that has to be linked".to_owned()));
        }
        code.resize(code.len().next_multiple_of(ALIGNMENT), 0);
        entries.push((code.len(), bounds));
        code.extend_from_slice(compiled.code_buffer());
    }
    let memory = Arc::new(runnable(&code).map_err(|error| NoCode(format!("no memory for code: {error}")))?);
    let functions = entries.into_iter().map(|(start, bounds)| {
        let address = memory[start..].as_ptr();
        // SAFETY: at this address begins a function that Cranelift made for the signature of `lower::signature`, which is that
        // of the type, and it can be run. All addresses that it needs are relative, for there are no relocations.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(address) };
        Function { entry, bounds, _memory: Arc::clone(&memory) }
    });
    Ok(functions.collect())
}

/// A copy of the code in memory that can be run and not written.
fn runnable(code: &[u8]) -> std::io::Result<Mmap> {
    let mut memory = MmapMut::map_anon(code.len().max(1))?;
    memory[..code.len()].copy_from_slice(code);
    memory.make_exec()
}

/// The code generator for this machine.
fn isa() -> Result<&'static OwnedTargetIsa, NoCode> {
    static ISA: OnceLock<Result<OwnedTargetIsa, NoCode>> = OnceLock::new();
    let made = ISA.get_or_init(|| {
        let mut flags = settings::builder();
        let verifier = if cfg!(debug_assertions) { "true" } else { "false" };
        for (name, value) in [("opt_level", "speed"), ("enable_verifier", verifier)] {
            flags.set(name, value).map_err(|error| NoCode(error.to_string()))?;
        }
        let builder = isa::lookup_by_name("x86_64").map_err(|error| NoCode(error.to_string()))?;
        builder.finish(settings::Flags::new(flags)).map_err(|error| NoCode(error.to_string()))
    });
    made.as_ref().map_err(Clone::clone)
}
