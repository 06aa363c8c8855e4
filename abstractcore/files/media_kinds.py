"""The kinds of files, and how files of earlier turns are sent, by kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast, get_args

from ..errors import InvalidInputError
from ..registry.suggestions import name_hint
from ..schema import MediaHistory, MediaKind
from ..schema.base_error import shown

MEDIA_KINDS: tuple[MediaKind, ...] = get_args(MediaKind)
_HISTORIES: tuple[MediaHistory, ...] = get_args(MediaHistory)


def media_history(value: object) -> Mapping[str, str]:
    """Returns how files of earlier turns are sent, by kind, from one value for all kinds or a mapping; raises
    `InvalidInputError`.
    """
    if isinstance(value, str):
        return dict.fromkeys(MEDIA_KINDS, _history(value, "media_history"))
    if not isinstance(value, Mapping):
        raise InvalidInputError(
            f"expected {' or '.join(map(repr, _HISTORIES))}, or a mapping by kind, got {type(value).__name__}",
            path="media_history",
            hint="For example: media_history='text', or media_history={'image': 'text'}.",
        )
    given = cast("Mapping[object, object]", value)
    for kind in given:
        if kind not in MEDIA_KINDS:
            hint = name_hint(kind, MEDIA_KINDS, "kinds of files", "docs/files.md")
            raise InvalidInputError(f"unknown kind {shown(kind)}", path="media_history", hint=hint)
    return {cast(str, kind): _history(each, f"media_history.{kind}") for kind, each in given.items()}


def _history(value: object, path: str) -> str:
    if not isinstance(value, str) or value not in _HISTORIES:
        hint = name_hint(value, _HISTORIES, "values", "docs/files.md")
        raise InvalidInputError(f"{shown(value)} is not one of {', '.join(_HISTORIES)}", path=path, hint=hint)
    return value
