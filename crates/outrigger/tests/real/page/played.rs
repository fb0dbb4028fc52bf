//! An agent that the test plays, where the real one would take its time and prove nothing more.

use testkit::{Household, PlayedAgent, Proposal, wait_for};

/// Qwen Code, played.
pub(super) struct Played<'a> {
    house: &'a Household,
    agent: PlayedAgent,
}

impl<'a> Played<'a> {
    #[track_caller]
    pub(super) fn qwen(house: &'a Household) -> Self {
        let port = house.record()["port"].as_u64().unwrap();
        let port = u16::try_from(port).unwrap();
        let agent = PlayedAgent::connect(port, &house.qwen_token(port));
        Self { house, agent }
    }

    /// Proposes a text for a file.
    #[track_caller]
    pub(super) fn propose(&mut self, name: &str, text: &str) -> Proposal {
        let before = list(self.house);
        let path = self.house.path(name);
        self.agent.open_diff(path.to_str().unwrap(), text);
        // Another agent may have one for the same file.
        wait_for(
            name,
            || {
                let mut all = self.house.proposals().into_iter();
                all.find(|it| !before.contains(&it.id))
            },
            || format!("{:?}", self.house.proposals()),
        )
    }
}

impl Played<'_> {
    /// The text that the agent is told to write.
    #[track_caller]
    pub(super) fn written(&mut self) -> String {
        let heard = self.agent.hear_verdict();
        assert_eq!(heard["method"], "ide/diffAccepted", "{heard}");
        heard["params"]["content"].as_str().unwrap().to_owned()
    }
}

/// The proposals that are pending, by number.
#[track_caller]
pub(super) fn list(house: &Household) -> Vec<u64> {
    house.proposals().iter().map(|it| it.id).collect()
}
