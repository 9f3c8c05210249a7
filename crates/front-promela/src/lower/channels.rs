//! Which channels there are, which of them an expression can denote, and the cells in which their messages are.
//!
//! A channel is a number from 1 on; 0 is no channel. A channel that is declared in a proctype exists once for each
//! process, and its number follows from that of the process, so that a number means the same channel always.
//! Channels of one shape that some statement cannot tell apart share places, as the elements of an array; all others
//! have places of their own, so that the arcs of steps on different channels stay apart.

use std::collections::{BTreeMap, BTreeSet};

use pdnet_base::{IndexVec, index_type};
use pdnet_net::{CellData, IntType, Net, Place, Scope as CellScope};

use crate::tree::{ChannelType, Expr, ExprKind, Init, Model, Proc, ReceiveArg, Scope, StmtKind, Type, Var};
use crate::walk::{expressions, walk, walk_statements};

index_type! {
    /// A declaration of a channel, or of an array of channels.
    pub struct Site = "s";
    /// Channels that share places.
    pub struct Class = "k";
}

/// A channel before anything runs: an element of a declaration. Of a local one it stands for those of all processes.
pub(crate) type Channel = (Site, u32);

/// A declaration.
#[derive(Clone, Debug)]
pub(crate) struct SiteData {
    pub(crate) var: Var,
    pub(crate) ty: ChannelType,
    /// How many elements.
    pub(crate) count: u32,
    /// The proctype that it is local to.
    pub(crate) owner: Option<Proc>,
}

/// Channels that share places.
#[derive(Clone, Debug)]
pub(crate) struct ClassData {
    pub(crate) ty: ChannelType,
    /// The number of the first one; the others follow.
    pub(crate) base: i64,
    /// How many, those of all processes counted.
    pub(crate) size: u32,
    /// The numbers of messages; none for rendezvous.
    pub(crate) len: Option<Place>,
    /// A place for each field of messages; none for rendezvous.
    pub(crate) fields: Vec<Place>,
    /// Whether some are local to processes, and so may be gone.
    pub(crate) is_local: bool,
}

/// What an expression can denote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Targets {
    pub(crate) channels: BTreeSet<Channel>,
    /// It may be 0.
    pub(crate) nullable: bool,
}

/// All channels.
#[derive(Clone, Debug)]
pub(crate) struct Channels {
    pub(crate) sites: IndexVec<Site, SiteData>,
    site_of: BTreeMap<Var, Site>,
    /// What variables can denote.
    vars: BTreeMap<Var, Targets>,
    /// What fields of messages can denote.
    fields: BTreeMap<(Site, usize), Targets>,
    /// Variables that are assigned to somewhere, or that must be kept.
    assigned: BTreeSet<Var>,
    pub(crate) classes: IndexVec<Class, ClassData>,
    /// The class of each channel, and its position there (of a local one, that of the first process's).
    home: BTreeMap<Channel, (Class, u32)>,
    /// The largest number.
    pub(crate) last: i64,
}

impl Channels {
    /// Finds the channels of a model, and what can denote which.
    ///
    /// `extra` are expressions of properties; `kept` are variables that must be kept although they always denote the same
    /// channel.
    pub(crate) fn new(
        model: &Model,
        extra: &[&Expr],
        kept: &BTreeSet<Var>,
        max_processes: u32,
        net: &mut Net,
    ) -> Self {
        let mut channels = Self {
            sites: IndexVec::new(),
            site_of: BTreeMap::new(),
            vars: BTreeMap::new(),
            fields: BTreeMap::new(),
            assigned: kept.clone(),
            classes: IndexVec::new(),
            home: BTreeMap::new(),
            last: 0,
        };
        for (var, data) in model.vars.iter_enumerated() {
            if let Init::Channel(ty) = &data.init {
                let count = data.dims.iter().product();
                let owner = match data.scope {
                    Scope::Global => None,
                    Scope::Local(proc) => Some(proc),
                };
                let site = channels.sites.push(SiteData { var, ty: ty.clone(), count, owner });
                channels.site_of.insert(var, site);
            }
        }
        channels.solve(model);
        channels.make_classes(model, extra, max_processes);
        channels.make_places(model, net);
        channels
    }

    /// The declaration of a variable that always denotes its own channel.
    pub(crate) fn fixed(&self, var: Var) -> Option<Site> {
        self.site_of.get(&var).copied().filter(|_| !self.assigned.contains(&var))
    }

    /// The declaration of a variable that denotes its own channel at first.
    pub(crate) fn site_of(&self, var: Var) -> Option<Site> {
        self.site_of.get(&var).copied()
    }

    /// The class of a channel and its position there.
    pub(crate) fn home(&self, channel: Channel) -> (Class, u32) {
        self.home[&channel]
    }

    /// What an expression can denote.
    pub(crate) fn targets(&self, model: &Model, expr: &Expr) -> Targets {
        match &expr.kind {
            ExprKind::Load(place) => self.load_targets(model, place),
            // Of a process that does not exist it is 0.
            ExprKind::Remote { place, .. } => Targets { nullable: true, ..self.load_targets(model, place) },
            ExprKind::If(_, then, otherwise) => {
                let mut found = self.targets(model, then);
                join(&mut found, &self.targets(model, otherwise));
                found
            }
            _ => Targets { channels: BTreeSet::new(), nullable: true },
        }
    }

    fn load_targets(&self, model: &Model, place: &crate::tree::Place) -> Targets {
        let var = place.var;
        let Some(site) = self.fixed(var) else {
            return self
                .vars
                .get(&var)
                .cloned()
                .unwrap_or(Targets { channels: BTreeSet::new(), nullable: true });
        };
        let index = constant_index(&model.vars[var].dims, &place.indices);
        let channels = match index {
            Some(index) => BTreeSet::from([(site, index)]),
            None => (0..self.sites[site].count).map(|index| (site, index)).collect(),
        };
        Targets { channels, nullable: false }
    }

    /// Follows channels through assignments, parameters and messages until nothing is new. The order of statements does
    /// not count.
    fn solve(&mut self, model: &Model) {
        for proc in model.procs.iter() {
            walk_statements(&proc.body, &mut |statement| match &statement.kind {
                StmtKind::Assign(place, _) => drop(self.assigned.insert(place.var)),
                StmtKind::Receive { args, .. } => {
                    for arg in args {
                        if let ReceiveArg::Store(place) = arg {
                            self.assigned.insert(place.var);
                        }
                    }
                }
                _ => {}
            });
        }
        for (var, data) in model.vars.iter_enumerated() {
            let start = match (&data.init, self.site_of.get(&var), data.param) {
                (_, Some(&site), _) => {
                    let channels = (0..self.sites[site].count).map(|index| (site, index)).collect();
                    Targets { channels, nullable: false }
                }
                // Only what is passed to it counts; a process that runs from the start has 0 there.
                (_, None, Some(_)) => {
                    let is_active = matches!(data.scope, Scope::Local(proc) if model.procs[proc].active > 0);
                    Targets { channels: BTreeSet::new(), nullable: is_active }
                }
                (Init::Value(_) | Init::List(_), None, None) => Targets::default(),
                (Init::Zero | Init::Channel(_), None, None) => {
                    Targets { channels: BTreeSet::new(), nullable: true }
                }
            };
            self.vars.insert(var, start);
        }
        loop {
            let before = (self.vars.clone(), self.fields.clone());
            for (var, data) in model.vars.iter_enumerated() {
                match &data.init {
                    Init::Value(expr) => self.flow(model, expr, var),
                    Init::List(exprs) => exprs.iter().for_each(|expr| self.flow(model, expr, var)),
                    Init::Zero | Init::Channel(_) => {}
                }
            }
            for proc in model.procs.iter() {
                walk_statements(&proc.body, &mut |statement| self.statement(model, &statement.kind));
            }
            if before == (self.vars.clone(), self.fields.clone()) {
                return;
            }
        }
    }

    fn flow(&mut self, model: &Model, expr: &Expr, into: Var) {
        let targets = self.targets(model, expr);
        join(self.vars.entry(into).or_default(), &targets);
    }

    fn statement(&mut self, model: &Model, statement: &StmtKind) {
        expressions(statement, &mut |expr| {
            walk(expr, &mut |inner| {
                if let ExprKind::Run(proc, args) = &inner.kind {
                    for (&param, arg) in model.procs[*proc].params.iter().zip(args) {
                        self.flow(model, arg, param);
                    }
                }
            });
        });
        match statement {
            StmtKind::Assign(place, value) => self.flow(model, value, place.var),
            StmtKind::Send { channel, args, .. } => {
                let to = self.targets(model, channel);
                for (number, arg) in args.iter().enumerate() {
                    let targets = self.targets(model, arg);
                    for &(site, _) in &to.channels {
                        join(self.fields.entry((site, number)).or_default(), &targets);
                    }
                }
            }
            StmtKind::Receive { channel, args, .. } => {
                let from = self.targets(model, channel);
                for (number, arg) in args.iter().enumerate() {
                    let ReceiveArg::Store(place) = arg else { continue };
                    for &(site, _) in &from.channels {
                        let targets = self.fields.get(&(site, number)).cloned().unwrap_or_default();
                        join(self.vars.entry(place.var).or_default(), &targets);
                    }
                }
            }
            _ => {}
        }
    }

    /// Puts channels of one shape together that some expression cannot tell apart.
    fn make_classes(&mut self, model: &Model, extra: &[&Expr], max_processes: u32) {
        let all: Vec<Channel> = self
            .sites
            .iter_enumerated()
            .flat_map(|(site, data)| (0..data.count).map(move |index| (site, index)))
            .collect();
        let mut leader: BTreeMap<Channel, Channel> = all.iter().map(|&channel| (channel, channel)).collect();
        let mut uses: Vec<Targets> = Vec::new();
        // All elements of a local declaration are found by one expression over the number of the process.
        for (site, data) in self.sites.iter_enumerated().filter(|(_, data)| data.owner.is_some()) {
            let channels = (0..data.count).map(|index| (site, index)).collect();
            uses.push(Targets { channels, nullable: false });
        }
        let mut note = |expr: &Expr| {
            walk(expr, &mut |inner| match &inner.kind {
                ExprKind::Query(_, channel) => uses.push(self.targets(model, channel)),
                ExprKind::Poll { channel, .. } => uses.push(self.targets(model, channel)),
                _ => {}
            });
        };
        extra.iter().for_each(|expr| note(expr));
        for proc in model.procs.iter() {
            proc.provided.iter().for_each(&mut note);
            walk_statements(&proc.body, &mut |statement| {
                expressions(&statement.kind, &mut |expr| note(expr))
            });
        }
        for proc in model.procs.iter() {
            walk_statements(&proc.body, &mut |statement| {
                if let StmtKind::Send { channel, .. } | StmtKind::Receive { channel, .. } = &statement.kind {
                    uses.push(self.targets(model, channel));
                }
            });
        }
        for targets in &uses {
            let mut first: Vec<Channel> = Vec::new();
            for &channel in &targets.channels {
                let shape = |channel: Channel| &self.sites[channel.0].ty;
                match first.iter().find(|&&other| shape(other) == shape(channel)) {
                    None => first.push(channel),
                    Some(&other) => {
                        let (a, b) = (find(&leader, other), find(&leader, channel));
                        leader.insert(a.max(b), a.min(b));
                    }
                }
            }
        }
        let mut classes: BTreeMap<Channel, Class> = BTreeMap::new();
        for &channel in &all {
            let data = &self.sites[channel.0];
            let class = *classes.entry(find(&leader, channel)).or_insert_with(|| {
                self.classes.push(ClassData {
                    ty: data.ty.clone(),
                    base: 0,
                    size: 0,
                    len: None,
                    fields: Vec::new(),
                    is_local: false,
                })
            });
            let class_data = &mut self.classes[class];
            let instances = match (data.owner, channel.1) {
                (None, _) => 1,
                // The elements of one process stand side by side.
                (Some(_), 0) => max_processes * data.count,
                (Some(_), _) => 0,
            };
            let position = match data.owner {
                None => class_data.size,
                Some(_) if channel.1 == 0 => class_data.size,
                Some(_) => self.home[&(channel.0, 0)].1 + channel.1,
            };
            class_data.size += instances;
            class_data.is_local |= data.owner.is_some();
            self.home.insert(channel, (class, position));
        }
        let mut next = 1;
        for class in self.classes.iter_mut() {
            class.base = next;
            next += i64::from(class.size);
        }
        self.last = next - 1;
    }

    fn make_places(&mut self, model: &Model, net: &mut Net) {
        let id_type = self.id_type();
        for class in self.classes.indices() {
            let members = self.home.iter().filter(|(_, (found, _))| *found == class);
            let first = members.map(|(channel, _)| *channel).next();
            let Some((site, element)) = first else { continue };
            let var = &model.vars[self.sites[site].var];
            let name = if self.sites[site].count > 1 && self.classes[class].size == 1 {
                format!("{}[{element}]", var.name)
            } else {
                var.name.clone()
            };
            let data = &mut self.classes[class];
            let capacity = data.ty.capacity;
            if capacity == 0 {
                continue;
            }
            let len = CellData {
                scope: CellScope::Global,
                length: (data.size > 1).then_some(data.size),
                value: IntType { bits: bits_for(i64::from(capacity)), signed: false },
                default: 0,
                listed: Vec::new(),
            };
            data.len = Some(net.add_cells(&format!("len({name})"), len));
            for (number, ty) in data.ty.fields.clone().into_iter().enumerate() {
                let cells = CellData {
                    scope: CellScope::Global,
                    length: Some(data.size * capacity),
                    value: field_type(ty, id_type),
                    default: 0,
                    listed: Vec::new(),
                };
                let place = net.add_cells(&format!("{name}.{}", number + 1), cells);
                data.fields.push(place);
            }
        }
    }

    /// The type of numbers of channels.
    pub(crate) fn id_type(&self) -> IntType {
        IntType { bits: bits_for(self.last).max(8), signed: false }
    }
}

fn join(into: &mut Targets, other: &Targets) {
    into.channels.extend(&other.channels);
    into.nullable |= other.nullable;
}

fn find(leader: &BTreeMap<Channel, Channel>, channel: Channel) -> Channel {
    let mut at = channel;
    while leader[&at] != at {
        at = leader[&at];
    }
    at
}

/// How many bits hold this value.
pub(crate) fn bits_for(value: i64) -> u8 {
    u8::try_from(64 - value.max(1).leading_zeros()).unwrap_or(64)
}

/// The position in an array, where all indices are constants inside of it.
pub(crate) fn constant_index(dims: &[u32], indices: &[Expr]) -> Option<u32> {
    let mut position = 0_u32;
    for (&dim, index) in dims.iter().zip(indices) {
        let ExprKind::Const(value) = index.kind else { return None };
        let value = u32::try_from(value).ok().filter(|&value| value < dim)?;
        position = position.checked_mul(dim)?.checked_add(value)?;
    }
    Some(position)
}

/// The type of a field of a message.
pub(crate) fn field_type(ty: Type, id_type: IntType) -> IntType {
    match ty {
        Type::Bit | Type::Bool => IntType { bits: 1, signed: false },
        Type::Byte | Type::Pid | Type::Mtype(_) => IntType::U8,
        Type::Short => IntType { bits: 16, signed: true },
        Type::Int => IntType::I32,
        Type::Unsigned(bits) => IntType { bits, signed: false },
        Type::Chan => id_type,
    }
}

/// The type of a variable. Elements of arrays of bits are bytes in SPIN.
pub(crate) fn cell_type(ty: Type, is_array: bool, id_type: IntType) -> IntType {
    match ty {
        Type::Bit | Type::Bool if is_array => IntType::U8,
        other => field_type(other, id_type),
    }
}
