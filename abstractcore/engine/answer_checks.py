"""`AnswerCheck`: what checks a complete answer, after the last round of its call."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Protocol

from ..ports import Runtime
from ..schema import GenerateResponse
from .pipeline import Pipeline
from .prepared import Prepared


class AnswerCheck(Protocol):
    """Checks the answer of one call: evidence, or verification. It never raises for what it finds in an answer."""

    async def prepare(self, runtime: Runtime) -> Prepared:
        """Returns the prepared call, with what the check asks for."""
        ...

    async def checked(self, response: GenerateResponse[Any], pipeline: Pipeline) -> GenerateResponse[Any]:
        """Returns the response with the result of the check."""
        ...

    def end(self) -> None:
        """Ends a check, also one that was not made. May be called again."""
        ...


async def with_check(
    response: Coroutine[Any, Any, GenerateResponse[Any]], check: AnswerCheck, pipeline: Pipeline
) -> GenerateResponse[Any]:
    """Returns the awaited response, checked."""
    try:
        return await check.checked(await response, pipeline)
    finally:
        check.end()
