"""Amazon's event stream, at every split, compared with botocore."""

from collections.abc import Callable
from struct import pack
from typing import Any
from zlib import crc32

import pytest
from botocore.eventstream import EventStreamBuffer
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.errors import ServerError, StreamInterruptedError
from abstractcore.framing import AwsEventStreamFramer, AwsEventStreamMessage
from tests.core.framing.splits import count_copied_bytes, every_split
from tests.properties import examples

HELLO = AwsEventStreamMessage({":event-type": "hello", ":message-type": "event"}, b'{"text":"Gr\xc3\xbc\xc3\x9fe"}')
EMPTY = AwsEventStreamMessage({}, b"")
EVERY_TYPE = (
    b"\x03yes\x00"
    b"\x02no\x01"
    b"\x04byte\x02\xff"
    b"\x05short\x03\xff\xfe"
    b"\x03int\x04\xff\xff\xff\xfd"
    b"\x04long\x05\x00\x00\x00\x01\x00\x00\x00\x00"
    b"\x05bytes\x06\x00\x02\x00\xff"
    b"\x04text\x07\x00\x03a\xc3\xa4"
    b"\x04time\x08\x00\x00\x01\x8b\xcf\xe5\x68\x00"
    b"\x04uuid\x090123456789abcdef"
)


def message(headers: bytes = b"", payload: bytes = b"") -> bytes:
    """A message with headers as given."""
    prelude = pack(">II", 16 + len(headers) + len(payload), len(headers))
    begun = prelude + pack(">I", crc32(prelude)) + headers + payload
    return begun + pack(">I", crc32(begun))


def framed(pieces: list[bytes], **options: Any) -> list[AwsEventStreamMessage]:
    framer = AwsEventStreamFramer(**options)
    return [found for piece in pieces for found in framer.feed(piece)] + framer.finish()


def judged(stream: bytes) -> list[AwsEventStreamMessage]:
    """What botocore reads."""
    buffer = EventStreamBuffer()
    buffer.add_data(stream)
    return [AwsEventStreamMessage(event.headers, event.payload) for event in buffer]


def test_messages_do_not_depend_on_chunk_boundaries():
    stream = HELLO.encode() + EMPTY.encode() + HELLO.encode() + message(EVERY_TYPE, b"x")
    expected = judged(stream)
    assert expected[:3] == [HELLO, EMPTY, HELLO]
    for pieces in every_split(stream):
        assert framed(pieces) == expected


def test_every_header_type_is_read_as_by_botocore():
    (found,) = framed([message(EVERY_TYPE)])
    assert [found] == judged(message(EVERY_TYPE))
    assert found.headers == {
        "yes": True,
        "no": False,
        "byte": -1,
        "short": -2,
        "int": -3,
        "long": 2**32,
        "bytes": b"\x00\xff",
        "text": "aä",
        "time": 1700000000000,
        "uuid": b"0123456789abcdef",
    }


def headers() -> st.SearchStrategy[dict[str, Any]]:
    names = st.text(max_size=8)
    values = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=8) | st.binary(max_size=8)
    return st.dictionaries(names, values, max_size=4)


@pytest.mark.exhaustive
@examples(60)
@given(st.lists(st.builds(AwsEventStreamMessage, headers(), st.binary(max_size=20)), max_size=4), st.integers(1, 9))
def test_encoded_message_is_read_by_botocore_and_us(messages: list[AwsEventStreamMessage], size: int):
    stream = b"".join(found.encode() for found in messages)
    assert judged(stream) == messages
    assert framed([stream[i : i + size] for i in range(0, len(stream), size)]) == messages


@pytest.mark.parametrize(
    "headers",
    [{"n" * 256: "a"}, {"a": "b" * 65_536}, {"a": 2**63}],
    ids=["a name too long", "a text too long", "a number too large"],
)
def test_header_of_unsupported_type_is_not_encoded(headers: dict[str, Any]):
    with pytest.raises(ValueError, match=r"header|bytes must be"):
        AwsEventStreamMessage(headers, b"").encode()


@pytest.mark.parametrize(
    "headers",
    [
        b"\x01a\x0a",
        b"\x01a\x07\x00\x05ab",
        b"\x01a\x06\x00",
        b"\x01a\x05\x00",
        b"\x01a\x09\x00",
        b"\x09a",
        b"\x01a",
        b"\x01\xff\x00",
        b"\x01a\x07\x00\x01\xff",
        b"\x01a\x00\x01a\x00",
    ],
    ids=[
        "unknown type",
        "text cut",
        "length cut",
        "number cut",
        "uuid cut",
        "name cut",
        "no type",
        "name no UTF-8",
        "text no UTF-8",
        "duplicate header name",
    ],
)
def test_invalid_headers_are_a_typed_error(headers: bytes):
    with pytest.raises(ServerError, match="headers that cannot be read"):
        framed([message(headers)])


def test_message_over_the_limit_is_refused_by_its_first_bytes():
    large = AwsEventStreamMessage({}, b"x" * 100).encode()
    assert len(framed([large], max_bytes=116)) == 1
    with pytest.raises(ServerError, match="over 115 bytes"):
        framed([large[:12]], max_bytes=115)


def test_message_of_many_megabytes_is_copied_a_bounded_number_of_times():
    stream = AwsEventStreamMessage({"a": "b"}, b"x" * (5 * 1024 * 1024)).encode()
    assert count_copied_bytes(AwsEventStreamFramer(), stream, 16_384) < 3 * len(stream)
    (found,) = framed([stream[i : i + 16_384] for i in range(0, len(stream), 16_384)])
    assert len(found.payload) == 5 * 1024 * 1024


@pytest.mark.parametrize(
    ("place", "message"),
    [(0, "prelude"), (5, "prelude"), (9, "prelude"), (20, "message CRC"), (-6, "message CRC"), (-1, "message CRC")],
)
def test_corrupt_message_is_a_typed_error(place: int, message: str):
    stream = bytearray(HELLO.encode())
    stream[place] ^= 1
    with pytest.raises(ServerError, match=message):
        framed([bytes(stream)])


@pytest.mark.parametrize(
    "lengths", [(15, 0), (0, 0), (16, 1), (20, 2**32 - 1)], ids=["too short", "none", "more headers", "huge headers"]
)
def test_contradictory_lengths_are_a_typed_error(lengths: tuple[int, int]):
    prelude = pack(">II", *lengths)
    with pytest.raises(ServerError, match="bytes of headers"):
        framed([prelude + pack(">I", crc32(prelude)) + b"\0" * 8])


def test_other_content_is_a_typed_error():
    with pytest.raises(ServerError, match="is not a valid event stream"):
        framed([b'{"message": "hello"}'])


@pytest.mark.parametrize("cut", [lambda data: data[:5], lambda data: data[:-1]], ids=["prelude", "payload"])
def test_truncated_message_is_an_interruption(cut: Callable[[bytes], bytes]):
    framer = AwsEventStreamFramer()
    assert framer.feed(HELLO.encode() + cut(HELLO.encode())) == [HELLO]
    with pytest.raises(StreamInterruptedError, match="in the middle of a message"):
        framer.finish()


@examples(150)
@given(st.lists(st.binary(max_size=40), max_size=4), st.integers(0, 80), st.integers(0, 255))
def test_any_bytes_are_messages_or_a_typed_error(pieces: list[bytes], place: int, byte: int):
    stream = bytearray(HELLO.encode() + HELLO.encode())
    stream[place % len(stream)] = byte
    for case in (pieces, [bytes(stream), *pieces]):
        try:
            framed(case, max_bytes=1000)
        except (ServerError, StreamInterruptedError):
            continue


def test_accepts_detects_an_event_stream_by_its_length():
    accepts = AwsEventStreamFramer().accepts
    message = AwsEventStreamMessage({"a": 1}, b"x").encode()
    assert accepts(message) is True
    assert accepts(message[:4]) is True
    assert [accepts(start) for start in (b"", b"\0", b"{\n ")] == [None] * 3
    assert [accepts(start) for start in (b'{"a"', b"<!do", b"\n\n{}", b"data")] == [False] * 4
