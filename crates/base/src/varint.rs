//! Numbers as bytes: seven bits a byte, the lowest first, so that small ones are short.

/// Appends a number.
pub fn put(number: u64, bytes: &mut Vec<u8>) {
    let mut rest = number;
    while rest >= 0x80 {
        #[expect(clippy::cast_possible_truncation, reason = "the lowest bits are meant")]
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    #[expect(clippy::cast_possible_truncation, reason = "less than 128")]
    bytes.push(rest as u8);
}

/// Takes the number at the beginning; nothing where there is no whole one.
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}
