//! The list scheduler's queue: which nodes of a dependence graph a group may take, the most urgent first.
//!
//! Who fills groups asks for one node after the other and takes those that its rules admit (R700's `admit` before and
//! after registers are given); what a node that was taken lets issue in the same group joins the queue at once.

use super::depend::Graph;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Bound;

/// How urgent a node is, and its number: the smallest goes first.
pub type Key = (Reverse<u32>, u32);

/// What may be placed, group after group.
#[derive(Clone, Debug)]
pub struct Queue {
    /// By node: the greater goes first.
    urgency: Vec<u32>,
    ready: BTreeSet<Key>,
    /// Nodes whose dependences are met in a later group.
    later: Vec<u32>,
    waits: Vec<u32>,
    earliest: Vec<u32>,
    /// The group that is filled.
    pub now: u32,
}

impl Queue {
    /// What nothing comes before is ready. `urgency` is by node: [`Graph::height`], or what a search makes of it.
    pub fn of(graph: &Graph, urgency: Vec<u32>) -> Queue {
        let n = graph.len();
        let first = (0..n).filter(|&at| graph.waits_for[at] == 0);
        Queue {
            ready: first.map(|at| (Reverse(urgency[at]), at as u32)).collect(),
            later: Vec::new(),
            waits: graph.waits_for.clone(),
            earliest: vec![0; n],
            now: 0,
            urgency,
        }
    }

    /// What was waiting for this group is ready.
    pub fn wake(&mut self) {
        let Queue { urgency, ready, later, earliest, now, .. } = self;
        later.retain(|&at| {
            let due = earliest[at as usize] <= *now;
            if due {
                ready.insert((Reverse(urgency[at as usize]), at));
            }
            !due
        });
    }

    /// The most urgent node behind `from`.
    pub fn next(&self, from: Option<Key>) -> Option<Key> {
        let Some(key) = from else {
            return self.ready.first().copied();
        };
        let behind = (Bound::Excluded(key), Bound::Unbounded);
        self.ready.range(behind).next().copied()
    }

    /// Nothing may join this group.
    pub fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// A node was placed in this group. Returns the most urgent of those that may join it now.
    pub fn take(&mut self, graph: &Graph, key: Key) -> Option<Key> {
        self.ready.remove(&key);
        let mut joined: Option<Key> = None;
        for edge in graph.successors(key.1) {
            let index = edge.to as usize;
            self.earliest[index] = self.earliest[index].max(self.now + edge.latency);
            self.waits[index] -= 1;
            if self.waits[index] == 0 {
                if self.earliest[index] <= self.now {
                    let key = (Reverse(self.urgency[index]), edge.to);
                    joined = Some(joined.map_or(key, |other| other.min(key)));
                    self.ready.insert(key);
                } else {
                    self.later.push(edge.to);
                }
            }
        }
        joined
    }
}
