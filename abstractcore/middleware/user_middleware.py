"""`UserMiddleware`: wraps a user's middleware and validates what it returns."""

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


class UserMiddleware:
    """Wraps the methods of `middleware`. Raises `ConfigurationError`, which names `where`, if it has none."""

    def __init__(self, middleware: object, where: str) -> None:
        name = type(middleware).__name__
        if isinstance(middleware, type):
            raise ConfigurationError(
                f"{where} is the class {middleware.__name__}: pass an instance, as in {middleware.__name__}()."
            )
        rings = [ring for ring in _RINGS if callable(getattr(middleware, ring, None))]
        if not rings:
            raise ConfigurationError(f"{where} is a {name}: expected an object with the method {' or '.join(_RINGS)}.")
        for ring in rings:
            setattr(self, ring, partial(_answer, getattr(middleware, ring), f"{name}.{ring}"))


async def _answer(
    method: Callable[..., object], name: str, given: CallContext | Attempt, next: Callable[[Any], object]
) -> Answer:
    """Returns the answer of the method; raises `ConfigurationError` for a value that is not an answer."""
    awaitable = method(given, next=next)
    if not isinstance(awaitable, Awaitable):
        raise _invalid_answer(name, awaitable, "Define it with `async def`.")
    answer: Any = await cast("Awaitable[Any]", awaitable)
    if isinstance(answer, _WHOLE):
        return answer
    if _is_stream(answer):
        context = given.context if isinstance(given, Attempt) else given
        context.middleware_streams.append(answer)  # a middleware around it may fail to close it
        return answer
    raise _invalid_answer(name, answer, "Return the result of `await next(...)`, a ModelReply or an OperationResult.")


def _is_stream(answer: object) -> bool:
    return not isinstance(answer, type) and all(callable(getattr(answer, member, None)) for member in _STREAM)


def _invalid_answer(name: str, given: object, hint: str) -> ConfigurationError:
    return ConfigurationError(
        f"the middleware {name} returned a {type(given).__name__}, which is not an answer.", hint=hint
    )
