//! The live text against an editor that keeps its own: the same changes, in every encoding.

use ::editor::buffer::{Buffer, Encoding, Position};
use proptest::prelude::*;
use workbench::Cursor;

const ENCODINGS: [Encoding; 2] = [Encoding::Utf8, Encoding::Utf16];

/// Where the character with this index stands, as the protocol counts: a carriage return, a line
/// feed and both together end a line. Nothing lies between the two of a pair.
fn position(text: &[char], index: usize, encoding: Encoding) -> Position {
    let mut at = Position::default();
    let mut previous = None;
    for &c in &text[..index] {
        match c {
            '\n' if previous == Some('\r') => {}
            '\n' | '\r' => {
                at.line += 1;
                at.character = 0;
            }
            _ => {
                at.character += match encoding {
                    Encoding::Utf8 => u32::try_from(c.len_utf8()).unwrap(),
                    Encoding::Utf16 => u32::try_from(c.len_utf16()).unwrap(),
                };
            }
        }
        previous = Some(c);
    }
    at
}

/// The index nearest to a share of the text that is not inside a line end.
fn index(text: &[char], share: usize) -> usize {
    let index = share % (text.len() + 1);
    let inside = index > 0 && index < text.len() && text[index - 1] == '\r' && text[index] == '\n';
    index - usize::from(inside)
}

fn text_of(chars: &[char]) -> String {
    chars.iter().collect()
}

proptest! {
    #[test]
    fn an_editor_and_its_shadow_have_the_same_text(
        text in "[a-cé漢🙂\r\n]{0,60}",
        changes in prop::collection::vec((any::<usize>(), any::<usize>(), "[xü🙃\r\n]{0,6}"), 0..12),
    ) {
        for encoding in ENCODINGS {
            let mut editor: Vec<char> = text.chars().collect();
            let mut shadow = Buffer::new(text.clone());
            for (one, other, new) in &changes {
                let (one, other) = (index(&editor, *one), index(&editor, *other));
                let (from, to) = (one.min(other), one.max(other));
                let ends = [from, to].map(|end| position(&editor, end, encoding));
                prop_assert_eq!(shadow.slice(ends[0], ends[1], encoding), text_of(&editor[from..to]));
                shadow.change(ends[0], ends[1], new, encoding);
                editor.splice(from..to, new.chars());
                prop_assert_eq!(shadow.text(), text_of(&editor), "{:?}", encoding);
            }
        }
    }

    #[test]
    fn every_place_is_found_and_told(text in "[a-cé漢🙂\r\n]{0,60}", share in any::<usize>()) {
        let chars: Vec<char> = text.chars().collect();
        let index = index(&chars, share);
        let buffer = Buffer::new(text.clone());
        let offset = text_of(&chars[..index]).len();
        let agents = position(&chars, index, Encoding::Utf16);
        for encoding in ENCODINGS {
            let at = position(&chars, index, encoding);
            prop_assert_eq!(buffer.position(offset, encoding), at);
            // Agents count as JavaScript does, from one, whatever the editor counts.
            let cursor = Cursor::new(agents.line + 1, agents.character + 1);
            prop_assert_eq!(buffer.cursor(at, encoding), cursor);
        }
    }

    #[test]
    fn no_position_is_too_strange(
        text in "[aé🙂\r\n]{0,20}",
        (l1, c1, l2, c2) in any::<(u32, u32, u32, u32)>(),
        new in "[b🙃\r\n]{0,3}",
    ) {
        for encoding in ENCODINGS {
            let (from, to) = (Position { line: l1, character: c1 }, Position { line: l2, character: c2 });
            let mut buffer = Buffer::new(text.clone());
            let before = buffer.slice(from, to, encoding).len();
            let cursor = buffer.cursor(from, encoding);
            prop_assert!(cursor.line as usize <= text.len() + 1);
            buffer.change(from, to, &new, encoding);
            prop_assert_eq!(buffer.text().len(), text.len() - before + new.len());
        }
    }
}
