//! What the argument parser has to say: help, the version, and what is wrong with the command line.
//!
//! The parser repeats words of the command line and of variables as they are. A name that somebody
//! else chose gets there easily, with `outrigger show $(ls)` for example.

use std::process::ExitCode;

use clap::Error;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};

use crate::output::{one_line, print_foreign_error, printable};

/// Prints it and returns the exit code.
pub(crate) fn report(error: Error) -> ExitCode {
    let code = u8::try_from(error.exit_code()).unwrap_or(u8::MAX);
    let error = shown(error);
    let text = error.render().to_string();
    if printable(&text) == text {
        // With colours, where the person wants them. A reader that has gone away is not an error.
        let _ = error.print();
    } else {
        print_foreign_error(&text);
    }
    ExitCode::from(code)
}

/// The error with every foreign word on one line.
fn shown(mut error: Error) -> Error {
    let context = error.context();
    // The usage is ours, and has several lines.
    let context = context.filter(|(kind, _)| *kind != ContextKind::Usage);
    let context: Vec<_> = context
        .filter_map(|(kind, value)| Some((kind, shown_value(value)?)))
        .collect();
    for (kind, value) in context {
        error.insert(kind, value);
    }
    error
}

/// The value as it is shown; `None` if it is no text.
fn shown_value(value: &ContextValue) -> Option<ContextValue> {
    Some(match value {
        ContextValue::String(text) => ContextValue::String(one_line(text)),
        ContextValue::Strings(texts) => ContextValue::Strings(texts.iter().map(one_line).collect()),
        ContextValue::StyledStr(text) => ContextValue::StyledStr(shown_styled(text)),
        ContextValue::StyledStrs(texts) => {
            ContextValue::StyledStrs(texts.iter().map(shown_styled).collect())
        }
        _ => return None,
    })
}

/// A suggestion can repeat a word. It keeps its colours if there is nothing to replace.
fn shown_styled(text: &StyledStr) -> StyledStr {
    let plain = text.to_string();
    let shown = one_line(&plain);
    if shown == plain {
        text.clone()
    } else {
        shown.into()
    }
}
