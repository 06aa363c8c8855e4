"""Writes the parts of a model's turn as steps: in a request's history, and in a reply."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from abstractcore.schema import (
    MEDIA_PARTS,
    HostedToolCall,
    HostedToolResult,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
)
from abstractcore.schema.parts import canonical_parts

from ...common.call_options import with_options, with_options_for
from ...common.delta_writer import BodyWriter
from ...common.reading import Object
from .content import TEXT_FIELDS, fit_citations, opaque_content, write_media, write_text
from .known_steps import CALL_FIELDS, THOUGHT, opaque_kind, write_hosted, write_thought
from .vocabulary import WARNINGS

_OUTPUT = "model_output"


class StepWriter:
    """Writes steps in order. Adjacent content is in one step, and adjacent texts without options are one text."""

    def __init__(self, writer: BodyWriter) -> None:
        self._writer = writer
        self._steps: list[Object] = []
        self._content: list[tuple[TextPart, str] | Object] = []
        """The content of the open step; texts are written at its end, each with its path."""

    def add(self, part: Part, path: str, id: str) -> None:
        """Adds a part; `id` is that of a tool call.

        A part that is not sent is reported in a warning. Raises `UnsupportedContentError` for media that cannot be
        sent.
        """
        if isinstance(part, TextPart):
            self._add_text(part, path)
        elif isinstance(part, MEDIA_PARTS):
            self._content.append(write_media(part, path, self._writer.provider, self._writer.warnings))
        elif isinstance(part, ReasoningPart):
            self._add_thought(part, path)
        elif isinstance(part, ToolCall):
            self._add_step(self._call(part, path, id))
        else:
            self._add_other(part, path)

    def finish(self) -> list[Object]:
        """Returns the steps."""
        self._end_content()
        return self._steps

    def _add_text(self, part: TextPart, path: str) -> None:
        writer = self._writer
        if part.cache is not None:
            writer.warnings.append(WARNINGS.field("cache", path))
            part = replace(part, cache=None)
        part = fit_citations(part, path, writer.warnings)
        part = with_options_for(part, path, writer.provider, TEXT_FIELDS, writer.warnings)
        before = self._content[-1] if self._content else None
        if isinstance(before, tuple):
            joined = canonical_parts((before[0], part), path)
            if len(joined) == 1:
                self._content[-1] = (cast(TextPart, joined[0]), before[1])
                return
        self._content.append((part, path))

    def _add_step(self, step: Object) -> None:
        self._end_content()
        self._steps.append(step)

    def _end_content(self) -> None:
        if self._content:
            content = [self._written(item) if isinstance(item, tuple) else item for item in self._content]
            self._steps.append({"type": _OUTPUT, "content": content})
            self._content = []

    def _written(self, item: tuple[TextPart, str]) -> Object:
        return write_text(*item, self._writer.provider, self._writer.warnings)

    def _add_thought(self, part: ReasoningPart, path: str) -> None:
        """Adds a thought; adjacent ones without a signature are merged."""
        step = write_thought(part, path, self._writer.warnings)
        if step is None:
            return
        before = self._steps[-1] if self._steps and not self._content else {}
        if before.keys() == step.keys() == {"type", "summary"} and before["type"] == THOUGHT:
            before["summary"][0]["text"] += part.text
        else:
            self._add_step(step)

    def _call(self, call: ToolCall, path: str, id: str) -> Object:
        writer = self._writer
        WARNINGS.fields(call, path, ("signature", "cache"), writer.warnings)
        step: Object = {"type": "function_call", "id": id, "name": call.name}
        writer.put_arguments(step, call, path)
        return with_options(step, call, path, writer.provider, CALL_FIELDS, writer.warnings)

    def _add_other(self, part: Part, path: str) -> None:
        """Adds a step of a hosted tool, or an opaque one; a warning if it is another provider's."""
        writer = self._writer
        step: Object | None = None
        if isinstance(part, HostedToolCall | HostedToolResult):
            step = write_hosted(part, path, writer)
        elif isinstance(part, OpaquePart) and part.provider == writer.provider:
            content = opaque_content(part, writer.provider)
            if content is not None:
                self._content.append(content)
                return
            if opaque_kind(part.data) == part.kind:
                step = dict(cast(Object, part.data))
        if step is None:
            writer.warnings.append(WARNINGS.part(part, path))
        else:
            self._add_step(step)
