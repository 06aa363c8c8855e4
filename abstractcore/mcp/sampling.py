"""`SamplingRequest`: what a server asks of the caller's model; and the answers to such requests."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ..client.llm import LLM
from ..client.services import default_services
from ..errors import InvalidInputError, SchemaError, ToolFailed
from ..schema import GenerateResponse, Message
from ..schema.base_error import shown

if TYPE_CHECKING:
    from mcp_types import CreateMessageRequestParams, CreateMessageResult, ErrorData

    from ..client.options import CallRequest

_log = logging.getLogger("abstractcore")
_REFUSED = -1
"""The code of a request that the user refused
(https://modelcontextprotocol.io/specification/2025-11-25/client/sampling, "Error Handling")."""
_STOP_REASONS = {"stop": "endTurn", "length": "maxTokens", "unknown": None}
_UNKNOWN_MODEL = "unknown"


@dataclass(frozen=True, slots=True)
class SamplingRequest:
    """A request of the server `server` for an answer of a model.

    `models` are the names, or parts of them, that it would like, in its order; they may be ignored.
    """

    server: str
    messages: tuple[Message, ...]
    system_prompt: str | None
    max_output_tokens: int
    temperature: float | None = None
    stop: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


SamplingAnswer: TypeAlias = str | GenerateResponse[Any]
SamplingModel: TypeAlias = LLM | Callable[[SamplingRequest], SamplingAnswer | Awaitable[SamplingAnswer]]
"""A model, or a function, sync or async, that returns an answer, or raises `ToolFailed` to refuse the request."""


class Sampler:
    """Answers the sampling requests of the server `server`. Raises `InvalidInputError` for what cannot do so."""

    def __init__(self, given: SamplingModel, server: str) -> None:
        if isinstance(given, LLM):
            given = partial(_generated, given)
        if not callable(given):
            raise InvalidInputError(f"expected an LLM or a function, got {shown(given)}", path="sampling")
        self._function = given
        self._server = server

    async def answer(
        self, params: CreateMessageRequestParams, described: Callable[[BaseException], str]
    ) -> CreateMessageResult | ErrorData:
        """Returns the answer, or an error for the server without the details of a failure, which are logged.

        `described` returns the text of an exception for the log.
        """
        from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, ErrorData

        try:
            request = self._request(params)
        except (SchemaError, ToolFailed) as error:
            return ErrorData(code=INVALID_PARAMS, message=f"the request cannot be answered: {error}")
        try:
            answer = await default_services().async_runtime.invoke(self._function, request)
            return _result(cast("object", answer))
        except ToolFailed as error:
            return ErrorData(code=_REFUSED, message=str(error) or "the request was refused")
        except Exception as error:
            _log.warning("a sampling request of the MCP server %s failed: %s", self._server, described(error))
            return ErrorData(code=INTERNAL_ERROR, message=f"the request failed: {type(error).__name__}")

    def _request(self, params: CreateMessageRequestParams) -> SamplingRequest:
        from .results import content_of

        if params.tools or any(_uses_tools(block) for each in params.messages for block in each.content_as_list):
            raise ToolFailed("tools are not offered in sampling")
        hints = params.model_preferences.hints or [] if params.model_preferences else []
        return SamplingRequest(
            self._server,
            tuple(Message(each.role, content_of(cast("Any", each.content_as_list))) for each in params.messages),
            params.system_prompt,
            params.max_tokens,
            params.temperature,
            tuple(params.stop_sequences or ()),
            tuple(hint.name for hint in hints if hint.name),
        )


def _uses_tools(block: object) -> bool:
    return getattr(block, "type", None) in ("tool_use", "tool_result")


async def _generated(llm: LLM, request: SamplingRequest) -> GenerateResponse[None]:
    options: CallRequest = {"messages": request.messages, "max_output_tokens": request.max_output_tokens}
    if request.system_prompt is not None:
        options["system_prompt"] = request.system_prompt
    if request.temperature is not None:
        options["temperature"] = request.temperature
    if request.stop:
        options["stop"] = request.stop
    return await llm.agenerate(**options)


def _result(answer: object) -> CreateMessageResult:
    from mcp_types import CreateMessageResult, TextContent

    if isinstance(answer, str):
        return CreateMessageResult(role="assistant", content=TextContent(text=answer), model=_UNKNOWN_MODEL)
    if not isinstance(answer, GenerateResponse):
        raise InvalidInputError(f"expected text or a response, got {shown(answer)}", path="sampling")
    response = cast("GenerateResponse[Any]", answer)
    return CreateMessageResult(
        role="assistant",
        content=TextContent(text=response.content or ""),
        model=response.model or _UNKNOWN_MODEL,
        stop_reason=_STOP_REASONS.get(response.finish_reason, response.finish_reason),
    )
