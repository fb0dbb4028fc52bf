//! Why something could not be done, in our own words.
//!
//! An error of a backend may name an address, and one of an agent anything at all. Neither may reach
//! a page, so each kind of trouble has its own sentence, and backends turn their errors into one of
//! these before they hand them over.

use companion::desk::Gone;

/// Why something could not be done, for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Trouble {
    /// What programs go by.
    pub kind: TroubleKind,
    /// The sentence that a person reads.
    pub why: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Trouble {
    /// A trouble with the sentence that a person reads. It must hold nothing secret.
    pub fn new(kind: TroubleKind, why: impl Into<String>) -> Trouble {
        Trouble {
            kind,
            why: why.into(),
            hint: None,
        }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Trouble {
        self.hint = Some(hint.into());
        self
    }
}

impl From<Gone> for Trouble {
    fn from(gone: Gone) -> Trouble {
        Trouble::new(TroubleKind::Over, gone.to_string())
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $text:literal),+ $(,)?) => {
        /// The kinds of trouble, for programs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum TroubleKind {
            $($(#[$doc])* $kind,)+
        }

        impl TroubleKind {
            /// The name that pages and editors know it by.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $text,)+
                }
            }
        }
    };
}

kinds!(
    /// No daemon answers.
    NoDaemon = "no_daemon",
    /// What answers is not a daemon.
    NotADaemon = "not_a_daemon",
    /// The daemon works in another folder.
    WrongFolder = "wrong_folder",
    /// The token is missing or wrong.
    Unauthorized = "unauthorized",
    /// The agent has no model to talk to.
    NoModel = "no_model",
    /// The folder is not trusted.
    Untrusted = "untrusted",
    /// The daemon does not accept the address that it is called by.
    WrongAddress = "wrong_address",
    /// The other side speaks a version of the protocol that we do not.
    OtherProtocol = "other_protocol",
    /// Nobody knows the conversation.
    NoSession = "no_session",
    /// There was no connection before that could be repeated.
    NoEarlier = "no_earlier",
    /// The companion is shutting down.
    Over = "over",
    /// Too much is asked at once.
    Busy = "busy",
    /// A prompt is too large.
    TooLarge = "too_large",
    /// It was refused for another reason.
    Refused = "refused",
    /// There was no answer.
    Unreachable = "unreachable",
    /// There is no connection.
    NotConnected = "not_connected",
    /// An agent or a daemon could not be started.
    NotStarted = "not_started",
    /// What is asked about is not known.
    Unknown = "unknown",
    /// A prompt says nothing.
    Empty = "empty",
    /// Too many files are attached.
    TooMany = "too_many",
    /// A file cannot be attached.
    NotAttached = "not_attached",
);
