//! How much memory a search may take where the user gave no limit, and how much the process has.
//!
//! A search that is never stopped fills the memory, and a machine that swaps is lost to its user long
//! before the search ends. So there is always a limit: three quarters of what is free.

use std::fs;
use std::path::Path;

/// Three quarters of the memory that is free now, in whole MiB; `None` where the system does not say.
pub(crate) fn default_limit() -> Option<u64> {
    let machine = available(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let free = control_group().map_or(machine, |group| machine.min(group));
    Some(share(free))
}

/// The memory that the process has now, in bytes; `None` where the system does not say.
pub(crate) fn resident() -> Option<u64> {
    kibibytes(&fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// Three quarters, in whole MiB.
const fn share(free: u64) -> u64 {
    const MIB: u64 = 1 << 20;
    let mebibytes = free / 4 * 3 / MIB;
    if mebibytes == 0 { MIB } else { mebibytes * MIB }
}

/// The line `MemAvailable:` of `/proc/meminfo`, in bytes.
fn available(meminfo: &str) -> Option<u64> {
    kibibytes(meminfo, "MemAvailable:")
}

/// The line of that name, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// What the control groups that we are in leave us: containers and benchmarking tools limit memory so.
fn control_group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let root = Path::new("/sys/fs/cgroup");
    let leaf = root.join(path);
    let folders = leaf.ancestors().take_while(|folder| folder.starts_with(root));
    folders.filter_map(group_rest).min()
}

/// The limit of one group without what is used of it.
fn group_rest(folder: &Path) -> Option<u64> {
    let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    Some(number("memory.max")?.saturating_sub(number("memory.current")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_free_memory_is_read_and_shared() {
        let text = "MemTotal:       16000000 kB\nMemFree:  100 kB\nMemAvailable:    8388608 kB\n";
        assert_eq!(available(text), Some(8 << 30));
        assert_eq!(share(8 << 30), 6 << 30);
        assert_eq!(share(100), 1 << 20);
        assert_eq!(available("MemTotal: 1 kB\n"), None);
        assert_eq!(available("MemAvailable: much\n"), None);
        if cfg!(target_os = "linux") {
            assert!(resident().is_some_and(|bytes| bytes > 1 << 16));
            assert!(default_limit().is_some_and(|limit| limit >= 1 << 20 && limit % (1 << 20) == 0));
        }
    }
}
