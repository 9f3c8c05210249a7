//! Which reductions are used: the value of `--reduce`.

use std::str::FromStr;

/// A reduction that can be switched on and off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    /// What the answer does not depend on is cut.
    Slice,
    /// Steps that nobody can come between become one.
    Agglomerate,
    /// Where the steps of some threads are enough, the others are put off.
    Stubborn,
    /// That depends on what the automaton of a formula can still look at.
    Guide,
    /// Values that nobody will look at make no states.
    Forget,
    /// States in which threads have only exchanged their numbers are one.
    Symmetry,
}

impl Reduction {
    const ALL: [Self; 6] =
        [Self::Slice, Self::Agglomerate, Self::Stubborn, Self::Guide, Self::Forget, Self::Symmetry];

    /// The name of it on the command line and in the output.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Slice => "slice",
            Self::Agglomerate => "agglomerate",
            Self::Stubborn => "stubborn",
            Self::Guide => "guide",
            Self::Forget => "forget",
            Self::Symmetry => "symmetry",
        }
    }
}

/// The reductions that are on, in the order in which they are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reductions(Vec<Reduction>);

impl Reductions {
    /// All of them.
    pub(crate) fn all() -> Self {
        Self(Reduction::ALL.to_vec())
    }

    /// None of them.
    #[cfg(test)]
    pub(crate) const fn none() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn has(&self, reduction: Reduction) -> bool {
        self.0.contains(&reduction)
    }

    pub(crate) const fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Their names, in a fixed order.
    pub(crate) fn names(&self) -> String {
        let chosen = Reduction::ALL.into_iter().filter(|reduction| self.has(*reduction));
        let names: Vec<&str> = chosen.map(Reduction::name).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(",") }
    }

    /// The names of those that the search itself uses, be it one with a bound on preemptions or not.
    pub(crate) fn of_search(&self, is_bounded: bool) -> Vec<&'static str> {
        let is_of_search = |reduction: &&Reduction| match reduction {
            Reduction::Slice | Reduction::Agglomerate => false,
            // The run that is walked for another one may have more preemptions.
            // And who was preempted is a matter of who is who.
            Reduction::Stubborn | Reduction::Guide | Reduction::Symmetry => !is_bounded,
            Reduction::Forget => true,
        };
        self.0.iter().filter(is_of_search).map(|reduction| reduction.name()).collect()
    }
}

impl FromStr for Reductions {
    type Err = String;

    /// `all`, `none`, or some names with commas between them.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => return Ok(Self::all()),
            "none" => return Ok(Self(Vec::new())),
            _ => {}
        }
        let mut is_on = [false; Reduction::ALL.len()];
        for name in text.split(',') {
            let position = Reduction::ALL.iter().position(|reduction| reduction.name() == name.trim());
            let Some(position) = position else {
                if ["all", "none"].contains(&name.trim()) {
                    return Err(format!("`{}` stands alone, and not in a list of reductions", name.trim()));
                }
                let names = Reduction::ALL.map(Reduction::name).join(", ");
                return Err(format!("`{name}` is no reduction; there are all, none, and a list of {names}"));
            };
            is_on[position] = true;
        }
        let chosen = Reduction::ALL.into_iter().zip(is_on).filter(|(_, is_on)| *is_on);
        Ok(Self(chosen.map(|(reduction, _)| reduction).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_lists_of_names() {
        let parse = |text: &str| text.parse::<Reductions>();
        assert_eq!(parse("all"), Ok(Reductions::all()));
        assert_eq!(parse("none"), Ok(Reductions::none()));
        assert_eq!(parse("slice,agglomerate,stubborn,guide,forget,symmetry"), Ok(Reductions::all()));
        assert_eq!(parse("forget,slice"), Ok(Reductions(vec![Reduction::Slice, Reduction::Forget])));
        assert_eq!(parse("forget, slice").map(|found| found.of_search(false)), Ok(vec!["forget"]));
        assert!(parse("slices").is_err_and(|why| why.contains("`slices`") && why.contains("agglomerate")));
        assert!(parse("slice, none").is_err_and(|why| why.contains("`none` stands alone")));
        assert!(parse("").is_err());
    }
}
