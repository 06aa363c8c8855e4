"""`context`: tags, a session and a parent for all calls in a block."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar, cast

from .. import schema
from ..errors import InvalidInputError
from ..schema import ModelCall

T = TypeVar("T", ModelCall, "schema.OperationInput")


class CallScope(NamedTuple):
    """The tags and the parent of enclosing blocks."""

    tags: Mapping[str, str]
    parent_id: str | None


_scope: ContextVar[CallScope | None] = ContextVar("abstractcore_call_scope", default=None)


def scoped(defaults: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the defaults of a call's options, with those of the enclosing block over them."""
    scope = _scope.get()
    if scope is None:
        return defaults
    parent = {"parent_id": scope.parent_id} if scope.parent_id is not None else {}
    return {**defaults, "tags": {**defaults.get("tags", {}), **scope.tags}, **parent}


def scoped_call(given: T) -> T:
    """Returns a call, or an input without one, with tags and parent of the enclosing block, where it sets none."""
    scope = _scope.get()
    if scope is None:
        return given
    return given.with_(tags={**scope.tags, **given.tags}, parent_id=given.parent_id or scope.parent_id)


@contextmanager
def context(
    *, session: str | None = None, tags: Mapping[str, str] | None = None, parent_id: str | None = None
) -> Generator[None]:
    """Adds these tags (`session` is one of them) and this parent to every call in the block.

    Inner blocks add to outer ones; a call's own values take precedence. It applies to tasks created in the block and
    to `asyncio.to_thread`. Before Python 3.14 a new thread starts without context variables: run your function in it
    with `contextvars.copy_context().run`. Raises `InvalidInputError` for a tag that is not a string.
    """
    outer = _scope.get() or CallScope({}, None)
    given = {**_checked(tags or {}), **({"session": _text(session, "session")} if session is not None else {})}
    parent = outer.parent_id if parent_id is None else _text(parent_id, "parent_id")
    token = _scope.set(CallScope({**outer.tags, **given}, parent))
    try:
        yield
    finally:
        with suppress(ValueError):  # an async generator may be closed by another task, in another context
            _scope.reset(token)


def _checked(tags: object) -> dict[str, str]:
    if not isinstance(tags, Mapping):
        raise InvalidInputError(f"expected a mapping, got {type(tags).__name__}", path="tags")
    given = cast("Mapping[object, object]", tags)
    return {_text(name, "tags"): _text(value, f"tags.{name}") for name, value in given.items()}


def _text(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise InvalidInputError(f"expected text, got {type(value).__name__}", path=path)
    return value
