"""Counts the input tokens of a call: by its provider, or else as an estimate that says so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ..engine import InTime, Pipeline, Prepared
from ..errors import BadRequestError, ModelNotFoundError, NotFoundError, ProviderError
from ..ports import HasOperations, Runtime
from ..schema.token_counts import TokenCount
from .operations import find_operation
from .pipelines import Pipelines

if TYPE_CHECKING:
    from ..engine import Prepare
    from .pipelines import PreparedRequest

_COUNT_TOKENS: Final = "count_tokens"
_NO_ROUTE: Final = frozenset({405, 501})
_NOT_COUNTED: Final = re.compile(r"counting tokens|token counting")
"""What Bedrock says of a model or a file that it does not count (issue 6370 of aws-sdk-java-v2 on GitHub)."""


async def count_tokens(pipelines: Pipelines, pipeline: Pipeline, request: PreparedRequest) -> TokenCount:
    """Returns the provider's count; an estimate if its wire format has none, or its server has no route for it.

    Raises errors as a call does, also those of a provider that can count and fails.
    """
    transpiler, prepare = pipelines.session.transpiler, _once(request.prepare)
    if isinstance(transpiler, HasOperations) and _COUNT_TOKENS in transpiler.operations:
        operation = find_operation(transpiler, _COUNT_TOKENS)
        try:
            return TokenCount((await pipeline.operate(operation, prepare, request.timeout)).value)
        except ProviderError as error:
            if not _has_no_count(error):
                raise
    prepared = await prepare(pipeline.runtime)
    async with InTime(pipeline.runtime, request.timeout):
        plan = await pipeline.runtime.call(pipelines.plan, prepared.call, (), kind="files")
    return TokenCount(plan.estimated_input_tokens or 0, estimated=True)


def _once(prepare: Prepare) -> Prepare:
    """Returns a function that prepares a call once: an open file can be read once."""
    made: list[Prepared] = []

    async def prepared(runtime: Runtime) -> Prepared:
        if not made:
            made.append(await prepare(runtime))
        return made[0]

    return prepared


def _has_no_count(error: ProviderError) -> bool:
    """Whether an error says that the server has no route for counts, or does not count this model or file."""
    if isinstance(error, ModelNotFoundError):
        return False
    if isinstance(error, NotFoundError) or error.status in _NO_ROUTE:
        return True
    return isinstance(error, BadRequestError) and _NOT_COUNTED.search(error.message) is not None
