//! The file in which searches are kept (`--checkpoint`).
//!
//! The file only grows. A record is a head (the length of what it holds, the search that it belongs to), what it holds, and a checksum.
//! Whenever the process is killed, what was written before is still there; a record that is not whole is cut off when
//! the file is opened the next time.

use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pdnet_check::Keeper;

use crate::session::complain;

/// What such a file begins with.
const MAGIC: &[u8] = b"pdnet checkpoint 1\n";

/// The bytes of a record beside what it holds: its length, its search, and at the end a checksum.
const HEAD: usize = 4 + 8;

/// The file.
pub(crate) struct Checkpoint {
    path: PathBuf,
    file: BufWriter<File>,
    every: Duration,
    last: Instant,
    /// Something could not be written. The search goes on, and nothing more is kept.
    is_broken: bool,
}

impl Checkpoint {
    /// Opens the file: a new one, or with `resumes` one that there is.
    ///
    /// # Errors
    /// Where it cannot be opened, is there and shall be new, or is no such file.
    pub(crate) fn open(path: &Path, resumes: bool, every: Duration) -> Result<Self, String> {
        let name = path.display();
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
        let begin = |file: &mut File| -> io::Result<Option<u64>> {
            if file.metadata()?.len() == 0 {
                file.write_all(MAGIC)?;
                file.sync_all()?;
                return Ok(Some(MAGIC.len() as u64));
            }
            let mut magic = Vec::new();
            (&*file).take(MAGIC.len() as u64).read_to_end(&mut magic)?;
            if magic != MAGIC {
                return Ok(None);
            }
            read_records(file, &mut |_, _| {}).map(Some)
        };
        let end = begin(&mut file).map_err(|error| format!("cannot read `{name}`: {error}"))?;
        let end = end.ok_or_else(|| format!("`{name}` is no checkpoint of pdnet"))?;
        let cut = file.set_len(end).and_then(|()| file.seek(SeekFrom::End(0)));
        cut.map_err(|error| format!("cannot write `{name}`: {error}"))?;
        let file = BufWriter::new(file);
        Ok(Self { path: path.to_owned(), file, every, last: Instant::now(), is_broken: false })
    }

    fn note(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.is_broken = true;
            complain(&format!(
                "cannot write `{}`: {error}; the search goes on, but nothing more of it is kept",
                self.path.display()
            ));
        }
    }
}

/// Shows the records from the present position on, each with its search, up to the first that is not whole; says where that is.
fn read_records(file: &mut File, show: &mut dyn FnMut(u64, &[u8])) -> io::Result<u64> {
    let mut end = file.stream_position()?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut record = Vec::new();
    loop {
        record.clear();
        if reader.by_ref().take(HEAD as u64).read_to_end(&mut record)? < HEAD {
            return Ok(end);
        }
        let (length, search) = head(&record);
        let wanted = u64::from(length) + 8;
        if reader.by_ref().take(wanted).read_to_end(&mut record)? as u64 != wanted {
            return Ok(end);
        }
        let (whole, sum) = record.split_at(record.len() - 8);
        if checksum(whole).to_le_bytes() != sum {
            return Ok(end);
        }
        show(search, &whole[HEAD..]);
        end += record.len() as u64;
    }
}

fn head(record: &[u8]) -> (u32, u64) {
    let (mut length, mut search) = ([0; 4], [0; 8]);
    length.copy_from_slice(&record[..4]);
    search.copy_from_slice(&record[4..HEAD]);
    (u32::from_le_bytes(length), u64::from_le_bytes(search))
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
        let Ok(length) = u32::try_from(record.len()) else { return };
        if self.is_broken {
            return;
        }
        let mut whole = Vec::with_capacity(HEAD + record.len() + 8);
        whole.extend_from_slice(&length.to_le_bytes());
        whole.extend_from_slice(&search.to_le_bytes());
        whole.extend_from_slice(record);
        let sum = checksum(&whole);
        whole.extend_from_slice(&sum.to_le_bytes());
        let written = self.file.write_all(&whole);
        self.note(written);
    }

    fn commit(&mut self) {
        if !self.is_broken {
            let kept = self.file.flush().and_then(|()| self.file.get_ref().sync_data());
            self.note(kept);
        }
        self.last = Instant::now();
    }

    fn records(&mut self, search: u64, show: &mut dyn FnMut(&[u8])) {
        let (mut n_shown, mut n_other) = (0, 0);
        let mut read = || -> io::Result<()> {
            self.file.flush()?;
            let file = self.file.get_mut();
            file.seek(SeekFrom::Start(MAGIC.len() as u64))?;
            read_records(file, &mut |of, record| {
                if of == search {
                    n_shown += 1;
                    show(record);
                } else {
                    n_other += 1;
                }
            })?;
            file.seek(SeekFrom::End(0)).map(drop)
        };
        let result = read();
        if n_shown == 0 && n_other > 0 {
            let name = self.path.display();
            let _ = writeln!(
                io::stderr(),
                "note: `{name}` has nothing of this search, only of others: it begins anew"
            );
        }
        self.note(result);
    }
}
