"""Renders a reply as a `GenerateContentResponse` object (server side)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import CallWarning, Citation, JSONObject, ModelReply, Part, Rendered, TextPart, ToolCall

from ...common.delta_writer import BodyWriter
from ...common.reading import Object, as_object
from ...common.response_bodies import BillingTable, merge
from .blocks import is_rest_of_grounding, write_grounding
from .vocabulary import (
    ARGUMENTS,
    WARNINGS,
    GenerateContentDialect,
    billing_to_ours,
    finish_reason_to_ours,
    finish_reason_to_theirs,
    metadata_group,
    usage_to_theirs,
)
from .write_messages import write_part


def render(reply: ModelReply, dialect: GenerateContentDialect) -> Rendered:
    """Returns the body, with a warning for everything that the format cannot express."""
    writer = BodyWriter(dialect.provider, ARGUMENTS, one_line=True)
    warnings = writer.warnings
    written: list[Object] = []
    cited: list[tuple[int, int, TextPart, str]] = []
    for index, part in enumerate(reply.parts):
        path = f"parts[{index}]"
        try:
            _write(written, part, path, writer, cited)
        except UnsupportedContentError as error:
            warnings.append(CallWarning("part_left_out", path, error.message))
    metadata = grouped_metadata(reply.provider_metadata, dialect.billing, warnings)
    candidate: Object = {"content": {"role": "model", "parts": written}, "finishReason": _finish(reply, warnings)}
    texts = [
        (number_of(written, number), str(written[number]["text"]), shifted(part, offset), path)
        for number, offset, part, path in cited
    ]
    grounding = write_grounding(texts, metadata.grounding, warnings)
    if grounding:
        candidate["groundingMetadata"] = grounding
    body: Object = {"candidates": [{**candidate, "index": 0, **metadata.candidate}], **metadata.reply}
    body = merge(body, usage_to_theirs(reply.usage, dialect.billing, warnings))
    billing = billing_to_ours(as_object(body.get("usageMetadata")), grounding, dialect.billing)
    WARNINGS.billing(reply.usage.billing, billing, warnings)
    return Rendered(writer.json(body | head(reply.model, reply.id)), tuple(warnings))


def head(model: str | None, id: str | None) -> Object:
    """Returns the model and the id of the response."""
    return {name: value for name, value in (("modelVersion", model), ("responseId", id)) if value is not None}


def _write(
    written: list[Object],
    part: Part,
    path: str,
    writer: BodyWriter,
    cited: list[tuple[int, int, TextPart, str]],
) -> None:
    id = part.id if isinstance(part, ToolCall) else ""
    write_part(written, part, id, path, writer)
    if isinstance(part, TextPart) and part.citations and "text" not in written[-1]:
        writer.warnings.append(WARNINGS.field("citations", path))
    elif isinstance(part, TextPart) and part.citations:
        cited.append((len(written) - 1, len(str(written[-1]["text"])) - len(part.text), part, path))


def number_of(written: list[Object], index: int) -> int:
    """Returns the number of a part among the non-empty ones: a signature alone does not count."""
    return sum(part.get("text") != "" for part in written[:index])


def shifted(part: TextPart, offset: int) -> tuple[Citation, ...]:
    """Returns the part's citations for a text in which it starts at `offset`."""
    return tuple(citation.spanning(len(part.text), offset) for citation in part.citations)


def _finish(reply: ModelReply, warnings: list[CallWarning]) -> str:
    theirs = finish_reason_to_theirs(reply.finish_reason)
    read = finish_reason_to_ours(theirs, bool(reply.tool_calls))
    WARNINGS.finish_reason(reply.finish_reason, read, warnings)
    return theirs


@dataclass(slots=True)
class GroupedMetadata:
    """The extra fields of a reply, by their object in the format."""

    reply: Object = field(default_factory=dict[str, Any])
    candidate: Object = field(default_factory=dict[str, Any])
    grounding: JSONObject = field(default_factory=dict[str, Any])


def grouped_metadata(metadata: JSONObject, billing: BillingTable, warnings: list[CallWarning]) -> GroupedMetadata:
    """Returns the metadata that can be written as fields of the reply; the rest is reported in warnings."""
    grouped = GroupedMetadata()
    for name, value in metadata.items():
        group = metadata_group(name, value, billing)
        if name == "groundingMetadata" and is_rest_of_grounding(value):
            grouped.grounding = cast(JSONObject, value)
        elif group == "candidate":
            grouped.candidate[name] = value
        elif group == "reply":
            grouped.reply[name] = value
        else:
            warnings.append(WARNINGS.metadata_field(name))
    return grouped
