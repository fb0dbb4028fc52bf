//! What is accepted is what was shown. Keeping all hunks gives the agent's text byte for byte, keeping
//! none gives the original (in the agent's form), keeping some gives exactly the lines that the hunks
//! say, and the unified diff that a command shows leads from the one text to the other. A decision
//! that passes carries the text that was decided on, and no other.

use std::collections::BTreeSet;

use workbench::{
    Agent, Decision, Hunk, Original, ProposalRequest, Proposals, Review, SessionId, Standing,
    Texts, Verdict, VerdictCapabilities,
};

use crate::input::{parts, texts};
use crate::lines::without_mark;

/// Takes the original, the proposed text, and which hunks are kept (a bit for each).
pub fn check(data: &[u8]) {
    let mut texts = texts(data);
    let (original, proposed) = (texts.next().unwrap(), texts.next().unwrap());
    let bits = parts(data).nth(2).unwrap();
    let review = Review::of(&original, &proposed);
    let count = review.hunks().len();
    check_hunks(review.hunks());
    assert_eq!(
        Review::of(&original, &proposed),
        review,
        "hunks have fixed numbers"
    );
    assert_eq!(Review::of(&original, &original).hunks(), []);

    let all: BTreeSet<usize> = (1..=count).collect();
    let merge = |keep: &BTreeSet<usize>| review.merge(&original, &proposed, keep).unwrap();
    assert_eq!(merge(&all), proposed);
    let none = merge(&BTreeSet::new());
    let expected = by_hand(&original, &proposed, review.hunks(), &BTreeSet::new());
    assert_eq!(none, expected);
    let bom = |text: &str| text.starts_with('\u{feff}');
    if bom(&original) == bom(&proposed) && !is_normalised(&original, &proposed) {
        assert_eq!(none, original);
    }
    let is_kept = |number: usize| {
        let byte = bits.get((number - 1) / 8).copied().unwrap_or_default();
        byte >> ((number - 1) % 8) & 1 == 1
    };
    let some: BTreeSet<usize> = all
        .iter()
        .copied()
        .filter(|number| is_kept(*number))
        .collect();
    let merged = merge(&some);
    let expected = by_hand(&original, &proposed, review.hunks(), &some);
    assert_eq!(merged, expected, "keeping {some:?}");
    assert!(
        review
            .merge(&original, &proposed, &[count + 1].into())
            .is_err()
    );
    assert!(review.merge(&original, &proposed, &[0].into()).is_err());

    check_unified(&review, &original, &proposed);
    check_decisions(&original, &proposed, &some, &merged);
}

/// Hunks are numbered from one, in order, and there is at least one equal line between two of them.
fn check_hunks(hunks: &[Hunk]) {
    let (mut before, mut after) = (None, None);
    for (hunk, number) in hunks.iter().zip(1..) {
        assert_eq!(hunk.number, number);
        assert!(!hunk.before.is_empty() || !hunk.after.is_empty());
        assert!(before.is_none_or(|end| end < hunk.before.start));
        assert!(after.is_none_or(|end| end < hunk.after.start));
        (before, after) = (Some(hunk.before.end), Some(hunk.after.end));
    }
}

/// The text that the line numbers of the hunks say, put together without the product's help: in the
/// form of the proposal, which has its own byte order mark or none, and `\n` where only it does.
fn by_hand(original: &str, proposed: &str, hunks: &[Hunk], keep: &BTreeSet<usize>) -> String {
    let has_form = !original.is_empty() && !proposed.is_empty();
    let plain = |text| if has_form { without_mark(text) } else { text };
    let normalised = if is_normalised(original, proposed) {
        original.replace("\r\n", "\n")
    } else {
        original.to_owned()
    };
    let old: Vec<&str> = plain(&normalised).split_inclusive('\n').collect();
    let new: Vec<&str> = plain(proposed).split_inclusive('\n').collect();
    let mut text = proposed[..proposed.len() - plain(proposed).len()].to_owned();
    let mut next = 0;
    for hunk in hunks {
        text.extend(new[next..hunk.after.start].iter().copied());
        if keep.contains(&hunk.number) {
            text.extend(new[hunk.after.clone()].iter().copied());
        } else {
            text.extend(old[hunk.before.clone()].iter().copied());
        }
        next = hunk.after.end;
    }
    text.extend(new[next..].iter().copied());
    text
}

/// Whether the agent has brought all `\r\n` of the original into its normal form.
fn is_normalised(original: &str, proposed: &str) -> bool {
    endings(original) == (false, true) && endings(proposed) == (true, false)
}

/// Whether a text has lines that end with `\n` alone, and lines that end with `\r\n`.
fn endings(text: &str) -> (bool, bool) {
    let with = text.matches("\r\n").count();
    (text.matches('\n').count() > with, with > 0)
}

/// The diff has a heading for each hunk, and its lines are those of the hunk.
fn check_unified(review: &Review, original: &str, proposed: &str) {
    let diff = review.unified("/w/a\nb", Some(original), proposed);
    let (mut numbers, mut added, mut removed) = (0, 0, 0);
    let lines = diff.split_inclusive('\n');
    for line in lines.skip_while(|line| !line.starts_with("@@ ")) {
        match line.as_bytes().first() {
            Some(b'@') => numbers += 1,
            Some(b'+') => added += 1,
            Some(b'-') => removed += 1,
            Some(b' ' | b'\\') => {}
            other => panic!("a line of a diff begins with {other:?}: {line:?}"),
        }
    }
    assert_eq!(numbers, review.hunks().len(), "{diff}");
    assert_eq!(
        (added, removed),
        (review.added(), review.removed()),
        "{diff}"
    );
}

/// Every way to decide sends the text that was shown, or is refused.
fn check_decisions(original: &str, proposed: &str, keep: &BTreeSet<usize>, merged: &str) {
    for takes_edited_text in [true, false] {
        let decide = |draft: Option<&str>, decision: Decision| {
            let mut proposals = Proposals::new(1);
            let request = ProposalRequest {
                session: SessionId::new("s"),
                agent: Agent::Qwen,
                path: "/w/a".into(),
                texts: Texts::new(Original::Text(original.into()), proposed.into()),
                standing: Standing::Open,
                capabilities: VerdictCapabilities {
                    takes_empty_text: takes_edited_text,
                    takes_edited_text,
                },
            };
            let id = proposals.propose(request, 0).id;
            if let Some(draft) = draft {
                proposals.set_draft(id, 1, draft.to_owned()).unwrap();
            }
            let decided = proposals.decide(id, decision, Some(1)).ok()?;
            match decided.verdict {
                Verdict::Accepted { text, edited } => {
                    assert_eq!(edited, text != proposed);
                    Some(text)
                }
                Verdict::Rejected => panic!("accepted, but the verdict says rejected"),
            }
        };
        let is_taken = |text: &str| takes_edited_text || text == proposed;
        let shown = |text: &str| is_taken(text).then(|| text.to_owned());
        assert_eq!(decide(None, Decision::Accept).as_deref(), Some(proposed));
        if takes_edited_text {
            assert_eq!(decide(Some(merged), Decision::Accept), shown(merged));
        }
        let hunks = Decision::AcceptHunks(keep.clone());
        let draft = takes_edited_text.then_some("a draft");
        assert_eq!(decide(draft, hunks), shown(merged));
        let text = Decision::AcceptText(merged.to_owned());
        assert_eq!(decide(None, text), shown(merged));
    }
}
