//! What a transition stands for in the program.

use std::fmt;

/// The action of a transition: Table 1 of the slicing paper, and those that it lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// `asi`: an assignment, or a read of a shared location into a temporary.
    Assign,
    /// Memory that was never written gets an arbitrary value, because it is about to be read. It had it all the
    /// time: the program accesses nothing here.
    Fill,
    /// `jum`: a jump (`goto`, `break`, `continue`, the back edge of a loop), or a statement without effect.
    Jump,
    /// `ret`: a `return` statement; control goes to the exit place of the function.
    Exit,
    /// `tcd`: a condition found true.
    BranchTrue,
    /// `fcd`: a condition found false.
    BranchFalse,
    /// The first step of a function's activation.
    Enter,
    /// `call`: control goes to another function; the caller's token waits at the return site.
    Call,
    /// `rets`: back from the called function.
    Return,
    /// A call of a library function that has no effect in our model, such as `printf`.
    Library,
    /// `acq`: a mutex is taken.
    Lock,
    /// `rel`: a mutex is given back.
    Unlock,
    /// A read-write lock is taken for reading.
    ReadLock,
    /// A reader gives back a read-write lock.
    ReadUnlock,
    /// A semaphore is decremented.
    Down,
    /// A semaphore is incremented.
    Up,
    /// A thread arrives at a barrier; the last one lets all go.
    Arrive,
    /// A thread leaves a barrier that all have come to.
    Leave,
    /// A thread begins what is to be done once, by whichever thread comes first.
    OnceBegin,
    /// What is to be done once has been done.
    OnceEnd,
    /// A thread goes on because what is to be done once has been done.
    OncePass,
    /// `sig`: one waiter of a condition variable is woken; nothing happens where there is none.
    Signal,
    /// All waiters of a condition variable are woken.
    Broadcast,
    /// `wa1`: the mutex is given up and the waiting begins, in one step.
    Wait1,
    /// `wa2`: a waiter wakes without a signal (only under `--spurious-wakeups`, or when its time is over; with
    /// a signal, the signaller's step wakes it).
    Wait2,
    /// `wa3`: a woken waiter takes the mutex again.
    Wait3,
    /// A thread is created.
    Create,
    /// A thread waits for the end of another.
    Join,
    /// The thread ends; when it was the last one, so does the process.
    ThreadEnd,
    /// The process ends, with all its threads: return from `main`, `exit`, `abort`.
    ProcessEnd,
    /// An atomic section begins: no other thread moves.
    AtomicBegin,
    /// An atomic section ends.
    AtomicEnd,
    /// An assumption found true.
    Assume,
    /// An assumption found false: the run that came here is no run.
    AssumeFail,
    /// An assertion found false; the process ends.
    AssertFail,
    /// A call of an error function (`reach_error`, `__VERIFIER_error`) without a body; the process ends.
    Error,
    /// Undefined behaviour: nothing is known of what a real process would do from here on, so that the run is
    /// not followed any further. The run up to here is real all the same.
    Fault(Fault),
    /// A bound of the model was met; the run is not followed any further.
    Bound(Bound),
}

/// Kinds of undefined behaviour that a step can run into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// Division or remainder by zero.
    DivisionByZero,
    /// An array index outside of the array.
    OutOfBounds,
    /// A mutex or another lock unlocked, or given up for waiting, by a thread that does not hold it.
    NotOwner,
    /// A join on, or the detachment of, something that is no thread, or that was joined or detached before.
    NoThread,
    /// A mutex or another lock destroyed while a thread holds it.
    DestroyHeld,
    /// A pointer dereferenced that points to no object, or to none of its type.
    InvalidPointer,
    /// An object read before it was ever written, or a barrier without a number of threads.
    Uninitialised,
    /// A null pointer dereferenced.
    NullPointer,
    /// A pointer dereferenced to an object that is no longer there.
    Dangling,
    /// A string literal written to.
    ReadOnly,
    /// Something freed that is no allocated block, or not any more.
    InvalidFree,
    /// A block still allocated when the process ends.
    Leak,
    /// Pointers into different objects compared for their order, or subtracted.
    UnrelatedPointers,
    /// The address of an object used as a number, which only a real machine knows.
    AddressAsNumber,
    /// Something looked at that only the environment knows.
    Environment,
    /// An object is accessed as something else than it is kept as. C may define it; the model does not.
    MixedAccess,
    /// A part that was never written is copied with its struct or array. C defines that; the model does not keep
    /// track of it where the copy goes.
    UnwrittenCopy,
    /// A signed result that does not fit into its type.
    Overflow,
    /// A shift by a negative count, or by as many bits as the value has or more.
    Shift,
}

/// Bounds of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bound {
    /// Depth of calls.
    Depth,
    /// Number of threads.
    Threads,
    /// Number or size of allocated blocks.
    Heap,
    /// Keys of thread-specific values, or how often a recursive mutex is held.
    Library,
    /// Steps of one indivisible sequence.
    Indivisible,
}

/// What firing a transition does beside moving tokens along its arcs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// All execution tokens of the thread go, its cells are reset, and it is put among the ended ones.
    /// When no thread is left, the process has ended.
    EndThread,
    /// All execution tokens of all threads go, and the process has ended.
    EndProcess,
    /// The run is not followed: the firing has no successor. After a failed assumption there is no run; after
    /// a bound of the model there is one that we do not know; after undefined behaviour anything may come.
    Prune,
}

impl Action {
    /// All actions, for tests and for the text form.
    pub const ALL: [Self; 60] = [
        Self::Assign,
        Self::Fill,
        Self::Jump,
        Self::Exit,
        Self::BranchTrue,
        Self::BranchFalse,
        Self::Enter,
        Self::Call,
        Self::Return,
        Self::Library,
        Self::Lock,
        Self::Unlock,
        Self::ReadLock,
        Self::ReadUnlock,
        Self::Down,
        Self::Up,
        Self::Arrive,
        Self::Leave,
        Self::OnceBegin,
        Self::OnceEnd,
        Self::OncePass,
        Self::Signal,
        Self::Broadcast,
        Self::Wait1,
        Self::Wait2,
        Self::Wait3,
        Self::Create,
        Self::Join,
        Self::ThreadEnd,
        Self::ProcessEnd,
        Self::AtomicBegin,
        Self::AtomicEnd,
        Self::Assume,
        Self::AssumeFail,
        Self::AssertFail,
        Self::Error,
        Self::Fault(Fault::DivisionByZero),
        Self::Fault(Fault::OutOfBounds),
        Self::Fault(Fault::NotOwner),
        Self::Fault(Fault::NoThread),
        Self::Fault(Fault::DestroyHeld),
        Self::Fault(Fault::InvalidPointer),
        Self::Fault(Fault::Uninitialised),
        Self::Fault(Fault::NullPointer),
        Self::Fault(Fault::Dangling),
        Self::Fault(Fault::ReadOnly),
        Self::Fault(Fault::InvalidFree),
        Self::Fault(Fault::Leak),
        Self::Fault(Fault::UnrelatedPointers),
        Self::Fault(Fault::AddressAsNumber),
        Self::Fault(Fault::Environment),
        Self::Fault(Fault::MixedAccess),
        Self::Fault(Fault::UnwrittenCopy),
        Self::Fault(Fault::Overflow),
        Self::Fault(Fault::Shift),
        Self::Bound(Bound::Depth),
        Self::Bound(Bound::Threads),
        Self::Bound(Bound::Heap),
        Self::Bound(Bound::Library),
        Self::Bound(Bound::Indivisible),
    ];

    /// What it does beside moving tokens.
    #[must_use]
    pub const fn effect(self) -> Effect {
        match self {
            Self::ThreadEnd => Effect::EndThread,
            Self::ProcessEnd | Self::AssertFail | Self::Error => Effect::EndProcess,
            Self::AssumeFail | Self::Fault(_) | Self::Bound(_) => Effect::Prune,
            Self::Assign
            | Self::Fill
            | Self::Jump
            | Self::Exit
            | Self::BranchTrue
            | Self::BranchFalse
            | Self::Enter
            | Self::Call
            | Self::Return
            | Self::Library
            | Self::Lock
            | Self::Unlock
            | Self::ReadLock
            | Self::ReadUnlock
            | Self::Down
            | Self::Up
            | Self::Arrive
            | Self::Leave
            | Self::OnceBegin
            | Self::OnceEnd
            | Self::OncePass
            | Self::Signal
            | Self::Broadcast
            | Self::Wait1
            | Self::Wait2
            | Self::Wait3
            | Self::Create
            | Self::Join
            | Self::AtomicBegin
            | Self::AtomicEnd
            | Self::Assume => Effect::None,
        }
    }

    /// Whether what its arcs do to memory is an access of the program, which can race.
    #[must_use]
    pub const fn is_access(self) -> bool {
        !matches!(self, Self::Fill)
    }

    /// Whether it is one of two ways that a condition can go.
    #[must_use]
    pub const fn is_branch(self) -> bool {
        matches!(self, Self::BranchTrue | Self::BranchFalse)
    }

    /// The name in the text form.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Assign => "assign",
            Self::Fill => "fill",
            Self::Jump => "jump",
            Self::Exit => "exit",
            Self::BranchTrue => "branch-true",
            Self::BranchFalse => "branch-false",
            Self::Enter => "enter",
            Self::Call => "call",
            Self::Return => "return",
            Self::Library => "library",
            Self::Lock => "lock",
            Self::Unlock => "unlock",
            Self::ReadLock => "read-lock",
            Self::ReadUnlock => "read-unlock",
            Self::Down => "down",
            Self::Up => "up",
            Self::Arrive => "arrive",
            Self::Leave => "leave",
            Self::OnceBegin => "once-begin",
            Self::OnceEnd => "once-end",
            Self::OncePass => "once-pass",
            Self::Signal => "signal",
            Self::Broadcast => "broadcast",
            Self::Wait1 => "wait1",
            Self::Wait2 => "wait2",
            Self::Wait3 => "wait3",
            Self::Create => "create",
            Self::Join => "join",
            Self::ThreadEnd => "thread-end",
            Self::ProcessEnd => "process-end",
            Self::AtomicBegin => "atomic-begin",
            Self::AtomicEnd => "atomic-end",
            Self::Assume => "assume",
            Self::AssumeFail => "assume-fail",
            Self::AssertFail => "assert-fail",
            Self::Error => "error",
            Self::Fault(Fault::DivisionByZero) => "fault-division-by-zero",
            Self::Fault(Fault::OutOfBounds) => "fault-out-of-bounds",
            Self::Fault(Fault::NotOwner) => "fault-not-owner",
            Self::Fault(Fault::NoThread) => "fault-no-thread",
            Self::Fault(Fault::DestroyHeld) => "fault-destroy-held",
            Self::Fault(Fault::InvalidPointer) => "fault-invalid-pointer",
            Self::Fault(Fault::Uninitialised) => "fault-uninitialised",
            Self::Fault(Fault::NullPointer) => "fault-null-pointer",
            Self::Fault(Fault::Dangling) => "fault-dangling",
            Self::Fault(Fault::ReadOnly) => "fault-read-only",
            Self::Fault(Fault::InvalidFree) => "fault-invalid-free",
            Self::Fault(Fault::Leak) => "fault-leak",
            Self::Fault(Fault::UnrelatedPointers) => "fault-unrelated-pointers",
            Self::Fault(Fault::AddressAsNumber) => "fault-address-as-number",
            Self::Fault(Fault::Environment) => "fault-environment",
            Self::Fault(Fault::MixedAccess) => "fault-mixed-access",
            Self::Fault(Fault::UnwrittenCopy) => "fault-unwritten-copy",
            Self::Fault(Fault::Overflow) => "fault-overflow",
            Self::Fault(Fault::Shift) => "fault-shift",
            Self::Bound(Bound::Depth) => "bound-depth",
            Self::Bound(Bound::Threads) => "bound-threads",
            Self::Bound(Bound::Heap) => "bound-heap",
            Self::Bound(Bound::Library) => "bound-library",
            Self::Bound(Bound::Indivisible) => "bound-indivisible",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Fault {
    /// Whether the value of memory that was never written is needed. It would be an arbitrary one, with which the
    /// run can be followed on another net.
    #[must_use]
    pub const fn needs_unset(self) -> bool {
        matches!(self, Self::Uninitialised | Self::UnwrittenCopy)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DivisionByZero => "division by zero",
            Self::OutOfBounds => "array index out of bounds",
            Self::NotOwner => "lock given back by a thread that does not hold it",
            Self::NoThread => "join or detachment of what is no thread, or was joined or detached before",
            Self::DestroyHeld => "lock destroyed while it is held",
            Self::InvalidPointer => "pointer to no object of this type",
            Self::Uninitialised => "object used before it was set",
            Self::NullPointer => "null pointer dereferenced",
            Self::Dangling => "pointer to an object that is gone",
            Self::ReadOnly => "string literal written to",
            Self::InvalidFree => "free of something that is no allocated block",
            Self::Leak => "allocated block not freed at the end",
            Self::UnrelatedPointers => "pointers into different objects compared or subtracted",
            Self::AddressAsNumber => "address used as a number",
            Self::Environment => "something that only the environment knows is used",
            Self::MixedAccess => "object accessed as one of another type",
            Self::UnwrittenCopy => "copy of an object of which a part was not set",
            Self::Overflow => "result does not fit into its signed type",
            Self::Shift => "shift by more bits than there are",
        })
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Depth => "depth of calls",
            Self::Threads => "number of threads",
            Self::Heap => "number or size of allocated blocks",
            Self::Library => "number of keys, or of locks of one recursive mutex",
            Self::Indivisible => "steps of one indivisible sequence",
        })
    }
}
