"""Long results: shortened for the model, kept whole in the artifact store, and read page by page with `read_result`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..errors import ArtifactError
from ..ports import ArtifactStore
from ..schema import CallWarning, TextPart, ToolResult, ToolSpec, ToolStep

_TAIL_SHARE = 4
"""One part in so many of the characters that are kept is the end of the text."""
READ_RESULT = ToolSpec(
    "read_result",
    "Reads more of the result of a tool call that was shortened.",
    {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "The id in the note where the text was shortened."},
            "offset": {"type": "integer", "minimum": 0, "description": "The first character to read."},
        },
        "required": ["id"],
        "additionalProperties": False,
    },
    read_only=True,
    idempotent=True,
)
"""The tool that a loop adds once a result has been shortened."""


def shortened_step(step: ToolStep, most: int, artifacts: Callable[[], ArtifactStore]) -> ToolStep:
    """Returns the step with texts of its result of `most` characters together, and the whole text as an artifact.

    The head and the tail are kept, with a note between them. A text that cannot be stored is lost, with a warning.
    """
    texts = [part.text for part in step.result.content if isinstance(part, TextPart)]
    length = sum(map(len, texts))
    if length <= most:
        return step
    whole = "\n".join(texts)
    artifact, warnings = None, step.warnings
    try:
        artifact = artifacts().put(whole.encode(), "text/plain; charset=utf-8").sha256
    except ArtifactError as error:
        lost = f"the whole result of {step.call.name} could not be stored: {error.message}"
        warnings = (*warnings, CallWarning("result_not_stored", "", lost))
    way = (
        f' To read them: {READ_RESULT.name}(id="{step.call.id}", offset={_head(most)})' if artifact is not None else ""
    )
    media = tuple(part for part in step.result.content if not isinstance(part, TextPart))
    content = (TextPart(shortened(whole, most, way)), *media)
    result = ToolResult(step.result.call_id, content, step.result.is_error)
    return replace(step, result=result, artifact=artifact, warnings=warnings)


def shortened(text: str, most: int, way: str = "") -> str:
    """Returns the head and the tail of a text that is longer than `most` characters, with a note between them. `way` is
    a sentence, after a blank, that says how to read what is left out.
    """
    if len(text) <= most:
        return text
    head = _head(most)
    note = f"\n[{len(text) - most:,} of {len(text):,} characters left out here.{way}]\n"
    return f"{text[:head]}{note}{text[head - most :]}"


def _head(most: int) -> int:
    return most - most // _TAIL_SHARE


def page_of_result(text: str, offset: int, most: int) -> str:
    """Returns `most` characters of `text` from `offset`, with a note that says what is left."""
    page = text[offset : offset + most]
    end = offset + len(page)
    if not page:
        return f"[The result has {len(text):,} characters: there is nothing at {offset:,}.]"
    rest = f"; the rest begins at offset {end}" if end < len(text) else ": this is the end"
    return f"{page}\n[characters {offset:,} to {end:,} of {len(text):,}{rest}]"
