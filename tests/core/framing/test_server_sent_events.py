"""Server-sent events, by the parsing rules of the HTML standard (9.2.5 and 9.2.6)."""

from collections.abc import Sequence

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai._streaming import SSEDecoder

from abstractcore.errors import ServerError
from abstractcore.framing import ServerSentEvent, ServerSentEventFramer
from tests.core.framing.splits import count_copied_bytes, every_split
from tests.properties import examples


def frames(*pieces: bytes, limit: int = 1000) -> list[ServerSentEvent]:
    framer = ServerSentEventFramer(limit)
    return [frame for piece in pieces for frame in framer.feed(piece)] + framer.finish()


def event(data: bytes, event: str = "message", id: str | None = None) -> ServerSentEvent:
    return ServerSentEvent(data, event, id)


STREAMS: dict[str, tuple[bytes, list[ServerSentEvent]]] = {
    "line feeds": (b"data: a\n\ndata: b\n\n", [event(b"a"), event(b"b")]),
    "carriage returns": (b"data: a\r\rdata: b\r\r", [event(b"a"), event(b"b")]),
    "both": (b"data: a\r\n\r\ndata: b\r\n\r\n", [event(b"a"), event(b"b")]),
    "mixed ends": (b"data: a\r\n\ndata: b\r\r\ndata: c\n\r\n", [event(b"a"), event(b"b"), event(b"c")]),
    "characters that do not end lines": (b"data: a\x0b\x0c\x1c\x85b\n\n", [event(b"a\x0b\x0c\x1c\x85b")]),
    "unicode line separators": ("data: a\u2028\u2029\u0085b\n\n".encode(), [event("a\u2028\u2029\u0085b".encode())]),
    "byte order mark": (b"\xef\xbb\xbfdata: a\n\n", [event(b"a")]),
    "one mark only": (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n", [event(b"b")]),
    "mark in the middle": (b"data: a\n\n\xef\xbb\xbfdata: b\n\n", [event(b"a")]),
    "mark before nothing": (b"\xef\xbb\xbf\ndata: a\n\n", [event(b"a")]),
    "comments": (b": ping\ndata: a\n:\n: x: y\ndata: b\n\n: end\n\n", [event(b"a\nb")]),
    "no space": (b"data:a\n\n", [event(b"a")]),
    "one space goes, the second stays": (b"data:  a \n\n", [event(b" a ")]),
    "a tab stays": (b"data:\ta\n\n", [event(b"\ta")]),
    "several data lines": (b"data: a\ndata\ndata: c\n\n", [event(b"a\n\nc")]),
    "empty data": (b"data:\n\ndata\n\ndata: \n\n", [event(b""), event(b""), event(b"")]),
    "two empty data lines": (b"data\ndata\n\n", [event(b"\n")]),
    "colons in data": (b"data: a: b:c\n\n", [event(b"a: b:c")]),
    "name": (b"event: error\ndata: a\n\ndata: b\n\n", [event(b"a", "error"), event(b"b")]),
    "the last name counts": (b"event: x\nevent: y\ndata: a\n\n", [event(b"a", "y")]),
    "empty name": (b"event: x\nevent:\ndata: a\n\n", [event(b"a")]),
    "a name without data is forgotten": (b"event: x\n\ndata: a\n\n", [event(b"a")]),
    "id stays": (b"id: 1\ndata: a\n\ndata: b\n\n", [event(b"a", id="1"), event(b"b", id="1")]),
    "id can be emptied": (b"id: 1\nid\ndata: a\n\n", [event(b"a", id="")]),
    "id without data stays": (b"id: 1\n\ndata: a\n\n", [event(b"a", id="1")]),
    "id with a null": (b"id: 1\nid: 2\x003\ndata: a\n\n", [event(b"a", id="1")]),
    "retry": (b"retry: 10\n\nretry: x\ndata: a\n\n", [event(b"a")]),
    "unknown fields": (b"data : x\nDATA: x\n data: x\nfoo\ndatax: y\ndata: a\n\n", [event(b"a")]),
    "nothing": (b"", []),
    "blank lines": (b"\n\r\n\r\n\n", []),
    "no blank line at the end": (b"data: a\n\ndata: b\n", [event(b"a")]),
    "no line end at the end": (b"data: a\n\ndata: b", [event(b"a")]),
    "invalid utf-8": (b"event: \xff\ndata: \xff\n\n", [event(b"\xff", "\ufffd")]),
    "utf-8 in two lines": ("data: é\ndata: 日本\n\n".encode(), [event("é\n日本".encode())]),
}  # fmt: skip


@pytest.mark.parametrize("name", STREAMS)
def test_stream_is_split_into_events(name: str):
    stream, events = STREAMS[name]
    assert frames(stream) == events


@pytest.mark.parametrize("name", STREAMS)
def test_events_do_not_depend_on_chunk_boundaries(name: str):
    stream, events = STREAMS[name]
    for pieces in every_split(stream):
        assert frames(*pieces) == events, pieces


def test_event_is_returned_at_its_blank_line():
    framer = ServerSentEventFramer()
    assert framer.feed(b"data: a\r\n\r") == [event(b"a")]
    assert framer.feed(b"\n") == []
    assert framer.feed(b"data: b\r\r") == [event(b"b")]


def test_empty_reads_change_nothing():
    assert frames(b"", b"data: a\r", b"", b"\n\r\n", b"") == [event(b"a")]


@pytest.mark.parametrize("size", [1_048_577, 5 * 1_048_576])
def test_event_of_megabytes_is_complete(size: int):
    stream = b"data: " + b"x" * size + b"\n\n"
    pieces = [stream[i : i + 65_536] for i in range(0, len(stream), 65_536)]
    framer = ServerSentEventFramer()
    (found,) = [frame for piece in pieces for frame in framer.feed(piece)]
    assert found.data == b"x" * size


@pytest.mark.parametrize(
    "stream",
    [
        b"data: " + b"x" * 95 + b"\n\n",
        b"data: " + b"x" * 50 + b"\ndata: " + b"x" * 60 + b"\n\n",
        b"data\n" * 200,
        b":" * 101,
    ],
    ids=["line", "event", "empty lines", "comment"],
)
def test_event_over_the_limit_is_refused_at_any_split(stream: bytes):
    for pieces in every_split(stream):
        with pytest.raises(ServerError, match="over 100 bytes"):
            frames(*pieces, limit=100)


def test_event_up_to_the_limit_is_kept_at_any_split():
    stream = b"data: " + b"x" * 93 + b"\n\ndata: " + b"y" * 45 + b"\ndata: " + b"z" * 45 + b"\n\n"
    for pieces in every_split(stream):
        assert [len(frame.data) for frame in frames(*pieces, limit=100)] == [93, 91]


def test_endless_event_does_not_fill_the_memory():
    framer = ServerSentEventFramer(10_000)
    with pytest.raises(ServerError, match=r"over 10,000 bytes"):
        for _ in range(10_000):
            framer.feed(b"data: x\n")


@pytest.mark.exhaustive
def test_work_is_linear_in_the_stream_length():
    """A framer that joined its pieces each time one comes would copy with the square of the length."""

    def copied(size: int) -> int:
        return count_copied_bytes(ServerSentEventFramer(), b"data: " + b"x" * size + b"\n\n", 400)

    assert 100_000 <= copied(100_000) < copied(400_000) < 5 * copied(100_000)


FIELDS = [b"data: ", b"data:", b"data", b":", b": c", b"event: e", b"event:", b"retry: 5", b"foo: 1"]
FIELD = st.builds(
    lambda field, value: field + (value if b":" in field else b""),
    st.sampled_from(FIELDS),
    st.sampled_from([b"", b"a", b"b:c"]),
)
BLOCKS = st.lists(st.lists(FIELD, max_size=4), max_size=4)
TOKENS = [b"data", b":", b" ", b"a", b"\n", b"\r", b"\r\n", b"\n\n", b"\xef\xbb\xbf", b"id", b"event"]
SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=5)


def _written(blocks: Sequence[Sequence[bytes]], ends: Sequence[bytes]) -> bytes:
    """Every block holds data, since others differ in what they make of one without."""
    lines = [line for block in blocks for line in (*block, b"data: x", b"")]
    return b"".join(line + ends[i % len(ends)] for i, line in enumerate(lines))


@examples(150)
@given(BLOCKS, st.lists(st.sampled_from([b"\n", b"\r\n"]), min_size=1, max_size=3), st.integers(1, 30))
def test_events_match_two_other_implementations(blocks: list[list[bytes]], ends: list[bytes], size: int):
    stream = _written(blocks, ends)
    pieces = [stream[i : i + size] for i in range(0, len(stream), size)]
    ours = [(frame.data.decode(), frame.event) for frame in frames(*pieces)]
    theirs = [(sse.data, sse.event or "message") for sse in SSEDecoder().iter_bytes(iter(pieces))]
    headers, request = {"content-type": "text/event-stream"}, httpx2.Request("GET", "http://localhost")
    response = httpx2.Response(200, headers=headers, content=stream, request=request)
    others = [(sse.data, sse.event) for sse in httpx2.EventSource(response)]
    assert ours == theirs == others


@examples(150)
@given(st.lists(st.sampled_from(TOKENS), max_size=30), SIZES)
def test_any_bytes_give_the_same_events_at_any_split(fragments: list[bytes], sizes: list[int]):
    stream = b"".join(fragments)
    pieces, start = [], 0
    while start < len(stream):
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(stream[start : start + size])
        start += size
    assert frames(*pieces) == frames(stream)


def test_accepts_detects_events_by_a_field_or_comment():
    accepts = ServerSentEventFramer().accepts
    streams = (b"data", b"data:1", b": hi", b"event: x", b"id:", b"retry: 1", b"\r\n\r\ndata: x", b"\xef\xbb\xbfdata:")
    assert [accepts(start) for start in streams] == [True] * len(streams)
    assert [accepts(start) for start in (b"{", b"[", b"<", b"It works", b"dab", b"\xef\xbb{")] == [False] * 6
    assert [accepts(start) for start in (b"", b"\n", b"d", b"even", b"\xef", b"\xef\xbb\xbf", b"\xef\xbb\xbfda")] == [
        None
    ] * 7
