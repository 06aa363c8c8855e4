"""The arguments of the methods of `Index`, checked: `InvalidInputError` with the place of what is wrong."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast, get_args

from ..errors import InvalidInputError
from ..schema import SchemaError
from ..schema.base_error import shown
from ..schema.calls import labels
from ..schema.json_values import check_text
from .adding import GivenText, IndexReport
from .folders import FoundFile, found_file

SearchMode: TypeAlias = Literal["both", "meaning", "words"]
"""How is searched: by vectors, by words, or by both."""
Where: TypeAlias = Mapping[str, "str | Sequence[str]"]
_LEAST_CHUNK_TOKENS: Final = 16
_MODES: Final = get_args(SearchMode)


def check_chunk_tokens(tokens: int | None) -> None:
    """Raises for a length of chunks that is none."""
    if tokens is not None and (type(tokens) is not int or tokens < _LEAST_CHUNK_TOKENS):
        message = f"expected an integer of at least {_LEAST_CHUNK_TOKENS}, got {shown(tokens)}"
        raise InvalidInputError(message, path="chunk_tokens")


def check_no_ids(ids: object) -> None:
    """Raises for ids of files."""
    if ids is not None:
        raise InvalidInputError("is for texts: the id of a file is its path", path="ids")


def checked_items(given: object, path: str) -> Sequence[str | os.PathLike[str]]:
    """Returns a list of texts and paths."""
    if not isinstance(given, Sequence) or isinstance(given, bytes | bytearray):
        raise InvalidInputError(f"expected a path or a list, got {shown(given)}", path=path)
    items = cast("Sequence[Any]", given)
    for index, each in enumerate(items):
        if not isinstance(each, str | os.PathLike):
            raise InvalidInputError(f"expected a text or a Path, got {shown(each)}", path=f"{path}[{index}]")
    return items


def given_texts(texts: Sequence[str], ids: Sequence[str] | None) -> list[GivenText]:
    """Returns texts with their ids; raises for ids that do not fit, and for paths."""
    if ids is None and texts and all(_is_file(text) for text in texts):
        hint = "Pass Path objects for files: index.add([Path(...), ...]). With ids=[...] they are texts."
        raise InvalidInputError(
            "these are names of files, and a list of str is a list of texts", path="source", hint=hint
        )
    if ids is not None and (isinstance(ids, str) or len(ids) != len(texts)):
        raise InvalidInputError(f"expected {len(texts)} ids, got {shown(ids)}", path="ids")
    made: dict[str, GivenText] = {}
    for index, text in enumerate(texts):
        try:
            check_text(text, f"source[{index}]")
            id = (
                hashlib.sha256(text.encode()).hexdigest()[:16]
                if ids is None
                else check_text(ids[index], f"ids[{index}]")
            )
        except SchemaError as error:
            raise InvalidInputError(error.message, path=error.path) from None
        if not text.strip():
            raise InvalidInputError("the text is empty", path=f"source[{index}]")
        if ids is not None and id in made:
            raise InvalidInputError(f"the id {shown(id)} occurs twice", path=f"ids[{index}]")
        made[id] = GivenText(id, text)
    return list(made.values())


def _is_file(text: str) -> bool:
    try:
        return len(text) < 1000 and os.path.isfile(text)
    except ValueError:
        return False


def files_of(paths: Sequence[Path], report: IndexReport) -> list[FoundFile]:
    """Returns the files at paths; those that cannot be read are noted in the report."""
    found: list[FoundFile] = []
    for path in dict.fromkeys(paths):
        try:
            file = found_file(str(path), path.name)
        except OSError as error:
            report.failed[str(path)] = error.strerror or str(error)
            continue
        if file is None:
            report.failed[str(path)] = "it is not a regular file"
        else:
            found.append(file)
    return found


def checked_tags(tags: Mapping[str, str]) -> Mapping[str, str]:
    """Returns tags of documents."""
    try:
        return cast("Mapping[str, str]", labels(tags, "tags"))
    except SchemaError as error:
        raise InvalidInputError(error.message, path=error.path) from None


def allowed_tags(where: Where) -> dict[str, Sequence[str]]:
    """Returns the values that each tag may have."""
    if not isinstance(where, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(f"expected a mapping of tags, got {shown(where)}", path="where")
    allowed: dict[str, Sequence[str]] = {}
    for name, value in where.items():
        several: Any = [value] if isinstance(value, str) or not isinstance(value, Iterable) else value  # pyright: ignore[reportUnnecessaryIsInstance]
        values: list[Any] = list(several)
        if not all(isinstance(each, str) for each in (name, *values)):
            raise InvalidInputError(f"expected texts, got {shown(value)}", path=f"where[{name!r}]")
        for each in (name, *values):
            _check_text(each, f"where[{name!r}]")
        allowed[name] = values
    return allowed


def _check_text(text: str, path: str) -> None:
    try:
        check_text(text, path)
    except SchemaError as error:
        raise InvalidInputError(error.message, path=error.path) from None


def check_search(query: object, k: object, mode: object) -> None:
    """Raises for arguments of a search that are none."""
    if not isinstance(query, str) or not query.strip():
        raise InvalidInputError(f"expected a question or words, got {shown(query)}", path="query")
    _check_text(query, "query")
    if type(k) is not int or not 1 <= k <= 1000:
        raise InvalidInputError(f"expected an integer from 1 to 1000, got {shown(k)}", path="k")
    if mode not in _MODES:
        raise InvalidInputError(f"expected one of {', '.join(_MODES)}, got {shown(mode)}", path="mode")
