"""What a GGUF file says about its model: whether it answers, embeds or ranks.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. Names of keys and tensors: `Keys` and `MODEL_TENSOR`
in gguf-py/gguf/constants.py of https://github.com/ggml-org/llama.cpp.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

ModelKind: TypeAlias = Literal["chat", "embedding", "reranking"]

_MAGIC: Final = b"GGUF"
_OLDEST, _NEWEST = 2, 3
_NUMBERS: Final = dict(enumerate(["<B", "<b", "<H", "<h", "<I", "<i", "<f", "<?", "", "", "<Q", "<q", "<d"]))
"""The formats of `struct` by type; texts and arrays have none."""
_TEXT, _ARRAY = 8, 9
_RANK: Final = 4
"""The `pooling_type` of models that rank: of `llama_pooling_type`, the last one. 0 is none."""
_CLASSIFIER: Final = "cls.output.weight"
"""The tensor of models that rank, in files that do not say how vectors are pooled."""


@dataclass(frozen=True, slots=True)
class GGUFModel:
    """A model as its file describes it. `context_tokens` is what it was trained with, `is_pooled` whether the file says
    how the vectors of tokens become one."""

    kind: ModelKind = "chat"
    context_tokens: int | None = None
    is_pooled: bool = False


def read_gguf(path: Path) -> GGUFModel:
    """Returns what the header of a file says; blocks. One that cannot be read is that of a chat model: llama.cpp then
    reports what is wrong.
    """
    try:
        with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            reader = _HeaderReader(content)
            return _described(*reader.header())
    except (OSError, ValueError, struct.error, UnicodeDecodeError, KeyError):
        return GGUFModel()


def _described(facts: dict[str, Any], tensors: set[str]) -> GGUFModel:
    architecture = facts.get("general.architecture", "")
    pooling = facts.get(f"{architecture}.pooling_type", 0)
    context = facts.get(f"{architecture}.context_length")
    if not isinstance(context, int) or context < 1:
        context = None
    if pooling == _RANK or _CLASSIFIER in tensors:
        return GGUFModel("reranking", context, is_pooled=True)
    if pooling or facts.get(f"{architecture}.attention.causal") is False:
        return GGUFModel("embedding", context, is_pooled=bool(pooling))
    return GGUFModel("chat", context)


class _HeaderReader:
    """Reads the header; a damaged one ends in a `struct.error` at the end of the file at the latest."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self._at = len(_MAGIC)

    def header(self) -> tuple[dict[str, Any], set[str]]:
        """Returns the facts but arrays, and the names of the tensors; raises `ValueError` for another format."""
        if self._content[: len(_MAGIC)] != _MAGIC or not _OLDEST <= self._number("<I") <= _NEWEST:
            raise ValueError("not a GGUF file of a known version")
        tensors, count = self._number("<Q"), self._number("<Q")
        facts: dict[str, Any] = {}
        for _ in range(count):
            name, kind = self._text(), self._number("<I")
            facts[name] = self._value(kind)
        return facts, {self._tensor() for _ in range(tensors)}

    def _value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self._text()
        if kind != _ARRAY:
            return self._number(_NUMBERS[kind])
        each, count = self._number("<I"), self._number("<Q")
        if each == _ARRAY:
            raise ValueError("arrays of arrays are in no file of llama.cpp")
        if each == _TEXT:
            self._skip_texts(count)
        else:
            self._at += count * struct.calcsize(_NUMBERS[each])
        return None

    def _tensor(self) -> str:
        name = self._text()
        dimensions = self._number("<I")
        self._at += 8 * dimensions + 4 + 8
        return name

    def _text(self) -> str:
        size = self._number("<Q")
        begin, self._at = self._at, self._at + size
        return self._content[begin : self._at].decode()

    def _skip_texts(self, count: int) -> None:
        at, size_at = self._at, struct.Struct("<Q").unpack_from  # a vocabulary has 150,000
        for _ in range(count):
            at += 8 + size_at(self._content, at)[0]
        self._at = at

    def _number(self, form: str) -> Any:
        (value,) = struct.unpack_from(form, self._content, self._at)
        self._at += struct.calcsize(form)
        return value
