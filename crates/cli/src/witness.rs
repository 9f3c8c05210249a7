//! `--witness FILE`: the answers as files for other tools.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use pdnet_report::{Overall, Report, WitnessFrame, correctness_witness, violation_witness};
use sha2::{Digest as _, Sha256};

use crate::args::DataModel;
use crate::exit::Failure;
use crate::job::Job;
use crate::properties::Properties;

/// Writes a witness for each property that is violated; if all hold, one of correctness. Where the answer is
/// not known there is nothing to witness.
pub(crate) fn write_witnesses(
    path: &Path,
    job: &Job,
    asked: &Properties,
    report: &Report<'_>,
) -> Result<(), Failure> {
    let files = job.program.files.iter();
    let inputs: Vec<_> = files.map(|file| (file.display().to_string(), file_hash(file))).collect();
    let frame = |specification: String| frame(specification, &inputs, job.data_model);
    let write = |path: &Path, text: String| {
        std::fs::write(path, text).map_err(|error| Failure::Output(format!("`{}`", path.display()), error))
    };
    if report.overall() == Overall::True {
        let mut all: Vec<String> = (0..report.results.len()).map(|at| asked.specification(at)).collect();
        all.dedup();
        return write(path, correctness_witness(report, &frame(all.join("\n"))));
    }
    let mut n_written = 0;
    for (position, result) in report.results.iter().enumerate() {
        let frame = frame(asked.specification(position));
        let Some(text) = violation_witness(report, result, &frame) else { continue };
        let named = with_name(path, &result.property.name);
        write(if n_written == 0 { path } else { &named }, text)?;
        n_written += 1;
    }
    Ok(())
}

/// `witness.yml` with the name `deadlock` is `witness.deadlock.yml`.
fn with_name(path: &Path, name: &str) -> PathBuf {
    let mut file = path.file_stem().map_or_else(OsString::new, OsString::from);
    let plain = |c: char| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    file.push(format!(".{}", name.chars().map(plain).collect::<String>()));
    if let Some(ending) = path.extension() {
        file.push(".");
        file.push(ending);
    }
    path.with_file_name(file)
}

fn frame(specification: String, inputs: &[(String, String)], data_model: DataModel) -> WitnessFrame {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let command_line = words.join(" ");
    let seed = format!("{}\0{command_line}\0{specification}\0{inputs:?}", since.as_nanos());
    WitnessFrame {
        uuid: uuid(&Sha256::digest(seed)),
        creation_time: date_time(since.as_secs()),
        command_line,
        inputs: inputs.to_vec(),
        specification,
        data_model: match data_model {
            DataModel::Lp64 => "LP64",
            DataModel::Ilp32 => "ILP32",
        },
    }
}

/// The SHA-256 of a file. It was read before, so that there is one.
fn file_hash(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An identifier of version 4 (random bits) made of a hash.
fn uuid(hash: &[u8]) -> String {
    let hex = |range: std::ops::Range<usize>| -> String {
        let byte = |at: usize| match at {
            6 => hash[at] & 0x0f | 0x40,
            8 => hash[at] & 0x3f | 0x80,
            _ => hash[at],
        };
        range.map(|at| format!("{:02x}", byte(at))).collect()
    };
    [hex(0..4), hex(4..6), hex(6..8), hex(8..10), hex(10..16)].join("-")
}

/// Seconds since 1970 as ISO 8601 in UTC. The calendar is computed in eras of 400 years that begin in March,
/// as in Howard Hinnant's "chrono-compatible low-level date algorithms".
fn date_time(seconds: u64) -> String {
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_iso_8601() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_200, "2024-03-01T00:00:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
        ] {
            assert_eq!(date_time(seconds), expected);
        }
    }

    #[test]
    fn identifiers_are_of_version_4() {
        assert_eq!(uuid(&[0xff; 32]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(uuid(&[0; 32]), "00000000-0000-4000-8000-000000000000");
    }

    #[test]
    fn the_name_of_a_property_goes_before_the_ending() {
        assert_eq!(with_name(Path::new("a/w.yml"), "ltl-2"), Path::new("a/w.ltl-2.yml"));
        assert_eq!(with_name(Path::new("w"), "a/b"), Path::new("w.a_b"));
    }
}
