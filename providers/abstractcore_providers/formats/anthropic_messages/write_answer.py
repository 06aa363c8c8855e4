"""Earlier assistant messages, in their order, with the provider's own parts unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from abstractcore.schema import CallWarning, OpaquePart, Part, ReasoningPart, TextPart, ToolCall

from ...common.call_options import name_options_left_out
from ...common.conversations import HOLE, SentCallIds
from ...common.reading import Object
from ...common.thinking import NOT_REPLAYED
from .blocks import input_text, write_own
from .citations import cited_blocks, own_citation
from .content import append_block, with_cache, with_extras
from .tool_searches import LEFT_OUT, is_search_among
from .vocabulary import WARNINGS
from .writing import RequestState

BLANK_TEXT = "an assistant message of only whitespace is refused"
"""Whitespace that models write before a tool call. The API's error: `text content blocks must contain non-whitespace
text`.
"""


_NO_DOCUMENTS = "this version of the API accepts no document in an assistant message"


@dataclass(slots=True)
class AnswerWriter:
    """Writes the assistant's messages of one call. `inputs` collects the texts for their placeholders.

    Reasoning is that of the model `origin`, and sent back if `replays`; documents are if `documents`.
    """

    origin: str | None
    inputs: list[str]
    writing: RequestState
    replays: bool = True
    documents: bool = True
    searches_left_out: frozenset[str] = frozenset()
    """The ids of tool searches that the request cannot repeat."""

    def write(self, parts: Sequence[Part], turn: int, ids: SentCallIds) -> list[Object]:
        """Returns the blocks of message `turn`."""
        blocks: list[Object] = []
        has_text = any(isinstance(part, TextPart) and not part.text.isspace() for part in parts)
        for index, part in enumerate(parts):
            path = f"messages[{turn}].parts[{index}]"
            if isinstance(part, TextPart) and not has_text:
                self._warn("part_left_out", path, BLANK_TEXT)
            elif isinstance(part, TextPart):
                for block in self._texts(part, path):
                    append_block(blocks, block)
            elif isinstance(part, ReasoningPart):
                blocks += self._reasoning(part, path)
            elif isinstance(part, ToolCall):
                blocks.append(self._call(part, path, ids.of_call(turn, part.id)))
            elif isinstance(part, OpaquePart) and part.kind == "document" and not self.documents:
                self._warn("part_left_out", path, _NO_DOCUMENTS)
            elif self.searches_left_out and is_search_among(part, self.searches_left_out):
                self._warn("part_left_out", path, LEFT_OUT)
            else:
                blocks += write_own(part, path, self.writing.provider, self.inputs, self.writing.warnings)
        return blocks

    def _warn(self, code: str, path: str, message: str) -> None:
        self.writing.warnings.append(CallWarning(code, path, message))

    def _texts(self, part: TextPart, path: str) -> list[Object]:
        blocks = cited_blocks(part, path, own_citation, self.writing.warnings)
        if len(blocks) == 1:
            with_extras(blocks[0], part, path, self.writing)
        else:
            with_cache(blocks[-1], part, path, self.writing)
            message = "citations of spans of a text make several blocks of it"
            name_options_left_out(part, path, self.writing.provider, message, self.writing.warnings)
        return blocks

    def _reasoning(self, part: ReasoningPart, path: str) -> list[Object]:
        if part.origin != self.origin:
            self._warn("reasoning_left_out", path, f"it is the reasoning of {part.origin or 'an unknown model'}")
        elif part.is_plain:
            self._warn("reasoning_left_out", path, "reasoning is accepted only with its signature")
        elif not self.replays:
            self._warn("reasoning_left_out", path, NOT_REPLAYED)
        else:
            redacted = part.redacted_data is not None and not (part.text and part.signature)
            return [thinking_block(part, redacted, path, self.writing.warnings)]
        return []

    def _call(self, part: ToolCall, path: str, id: str) -> Object:
        WARNINGS.fields(part, path, ("signature",), self.writing.warnings)
        self.inputs.append(self._arguments(part, path))
        block: Object = {"type": "tool_use", "id": id, "name": part.name, "input": HOLE}
        return with_extras(block, part, path, self.writing)

    def _arguments(self, part: ToolCall, path: str) -> str:
        """Returns the arguments' original text, if it is that of an object."""
        text = input_text(part)
        if text != part.arguments_text:
            message = "arguments are sent as a JSON object, without text around it"
            self.writing.warnings.append(
                CallWarning("arguments_changed", f"{path}.arguments_text", message, part.arguments_text, text)
            )
        return text


def thinking_block(part: ReasoningPart, redacted: bool, path: str, warnings: list[CallWarning]) -> Object:
    """Returns reasoning as a block, with its text and signature, or else redacted."""
    for name in ("text", "signature") if redacted else ("redacted_data",):
        if getattr(part, name):
            message = "reasoning is either signed text or redacted"
            warnings.append(CallWarning(f"{name}_left_out", f"{path}.{name}", message))
    if redacted:
        return {"type": "redacted_thinking", "data": part.redacted_data}
    return {"type": "thinking", "thinking": part.text, "signature": part.signature or ""}
