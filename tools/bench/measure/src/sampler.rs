//! The sampling loop: takes a short sample of each contender in turn, for many rounds.

use crate::{Case, Measured, Measurement};
use std::{
    fmt,
    hint::black_box,
    ops::RangeInclusive,
    time::{Duration, Instant},
};

/// A contender: a named implementation of the measured work.
///
/// A sample calls a whole loop, not one iteration, because a call through a pointer takes 1 or 2 ns, a tenth of a short message.
pub struct Contender<'a> {
    name: String,
    /// Does this many iterations at this place, and returns their time.
    work: Box<dyn FnMut(usize, u64) -> Duration + 'a>,
}

impl<'a> Contender<'a> {
    /// Makes a contender that calls `work` once an iteration. The compiler must assume that the result is used.
    pub fn new<T>(name: impl Into<String>, mut work: impl FnMut() -> T + 'a) -> Self {
        Self::looped(name, move |iterations| {
            for _ in 0..iterations {
                black_box(work());
            }
        })
    }

    /// Makes a contender whose `work` does the iterations itself, after some preparation.
    pub fn looped(name: impl Into<String>, mut work: impl FnMut(u64) + 'a) -> Self {
        Self::placed(name, move |_, iterations| {
            let start = Instant::now();
            work(iterations);
            start.elapsed()
        })
    }

    /// Makes a contender whose `work` does the iterations at the place with this number, with another position of key, stack and buffers than
    /// at other places, and returns their time. [`Sampler::run_over`] is given the number of places.
    pub fn placed(name: impl Into<String>, work: impl FnMut(usize, u64) -> Duration + 'a) -> Self {
        Self { name: name.into(), work: Box::new(work) }
    }

    /// Returns its name, which is the table's column.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the time of this many iterations at this place.
    pub(crate) fn take(&mut self, place: usize, iterations: u64) -> Duration {
        (self.work)(place, iterations)
    }

    /// Returns the nanoseconds of one of this many iterations at this place.
    fn sample(&mut self, place: usize, iterations: u64) -> f64 {
        self.take(place, iterations).as_nanos() as f64 / iterations as f64
    }
}

impl fmt::Debug for Contender<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Contender").field(&self.name).finish()
    }
}

/// The parameters of a measurement.
#[derive(Clone, Debug)]
pub struct Sampler {
    /// The approximate time of a sample: short enough that few are interrupted (a timer tick comes every 1 to 4 ms), long enough that the
    /// 30 ns of reading the clock do not count. A slower iteration is a sample by itself.
    pub sample: Duration,
    /// The least and the largest number of rounds (at least one). In each round every contender takes one sample.
    pub rounds: RangeInclusive<usize>,
    /// The time after which no further round begins, once the least number is reached.
    pub budget: Duration,
}

impl Default for Sampler {
    /// Returns samples of 20 us, 20 to 200 rounds, and half a second for one case.
    fn default() -> Self {
        Self { sample: Duration::from_micros(20), rounds: 20..=200, budget: Duration::from_millis(500) }
    }
}

impl Sampler {
    /// Measures one case. Each round has a random order, so that no contender always follows the same one: after another process, which fills the caches with its
    /// own data, contenders were 4 to 7 % slower at 1 MiB. Each sample begins with an eighth of its iterations, at least one, that are not
    /// counted and warm the caches and branch predictors up.
    pub fn run(&self, case: Case, contenders: &mut [Contender<'_>]) -> Measured {
        self.run_over(1, case, contenders)
    }

    /// Measures one case at this many places, one place a round for all contenders: the position of key, stack and buffers decides which loads
    /// the processor mistakes for bytes just stored, so one place proves nothing. [`Measurement::by_place`] separates the places.
    pub fn run_over(&self, places: usize, case: Case, contenders: &mut [Contender<'_>]) -> Measured {
        let start = Instant::now();
        let iterations: Vec<u64> = contenders.iter_mut().map(|contender| self.calibrate(contender)).collect();
        let mut samples = vec![Vec::new(); contenders.len()];
        let (least, most) = ((*self.rounds.start()).max(1), *self.rounds.end());
        let mut rounds = 0;
        let (mut random, mut order) = (fastrand::Rng::with_seed(0), Vec::from_iter(0..contenders.len()));
        while rounds < least || rounds < most && start.elapsed() < self.budget {
            random.shuffle(&mut order);
            let place = rounds % places;
            for &at in &order {
                contenders[at].take(place, (iterations[at] / 8).max(1));
                samples[at].push(contenders[at].sample(place, iterations[at]));
            }
            rounds += 1;
        }
        let named = contenders.iter().zip(iterations).zip(samples);
        let contenders = named.map(|((contender, iterations), samples)| Measurement::new(contender.name(), iterations, samples)).collect();
        Measured { case, contenders }
    }

    /// Returns the iterations of a sample, doubled until they take much longer than reading the clock.
    fn calibrate(&self, contender: &mut Contender<'_>) -> u64 {
        let target = self.sample.as_nanos().max(1) as f64;
        let mut iterations = 1;
        loop {
            // The best of three, because one may be interrupted.
            let each = (0..3).map(|_| contender.sample(0, iterations)).fold(f64::INFINITY, f64::min);
            if each * iterations as f64 >= target / 4.0 || iterations > u64::MAX / 4 {
                return ((target / each) as u64).max(1);
            }
            iterations *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// Every contender takes a sample each round, and each follows each of the others.
    #[test]
    fn in_turn() {
        let sampler = Sampler { sample: Duration::from_micros(2), rounds: 7..=7, budget: Duration::ZERO };
        let order = RefCell::new(String::new());
        let mut contenders: Vec<_> = ["a", "b", "c"]
            .map(|name| {
                let order = &order;
                Contender::looped(name, move |iterations| {
                    // An iteration of 1 us, so a sample has two.
                    let start = Instant::now();
                    while start.elapsed() < Duration::from_micros(iterations) {}
                    order.borrow_mut().push_str(name);
                })
            })
            .into();
        let measured = sampler.run(Case::new("group", "in turn"), &mut contenders);
        assert!(measured.contenders.iter().all(|contender| contender.samples_ns.len() == 7 && contender.best_ns >= 1000.0));
        drop(contenders);
        // A sample makes two calls, of which the first is not counted; each round has all contenders.
        let order = order.into_inner();
        let rounds = &order[order.len() - 7 * 6..];
        for round in rounds.as_bytes().chunks(6) {
            assert!(round.chunks(2).all(|calls| calls[0] == calls[1]) && b"abc".iter().all(|name| round.contains(name)), "{rounds}");
        }
        assert!(["ab", "ac", "ba", "bc", "ca", "cb"].iter().all(|pair| rounds.contains(pair)), "{rounds}");
    }
}
