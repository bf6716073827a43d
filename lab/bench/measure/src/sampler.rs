//! The loop: contenders in turn, a short sample each, many rounds.

use crate::{Case, Measured, Measurement};
use std::{
    fmt,
    hint::black_box,
    ops::RangeInclusive,
    time::{Duration, Instant},
};

/// One of those that do the work.
///
/// What is called for each sample is a whole loop, not one iteration: the call through a pointer, 1 or 2 ns, would otherwise be a tenth
/// of a short message.
pub struct Contender<'a> {
    name: String,
    /// Does so many iterations at that place, and says how long they took.
    work: Box<dyn FnMut(usize, u64) -> Duration + 'a>,
}

impl<'a> Contender<'a> {
    /// `work` is done once an iteration. Its result is used, as far as the compiler can tell.
    pub fn new<T>(name: impl Into<String>, mut work: impl FnMut() -> T + 'a) -> Self {
        Self::looped(name, move |iterations| {
            for _ in 0..iterations {
                black_box(work());
            }
        })
    }

    /// `work` does so many iterations itself, where something has to be made ready before the first.
    pub fn looped(name: impl Into<String>, mut work: impl FnMut(u64) + 'a) -> Self {
        Self::placed(name, move |_, iterations| {
            let start = Instant::now();
            work(iterations);
            start.elapsed()
        })
    }

    /// `work` does so many iterations at the place of that number, where key, stack and buffers lie otherwise than at all other places, and says
    /// itself how long they took. [`Sampler::run_over`] says how many places there are.
    pub fn placed(name: impl Into<String>, work: impl FnMut(usize, u64) -> Duration + 'a) -> Self {
        Self { name: name.into(), work: Box::new(work) }
    }

    /// Its name: the column of the table.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How long so many iterations take at that place.
    pub(crate) fn take(&mut self, place: usize, iterations: u64) -> Duration {
        (self.work)(place, iterations)
    }

    /// Nanoseconds of so many iterations at that place, each.
    fn sample(&mut self, place: usize, iterations: u64) -> f64 {
        self.take(place, iterations).as_nanos() as f64 / iterations as f64
    }
}

impl fmt::Debug for Contender<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Contender").field(&self.name).finish()
    }
}

/// How to measure.
#[derive(Clone, Debug)]
pub struct Sampler {
    /// A sample takes about so long. Short enough that few are interrupted (a timer tick comes every 1 to 4 ms), long enough that the
    /// 30 ns of asking for the time do not count. One iteration that takes longer is a sample of its own.
    pub sample: Duration,
    /// At least (and at least one) and at most so many rounds: in each, every contender gives one sample.
    pub rounds: RangeInclusive<usize>,
    /// After this time no further round is begun, once there are enough.
    pub budget: Duration,
}

impl Default for Sampler {
    /// 20 us a sample, 20 to 200 rounds, half a second for one case.
    fn default() -> Self {
        Self { sample: Duration::from_micros(20), rounds: 20..=200, budget: Duration::from_millis(500) }
    }
}

impl Sampler {
    /// Measures one case. `progress` is told after every round which part of it is done, from 0 to 1; never within a sample.
    ///
    /// Each round has an order of its own, so that none always follows the same one: whoever came after another process, which leaves the
    /// caches full of its own, was 4 to 7 % slower at 1 MiB. And each sample begins with an eighth of its iterations, at least one, that
    /// do not count, in which caches and branch predictors find their way back.
    pub fn run(&self, case: Case, contenders: &mut [Contender<'_>], progress: &mut dyn FnMut(f64)) -> Measured {
        self.run_over(1, case, contenders, progress)
    }

    /// Measures one case at so many places, one place a round, all contenders at the same one: where key, stack and buffers lie decides which loads
    /// the processor takes for bytes that were just stored, so one place proves nothing. [`Measurement::by_place`] tells them apart.
    pub fn run_over(&self, places: usize, case: Case, contenders: &mut [Contender<'_>], progress: &mut dyn FnMut(f64)) -> Measured {
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
            let spent = start.elapsed().as_secs_f64() / self.budget.as_secs_f64();
            progress((rounds as f64 / least as f64).min(spent.max(rounds as f64 / most as f64)).min(1.0));
        }
        progress(1.0);
        let named = contenders.iter().zip(iterations).zip(samples);
        let contenders = named.map(|((contender, iterations), samples)| Measurement::new(contender.name(), iterations, samples)).collect();
        Measured { case, contenders }
    }

    /// How many iterations a sample has: doubled until they take long enough to be told from the clock's own time.
    fn calibrate(&self, contender: &mut Contender<'_>) -> u64 {
        let wanted = self.sample.as_nanos().max(1) as f64;
        let mut iterations = 1;
        loop {
            // The best of three, for one may have been interrupted.
            let each = (0..3).map(|_| contender.sample(0, iterations)).fold(f64::INFINITY, f64::min);
            if each * iterations as f64 >= wanted / 4.0 || iterations > u64::MAX / 4 {
                return ((wanted / each) as u64).max(1);
            }
            iterations *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    /// Every contender gives as many samples as there are rounds, each follows each of the others, and the hook sees the end.
    #[test]
    fn in_turn() {
        let sampler = Sampler { sample: Duration::from_micros(2), rounds: 7..=7, budget: Duration::ZERO };
        let order = RefCell::new(String::new());
        let mut contenders: Vec<_> = ["a", "b", "c"]
            .map(|name| {
                let order = &order;
                Contender::looped(name, move |iterations| {
                    // 1 us an iteration: that much work has two in a sample.
                    let start = Instant::now();
                    while start.elapsed() < Duration::from_micros(iterations) {}
                    order.borrow_mut().push_str(name);
                })
            })
            .into();
        let last = Cell::new(0.0);
        let measured = sampler.run(Case::new("group", "in turn"), &mut contenders, &mut |part| {
            assert!(part >= last.get());
            last.set(part);
        });
        assert_eq!(last.get(), 1.0);
        assert!(measured.contenders.iter().all(|contender| contender.samples_ns.len() == 7 && contender.best_ns >= 1000.0));
        drop(contenders);
        // Two calls a sample, the first of which does not count; each round has all.
        let order = order.into_inner();
        let rounds = &order[order.len() - 7 * 6..];
        for round in rounds.as_bytes().chunks(6) {
            assert!(round.chunks(2).all(|calls| calls[0] == calls[1]) && b"abc".iter().all(|name| round.contains(name)), "{rounds}");
        }
        assert!(["ab", "ac", "ba", "bc", "ca", "cb"].iter().all(|pair| rounds.contains(pair)), "{rounds}");
    }
}
