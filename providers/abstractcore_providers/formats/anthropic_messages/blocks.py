"""Blocks that a model writes, read tolerantly from replies; a client's blocks are checked before."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic_core import to_json

from abstractcore.schema import (
    CallWarning,
    HostedToolCall,
    HostedToolResult,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    to_data,
)

from ...common.call_options import read_options
from ...common.conversations import HOLE
from ...common.reading import Object, text_of
from .block_fields import BLOCK_FIELDS
from .citations import citations_to_ours
from .hosted_tools import result_text
from .vocabulary import WARNINGS, cache_to_ours

HOSTED_CALLS = ("server_tool_use", "mcp_tool_use")
CALLS = ("tool_use", *HOSTED_CALLS)
_INVALID = "INVALID_JSON"
"""The key for arguments that are not a JSON object, as the vendor prescribes ("Fine-grained tool streaming")."""


def is_hosted_result(kind: object) -> bool:
    """Whether a block of this type contains the result of a hosted tool."""
    return isinstance(kind, str) and kind.endswith("_tool_result")


def read_block(block: Object, provider: str, origin: str | None, input_text: str) -> Part:
    """Returns the part in a block; `input_text` is the text of its `input`, if it has one. Raises `SchemaError`."""
    kind = text_of(block, "type") or ""
    if kind == "text":
        return _text(block, provider)
    if kind == "thinking":
        return ReasoningPart(text_of(block, "thinking") or "", text_of(block, "signature"), origin=origin)
    if kind == "redacted_thinking":
        return ReasoningPart(redacted_data=text_of(block, "data"), origin=origin)
    if kind == "tool_use":
        return _tool_call(block, provider, input_text)
    if kind in HOSTED_CALLS:
        metadata = _without(block, "id", "name", "input")
        return HostedToolCall(text_of(block, "id") or "", text_of(block, "name") or "", input_text, metadata)
    if is_hosted_result(kind):
        return HostedToolResult(text_of(block, "tool_use_id") or "", result_text(block), _without(block, "tool_use_id"))
    return OpaquePart(provider, kind, _without(block, "type"))


def _text(block: Object, provider: str) -> TextPart:
    """An empty text has no cache point and no options."""
    cache = cache_to_ours(block.get("cache_control"))
    text = text_of(block, "text") or ""
    citations = citations_to_ours(block)
    options = read_options(block, BLOCK_FIELDS["text"], provider)
    return TextPart(text, citations, cache, options) if text else TextPart("", citations)


def _tool_call(block: Object, provider: str, input_text: str) -> ToolCall:
    written = text_of(block, "partial_json")
    cache = cache_to_ours(block.get("cache_control"))
    return ToolCall(
        text_of(block, "id") or "",
        text_of(block, "name") or "",
        input_text if written is None else written,
        cache=cache,
        provider_options=read_options(block, BLOCK_FIELDS["tool_use"], provider),
    )


def _without(block: Object, *names: str) -> Object:
    return {name: value for name, value in block.items() if name not in names}


def own_block(part: Part, provider: str) -> Object | None:
    """Returns the block that `part` was read from; None if it is not from this format. Its `input` is omitted."""
    if isinstance(part, OpaquePart) and part.provider == provider and isinstance(part.data, Mapping):
        block: Object = {"type": part.kind, **part.data}
    elif isinstance(part, HostedToolCall) and part.provider_metadata.get("type") in HOSTED_CALLS:
        if not _is_object(part.arguments_text):
            return None
        block = {**part.provider_metadata, "id": part.id, "name": part.name}
    elif isinstance(part, HostedToolResult) and is_hosted_result(part.provider_metadata.get("type")):
        block = {**part.provider_metadata, "tool_use_id": part.call_id}
    else:
        return None
    text = part.arguments_text if isinstance(part, HostedToolCall) else ""
    return block if _same(read_block(block, provider, None, text), part) else None


def write_own(part: Part, path: str, provider: str, inputs: list[str], warnings: list[CallWarning]) -> list[Object]:
    """Returns the block of `part`, and the text of its input; a warning if it is not from this format."""
    block = own_block(part, provider)
    if block is None:
        warnings.append(WARNINGS.part(part, path))
        return []
    if isinstance(part, HostedToolCall):
        inputs.append(part.arguments_text)
        block["input"] = HOLE
    return [block]


def _same(one: Part, other: Part) -> bool:
    return type(one) is type(other) and to_data(one) == to_data(other)


def _is_object(text: str) -> bool:
    call = ToolCall("", "", text)
    return call.arguments is not None and input_text(call) == text


def input_text(call: ToolCall) -> str:
    """Returns the arguments as the JSON text of an object: the original text if it is one."""
    return to_json({_INVALID: call.arguments_text}).decode() if call.arguments_json is None else call.arguments_json
