"""`SamplingRequest`: what a server asks of the caller's model; and the answers to such requests.

The result of a server's tool as content for the model and data for the caller.
"""

from __future__ import annotations

import base64
import binascii
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    CreateMessageResult,
    ErrorData,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from ..client.llm import LLM
from ..client.services import default_services
from ..errors import InvalidInputError, SchemaError, ToolFailed
from ..outputs import canonical_json
from ..schema import (
    MEDIA_PART_BY_KIND,
    Blob,
    ContentPart,
    DocumentPart,
    GenerateResponse,
    Message,
    TextPart,
    ToolResult,
    media_kind_of,
)
from ..schema.base_error import shown
from ..tools import ToolOutput

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
            given = partial(_generate, given)
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


async def _generate(llm: LLM, request: SamplingRequest) -> GenerateResponse[None]:
    options: CallRequest = {"messages": request.messages, "max_output_tokens": request.max_output_tokens}
    if request.system_prompt is not None:
        options["system_prompt"] = request.system_prompt
    if request.temperature is not None:
        options["temperature"] = request.temperature
    if request.stop:
        options["stop"] = request.stop
    return await llm.agenerate(**options)


def _result(answer: object) -> CreateMessageResult:
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


_TEXT_TYPE = "text/plain"
_BINARY_TYPE = "application/octet-stream"


def output_of(result: CallToolResult, call_id: str) -> ToolOutput:
    """Returns the content that the model reads of a result, with its error flag, and the rest as data.

    `data` has `structuredContent`, `_meta` and, as `forUser`, the content whose audience is the user alone; each only
    if there is some. Structured content is the model's too where nothing else is
    (https://modelcontextprotocol.io/specification, "Tools"). Raises `ToolFailed` for content that cannot be read.
    """
    for_user = [block for block in result.content if _is_for_user(block)]
    parts = content_of(block for block in result.content if not _is_for_user(block))
    if not parts and result.structured_content is not None:
        parts = (TextPart(canonical_json(result.structured_content)),)
    data: dict[str, Any] = {}
    if result.structured_content is not None:
        data["structuredContent"] = result.structured_content
    if result.meta:
        data["_meta"] = dict(result.meta)
    if for_user:
        data["forUser"] = [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in for_user]
    return ToolOutput(ToolResult(call_id, parts, is_error=result.is_error), data or None)


def content_of(blocks: Iterable[ContentBlock]) -> tuple[ContentPart, ...]:
    """Returns blocks as parts: links as a line of text, embedded resources as text or a file."""
    parts: list[ContentPart] = []
    for part in (part for block in blocks for part in _parts(block)):
        if parts and isinstance(part, TextPart) and isinstance(parts[-1], TextPart):
            parts.append(TextPart("\n"))
        parts.append(part)
    return tuple(parts)


def resource_part(contents: TextResourceContents | BlobResourceContents) -> ContentPart:
    """Returns the content of a resource as a file; raises `ToolFailed` for invalid base64."""
    name = contents.uri.rstrip("/").rpartition("/")[2] or contents.uri
    if isinstance(contents, TextResourceContents):
        content = contents.text.encode("utf-8", "replace")
        return DocumentPart(Blob.from_bytes(content, contents.mime_type or _TEXT_TYPE, name=name))
    return _file(contents.blob, contents.mime_type or _BINARY_TYPE, name)


def _parts(block: ContentBlock) -> Iterator[ContentPart]:
    if isinstance(block, TextContent):
        yield _text(block.text)
    elif isinstance(block, ImageContent | AudioContent):
        yield _file(block.data, block.mime_type)
    elif isinstance(block, ResourceLink):
        described = [block.title or block.name, block.uri, block.mime_type, block.description]
        yield _text("[resource: " + ", ".join(each for each in described if each) + "]")
    elif isinstance(block.resource, TextResourceContents):
        yield _text(f"[{block.resource.uri}]\n{block.resource.text}")
    else:
        yield resource_part(block.resource)


def _text(text: str) -> TextPart:
    """Returns a text part; JSON may hold lone surrogates, which no request can."""
    return TextPart(text.encode("utf-8", "replace").decode("utf-8"))


def _file(data: str, media_type: str, name: str | None = None) -> ContentPart:
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise ToolFailed(f"the server sent a file of type {shown(media_type)} that is not base64") from None
    return MEDIA_PART_BY_KIND[media_kind_of(media_type)](Blob.from_bytes(content, media_type, name=name))


def _is_for_user(block: ContentBlock) -> bool:
    annotations = block.annotations
    return annotations is not None and annotations.audience == ["user"]
