//! Which header declares a name of the library, for suggestions.

/// The standard header with this name in it.
pub(crate) fn header_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "NULL" | "size_t" | "ptrdiff_t" | "offsetof" => "stddef.h",
        "bool" | "true" | "false" => "stdbool.h",
        "FILE" | "printf" | "stdin" | "stdout" | "stderr" | "fprintf" | "scanf" => "stdio.h",
        "malloc" | "calloc" | "free" | "exit" | "abort" | "rand" | "atoi" => "stdlib.h",
        "memcpy" | "memset" | "strcmp" | "strlen" | "strcpy" => "string.h",
        "assert" | "static_assert" => "assert.h",
        "INT_MAX" | "INT_MIN" | "UINT_MAX" | "LONG_MAX" | "LONG_MIN" | "CHAR_BIT" => "limits.h",
        "usleep" | "sleep" | "ssize_t" | "pid_t" => "unistd.h",
        "sched_yield" => "sched.h",
        "sem_t" => "semaphore.h",
        "errno" | "EBUSY" | "EINVAL" | "ETIMEDOUT" => "errno.h",
        "thread_local" => "threads.h",
        "memory_order" => "stdatomic.h",
        _ if name.starts_with("atomic_") || name.starts_with("memory_order_") => "stdatomic.h",
        _ if name.starts_with("pthread_") || name.starts_with("PTHREAD_") => "pthread.h",
        _ if name.starts_with("sem_") => "semaphore.h",
        _ if ["thrd_", "mtx_", "cnd_", "tss_"].iter().any(|prefix| name.starts_with(prefix)) => "threads.h",
        _ if (name.starts_with("int") || name.starts_with("uint")) && name.ends_with("_t") => "stdint.h",
        _ => return None,
    })
}
