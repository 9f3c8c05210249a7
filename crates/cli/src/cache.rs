//! Answers of earlier runs, one small file each, named by what was asked.
//!
//! An entry is used only where its fingerprint is the one of the present question, which covers the net that would
//! be searched and this very build of pdnet, and where its checksum is right. Anything else in the folder is left
//! alone. A violation is kept as the run of the slice: it is lifted and replayed again on the present program, so
//! that no run is shown that was not replayed. The worst that a folder can do is to be of no use.

pub(crate) mod fingerprint;

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use pdnet_check::{Fairness, Property, Stats, Trace, Verdict};
use pdnet_net::Net;
use pdnet_report::CacheEntry;

use self::fingerprint::{canonical_net, canonical_property, hex_digest};

/// A folder with answers.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    version: &'static str,
    /// The hash of the executable.
    build: String,
    /// The engine, with the options that its answers may depend on.
    engine: String,
}

/// What is asked of one net.
#[derive(Debug)]
pub(crate) struct Subject {
    net: String,
}

/// What is asked: the name of the file with the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key(String);

impl Cache {
    /// The cache in a folder, which is made if it is not there.
    ///
    /// # Errors
    /// When there can be none: why.
    pub(crate) fn open(folder: &Path, engine: &str, reductions: &[&str]) -> Result<Self, String> {
        let failed = |what: &str, error: io::Error| format!("{what}: {error}");
        fs::create_dir_all(folder)
            .map_err(|error| failed(&format!("cannot create the folder `{}`", folder.display()), error))?;
        let build = own_build().map_err(|error| failed("cannot read the executable of pdnet", error))?;
        let engine = format!("{engine} {}", reductions.join(" "));
        Ok(Self { folder: folder.to_owned(), version: env!("CARGO_PKG_VERSION"), build, engine })
    }

    /// A net of which something is asked.
    pub(crate) fn subject(&self, net: &Net) -> Subject {
        Subject { net: hex_digest(&[&canonical_net(net)]) }
    }

    /// A question.
    pub(crate) fn key(&self, subject: &Subject, property: &Property, fairness: Fairness) -> Key {
        let property = canonical_property(property, fairness);
        Key(hex_digest(&[self.version, &self.build, &self.engine, &subject.net, &property]))
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(format!("{}.json", key.0))
    }

    /// The answer of an earlier run, if there is one.
    ///
    /// # Errors
    /// When there is something that cannot be used: what, and why.
    pub(crate) fn load(&self, key: &Key, net: &Net) -> Result<Option<(Verdict, Stats)>, String> {
        let path = self.path(key);
        let useless = |why: &str| format!("`{}` is ignored: {why}", path.display());
        let text = match fs::read(&path) {
            Ok(bytes) => String::from_utf8(bytes).map_err(|_| useless("it is no text"))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(useless(&error.to_string())),
        };
        let (entry, checksum) = CacheEntry::parse(&text).map_err(|why| useless(&why))?;
        if hex_digest(&[&entry.content()]) != checksum {
            return Err(useless("its checksum is wrong"));
        }
        if entry.version != self.version || entry.build != self.build {
            return Err(useless("another build of pdnet wrote it"));
        }
        if entry.fingerprint != key.0 {
            return Err(useless("it answers another question"));
        }
        if !entry.fits(net) {
            return Err(useless("its run does not fit the program"));
        }
        let verdict = entry.violation.map_or(Verdict::Holds, Verdict::Violated);
        Ok(Some((verdict, entry.stats)))
    }

    /// Keeps an answer: it holds, or this run of the net that was searched breaks it.
    ///
    /// The file appears as a whole or not at all, also where two runs write it at a time.
    ///
    /// # Errors
    /// When it cannot be written: why.
    pub(crate) fn store(&self, key: &Key, violation: Option<&Trace>, stats: Stats) -> Result<(), String> {
        let entry = CacheEntry {
            version: self.version.to_owned(),
            build: self.build.clone(),
            fingerprint: key.0.clone(),
            violation: violation.cloned(),
            stats,
        };
        let text = entry.file(&hex_digest(&[&entry.content()]));
        let path = self.path(key);
        let draft = self.folder.join(format!(".{}.{}.tmp", key.0, std::process::id()));
        let written = fs::write(&draft, text).and_then(|()| fs::rename(&draft, &path));
        written.map_err(|error| {
            let _ = fs::remove_file(&draft);
            format!("cannot keep an answer in `{}`: {error}", path.display())
        })
    }
}

/// What tells this build of pdnet from others.
///
/// # Errors
/// Where the executable cannot be read.
pub(crate) fn own_build() -> io::Result<String> {
    build_mark(fs::File::open(std::env::current_exe()?)?)
}

/// What tells one build of pdnet from another. The executable is large, and nobody makes one that is mistaken for another
/// on purpose: a quick hash will do, where a digest would take longer than all the rest of a run. It is read piece by piece.
fn build_mark(executable: impl io::Read) -> io::Result<String> {
    use std::hash::{BuildHasher as _, Hasher as _};
    const PIECE: u64 = 1 << 16;
    let mut hasher = pdnet_base::FxHashMap::<u8, u8>::default().hasher().build_hasher();
    let (mut executable, mut piece, mut length) = (executable, Vec::new(), 0);
    loop {
        piece.clear();
        executable.by_ref().take(PIECE).read_to_end(&mut piece)?;
        hasher.write(&piece);
        length += piece.len();
        if piece.is_empty() {
            return Ok(format!("{length} {:016x}", hasher.finish()));
        }
    }
}

#[cfg(test)]
impl Cache {
    /// A cache for tests of others.
    pub(crate) fn of_test(folder: &Path) -> Self {
        let word = |text: &str| text.to_owned();
        Self { folder: folder.to_owned(), version: "1", build: word("b"), engine: word("e") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(folder: &Path, build: &str, version: &'static str) -> Cache {
        Cache { folder: folder.to_owned(), version, build: build.to_owned(), engine: "e".to_owned() }
    }

    fn key(cache: &Cache) -> Key {
        let net = Net::default();
        cache.key(&cache.subject(&net), &Property::no_deadlock(), Fairness::None)
    }

    #[test]
    fn another_build_has_other_questions() {
        let folder = tempfile::tempdir().expect("a folder");
        let mine = cache(folder.path(), "one", "1");
        mine.store(&key(&mine), None, Stats::default()).expect("stored");
        let found = mine.load(&key(&mine), &Net::default()).expect("no complaint");
        assert!(matches!(found, Some((Verdict::Holds, _))), "{found:?}");
        for other in [cache(folder.path(), "two", "1"), cache(folder.path(), "one", "2")] {
            assert_ne!(key(&other), key(&mine));
            assert!(other.load(&key(&other), &Net::default()).expect("no complaint").is_none());
            // Even where the file has the right name.
            std::fs::copy(mine.path(&key(&mine)), other.path(&key(&other))).expect("copied");
            let complaint = other.load(&key(&other), &Net::default()).expect_err("a complaint");
            assert!(complaint.contains("another build of pdnet wrote it"), "{complaint}");
            std::fs::remove_file(other.path(&key(&other))).expect("removed");
        }
        let names: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
        assert_eq!(names.len(), 1, "no drafts are left: {names:?}");
    }

    #[test]
    fn an_answer_to_another_question_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let mine = cache(folder.path(), "one", "1");
        let other = mine.key(&mine.subject(&Net::default()), &Property::no_race(), Fairness::None);
        mine.store(&other, None, Stats::default()).expect("stored");
        std::fs::rename(mine.path(&other), mine.path(&key(&mine))).expect("renamed");
        let complaint = mine.load(&key(&mine), &Net::default()).expect_err("a complaint");
        assert!(complaint.contains("it answers another question"), "{complaint}");
    }
}
