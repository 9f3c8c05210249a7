//! Automata among what is to be checked.

use std::path::Path;

use pdnet_logic::parse_hoa;

use super::{NamedAutomaton, Resolver, Wanted};

impl Resolver<'_> {
    /// `--hoa FILE`: no run is accepted by the automaton of the file.
    pub(super) fn option_hoa(&mut self, path: &Path) {
        let Some(file) = self.read(path, "automaton") else { return };
        let hoa = match parse_hoa(self.map, file) {
            Ok(hoa) => hoa,
            Err(error) => return self.errors.push(error),
        };
        self.refuse_unsupported(&hoa.as_formula());
        let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let of = hoa.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        let text = format!("no run is accepted by {}{of}", path.display());
        if !hoa.stutter_invariant && !self.reduce.is_none() {
            let note = format!(
                "the automaton {stem} may tell runs apart by the number of their steps (it does not say \
                 `properties: stutter-invariant`): it was checked without any reduction"
            );
            self.found.notes.push(note);
        }
        self.found.wanted.push(Wanted::Never(NamedAutomaton { name: stem, text, hoa }));
    }
}
