"""What a model is told about an answer that does not match the requested type, and whether it is asked again."""

from __future__ import annotations

from typing import Final

from ..errors import OutputValidationError
from ..schema import FinishReason

NOT_REPEATED: Final[tuple[FinishReason, ...]] = ("length", "content_filter", "refusal", "paused")
"""How replies end that would end in the same way again: cut, filtered or refused answers cannot be corrected."""
ASK_FOR_JSON: Final = "Now give this answer as JSON that matches the schema, and nothing else."
_LONGEST = 4000


def correction_of(error: OutputValidationError) -> str:
    """Returns the message that asks the model for a valid answer: every problem in a line, at most 4,000 characters."""
    lines = ["The answer is not valid:"]
    size = len(lines[0])
    for index, each in enumerate(error.problems):
        line = f"- {each}"
        size += len(line) + 1
        if size > _LONGEST:
            lines.append(f"- ... and {len(error.problems) - index} more problems")
            break
        lines.append(line)
    if not error.problems:
        lines.append(f"- {error.message[:_LONGEST]}")
    return "\n".join([*lines, "Answer again: the whole answer with these problems corrected, and nothing else."])
