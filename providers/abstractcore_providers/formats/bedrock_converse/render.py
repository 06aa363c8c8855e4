"""Renders a reply as the body of a response (server side)."""

from __future__ import annotations

from dataclasses import replace

from abstractcore.schema import (
    CallWarning,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    JSONObject,
    ModelReply,
    Part,
    ReasoningPart,
    Rendered,
    TextPart,
    ToolCall,
)

from ...common.call_options import with_options_for
from ...common.conversations import written_with
from ...common.reading import Object
from ...common.response_bodies import merge
from .encode import BlockWriter
from .fit import PartFitter, fit_reasoning
from .media_blocks import BLOCK_FIELDS, write_media
from .read_blocks import INPUT
from .vocabulary import BILLING, FINISH_REASONS, PROVIDER, WARNINGS, usage_to_theirs

STOP_FIELDS = "additionalModelResponseFields"
"""Fields of a model beyond the format; in a stream they come with the stop reason."""
PADDING = "p"
"""Padding against eavesdroppers, which carries no information."""
_REPLY_FIELDS = frozenset({"output", "stopReason", PADDING})


def render(reply: ModelReply) -> Rendered:
    """Returns the body, with a warning for everything that the format cannot express."""
    warnings: list[CallWarning] = []
    WARNINGS.fields(reply, "", ("model", "id"), warnings)
    fitted = (fit_answer(part, f"parts[{index}]", warnings) for index, part in enumerate(reply.parts))
    writer = BlockWriter()
    parts = tuple(part for part in fitted if part is not None)
    content = writer.blocks(replace(reply, parts=parts).parts)
    metadata = metadata_to_theirs(reply.provider_metadata, warnings)
    theirs = FINISH_REASONS.to_theirs[reply.finish_reason]
    read = FINISH_REASONS.read(theirs, calls=bool(reply.tool_calls))
    WARNINGS.finish_reason(reply.finish_reason, read, warnings)
    body: Object = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": theirs}
    fields = merge(metadata, usage_to_theirs(reply.usage, warnings))
    return Rendered(written_with({**body, **fields}, INPUT, writer.inputs), tuple(warnings))


def fit_answer(part: Part, path: str, warnings: list[CallWarning]) -> Part | None:
    """Adjusts the part of a reply for both bodies and streams; None if it cannot be expressed."""
    if isinstance(part, ReasoningPart):
        if part.origin is not None:
            warnings.append(CallWarning("origin_left_out", f"{path}.origin", "a reply does not name its model"))
        return fit_reasoning(replace(part, origin=None), path, warnings)
    fitting = PartFitter("assistant", None, warnings)
    if isinstance(part, ToolCall):
        return _fitted_call(part, path, warnings)
    if isinstance(part, TextPart | HostedToolCall):
        return fitting.part(part, path)
    if isinstance(part, HostedToolResult):
        texts = tuple(item for item in part.content if isinstance(item, TextPart))
        if texts == part.content:
            return fitting.part(part, path)
    elif isinstance(part, ImagePart) and part.blob.form in ("bytes", "file") and part.blob.size:
        return fitting.part(part, path)
    warnings.append(WARNINGS.part(part, path))
    return None


def _fitted_call(part: ToolCall, path: str, warnings: list[CallWarning]) -> ToolCall:
    """Arguments that are not JSON are kept: a stream has sent them before that can be determined."""
    WARNINGS.fields(part, path, ("signature",), warnings)
    if not part.arguments_text:
        message = "missing arguments are sent as an empty object"
        warnings.append(CallWarning("arguments_rewritten", f"{path}.arguments_text", message, "", "{}"))
    own = with_options_for(part, path, PROVIDER, BLOCK_FIELDS[part.type], warnings)
    return ToolCall(part.id, part.name, part.arguments_text or "{}", provider_options=own.provider_options)


def image_of(part: ImagePart) -> tuple[Object, Object]:
    """Returns the start of a streamed image that was adjusted, and its source."""
    image: Object = write_media(part)["image"]
    return {name: value for name, value in image.items() if name != "source"}, image["source"]


def metadata_to_theirs(metadata: JSONObject, warnings: list[CallWarning]) -> Object:
    """Returns the extra fields of the reply."""
    written = {
        name: value for name, value in metadata.items() if name not in _REPLY_FIELDS and BILLING.is_rest(name, value)
    }
    WARNINGS.metadata(metadata, written, warnings)
    return written
