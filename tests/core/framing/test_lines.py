"""Lines, at every split."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.errors import ServerError
from abstractcore.framing import LineFramer
from tests.core.framing.splits import count_copied_bytes, every_split
from tests.properties import examples


def lines(*pieces: bytes, limit: int = 1000) -> list[bytes]:
    framer = LineFramer(limit)
    return [line for piece in pieces for line in framer.feed(piece)] + framer.finish()


STREAMS = {
    "line feeds": (b"a\nb\n", [b"a", b"b"]),
    "carriage returns": (b"a\rb\r", [b"a", b"b"]),
    "both": (b"a\r\nb\r\n", [b"a", b"b"]),
    "mixed": (b"a\r\r\nb\n\rc", [b"a", b"b", b"c"]),
    "blank lines": (b"\n\r\n  \na\n\t\n", [b"a"]),
    "no end": (b'{"a": 1}\n{"b": 2}', [b'{"a": 1}', b'{"b": 2}']),
    "nothing": (b"", []),
    "other separators": ("a\u2028b\u0085\x0b\x0cc\n".encode(), ["a\u2028b\u0085\x0b\x0cc".encode()]),
}


@pytest.mark.parametrize("name", STREAMS)
def test_lines_do_not_depend_on_chunk_boundaries(name: str):
    stream, expected = STREAMS[name]
    for pieces in every_split(stream):
        assert lines(*pieces) == expected, pieces


@examples(150)
@given(st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r", b"\r\n", b" "]), max_size=20))
def test_lines_match_the_standard_library(fragments: list[bytes]):
    stream = b"".join(fragments)
    assert lines(*fragments) == lines(stream) == [line for line in stream.splitlines() if line.strip()]


@pytest.mark.parametrize("stream", [b"x" * 101, b"x" * 101 + b"\n", b"a\n" + b"x" * 101 + b"\nb\n"])
def test_line_over_the_limit_is_refused_at_any_split(stream: bytes):
    for pieces in every_split(stream):
        with pytest.raises(ServerError, match="a line of over 100 bytes"):
            lines(*pieces, limit=100)


def test_line_up_to_the_limit_is_kept_at_any_split():
    for pieces in every_split(b"x" * 100 + b"\n" + b"y" * 100):
        assert lines(*pieces, limit=100) == [b"x" * 100, b"y" * 100]


def test_line_of_megabytes_is_complete():
    stream = b"x" * 5_000_000 + b"\n"
    framer = LineFramer()
    found = [line for i in range(0, len(stream), 65_536) for line in framer.feed(stream[i : i + 65_536])]
    assert found == [stream[:-1]]


@pytest.mark.exhaustive
def test_work_is_linear_in_the_stream_length():
    short, long = (count_copied_bytes(LineFramer(10**9), b"x" * size + b"\n", 400) for size in (100_000, 400_000))
    assert 100_000 <= short < long < 5 * short


def test_accepts_detects_json_lines_by_a_one_line_object():
    accepts = LineFramer().accepts
    assert [accepts(start) for start in (b'{"a"', b' \r\n{"a"', b"{}", b"{ \x22")] == [True] * 4
    assert [accepts(start) for start in (b"<html>", b"[", b"It works", b"{\n", b"{ \r\n")] == [False] * 5
    assert [accepts(start) for start in (b"", b"\n", b"{", b"{ \t")] == [None] * 4
