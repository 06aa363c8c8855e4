"""Decompression: all members of a gzip body, at most a megabyte at a time."""

from __future__ import annotations

import gzip
import zlib

import pytest

from abstractcore.transport.messages import decompressor_for

MEBIBYTE = 1024 * 1024


def pieces(encoding: str, data: bytes, size: int) -> list[bytes]:
    """Returns the output of a body that arrives in chunks of `size` bytes."""
    decompressor = decompressor_for({"content-encoding": encoding})
    assert decompressor is not None
    chunks = (data[start : start + size] for start in range(0, len(data), size))
    return [piece for chunk in chunks for piece in decompressor.feed(chunk)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", [1, 100, 10**9])
@pytest.mark.parametrize("encoding", ["gzip", "GZip ", "deflate"])
def test_decompression_bomb_is_returned_in_chunks_of_a_megabyte(encoding, size):
    whole = bytes(16 * MEBIBYTE)
    bomb = zlib.compress(whole) if encoding == "deflate" else gzip.compress(whole) + gzip.compress(whole)
    found = pieces(encoding, bomb, size)
    assert sum(map(len, found)) == (16 if encoding == "deflate" else 32) * MEBIBYTE
    assert max(map(len, found)) <= MEBIBYTE


def test_exactly_a_megabyte_is_returned_completely():
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    flushed = packer.compress(bytes(2 * MEBIBYTE)) + packer.flush(zlib.Z_SYNC_FLUSH)
    assert b"".join(pieces("gzip", flushed, 10**9)) == bytes(2 * MEBIBYTE)


def test_many_empty_members_return_nothing():
    assert pieces("gzip", gzip.compress(b"") * 1000 + gzip.compress(b"end"), 10**9) == [b"end"]


def test_corrupt_second_member_is_an_error():
    with pytest.raises(zlib.error):
        pieces("gzip", gzip.compress(b"one") + gzip.compress(b"two")[:-8] + b"12345678", 10**9)


@pytest.mark.parametrize("encoding", ["", "identity", "br"])
def test_other_encodings_are_not_decompressed(encoding):
    assert decompressor_for({"content-encoding": encoding}) is None
    assert decompressor_for({}) is None
