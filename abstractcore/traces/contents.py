"""Contents: messages, files and large values of records, each stored once under its SHA-256."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, cast

_PACKED_FROM: Final = 1_000
_FILE_FROM: Final = 1_000
"""The size of files that are contents of their own; smaller ones stay in their message."""
_SEARCHED: Final = 100_000
"""How many characters of a content are searched for words."""
_HAS_FILE = b'"form":"bytes"'
_TEXTS = frozenset({"text", "name", "arguments_text", "transcript"})
"""The fields of messages that are searched: as they are now for as long as there are stored indexes of their words."""


class Content(NamedTuple):
    """A content: `body` as it is stored, `packed` if by zlib, and the text whose words are searched, if any."""

    digest: bytes
    packed: bool
    body: bytes
    text: str


def content_of(body: bytes, *, searchable: bool) -> tuple[Content, list[Content]]:
    """Returns the content of JSON, and those of the large files in it, which are then left out of it."""
    files: list[Content] = []
    if len(body) > _FILE_FROM and _HAS_FILE in body:
        data = _without_files(json.loads(body), files)
        body = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    return _content(body, text_of(body) if searchable else ""), files


def text_of(body: bytes) -> str:
    """Returns the text of a content whose words are searched: of a message, what people and models wrote; of other
    values, all that is text. The index of SQLite needs the same one again to remove it.
    """
    data = json.loads(body)
    is_message = isinstance(data, dict) and {"parts", "role"} <= data.keys()
    return "\n".join(_strings(data, only_texts=is_message))[:_SEARCHED]


def unpacked(packed: int, body: bytes) -> bytes:
    """Returns a stored body as it was; raises `zlib.error` for one that is damaged."""
    return zlib.decompress(body) if packed else bytes(body)


def sha256_of(body: bytes) -> str:
    """Returns the SHA-256 of a file, in hex."""
    return hashlib.sha256(body).hexdigest()


def _strings(data: Any, *, only_texts: bool) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, list):
        for each in cast("list[Any]", data):
            yield from _strings(each, only_texts=only_texts)
    elif isinstance(data, Mapping):
        for name, each in cast("Mapping[str, Any]", data).items():
            if not only_texts or name in _TEXTS or isinstance(each, list | dict):
                yield from _strings(each, only_texts=only_texts)


def _content(body: bytes, text: str) -> Content:
    digest = hashlib.sha256(body).digest()
    if len(body) > _PACKED_FROM:
        smaller = zlib.compress(body, 1)
        if len(smaller) < len(body):
            return Content(digest, True, smaller, text)
    return Content(digest, False, body, text)


def _without_files(value: Any, files: list[Content]) -> Any:
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
            files.append(_content(file, ""))
    return result
