//! Names of kinds and states. They are those of ACP, which the daemon uses too. Each list is open: a
//! newer agent may use a name that is not in it, and that name is shown as it is.

macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
            /// A name that this version does not know. It is untrusted text.
            Other(String),
        }

        impl $name {
            /// The name as agents and pages write it.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Other(name) => name,
                }
            }
        }

        impl From<String> for $name {
            fn from(name: String) -> Self {
                match name.as_str() {
                    $($text => Self::$variant,)+
                    _ => Self::Other(name),
                }
            }
        }

        impl From<&str> for $name {
            fn from(name: &str) -> Self {
                name.to_owned().into()
            }
        }
    };
}

names!(
    /// What choosing an option of a request means.
    OptionKind {
        /// Yes, this time.
        AllowOnce = "allow_once",
        /// Yes, and do not ask again.
        AllowAlways = "allow_always",
        /// No, this time.
        RejectOnce = "reject_once",
        /// No, and do not ask again.
        RejectAlways = "reject_always",
    }
);
names!(
    /// What a tool does, roughly.
    ToolKind {
        /// Reads files.
        Read = "read",
        /// Changes files.
        Edit = "edit",
        /// Removes files.
        Delete = "delete",
        /// Moves files.
        Move = "move",
        /// Searches.
        Search = "search",
        /// Runs a command.
        Execute = "execute",
        /// Thinks, plans, or asks the person something.
        Think = "think",
        /// Gets something from a network.
        Fetch = "fetch",
        /// Changes the mode of the conversation.
        SwitchMode = "switch_mode",
    }
);
names!(
    /// How far a tool call is.
    ToolStatus {
        /// Announced; its arguments may still be incomplete.
        Pending = "pending",
        /// Running.
        InProgress = "in_progress",
        /// Done.
        Completed = "completed",
        /// Failed.
        Failed = "failed",
        /// The person said no. Agents call that failed, too.
        Rejected = "rejected",
    }
);
names!(
    /// How far a step of a plan is.
    StepStatus {
        /// Not begun.
        Pending = "pending",
        /// Being done.
        InProgress = "in_progress",
        /// Done.
        Completed = "completed",
    }
);
names!(
    /// How far a prompt in the agent's queue is.
    QueueState {
        /// It waits for its turn.
        Queued = "queued",
        /// Its turn runs.
        Running = "running",
        /// Its turn is over.
        Completed = "completed",
        /// It was taken out of the queue.
        Removed = "removed",
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_have_a_variant_and_others_are_kept() {
        for (name, kind) in [
            ("allow_once", OptionKind::AllowOnce),
            ("reject_always", OptionKind::RejectAlways),
            ("allow_twice", OptionKind::Other("allow_twice".into())),
        ] {
            assert_eq!(OptionKind::from(name), kind);
            assert_eq!(kind.as_str(), name);
        }
    }
}
