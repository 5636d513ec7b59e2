//! Makes room when nothing is free: whoever costs least per point of life is spilled.

use super::{Colorer, Eviction, cells_of};
use crate::work::NONE;
use smallvec::SmallVec;

impl Colorer<'_> {
    /// Who would have to leave for a class to take a cell, and what that costs.
    fn price(&mut self, class: u32, cell: u16, out: &mut SmallVec<[u32; 8]>, bound: u64) -> u64 {
        let classes = self.classes;
        let data = &classes.class[class as usize];
        let file = data.shape.file.0 as usize;
        let mut total = 0u64;
        for cell in cells_of(cell, data.shape) {
            for list in 0..2 {
                for segment in &data.segments {
                    let stays = &self.colors.files[file].tracks[cell].stays[list];
                    let from = stays.partition_point(|stay| stay.end <= segment.start);
                    self.colors.steps += 1;
                    for stay in stays[from..].iter().take_while(|stay| stay.start < segment.end) {
                        if out.contains(&stay.class) {
                            continue;
                        }
                        total = total.saturating_add(self.density(stay.class));
                        if total >= bound || out.len() >= 64 {
                            return u64::MAX;
                        }
                        out.push(stay.class);
                    }
                }
            }
            let track = &self.colors.files[file].tracks[cell];
            let woken: SmallVec<[u32; 8]> = track.wakes(data).collect();
            for other in woken {
                if out.contains(&other) {
                    continue;
                }
                total = total.saturating_add(self.density(other));
                if total >= bound || out.len() >= 64 {
                    return u64::MAX;
                }
                out.push(other);
            }
        }
        total
    }

    fn evict(&mut self, class: u32) {
        let data = &self.classes.class[class as usize];
        let file = &mut self.colors.files[data.shape.file.0 as usize];
        let cell = self.colors.cell[class as usize] as u16;
        for cell in cells_of(cell, data.shape) {
            for list in &mut file.tracks[cell].stays {
                self.colors.steps += list.len() as u64 / 8;
                list.retain(|stay| stay.class != class);
            }
            let track = &mut file.tracks[cell];
            for list in [&mut track.dormant, &mut track.whole] {
                list.retain(|stay| stay.class != class);
            }
            file.tracks[cell].cursor = [0; 2];
            file.busy[cell as usize] = 0;
            file.next_stay[cell as usize] = 0;
        }
        self.colors.cell[class as usize] = NONE;
        self.spill(class);
    }

    pub(super) fn spill(&mut self, class: u32) {
        if !self.is_spilled[class as usize] {
            self.is_spilled[class as usize] = true;
            self.colors.spilled.push(class);
        }
    }

    /// Nothing is free for a single class: the cheapest leaves, be it the class itself.
    pub(super) fn evict_for(&mut self, class: u32) {
        let data = &self.classes.class[class as usize];
        if self.searches == 0 && !data.tiny {
            self.spill(class);
            return;
        }
        self.searches = self.searches.saturating_sub(1);
        let file = data.shape.file.0 as usize;
        let (row, limit) = (self.colors.files[file].row, self.colors.files[file].limit);
        let extent = data.shape.extent();
        let mut best = self.density(class);
        let mut choice: Option<(u16, SmallVec<[u32; 8]>)> = None;
        for cell in 0..row * limit {
            if data.phases >> (cell % row) & 1 == 0
                || u32::from(cell) + extent > u32::from(row * limit)
            {
                continue;
            }
            let mut leavers = SmallVec::new();
            let price = self.price(class, cell, &mut leavers, best);
            if price < best {
                best = price;
                choice = Some((cell, leavers));
            }
        }
        match choice {
            Some((cell, leavers)) => {
                for leaver in leavers {
                    self.evict(leaver);
                }
                self.place(class, cell);
            }
            None if data.tiny => self.stuck(class),
            None => self.spill(class),
        }
    }

    fn stuck(&mut self, class: u32) {
        if self.colors.stuck.is_none() {
            self.colors.stuck = Some(class);
        }
    }

    /// No row takes a unit: the cheapest leave one, or the unit's own classes go.
    pub(super) fn evict_for_row(
        &mut self,
        members: &[u32],
        file: usize,
        rows: std::ops::Range<u16>,
    ) {
        let classes = self.classes;
        if self.searches == 0 && members.iter().any(|&member| !classes.class[member as usize].tiny)
        {
            self.give_up(members);
            return;
        }
        self.searches = self.searches.saturating_sub(1);
        let row_length = self.colors.files[file].row;
        let whole = u32::from(self.colors.files[file].limit * row_length);
        let own = members.iter().map(|&member| self.density(member)).min().unwrap_or(u64::MAX);
        let mut best = u64::MAX;
        let mut choice: Option<Eviction> = None;
        for row in rows {
            // Each member in turn takes its cheapest position that is left.
            let mut taken = 0u16;
            let mut total = 0u64;
            let mut places: Eviction = SmallVec::new();
            let mut order: SmallVec<[u32; 8]> = members.into();
            order.sort_by_key(|&member| classes.class[member as usize].phases.count_ones());
            for &member in &order {
                let data = &classes.class[member as usize];
                if data.pin.is_some() {
                    taken |= data.phases;
                    continue;
                }
                let extent = data.shape.extent();
                let mut cheapest: Option<(u64, u16, SmallVec<[u32; 8]>)> = None;
                for phase in 0..row_length {
                    let cell = row * row_length + phase;
                    if data.phases & !taken & 1 << phase == 0 || u32::from(cell) + extent > whole {
                        continue;
                    }
                    let mut leavers = SmallVec::new();
                    let bound = cheapest.as_ref().map_or(u64::MAX, |found| found.0);
                    let price = self.price(member, cell, &mut leavers, bound);
                    if price < bound {
                        cheapest = Some((price, cell, leavers));
                    }
                }
                let Some((price, cell, leavers)) = cheapest else {
                    total = u64::MAX;
                    break;
                };
                total = total.saturating_add(price);
                taken |= 1 << (cell % row_length);
                places.push((member, cell, leavers));
            }
            if total < best {
                best = total;
                choice = Some(places);
            }
        }
        match choice {
            Some(places) if best <= own => {
                for (member, cell, leavers) in places {
                    for leaver in leavers {
                        if !self.is_spilled[leaver as usize] {
                            self.evict(leaver);
                        }
                    }
                    self.place(member, cell);
                }
            }
            _ => self.give_up(members),
        }
    }

    pub(super) fn evict_for_run(&mut self, members: &[(u32, u16)], file: usize, pin: Option<u16>) {
        let classes = self.classes;
        let (row, limit) = (self.colors.files[file].row, self.colors.files[file].limit);
        let own = members.iter().map(|&(member, _)| self.density(member)).min().unwrap_or(u64::MAX);
        let mut best = u64::MAX;
        let mut choice: Option<(u16, SmallVec<[u32; 8]>)> = None;
        for base in 0..row * limit {
            if pin.is_some_and(|pin| pin != base) {
                continue;
            }
            let fits = members.iter().all(|&(member, offset)| {
                let data = &classes.class[member as usize];
                data.pin.is_some() || self.colors.files[file].takes(data, base + offset)
            });
            if !fits {
                continue;
            }
            let mut leavers = SmallVec::new();
            let mut total = 0u64;
            for &(member, offset) in members {
                if classes.class[member as usize].pin.is_none() {
                    total = total.saturating_add(self.price(
                        member,
                        base + offset,
                        &mut leavers,
                        u64::MAX,
                    ));
                }
            }
            if total < best {
                best = total;
                choice = Some((base, leavers));
            }
        }
        match choice {
            Some((base, leavers)) if best <= own => {
                for leaver in leavers {
                    self.evict(leaver);
                }
                for &(member, offset) in members {
                    if classes.class[member as usize].pin.is_none() {
                        self.place(member, base + offset);
                    }
                }
            }
            _ => {
                let members: SmallVec<[u32; 8]> = members.iter().map(|member| member.0).collect();
                self.give_up(&members);
            }
        }
    }

    /// A unit finds no place at any price: its own classes are spilled, if one can be.
    fn give_up(&mut self, members: &[u32]) {
        let mut any = false;
        for &member in members {
            if !self.classes.class[member as usize].tiny {
                any = true;
                self.spill(member);
            }
        }
        if !any {
            self.stuck(members[0]);
        }
    }
}
