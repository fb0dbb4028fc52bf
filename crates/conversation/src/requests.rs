//! What agents ask the person: permission to do something, or answers to questions.

use crate::names::OptionKind;
use crate::tools::ToolCall;

/// A request that waits for the person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentRequest {
    /// The backend's name for it, which an answer repeats.
    pub id: String,
    /// What it is about, in a line.
    pub title: String,
    /// What the tool would do.
    pub tool: ToolCall,
    /// What can be chosen.
    pub options: RequestOptions,
    /// The questions, if answers are wanted rather than a permission.
    pub questions: Option<Vec<RequestQuestion>>,
    /// What is not reviewed of what happens if the person agrees.
    pub unreviewed: Option<&'static str>,
    /// Whether a background task asks, which happens outside of any turn too.
    pub background: bool,
    /// The proposal in the review that is the same edit; a decision there answers this.
    pub proposal: Option<u64>,
    /// How many have agreed, and how many must, where several have to.
    pub votes: Option<(u64, u64)>,
}

/// Something that can be chosen in answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestOption {
    /// What an answer names it by.
    pub id: String,
    /// What the person reads.
    pub title: String,
    /// What choosing it means; not every agent says.
    pub kind: Option<OptionKind>,
}

impl RequestOption {
    /// Whether it is more than an answer for this time: the agent does not ask again.
    pub fn lasts(&self) -> bool {
        matches!(
            self.kind,
            Some(OptionKind::AllowAlways | OptionKind::RejectAlways)
        )
    }

    /// Its place among the options. What this program does not know may last, so it comes after the
    /// answers that do not.
    fn rank(&self) -> u8 {
        match &self.kind {
            Some(OptionKind::AllowOnce) => 0,
            Some(OptionKind::RejectOnce) => 1,
            None | Some(OptionKind::Other(_)) => 2,
            Some(OptionKind::RejectAlways) => 3,
            Some(OptionKind::AllowAlways) => 4,
        }
    }
}

/// The options of a request in the order in which they are shown: yes for this time, no for this
/// time, and last what lasts, the widest permission at the very end.
///
/// Agents put the widest permission first ("allow all edits"), where a hasty key would grant it. Every list
/// of options passes through here, so no backend and no front end has to think of that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestOptions(Vec<RequestOption>);

impl FromIterator<RequestOption> for RequestOptions {
    fn from_iter<I: IntoIterator<Item = RequestOption>>(options: I) -> RequestOptions {
        let mut options: Vec<_> = options.into_iter().collect();
        options.sort_by_key(RequestOption::rank);
        RequestOptions(options)
    }
}

impl RequestOptions {
    /// The first `most` of them.
    #[must_use]
    pub fn limited_to(mut self, most: usize) -> RequestOptions {
        self.0.truncate(most);
        self
    }

    /// All of them, in the order to show them in.
    pub fn as_slice(&self) -> &[RequestOption] {
        &self.0
    }

    /// The option that says yes for this time and nothing more.
    pub fn allow_once(&self) -> Option<&RequestOption> {
        let first = self.0.first()?;
        (first.kind == Some(OptionKind::AllowOnce)).then_some(first)
    }
}

/// A question of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestQuestion {
    /// The question itself.
    pub question: String,
    /// A short heading.
    pub header: Option<String>,
    /// Proposed answers with what they mean; a text of one's own is always allowed.
    pub answers: Vec<(String, Option<String>)>,
    /// Whether several may be chosen.
    pub several: bool,
}

/// What a person answers to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// One of the options, by its id.
    Option(String),
    /// No, for this time. It fits every request.
    Decline,
    /// To each question in its order, the labels that were chosen or a text of one's own.
    Answers(Vec<Vec<String>>),
}

/// All requests that wait, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Requests(Vec<AgentRequest>);

impl Requests {
    pub(crate) fn as_slice(&self) -> &[AgentRequest] {
        &self.0
    }

    /// A request waits. After a reconnect it may be one that did before; then the newer one counts.
    pub(crate) fn open(&mut self, request: AgentRequest) {
        self.close(&request.id);
        self.0.push(request);
    }

    /// The tool call that this reply to a request rejects.
    pub(crate) fn rejected_by(&self, id: &str, reply: &Reply) -> Option<&str> {
        let request = self.0.iter().find(|request| request.id == id)?;
        let is_no = match reply {
            Reply::Decline => true,
            Reply::Answers(_) => false,
            Reply::Option(chosen) => request.options.as_slice().iter().any(|option| {
                let kind = option.kind.as_ref();
                let is_no = matches!(
                    kind,
                    Some(OptionKind::RejectOnce | OptionKind::RejectAlways)
                );
                is_no && option.id == *chosen
            }),
        };
        is_no.then_some(request.tool.id.as_str())
    }

    pub(crate) fn close(&mut self, id: &str) {
        self.0.retain(|request| request.id != id);
    }

    pub(crate) fn count_votes(&mut self, id: &str, votes: Option<(u64, u64)>) {
        for request in self.0.iter_mut().filter(|request| request.id == id) {
            request.votes = votes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(kinds: &[(&str, Option<&str>)]) -> RequestOptions {
        let option = |(id, kind): &(&str, Option<&str>)| RequestOption {
            id: (*id).into(),
            title: (*id).to_uppercase(),
            kind: kind.map(OptionKind::from),
        };
        kinds.iter().map(option).collect()
    }

    /// (as the agent sends them, as they are shown, how many of them do not last, yes for this time)
    #[test]
    fn what_lasts_comes_last_and_the_rest_stays_in_order() {
        type Sent = &'static [(&'static str, Option<&'static str>)];
        let cases: [(Sent, &[&str], usize, Option<&str>); 6] = [
            (
                &[
                    ("project", Some("allow_always")),
                    ("user", Some("allow_always")),
                    ("once", Some("allow_once")),
                    ("no", Some("reject_once")),
                ],
                &["once", "no", "project", "user"],
                2,
                Some("once"),
            ),
            (
                &[
                    ("never", Some("reject_always")),
                    ("all", Some("allow_always")),
                    ("no", Some("reject_once")),
                    ("later", Some("allow_twice")),
                    ("once", Some("allow_once")),
                ],
                &["once", "no", "later", "never", "all"],
                3,
                Some("once"),
            ),
            (
                &[
                    ("all", Some("allow_always")),
                    ("never", Some("reject_always")),
                ],
                &["never", "all"],
                0,
                None,
            ),
            (
                &[
                    ("odd", None),
                    ("plan", Some("allow_once")),
                    ("edit", Some("allow_once")),
                ],
                &["plan", "edit", "odd"],
                3,
                Some("plan"),
            ),
            (
                &[("all", Some("allow_always")), ("no", Some("reject_once"))],
                &["no", "all"],
                1,
                None,
            ),
            (&[], &[], 0, None),
        ];
        for (sent, shown, passing, once) in cases {
            let options = options(sent);
            let ids: Vec<_> = options.as_slice().iter().map(|it| it.id.as_str()).collect();
            assert_eq!(ids, shown);
            let lasting = options.as_slice().iter().map(RequestOption::lasts);
            let expected = (0..shown.len()).map(|at| at >= passing);
            assert!(lasting.eq(expected), "{shown:?}");
            assert_eq!(options.allow_once().map(|it| it.id.as_str()), once);
        }
    }

    #[test]
    fn a_limit_takes_from_the_end() {
        let sent = [("all", Some("allow_always")), ("once", Some("allow_once"))];
        let kept = options(&sent).limited_to(1);
        assert_eq!(kept.as_slice().len(), 1);
        assert_eq!(kept.allow_once().map(|it| it.id.as_str()), Some("once"));
    }
}
