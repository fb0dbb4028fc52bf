//! A choice of hunks: numbers and ranges, as in `1-3,5`.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::str::FromStr;

use text::show::one_line;
use workbench::UnknownHunk;

/// Hunks as they were typed. They are compared with those of a proposal in [`HunkList::numbers`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HunkList(Vec<RangeInclusive<usize>>);

/// Why a text is no choice of hunks.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadHunkList {
    #[error("“{0}” is not the number of a hunk; write numbers and ranges, as in 1-3,5")]
    NoNumber(String),
    #[error("hunks are counted from 1")]
    Zero,
    #[error("the range {0}-{1} runs backwards; write {1}-{0}")]
    Backwards(usize, usize),
}

impl FromStr for HunkList {
    type Err = BadHunkList;

    fn from_str(text: &str) -> Result<HunkList, BadHunkList> {
        let parts = text.split(',').map(str::trim);
        let ranges = parts.map(|part| match part.split_once('-') {
            Some((first, last)) => range(number(first)?, number(last)?),
            None => number(part).map(|only| only..=only),
        });
        ranges.collect::<Result<_, _>>().map(HunkList)
    }
}

impl HunkList {
    /// The numbers in it, for a proposal that has `count` hunks.
    pub(crate) fn numbers(&self, count: usize) -> Result<BTreeSet<usize>, UnknownHunk> {
        // Checked before a range is written out: it can be as long as anybody likes to type.
        let ends = self
            .0
            .iter()
            .flat_map(|range| [*range.start(), *range.end()]);
        if let Some(number) = ends.into_iter().find(|number| *number > count) {
            return Err(UnknownHunk { number, count });
        }
        Ok(self.0.iter().cloned().flatten().collect())
    }
}

fn number(text: &str) -> Result<usize, BadHunkList> {
    match text.trim().parse() {
        Ok(0) => Err(BadHunkList::Zero),
        Ok(number) => Ok(number),
        // The argument parser prints it as it is.
        Err(_) => Err(BadHunkList::NoNumber(one_line(text))),
    }
}

fn range(first: usize, last: usize) -> Result<RangeInclusive<usize>, BadHunkList> {
    if first > last {
        return Err(BadHunkList::Backwards(first, last));
    }
    Ok(first..=last)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a proposal with five hunks makes of it.
    fn of_five(text: &str) -> Result<Vec<usize>, String> {
        let list: HunkList = text
            .parse()
            .map_err(|error: BadHunkList| error.to_string())?;
        let numbers = list.numbers(5).map_err(|error| error.to_string())?;
        Ok(numbers.into_iter().collect())
    }

    #[test]
    fn numbers_and_ranges() {
        for (text, numbers) in [
            ("1", vec![1]),
            ("3,1", vec![1, 3]),
            ("1-3,5", vec![1, 2, 3, 5]),
            ("2-2, 2", vec![2]),
            ("1 - 5", vec![1, 2, 3, 4, 5]),
        ] {
            assert_eq!(of_five(text), Ok(numbers), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_says_what_is_right() {
        for (text, message) in [
            (
                "",
                "“” is not the number of a hunk; write numbers and ranges, as in 1-3,5",
            ),
            (
                "a",
                "“a” is not the number of a hunk; write numbers and ranges, as in 1-3,5",
            ),
            (
                "1,,2",
                "“” is not the number of a hunk; write numbers and ranges, as in 1-3,5",
            ),
            (
                "1-",
                "“” is not the number of a hunk; write numbers and ranges, as in 1-3,5",
            ),
            (
                "1-2-3",
                "“2-3” is not the number of a hunk; write numbers and ranges, as in 1-3,5",
            ),
            ("0", "hunks are counted from 1"),
            ("0-2", "hunks are counted from 1"),
            ("3-1", "the range 3-1 runs backwards; write 1-3"),
            ("6", "there is no hunk 6; choose from 1 to 5"),
            (
                "1-18446744073709551615",
                "there is no hunk 18446744073709551615; choose from 1 to 5",
            ),
        ] {
            assert_eq!(of_five(text), Err(message.into()), "{text}");
        }
    }
}
