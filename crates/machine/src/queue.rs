// SPDX-License-Identifier: GPL-2.0-or-later
//! What happens next.

/// When the next thing happens to each of a fixed number of actors.
///
/// An actor (a CPU, a request to a device, a source of arrivals) waits for one moment at a time, so
/// the queue has one place for each and moving or cancelling a moment leaves nothing behind: its
/// memory does not grow with simulated time, as that of a heap with outdated entries would.
///
/// Moments of one time come in the order in which they were scheduled.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    /// A binary heap of actors by their moments.
    heap: Vec<u32>,
    moments: Vec<Moment>,
    /// Where in the heap an actor is; [`ABSENT`] if it waits for nothing.
    places: Vec<u32>,
    scheduled: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Moment {
    time: i64,
    order: u64,
}

const ABSENT: u32 = u32::MAX;

impl Queue {
    /// A queue in which no actor waits for anything.
    pub(crate) fn new(actors: usize) -> Self {
        Self {
            heap: Vec::with_capacity(actors),
            moments: vec![Moment::default(); actors],
            places: vec![ABSENT; actors],
            scheduled: 0,
        }
    }

    /// Sets the moment of an actor, whether it had one or not.
    #[inline]
    pub(crate) fn schedule(&mut self, actor: usize, time: i64) {
        self.scheduled += 1;
        let moment = Moment { time, order: self.scheduled };
        let place = self.places[actor];
        if place == ABSENT {
            self.moments[actor] = moment;
            self.heap.push(actor as u32);
            self.rise(self.heap.len() - 1);
        } else if moment < std::mem::replace(&mut self.moments[actor], moment) {
            self.rise(place as usize);
        } else {
            self.sink(place as usize);
        }
    }

    /// Lets an actor wait for nothing.
    #[inline]
    pub(crate) fn cancel(&mut self, actor: usize) {
        let place = self.places[actor];
        if place != ABSENT {
            self.remove(place as usize);
        }
    }

    /// When an actor's moment is.
    #[cfg(test)]
    fn moment(&self, actor: usize) -> Option<i64> {
        (self.places[actor] != ABSENT).then(|| self.moments[actor].time)
    }

    /// Takes the next moment out, if it is not after `end`.
    #[inline]
    pub(crate) fn pop(&mut self, end: i64) -> Option<(i64, usize)> {
        let actor = *self.heap.first()? as usize;
        let time = self.moments[actor].time;
        if time > end {
            return None;
        }
        self.remove(0);
        Some((time, actor))
    }

    fn remove(&mut self, place: usize) {
        self.places[self.heap[place] as usize] = ABSENT;
        let Some(last) = self.heap.pop() else { return };
        if place < self.heap.len() {
            self.heap[place] = last;
            self.places[last as usize] = place as u32;
            self.rise(place);
            self.sink(self.places[last as usize] as usize);
        }
    }

    #[inline]
    fn rise(&mut self, mut place: usize) {
        let actor = self.heap[place];
        let moment = self.moments[actor as usize];
        while place > 0 {
            let parent = (place - 1) / 2;
            let above = self.heap[parent];
            if self.moments[above as usize] < moment {
                break;
            }
            self.heap[place] = above;
            self.places[above as usize] = place as u32;
            place = parent;
        }
        self.heap[place] = actor;
        self.places[actor as usize] = place as u32;
    }

    #[inline]
    fn sink(&mut self, mut place: usize) {
        let actor = self.heap[place];
        let moment = self.moments[actor as usize];
        loop {
            let mut child = 2 * place + 1;
            if child >= self.heap.len() {
                break;
            }
            let of = |place: usize| self.moments[self.heap[place] as usize];
            if child + 1 < self.heap.len() && of(child + 1) < of(child) {
                child += 1;
            }
            let below = self.heap[child];
            if moment < self.moments[below as usize] {
                break;
            }
            self.heap[place] = below;
            self.places[below as usize] = place as u32;
            place = child;
        }
        self.heap[place] = actor;
        self.places[actor as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a list that is searched from end to end.
        #[test]
        fn moments_come_by_time_and_then_by_order(
            steps in prop::collection::vec((0_usize..9, 0_i64..40, 0_u8..4), 1..300)
        ) {
            let mut queue = Queue::new(9);
            let mut list: Vec<(i64, usize, usize)> = Vec::new();
            for (order, (actor, time, what)) in steps.into_iter().enumerate() {
                match what {
                    0 | 1 => {
                        queue.schedule(actor, time);
                        list.retain(|entry| entry.2 != actor);
                        list.push((time, order, actor));
                    }
                    2 => {
                        queue.cancel(actor);
                        list.retain(|entry| entry.2 != actor);
                    }
                    _ => {
                        let first = list.iter().min().copied().filter(|first| first.0 <= time);
                        list.retain(|entry| Some(*entry) != first);
                        prop_assert_eq!(queue.pop(time), first.map(|(at, _, actor)| (at, actor)));
                    }
                }
                for actor in 0..9 {
                    let expected = list.iter().find(|entry| entry.2 == actor).map(|entry| entry.0);
                    prop_assert_eq!(queue.moment(actor), expected);
                }
            }
        }
    }
}
