//! "Did you mean …?"

/// The candidate nearest to `name` by edit distance, where it is near enough to be a likely slip:
/// at most a third of the letters differ. Ties go to the candidate that comes first.
#[must_use]
pub fn nearest_name<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    let ranked = candidates.into_iter().map(|candidate| (edit_distance(name, candidate), candidate));
    ranked
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, best)| best)
}

/// Optimal string alignment distance: insertions, deletions, substitutions, swaps of neighbours.
/// Letters that differ only in case count as a substitution of half weight would; we simply fold case.
fn edit_distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.to_lowercase().chars().collect();
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (i, &a) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &b) in right.iter().enumerate() {
            let substitute = last[j] + usize::from(a != b);
            let mut best = substitute.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a == right[j - 1] && left[i - 1] == b {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest_name;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let names = ["counter", "flag1", "turn"];
        assert_eq!(nearest_name("conuter", names), Some("counter"));
        assert_eq!(nearest_name("flg1", names), Some("flag1"));
        assert_eq!(nearest_name("Turn", names), Some("turn"));
        assert_eq!(nearest_name("mutex", names), None);
    }
}
