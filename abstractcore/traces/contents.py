"""Contents: messages, files and large values of records, each stored once under its SHA-256."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, cast

_FILE_FROM: Final = 1_000
"""The size of files that are contents of their own; smaller ones stay in their message."""
_SEARCHED: Final = 100_000
"""How many characters of a content are searched for words."""
_NOT, _BY_ZLIB, _WITH_DICTIONARY = range(3)
_LARGE: Final = 1_000
_WINDOW, _MEMORY = 12, 5
_DICTIONARY: Final = (
    b'{"arguments_text":"{\\"call_id":"content":[{"text":"name":"type":"tool_call"}],"role":"tool"}"error":{"message":'
    b'"retryable":true,"type":"usage":{"cached":"cache_written":"input":"output":"reasoning":"warnings":["code":"media":['
    b'"raw_finish_reason":"stop","id":"resp_"sampling":{"max_output_tokens":"temperature":0.'
    b'{"parts":[{"text":","type":"text"}],"role":"system"}","type":"text"}],"role":"assistant"}"call":{"messages":2},'
    b'"reply":{"finish_reason":"stop"},"cost_source":"computed","price_rows":["{"attempts":[{"number":1,"seconds":0.0,'
    b'"started_at":18,"status":200}],{"parts":[{"text":" the of and to in is ","type":"text"}],"role":"user"}'
)
"""A part of the format: what is stored can be read with the same one only. What is in most texts comes last."""
_HAS_FILE = b'"form":"bytes"'
_MESSAGE = b'{"parts":['
_TEXTS = re.compile(rb'"(?:text|name|arguments_text|transcript)":"([^"\\]*(?:\\.[^"\\]*)*)"')
"""The fields of messages that are searched: as they are now for as long as there are stored indexes of their words."""


class StoredContent(NamedTuple):
    """A content, and whether its words are searched."""

    digest: bytes
    body: bytes
    is_searched: bool


def contents_of(body: bytes, *, searchable: bool) -> list[StoredContent]:
    """Returns the content of JSON, and then those of the large files in it, which are left out of it."""
    files: list[StoredContent] = []
    if len(body) > _FILE_FROM and _HAS_FILE in body:
        data = _without_files(json.loads(body), files)
        body = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    return [StoredContent(hashlib.sha256(body).digest(), body, searchable), *files]


def text_of(body: bytes) -> str:
    """Returns the text of a content whose words are searched: of a message, what people and models wrote; of other
    values, all that is text. The index of SQLite needs the same one again to remove it.
    """
    if not body.startswith(_MESSAGE):
        return "\n".join(_strings(json.loads(body.decode())))[:_SEARCHED]
    text = b"\n".join(_TEXTS.findall(body)).decode()
    return (json.loads(f'"{text}"', strict=False) if "\\" in text else text)[:_SEARCHED]


def packed(body: bytes) -> tuple[int, bytes]:
    """Returns how a body is packed, and what is stored: small texts share a dictionary of what is in most of them."""
    if len(body) <= _LARGE:
        way, smaller = _WITH_DICTIONARY, deflated(body)
    else:
        way, smaller = _BY_ZLIB, zlib.compress(body, 1)
    return (way, smaller) if len(smaller) < len(body) else (_NOT, body)


def unpacked(way: int, stored: bytes) -> bytes:
    """Returns a body as it was; what is no JSON for one that is damaged."""
    try:
        if way == _WITH_DICTIONARY:
            return inflated(bytes(stored))
        return zlib.decompress(stored) if way == _BY_ZLIB else bytes(stored)
    except zlib.error:
        return b""


def stored_text(way: int, stored: bytes) -> str:
    """Returns the text of a stored content; none of one that is damaged."""
    try:
        return text_of(unpacked(way, stored))
    except ValueError:
        return ""


def deflated(body: bytes) -> bytes:
    """Returns small JSON compressed. A small window, whose memory is quickly made, is enough for it."""
    deflating = zlib.compressobj(1, zlib.DEFLATED, -_WINDOW, _MEMORY, zlib.Z_DEFAULT_STRATEGY, _DICTIONARY)
    return deflating.compress(body) + deflating.flush()


def inflated(stored: bytes) -> bytes:
    """Returns what was `deflated`; raises `zlib.error` for what is damaged."""
    return zlib.decompressobj(-_WINDOW, _DICTIONARY).decompress(stored)


def sha256_of(body: bytes) -> str:
    """Returns the SHA-256 of a file, in hex."""
    return hashlib.sha256(body).hexdigest()


def _strings(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, list):
        for each in cast("list[Any]", data):
            yield from _strings(each)
    elif isinstance(data, dict):
        for each in cast("dict[str, Any]", data).values():
            yield from _strings(each)


def _without_files(value: Any, files: list[StoredContent]) -> Any:
    if isinstance(value, list):
        return [_without_files(each, files) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    result = {name: _without_files(each, files) for name, each in cast("dict[str, Any]", value).items()}
    data = result.get("data")
    if result.get("form") == "bytes" and isinstance(data, str) and len(data) > _FILE_FROM:
        file = base64.b64decode(data)
        if sha256_of(file) == result.get("sha256"):
            del result["data"]
            files.append(StoredContent(hashlib.sha256(file).digest(), file, False))
    return result
