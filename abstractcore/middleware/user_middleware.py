"""A user's middleware, held so that what it gives is an answer, and so that its faults carry its name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, cast

from ..errors import ConfigurationError
from ..ports import Answer, Attempt, CallContext, OperationResult
from ..schema import ModelReply

_RINGS = ("around_call", "around_attempt")
_WHOLE: tuple[type[Any], ...] = (ModelReply, OperationResult)
_STREAM = ("read", "close", "abort")


class Guest:
    """The rings that `middleware` has. Raises `ConfigurationError`, which says `where`, for what cannot be one."""

    def __init__(self, middleware: object, where: str) -> None:
        name = type(middleware).__name__
        if isinstance(middleware, type):
            raise ConfigurationError(f"{where} is the class {middleware.__name__} where an object of it is needed.")
        rings = [ring for ring in _RINGS if callable(getattr(middleware, ring, None))]
        if not rings:
            raise ConfigurationError(f"{where} is a {name}, which has no method {' or '.join(_RINGS)}.")
        for ring in rings:
            setattr(self, ring, partial(_answer, getattr(middleware, ring), f"{name}.{ring}"))


async def _answer(
    method: Callable[..., object], name: str, given: CallContext | Attempt, next: Callable[[Any], object]
) -> Answer:
    """What the method answers; raises `ConfigurationError` for what is none."""
    answering = method(given, next=next)
    if not isinstance(answering, Awaitable):
        raise _no_answer(name, answering, "Write it with `async def`.")
    answer: Any = await cast("Awaitable[Any]", answering)
    if isinstance(answer, _WHOLE):
        return answer
    if _is_stream(answer):
        context = given.context if isinstance(given, Attempt) else given
        context.middleware_streams.append(answer)  # what wraps it may fail to close it
        return answer
    raise _no_answer(name, answer, "Return what `next` gives, a ModelReply or an OperationResult.")


def _is_stream(answer: object) -> bool:
    return not isinstance(answer, type) and all(callable(getattr(answer, member, None)) for member in _STREAM)


def _no_answer(name: str, given: object, hint: str) -> ConfigurationError:
    return ConfigurationError(f"the middleware {name} gives a {type(given).__name__} as its answer.", hint=hint)
