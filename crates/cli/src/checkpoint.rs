//! The file in which searches are kept (`--checkpoint`).
//!
//! The file only grows. A record is a head (the length of what it holds, the search that it belongs to), what it holds, and a checksum.
//! A record without content says that all before it counts. Whenever the process is killed, what was written before is still there;
//! when the file is opened the next time, it is cut behind the last record that says so. So a search finds all that it has kept at
//! one moment, or nothing of that.
//!
//! The first record says what was asked: the program, its properties, the options on which the states depend, and the
//! build of pdnet. Who asks something else is told what differs, and the file stays as it is.

use std::fs::{File, OpenOptions, TryLockError};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pdnet_check::Keeper;
use pdnet_source::Diagnostic;

use crate::session::complain;

/// What such a file begins with.
const MAGIC: &[u8] = b"pdnet checkpoint 2\n";

/// What files of other versions begin with.
const FAMILY: &[u8] = b"pdnet checkpoint ";

/// The bytes of a record before what it holds: its length and its search.
const HEAD: usize = 4 + 8;

/// The bytes behind it: a checksum.
const TAIL: usize = 8;

/// The search of records that make what is before them count, and of the one that says what was asked. No search has these numbers.
const COMMIT: u64 = 0;
const QUESTION: u64 = u64::MAX;

/// How often it is tried to lock the file, and how long it is waited between that.
const LOCK_TRIES: u32 = 30;
const LOCK_EVERY: Duration = Duration::from_millis(100);

/// What was asked: names of its parts, with their values.
pub(crate) type Question = Vec<(&'static str, String)>;

/// The file.
pub(crate) struct Checkpoint {
    path: PathBuf,
    file: BufWriter<File>,
    /// How long the file is with what was written and is not in it yet.
    length: u64,
    every: Duration,
    last: Instant,
    /// Something could not be written or read. The search goes on, and nothing more is kept.
    is_broken: bool,
    /// There is something of a search in it.
    has_search: bool,
}

impl Checkpoint {
    /// Opens the file: a new one, or with `resumes` one that there is.
    ///
    /// # Errors
    /// Where it cannot be opened, is there and shall be new, is used by another process, or is no such file.
    pub(crate) fn open(path: &Path, resumes: bool, every: Duration) -> Result<Self, String> {
        let name = path.display();
        if std::fs::metadata(path).is_ok_and(|data| !data.is_file()) {
            return Err(format!("`{name}` is no file that a search can be kept in"));
        }
        let open = if resumes {
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
        } else {
            OpenOptions::new().read(true).write(true).create_new(true).open(path)
        };
        let mut file = open.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                format!("`{name}` is there already: pass `--resume` to go on with it, or remove it")
            }
            _ => format!("cannot open `{name}`: {error}"),
        })?;
        if !is_alone(&file, path) {
            return Err(format!("another process keeps its search in `{name}`"));
        }
        let (length, has_search) =
            match begin(&mut file).map_err(|error| format!("cannot read `{name}`: {error}"))? {
                Begun::Checkpoint { length, has_search } => (length, has_search),
                Begun::OtherVersion => {
                    return Err(format!("`{name}` is a checkpoint of another version of pdnet: remove it"));
                }
                Begun::Other => return Err(format!("`{name}` is no checkpoint of pdnet")),
            };
        let before = file.metadata().map_or(length, |data| data.len());
        if before > length {
            note(
                path,
                &format!("cut behind what is whole: {} bytes of {before} are dropped", before - length),
            );
        }
        let cut = file.set_len(length).and_then(|()| file.seek(SeekFrom::End(0)));
        cut.map_err(|error| format!("cannot write `{name}`: {error}"))?;
        let file = BufWriter::new(file);
        let (path, last) = (path.to_owned(), Instant::now());
        Ok(Self { path, file, length, every, last, is_broken: false, has_search })
    }

    /// Says what is asked in this run, before any search.
    ///
    /// # Errors
    /// Where the file is about another question: what differs.
    pub(crate) fn ask(&mut self, question: &Question) -> Result<(), Diagnostic> {
        let mut before: Option<Vec<(String, String)>> = None;
        self.records(QUESTION, &mut |_, record| before = read_question(record).or(before.take()));
        let Some(before) = before else {
            let mut record = Vec::new();
            for text in question.iter().flat_map(|(name, value)| [*name, value]) {
                record.extend_from_slice(&(text.len() as u64).to_le_bytes());
                record.extend_from_slice(text.as_bytes());
            }
            self.append(QUESTION, &record);
            self.commit();
            return Ok(());
        };
        let of = |name: &str| before.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str());
        let differs = |(name, value): &(&'static str, String)| {
            let other = of(name).unwrap_or("");
            (other != value).then(|| (*name, other.to_owned(), value.clone()))
        };
        let differences: Vec<_> = question.iter().filter_map(differs).collect();
        if differences.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = differences.iter().map(|(name, _, _)| *name).collect();
        let text =
            format!("`{}` is about another question: it differs in {}", self.path.display(), list(&names));
        let diagnostic = differences.into_iter().fold(
            Diagnostic::error("checkpoint", text),
            |diagnostic, (name, other, value)| {
                diagnostic.note(format!("{name}: `{other}` in the file, `{value}` now"))
            },
        );
        Err(diagnostic.help("ask the same again to go on with it, or keep this search in another file"))
    }

    /// Says that the search was stopped and can go on, if it was kept.
    pub(crate) fn say_kept(&self) {
        if !self.is_broken && self.has_search {
            note(&self.path, "the search is kept: the same command with `--resume` goes on with it");
        }
    }

    fn note(&mut self, what: &str, result: io::Result<()>) {
        if let Err(error) = result {
            self.is_broken = true;
            complain(&format!(
                "cannot {what} `{}`: {error}; the search goes on, but nothing more of it is kept",
                self.path.display()
            ));
        }
    }
}

/// Says something about the file.
fn note(path: &Path, text: &str) {
    // There is no one left to tell where this fails.
    let _ = writeln!(io::stderr(), "note: `{}`: {text}", path.display());
}

/// Locks the file, for as long as it is open. A process that was killed may need a moment to go. Where there are no locks, there are none.
fn is_alone(file: &File, path: &Path) -> bool {
    let is_locked = || !matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    if is_locked() {
        return true;
    }
    let patience = LOCK_EVERY * LOCK_TRIES;
    note(path, &format!("another process has it: waiting for up to {} s", patience.as_secs()));
    (0..LOCK_TRIES).any(|_| {
        std::thread::sleep(LOCK_EVERY);
        is_locked()
    })
}

/// Words as a list for people.
fn list(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn read_question(mut record: &[u8]) -> Option<Vec<(String, String)>> {
    let mut texts = Vec::new();
    while !record.is_empty() {
        let (length, rest) = record.split_first_chunk::<8>()?;
        let (text, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        texts.push(String::from_utf8(text.to_vec()).ok()?);
        record = rest;
    }
    let pairs = texts.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone()));
    Some(pairs.collect())
}

/// What a file turned out to be.
enum Begun {
    /// A checkpoint, of which so many bytes count, with or without something of a search.
    Checkpoint {
        length: u64,
        has_search: bool,
    },
    OtherVersion,
    Other,
}

fn begin(file: &mut File) -> io::Result<Begun> {
    let mut magic = Vec::new();
    (&*file).take(MAGIC.len() as u64).read_to_end(&mut magic)?;
    // A process may have been killed before the first word was written.
    if MAGIC.starts_with(&magic) && magic.len() < MAGIC.len() {
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(MAGIC)?;
        file.sync_all()?;
        return Ok(Begun::Checkpoint { length: MAGIC.len() as u64, has_search: false });
    }
    if magic != MAGIC {
        return Ok(if magic.starts_with(FAMILY) { Begun::OtherVersion } else { Begun::Other });
    }
    let mut length = MAGIC.len() as u64;
    let (mut comes, mut has_search) = (false, false);
    read_records(file, &mut |place, search, record| {
        comes |= search != COMMIT && search != QUESTION;
        if search == COMMIT {
            length = place + (HEAD + record.len() + TAIL) as u64;
            has_search = comes;
        }
    })?;
    Ok(Begun::Checkpoint { length, has_search })
}

/// Shows the records from the present position on, each with its place and its search, up to the first that is not whole.
fn read_records(file: &mut File, show: &mut dyn FnMut(u64, u64, &[u8])) -> io::Result<()> {
    let mut place = file.stream_position()?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut record = Vec::new();
    while let Some(search) = read_record(&mut reader, &mut record)? {
        show(place, search, &record[HEAD..record.len() - TAIL]);
        place += record.len() as u64;
    }
    Ok(())
}

/// Reads a record with its head and its checksum, and says which search it belongs to; nothing where it is not whole.
fn read_record(reader: &mut impl io::Read, record: &mut Vec<u8>) -> io::Result<Option<u64>> {
    record.clear();
    reader.by_ref().take(HEAD as u64).read_to_end(record)?;
    let Some((&length, rest)) = record.split_first_chunk::<4>() else { return Ok(None) };
    let Some((&search, _)) = rest.split_first_chunk::<8>() else { return Ok(None) };
    let wanted = u64::from(u32::from_le_bytes(length)) + TAIL as u64;
    if reader.by_ref().take(wanted).read_to_end(record)? as u64 != wanted {
        return Ok(None);
    }
    let (whole, sum) = record.split_at(record.len() - TAIL);
    Ok((checksum(whole).to_le_bytes() == sum).then(|| u64::from_le_bytes(search)))
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut hasher = foldhash::quality::FixedState::with_seed(1).build_hasher();
    hasher.write(bytes);
    hasher.finish()
}

impl Keeper for Checkpoint {
    fn is_due(&mut self) -> bool {
        !self.is_broken && self.last.elapsed() >= self.every
    }

    fn append(&mut self, search: u64, record: &[u8]) {
        if self.is_broken {
            return;
        }
        let Ok(length) = u32::try_from(record.len()) else {
            self.note("write", Err(io::Error::other("a record is too large")));
            return;
        };
        let mut whole = Vec::with_capacity(HEAD + record.len() + TAIL);
        whole.extend_from_slice(&length.to_le_bytes());
        whole.extend_from_slice(&search.to_le_bytes());
        whole.extend_from_slice(record);
        let sum = checksum(&whole);
        whole.extend_from_slice(&sum.to_le_bytes());
        self.has_search |= search != COMMIT && search != QUESTION;
        let written = self.file.write_all(&whole);
        self.length += whole.len() as u64;
        self.note("write", written);
    }

    fn commit(&mut self) {
        self.append(COMMIT, &[]);
        if !self.is_broken {
            let kept = self.file.flush().and_then(|()| self.file.get_ref().sync_data());
            self.note("write", kept);
        }
        self.last = Instant::now();
    }

    fn records(&mut self, search: u64, show: &mut dyn FnMut(u64, &[u8])) {
        if self.is_broken {
            return;
        }
        let mut read = || -> io::Result<()> {
            self.file.flush()?;
            let file = self.file.get_mut();
            file.seek(SeekFrom::Start(MAGIC.len() as u64))?;
            read_records(file, &mut |place, of, record| {
                if of == search {
                    show(place, record);
                }
            })?;
            file.seek(SeekFrom::Start(self.length)).map(drop)
        };
        let result = read();
        self.note("read", result);
    }

    fn record(&mut self, place: u64, record: &mut Vec<u8>) -> bool {
        if self.is_broken {
            return false;
        }
        let mut read = || -> io::Result<bool> {
            self.file.flush()?;
            let file = self.file.get_mut();
            file.seek(SeekFrom::Start(place))?;
            let found = read_record(file, record)?;
            file.seek(SeekFrom::Start(self.length))?;
            Ok(found.is_some())
        };
        let result = read();
        let is_read = *result.as_ref().unwrap_or(&false);
        self.note("read", result.map(drop));
        if is_read {
            record.truncate(record.len() - TAIL);
            record.drain(..HEAD);
        }
        is_read
    }

    fn complain(&mut self, text: &str) {
        note(&self.path, text);
    }

    fn tell(&mut self, text: &str) {
        note(&self.path, text);
    }
}
