//! Times and sizes as people type them.

use std::time::Duration;

/// A time: a number, with `ms`, `s` (as without), `m` or `h` after it.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split_unit(text);
    let seconds_per_unit = match unit {
        "" | "s" | "sec" => 1.0,
        "ms" => 0.001,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        other => return Err(format!("unknown unit `{other}`; write for example 90, 90s, 5m or 1h")),
    };
    let number: f64 = number.parse().map_err(|_| format!("`{number}` is not a number"))?;
    Duration::try_from_secs_f64(number * seconds_per_unit).map_err(|_| "this time is too long".to_owned())
}

/// A number of bytes: a number, with `K`, `M`, `G`, `T` (powers of 1024, also as `KiB`) or `KB`, `MB`,
/// `GB`, `TB` (powers of 1000) after it.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text);
    let unit = unit.to_ascii_lowercase();
    let bytes: u64 = match unit.as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        other => return Err(format!("unknown unit `{other}`; write for example 500M, 4G or 4GiB")),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let not_a_number = |_| format!("`{number}` is not a number");
    let whole: u64 = whole.parse().map_err(not_a_number)?;
    let part: u64 = if fraction.is_empty() { 0 } else { fraction.parse().map_err(not_a_number)? };
    let scale = u32::try_from(fraction.len()).ok().and_then(|digits| 10_u128.checked_pow(digits));
    let part = scale.map_or(0, |scale| u128::from(part) * u128::from(bytes) / scale);
    let total = u128::from(whole) * u128::from(bytes) + part;
    u64::try_from(total).map_err(|_| "this size is too large".to_owned())
}

/// A count, with `K`, `M` or `G` (powers of 1000) after it.
pub(crate) fn parse_count(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text);
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1_000,
        "m" => 1_000_000,
        "g" => 1_000_000_000,
        other => return Err(format!("unknown unit `{other}`; write for example 100000 or 5M")),
    };
    let number: u64 = number.parse().map_err(|_| format!("`{number}` is not a whole number"))?;
    number.checked_mul(factor).ok_or_else(|| "this number is too large".to_owned())
}

/// The number and what follows it.
fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(parse_duration("10"), Ok(Duration::from_secs(10)));
        assert_eq!(parse_duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse_duration("5m"), Ok(Duration::from_secs(300)));
        assert!(parse_duration("5 weeks").is_err());
        assert!(parse_duration("-1").is_err());
        assert!(parse_duration("").is_err());
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_bytes("4G"), Ok(4 << 30));
        assert_eq!(parse_bytes("0.5GiB"), Ok(1 << 29));
        assert_eq!(parse_bytes("500M"), Ok(500 << 20));
        assert_eq!(parse_bytes("1 kb"), Ok(1000));
        assert!(parse_bytes("G").is_err());
        assert!(parse_bytes("99999999999T").is_err());
    }

    #[test]
    fn counts_have_units() {
        assert_eq!(parse_count("5M"), Ok(5_000_000));
        assert_eq!(parse_count("17"), Ok(17));
        assert!(parse_count("1.5M").is_err());
    }
}
