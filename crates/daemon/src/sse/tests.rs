use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn parse_with(limit: usize, pieces: &[&[u8]]) -> Vec<SseItem> {
    let mut parser = SseParser::new(limit);
    let mut items = Vec::new();
    for piece in pieces {
        parser.push(Bytes::copy_from_slice(piece));
        items.extend(std::iter::from_fn(|| parser.pull()));
    }
    items
}

fn parse(text: &str) -> Vec<SseItem> {
    parse_with(MAX_FRAME, &[text.as_bytes()])
}

fn frame(id: Option<u64>, data: &'static str) -> SseItem {
    SseItem::Frame(SseFrame {
        id,
        data: Bytes::from_static(data.as_bytes()),
    })
}

#[test]
fn frames_in_every_form() {
    let cases: Vec<(&str, Vec<SseItem>)> = vec![
        ("data: a\n\n", vec![frame(None, "a")]),
        (
            "data:a\n\ndata: b\n\n",
            vec![frame(None, "a"), frame(None, "b")],
        ),
        ("id: 7\nevent: x\ndata: {}\n\n", vec![frame(Some(7), "{}")]),
        (
            "id: 7\r\nevent: x\r\ndata: {}\r\n\r\n",
            vec![frame(Some(7), "{}")],
        ),
        ("id: 7\rdata: {}\r\r", vec![frame(Some(7), "{}")]),
        (
            "data: a\r\ndata: b\ndata: c\r\n\n",
            vec![frame(None, "a\nb\nc")],
        ),
        ("data:  a\n\n", vec![frame(None, " a")]),
        ("data\n\n", vec![frame(None, "")]),
        ("data: a\ndata\n\n", vec![frame(None, "a\n")]),
        (": heartbeat\n\n", vec![SseItem::Comment]),
        (
            "data: a\n: note\ndata: b\n\n",
            vec![SseItem::Comment, frame(None, "a\nb")],
        ),
        ("retry: 3000\n\n", vec![]),
        ("event: x\n\n", vec![]),
        ("id: x\ndata: a\n\n", vec![frame(None, "a")]),
        ("id: -1\ndata: a\n\n", vec![frame(None, "a")]),
        (
            "id: 99999999999999999999\ndata: a\n\n",
            vec![frame(None, "a")],
        ),
        ("unknown: x\ndata: a\n\n", vec![frame(None, "a")]),
        ("\u{feff}data: a\n\n", vec![frame(None, "a")]),
        ("data: \u{feff}a\n\n", vec![frame(None, "\u{feff}a")]),
        ("data: half", vec![]),
        ("data: whole, but not ended\n", vec![]),
        ("\n\n\n", vec![]),
        ("data: ä€𐍈\n\n", vec![frame(None, "ä€𐍈")]),
    ];
    for (text, expected) in cases {
        assert_eq!(parse(text), expected, "{text:?}");
    }
}

#[test]
fn the_id_of_one_frame_is_not_the_id_of_the_next() {
    let items = parse("id: 1\ndata: a\n\ndata: b\n\n");
    assert_eq!(items, [frame(Some(1), "a"), frame(None, "b")]);
}

#[test]
fn bytes_that_are_not_text_are_handed_on() {
    let items = parse_with(MAX_FRAME, &[b"data: \xff\xfe\n\n"]);
    let SseItem::Frame(frame) = &items[0] else {
        panic!("{items:?}")
    };
    assert_eq!(&frame.data[..], b"\xff\xfe");
}

#[test]
fn a_frame_at_the_limit_passes_and_one_beyond_it_is_reported() {
    let text = |size: usize| format!("id: 3\ndata: {}\n\ndata: next\n\n", "x".repeat(size));
    for cut in [1, 7, 4096] {
        let pieces = |text: &str| {
            text.as_bytes()
                .chunks(cut)
                .map(<[u8]>::to_vec)
                .collect::<Vec<_>>()
        };
        let run = |text: &str| {
            let pieces = pieces(text);
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            parse_with(1000, &pieces)
        };
        let items = run(&text(1000));
        assert!(matches!(&items[0], SseItem::Frame(frame) if frame.data.len() == 1000));
        let items = run(&text(1001));
        assert!(matches!(items[0], SseItem::Oversized { id: Some(3), bytes } if bytes >= 1001));
        assert_eq!(items[1], frame(None, "next"), "cut {cut}");
    }
}

#[test]
fn many_small_lines_count_towards_the_limit() {
    let text = format!("{}\ndata: next\n\n", "data: xxxxxxxxx\n".repeat(200));
    let items = parse_with(1000, &[text.as_bytes()]);
    assert!(matches!(items[0], SseItem::Oversized { id: None, .. }));
    assert_eq!(items[1], frame(None, "next"));
}

/// A frame of the largest size in small pieces: one look at every byte, or this takes minutes.
#[test]
fn sixteen_mebibytes_in_small_pieces_take_linear_time() {
    let mut parser = SseParser::default();
    let piece = Bytes::from(vec![b'x'; 1024]);
    parser.push(Bytes::from_static(b"data: "));
    assert_eq!(parser.pull(), None);
    for _ in 0..MAX_FRAME / piece.len() {
        parser.push(piece.clone());
        assert_eq!(parser.pull(), None);
    }
    parser.push(Bytes::from_static(b"\n\n"));
    let item = parser.pull();
    assert!(matches!(item, Some(SseItem::Frame(frame)) if frame.data.len() == MAX_FRAME));
}

/// What is kept for an endless frame does not grow.
#[test]
fn an_endless_frame_costs_no_memory() {
    let mut parser = SseParser::new(10_000);
    let piece = Bytes::from(vec![b'x'; 1000]);
    parser.push(Bytes::from_static(b"data: "));
    while parser.pull().is_some() {}
    for _ in 0..1000 {
        parser.push(piece.clone());
        assert_eq!(parser.pull(), None);
        assert!(parser.partial.capacity() <= 40_000);
    }
    parser.push(Bytes::from_static(b"\n\n"));
    assert!(matches!(parser.pull(), Some(SseItem::Oversized { bytes, .. }) if bytes >= 1_000_000));
}

/// Streams out of everything that means something to the format.
fn streams() -> impl Strategy<Value = Vec<u8>> {
    let words: Vec<&[u8]> = vec![
        b"data: ",
        b"data",
        b"id: 5",
        b"event: x",
        b":",
        b"\n",
        b"\n\n",
        b"\r",
        b"\r\n",
        b"\r\n\r\n",
        "\u{feff}".as_bytes(),
        "ä€𐍈".as_bytes(),
        b"\xff",
        b"{\"a\":1}",
        b"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    ];
    let words = proptest::sample::select(words);
    vec(words, 0..40).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn cut_anywhere_the_items_are_the_same(stream in streams(), cuts in vec(0usize..400, 0..12), limit in 10usize..80) {
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut < stream.len()).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut from = 0;
        for cut in cuts {
            pieces.push(&stream[from..cut]);
            from = cut;
        }
        pieces.push(&stream[from..]);
        let shape = |items: Vec<SseItem>| -> Vec<SseItem> {
            // How many bytes of a dropped frame are counted may depend on the cuts.
            items.into_iter().map(|item| match item {
                SseItem::Oversized { id, .. } => SseItem::Oversized { id, bytes: 0 },
                other => other,
            }).collect()
        };
        prop_assert_eq!(shape(parse_with(limit, &pieces)), shape(parse_with(limit, &[&stream])));
    }
}
