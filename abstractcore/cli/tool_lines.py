"""The lines that show tool calls and their results as they happen."""

from __future__ import annotations

import abstractcore

_LONGEST = 300


def tool_line(event: abstractcore.ToolEvent) -> str:
    """Returns one line for an event."""
    match event:
        case abstractcore.ToolStarted():
            return _limited(f"-> {event.call.name}({event.call.arguments_text})")
        case abstractcore.ToolProgress():
            total = "" if event.total is None else f" of {event.total:g}"
            message = f" {event.message}" if event.message else ""
            return f"   {_limited(f'{event.call.name}: {event.done:g}{total}{message}')}"
        case abstractcore.ToolEnded(step):
            outcome = "" if step.outcome == "done" else f"{step.outcome}: "
            files = sum(not isinstance(part, abstractcore.TextPart) for part in step.result.content)
            return _limited(f"<- {outcome}{step.result.as_text}") + (f" [files: {files}]" if files else "")


def _limited(line: str) -> str:
    """Returns the text on one line, shortened."""
    line = " ".join(line[: 2 * _LONGEST].split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
