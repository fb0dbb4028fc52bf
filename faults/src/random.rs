//! Random numbers that a seed repeats, on every machine and with every version of every library.

/// A generator (`SplitMix64`). Two with the same seed say the same.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// A generator that begins with this seed.
    pub(crate) fn new(seed: u64) -> Random {
        // Seeds are small numbers that follow each other; the first step spreads them.
        let mut this = Random(seed);
        this.next();
        this
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = end as u64;
        usize::try_from(self.next() % end).unwrap_or_default()
    }

    /// Whether something happens that happens `part` times in `whole`.
    pub(crate) fn chance(&mut self, part: usize, whole: usize) -> bool {
        self.below(whole) < part
    }

    /// One of these, each as likely as the number beside it says.
    pub(crate) fn weighted<T: Copy>(&mut self, choices: &[(usize, T)]) -> Option<T> {
        let whole = choices.iter().map(|(weight, _)| weight).sum::<usize>();
        if whole == 0 {
            return None;
        }
        let mut at = self.below(whole);
        for (weight, choice) in choices {
            if at < *weight {
                return Some(*choice);
            }
            at -= weight;
        }
        None
    }
}
