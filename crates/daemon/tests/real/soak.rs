//! A long conversation on a bad line.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use outrigger_daemon::connection::{ConnectOptions, IdeConnection, IdeEvent, IdeEvents};
use outrigger_daemon::wire::{PromptId, SessionUpdate};
use testkit::PATIENCE;

use crate::conversations::complete;
use crate::house::House;
use crate::ide::options;
use crate::tunnel::Tunnel;

const TURNS: usize = 500;
/// From here on memory must not grow.
const WARM: usize = 100;
/// How much it may grow all the same: what allocators keep, not what 400 turns say (about 1.6 MB of
/// events).
const SLACK: u64 = 8 * 1024 * 1024;

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        // The generator of Knuth's MMIX; its high bits are the good ones.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// What the model says in a turn, in pieces. No piece begins with all that was said before it: the agent
/// takes that for a provider that repeats itself, and leaves the repetition out.
fn speech(dice: &mut Dice) -> Vec<String> {
    const WORDS: [&str; 8] = [
        "plain ",
        "zwölf ",
        "\"quoted\" ",
        "back\\slash ",
        "line\n",
        "データ ",
        "data: x ",
        "🚀 ",
    ];
    let pieces = 1 + dice.roll(8);
    let word = |dice: &mut Dice| WORDS[usize::try_from(dice.roll(8)).unwrap()];
    (0..pieces)
        .map(|piece| {
            let words: String = (0..=dice.roll(12)).map(|_| word(dice)).collect();
            format!("{piece} {words}")
        })
        .collect()
}

fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|it| it.starts_with("VmRSS:")).unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes * 1024
}

/// What the listener has, turn by turn.
#[derive(Default)]
struct Heard {
    said: HashMap<PromptId, String>,
    ended: HashMap<PromptId, usize>,
    interruptions: usize,
}

impl Heard {
    fn take(&mut self, event: IdeEvent) {
        match event {
            IdeEvent::Update {
                update: SessionUpdate::AgentMessage(chunk),
                prompt: Some(prompt),
                ..
            } => self.said.entry(prompt).or_default().push_str(chunk.text()),
            IdeEvent::TurnEnded {
                prompt: Some(prompt),
                end,
                ..
            } => {
                assert_eq!(end, complete());
                *self.ended.entry(prompt).or_default() += 1;
            }
            IdeEvent::ConnectionLost { .. } => self.interruptions += 1,
            IdeEvent::HistoryLoaded { .. }
            | IdeEvent::Gap { .. }
            | IdeEvent::Disconnected { .. } => {
                panic!("nothing is lost by a cut: {event:?}")
            }
            _ => {}
        }
    }

    async fn until_ended(&mut self, events: &mut IdeEvents, prompt: &PromptId) {
        while !self.ended.contains_key(prompt) {
            let event = tokio::time::timeout(PATIENCE, events.next()).await;
            self.take(event.expect("the turn ends").unwrap());
        }
    }
}

#[tokio::test]
async fn five_hundred_turns_with_the_stream_cut_anywhere() {
    let Some(house) = House::open() else { return };
    let mut dice = Dice(1);
    let mut cuts = Dice(2);
    // The largest event, the list of commands, has 17 kB; some streams must be longer than that.
    let lengths = Box::new(move || 500 + cuts.roll(40_000));
    let tunnel = Tunnel::cutting(house.daemon.port(), lengths).await;
    let (connection, mut events) = IdeConnection::new();
    connection
        .connect(ConnectOptions {
            address: tunnel.address.clone(),
            ..options(&house)
        })
        .await
        .unwrap();
    let mut heard = Heard::default();
    let mut warm = 0;
    for turn in 0..TURNS {
        let mark = format!("turn-{turn:04}");
        let pieces = speech(&mut dice);
        let text = pieces.concat();
        house.model.speak(&mark, vec![]).say_all(&pieces);
        let sent = connection.send_prompt(mark.as_str()).await.unwrap();
        let prompt = sent.id().unwrap().clone();
        heard.until_ended(&mut events, &prompt).await;
        let ended = tokio::time::timeout(PATIENCE, sent.end()).await.unwrap();
        assert_eq!(ended, complete());
        assert_eq!(heard.said.remove(&prompt), Some(text), "{mark}");
        house.model.forget_requests();
        if turn == WARM {
            warm = resident();
        }
    }
    let grown = resident().saturating_sub(warm);
    assert!(grown < SLACK, "memory grew by {grown} bytes");
    // Whatever comes late must not end a turn again.
    while let Ok(Some(event)) =
        tokio::time::timeout(Duration::from_millis(500), events.next()).await
    {
        heard.take(event);
    }
    assert_eq!(heard.ended.len(), TURNS);
    assert!(heard.ended.values().all(|times| *times == 1));
    assert!(heard.said.is_empty(), "{:?}", heard.said);
    assert!(heard.interruptions > 50, "{}", heard.interruptions);
}
