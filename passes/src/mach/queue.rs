//! The list scheduler's queue: which nodes of a dependence graph a group may take, the most urgent first.
//!
//! Who fills groups asks for one node after the other and takes those that its rules admit (R700's `admit` before and
//! after registers are given); what a node that was taken lets issue in the same group joins the queue at once.

use super::depend::Graph;
use std::cmp::Reverse;

/// How urgent a node is among all, and its number: the smallest goes first.
pub type Key = (u32, u32);

/// What may be placed, group after group.
#[derive(Clone, Debug)]
pub struct Queue {
    /// By node: its place in the order of urgency.
    rank: Vec<u32>,
    /// By that place: the node.
    node: Vec<u32>,
    /// A bit for each place whose node is ready.
    ready: Vec<u64>,
    /// Nodes whose dependences are met in a later group.
    later: Vec<u32>,
    waits: Vec<u32>,
    earliest: Vec<u32>,
    /// The group that is filled.
    pub now: u32,
}

impl Queue {
    /// What nothing comes before is ready. `urgency` is by node: [`Graph::height`], or what a search makes of it. The greater
    /// goes first, and of two alike the one that comes first.
    pub fn of(graph: &Graph, urgency: &[u32]) -> Queue {
        let n = graph.len();
        let mut node: Vec<u32> = (0..n as u32).collect();
        node.sort_unstable_by_key(|&at| (Reverse(urgency[at as usize]), at));
        let mut rank = vec![0; n];
        let mut ready = vec![0; n.div_ceil(64)];
        for (place, &at) in node.iter().enumerate() {
            rank[at as usize] = place as u32;
            ready[place / 64] |= u64::from(graph.waits_for[at as usize] == 0) << (place % 64);
        }
        let waits = graph.waits_for.clone();
        Queue { rank, node, ready, later: Vec::new(), waits, earliest: vec![0; n], now: 0 }
    }

    /// What was waiting for this group is ready.
    pub fn wake(&mut self) {
        let Queue { rank, ready, later, earliest, now, .. } = self;
        later.retain(|&at| {
            let due = earliest[at as usize] <= *now;
            if due {
                let rank = rank[at as usize];
                ready[rank as usize / 64] |= 1 << (rank % 64);
            }
            !due
        });
    }

    /// The most urgent node behind `from`.
    pub fn next(&self, from: Option<Key>) -> Option<Key> {
        let first = from.map_or(0, |key| key.0 as usize + 1);
        let mut word = first / 64;
        let mut bits = self.ready.get(word)? & u64::MAX << (first % 64);
        while bits == 0 {
            word += 1;
            bits = *self.ready.get(word)?;
        }
        let rank = 64 * word as u32 + bits.trailing_zeros();
        Some((rank, self.node[rank as usize]))
    }

    /// Nothing may join this group.
    pub fn is_empty(&self) -> bool {
        self.ready.iter().all(|&bits| bits == 0)
    }

    /// A node was placed in this group. Returns the most urgent of those that may join it now.
    pub fn take(&mut self, graph: &Graph, key: Key) -> Option<Key> {
        self.ready[key.0 as usize / 64] &= !(1 << (key.0 % 64));
        let mut joined: Option<Key> = None;
        for edge in graph.successors(key.1) {
            let index = edge.to as usize;
            self.earliest[index] = self.earliest[index].max(self.now + edge.latency);
            self.waits[index] -= 1;
            if self.waits[index] == 0 {
                if self.earliest[index] <= self.now {
                    let key = (self.rank[index], edge.to);
                    joined = Some(joined.map_or(key, |other| other.min(key)));
                    self.ready[key.0 as usize / 64] |= 1 << (key.0 % 64);
                } else {
                    self.later.push(edge.to);
                }
            }
        }
        joined
    }
}
