"""Offsets in texts: characters in the schema, bytes of UTF-8 on the wire of Google's APIs."""

from __future__ import annotations


def characters_in(text: str, size: int) -> int:
    """Returns how many characters the first `size` bytes of `text` are; beyond its end a byte counts as one."""
    if text.isascii():
        return size
    data = text.encode("utf-8", "surrogatepass")
    return len(data[:size].decode("utf-8", "ignore")) + max(0, size - len(data))


def bytes_of(text: str, count: int) -> int:
    """Returns how many bytes the first `count` characters of `text` are; beyond its end a character counts as one."""
    return len(text[:count].encode("utf-8", "surrogatepass")) + max(0, count - len(text))
