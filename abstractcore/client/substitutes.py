"""The models that make calls which do not fit into a budget."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import InvalidInputError
from ..ports import Answer, CallContext
from .llm import LLM


async def make_by(model: object, context: CallContext, create: Callable[[str], LLM], *, sync: bool) -> Answer:
    """Makes the call of a context, of sync or async code, by a model: its name, as in "openai/gpt-5.4-mini", or an LLM.

    Raises the errors of `create_llm`, and `InvalidInputError` for another value.
    """
    if isinstance(model, str):
        model = create(model)
    if not isinstance(model, LLM):
        problem = f"expected the name of a model, an LLM or None, got {type(model).__name__}"
        raise InvalidInputError(problem, path="on_exceeded")
    return await model.take_over(context, sync=sync)
