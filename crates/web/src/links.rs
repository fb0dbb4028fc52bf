//! Links to the page, each valid for one tab and a few minutes.
//!
//! A link ends up in argument lists, histories and scrollback, so it must not hold the page's
//! key. It holds a ticket in the fragment, which browsers do not send. The page exchanges the ticket
//! for the key, once, and removes it from the address. Another user who reads the
//! ticket from an argument list gets no key for it where the system tells users apart
//! (`routes::page`).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use companion::Token;

/// How long a ticket is valid.
const LIFETIME: Duration = Duration::from_mins(10);

/// With more unused tickets than this, the oldest becomes invalid.
const MOST: usize = 64;

/// Makes links to the page. Cheap to clone; all clones share the tickets.
#[derive(Clone, Debug)]
pub struct Links {
    port: u16,
    tickets: Arc<Mutex<Tickets>>,
}

impl Links {
    /// Links to the page on `port`.
    pub fn new(port: u16) -> Links {
        Links {
            port,
            tickets: Arc::default(),
        }
    }

    /// A link with a new ticket. Fails if the system has no random numbers.
    pub fn fresh(&self) -> Result<String, getrandom::Error> {
        let ticket = Token::random()?;
        let link = format!("http://127.0.0.1:{}/#{}", self.port, ticket.expose());
        self.with_tickets(|tickets| tickets.issue(ticket, Instant::now()));
        Ok(link)
    }

    /// Uses up a ticket; returns whether it was valid.
    pub(crate) fn redeem(&self, presented: &str) -> bool {
        self.with_tickets(|tickets| tickets.redeem(presented, Instant::now()))
    }

    fn with_tickets<R>(&self, act: impl FnOnce(&mut Tickets) -> R) -> R {
        act(&mut self
            .tickets
            .lock()
            .expect("a panic anywhere ends the whole program"))
    }
}

/// Unused tickets, oldest first.
#[derive(Debug, Default)]
struct Tickets(VecDeque<(Token, Instant)>);

impl Tickets {
    fn issue(&mut self, ticket: Token, now: Instant) {
        self.0.push_back((ticket, now));
        if self.0.len() > MOST {
            self.0.pop_front();
        }
    }

    fn redeem(&mut self, presented: &str, now: Instant) -> bool {
        self.0
            .retain(|(_, issued)| now.duration_since(*issued) < LIFETIME);
        let found = self
            .0
            .iter()
            .position(|(ticket, _)| ticket.matches(presented));
        found.and_then(|at| self.0.remove(at)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issued(tickets: &mut Tickets, now: Instant) -> String {
        let ticket = Token::random().unwrap();
        let text = ticket.expose().to_owned();
        tickets.issue(ticket, now);
        text
    }

    #[test]
    fn a_ticket_is_good_once() {
        let (mut tickets, now) = (Tickets::default(), Instant::now());
        let (first, second) = (issued(&mut tickets, now), issued(&mut tickets, now));
        assert!(!tickets.redeem("", now));
        assert!(!tickets.redeem(&first[1..], now));
        assert!(tickets.redeem(&first, now));
        assert!(!tickets.redeem(&first, now));
        assert!(tickets.redeem(&second, now));
    }

    #[test]
    fn a_ticket_is_good_for_ten_minutes() {
        let (mut tickets, now) = (Tickets::default(), Instant::now());
        let (early, late) = (issued(&mut tickets, now), issued(&mut tickets, now));
        let nearly = now + LIFETIME.saturating_sub(Duration::from_secs(1));
        assert!(tickets.redeem(&early, nearly));
        assert!(!tickets.redeem(&late, now + LIFETIME));
        assert!(tickets.0.is_empty(), "what is too old is not kept");
    }

    #[test]
    fn the_oldest_goes_when_there_are_too_many() {
        let (mut tickets, now) = (Tickets::default(), Instant::now());
        let all: Vec<_> = (0..=MOST).map(|_| issued(&mut tickets, now)).collect();
        let good = all.iter().filter(|ticket| tickets.redeem(ticket, now));
        assert_eq!(good.count(), MOST);
        assert!(!tickets.redeem(&all[0], now));
    }

    #[test]
    fn a_link_leads_to_the_port_and_its_ticket_is_good() {
        let links = Links::new(7);
        let link = links.fresh().unwrap();
        let ticket = link.strip_prefix("http://127.0.0.1:7/#").unwrap();
        assert!(links.redeem(ticket));
        assert!(!links.clone().redeem(ticket));
    }
}
