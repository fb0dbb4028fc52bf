//! Nothing that anybody wrote is lost when a file changes under a proposal. The text that is shown
//! then has every line that the person has put into the file and every line that the agent has
//! proposed; what nobody has changed twice is merged without a question; where both have changed the
//! same lines there are markers, every one of them counts, and nothing with markers is accepted. The
//! same holds for what the person has drafted.

use workbench::{
    Agent, Decision, Original, Proposal, ProposalId, ProposalRequest, Proposals, Refusal,
    SessionId, Standing, Texts, Verdict, VerdictCapabilities,
};

use crate::input::texts;
use crate::lines::{bare, counted, form_free, without_mark};

/// Takes the text that the agent has read, the one that is there now, the proposed one, and a draft.
pub fn check(data: &[u8]) {
    let mut texts = texts(data);
    let mut next = || texts.next().unwrap();
    let (base, present, proposed, draft) = (next(), next(), next(), next());

    let (proposals, id) = revised(&base, &present, &proposed, None);
    check_merge(proposals, id, &base, &present, &proposed);

    // Who is right does not depend on who is asked.
    let (unchanged, id) = revised(&base, &base, &proposed, None);
    assert_eq!(unchanged.get(id).unwrap().texts.proposed, proposed);
    let (only_ours, id) = revised(&base, &present, &base, None);
    let merged = &only_ours.get(id).unwrap().texts.proposed;
    if !proposed_anew(&base, &present) {
        assert_eq!(bare(merged), bare(&present));
    }
    let (both, id) = revised(&base, &proposed, &proposed, None);
    let merged = &both.get(id).unwrap().texts.proposed;
    assert_eq!(*merged, proposed);
    assert_eq!(both.get(id).unwrap().conflicts(), 0);

    let (proposals, id) = revised(&base, &present, &proposed, Some(&draft));
    check_draft(proposals, id, &base, &present, &draft);
}

/// Whether the file counts as the one that the agent has read: then its proposal stays as it is.
fn proposed_anew(base: &str, present: &str) -> bool {
    form_free(base) == form_free(present)
}

/// A proposal, the person's draft of it, and then another text in its file.
fn revised(
    base: &str,
    present: &str,
    proposed: &str,
    draft: Option<&str>,
) -> (Proposals, ProposalId) {
    let mut proposals = Proposals::new(1);
    let request = ProposalRequest {
        session: SessionId::new("s"),
        agent: Agent::Qwen,
        path: "/w/a".into(),
        texts: Texts::new(Original::Text(base.into()), proposed.into()),
        standing: Standing::Open,
        capabilities: VerdictCapabilities {
            takes_empty_text: true,
            takes_edited_text: true,
        },
    };
    let id = proposals.propose(request, 0).id;
    if let Some(draft) = draft {
        proposals
            .set_draft(id, Proposal::FIRST, draft.to_owned())
            .unwrap();
    }
    let revised = proposals.get(id).unwrap();
    let revised = revised.against(Original::Text(present.into()));
    assert!(proposals.revise(id, revised));
    (proposals, id)
}

fn check_merge(
    mut proposals: Proposals,
    id: ProposalId,
    base: &str,
    present: &str,
    proposed: &str,
) {
    let proposal = proposals.get(id).unwrap();
    let merged = proposal.texts.proposed.clone();
    let marked = marked_places(&merged, &[base, present, proposed]);
    check_nothing_lost(base, present, &merged);
    check_nothing_lost(base, proposed, &merged);
    let conflicts = proposal.conflicts();
    assert!(
        conflicts >= marked,
        "{marked} places, {conflicts} counted: {merged:?}"
    );

    // What is against the present text is shown against the present text.
    if !proposed_anew(base, present) {
        assert_eq!(proposal.texts.original.text(), Some(present));
    }
    let stale = proposals.decide(id, Decision::Accept, Some(Proposal::FIRST));
    assert_eq!(stale.err(), Some(Refusal::Stale));
    let seen = Some(Proposal::FIRST + 1);
    match proposals.decide(id, Decision::Accept, seen) {
        Ok(decided) => {
            assert_eq!(conflicts, 0);
            let Verdict::Accepted { text, .. } = decided.verdict else {
                panic!("accepted, but the verdict says rejected");
            };
            assert_eq!(text, merged);
        }
        Err(refused) => assert_eq!(refused, Refusal::Conflicts(conflicts)),
    }
}

fn check_draft(mut proposals: Proposals, id: ProposalId, base: &str, present: &str, draft: &str) {
    let proposal = proposals.get(id).unwrap();
    let shown = proposal.current().to_owned();
    check_nothing_lost(base, draft, &shown);
    if !proposed_anew(base, present) {
        check_nothing_lost(base, present, &shown);
    }
    // A front end that still shows the earlier revision sends a text that was made of it.
    let late = proposal.bring_forward(Proposal::FIRST, draft).unwrap();
    if draft != proposal.requested.proposed {
        check_nothing_lost(base, draft, &late);
    }
    let marked = marked_places(
        &shown,
        &[base, present, draft, &proposal.requested.proposed],
    );
    let seen = Some(Proposal::FIRST + 1);
    if let Ok(decided) = proposals.decide(id, Decision::Accept, seen) {
        assert_eq!(marked, 0, "{shown:?}");
        let Verdict::Accepted { text, .. } = decided.verdict else {
            panic!("accepted, but the verdict says rejected");
        };
        assert_eq!(text, shown);
    }
}

/// Every line that `changed` has more often than `base` is in the result that often.
fn check_nothing_lost(base: &str, changed: &str, result: &str) {
    let (before, after) = (counted(base), counted(result));
    for (line, count) in counted(changed) {
        let added = count.saturating_sub(before.get(line).copied().unwrap_or(0));
        let there = after.get(line).copied().unwrap_or(0);
        assert!(
            there >= added,
            "{line:?} is there {there} times: {result:?}"
        );
    }
}

/// How many places a merge has marked, as the markers of a merge are longer than any run of these
/// characters in its texts.
fn marked_places(merged: &str, texts: &[&str]) -> usize {
    let run = |line: &str| {
        let first = line.chars().next().filter(|c| "<>".contains(*c));
        first.map_or(0, |first| line.chars().take_while(|c| *c == first).count())
    };
    let lines = texts.iter().flat_map(|text| without_mark(text).lines());
    let longest = lines.map(run).max().unwrap_or(0);
    let is_marker = |line: &&str| run(line) > longest.max(6) && line.starts_with('<');
    without_mark(merged).lines().filter(is_marker).count()
}
