"""Files that a tool returns, and the model cannot be sent: a note stands in their place, and the loop goes on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from ..errors import MediaError, UnsupportedContentError
from ..schema import CallWarning, ContentPart, Message, ModelCall, TextPart, ToolResult, ToolStep
from ..schema.parts import MEDIA_PARTS


async def without_unsupported_files(
    step: ToolStep, call: ModelCall, lower: Callable[[ModelCall], Awaitable[object]]
) -> ToolStep:
    """Returns the step without files that `lower` refuses in a call of the model, each with a warning."""
    content: list[ContentPart] = []
    warnings: list[CallWarning] = []
    for index, part in enumerate(step.result.content):
        problem = await _problem(part, step, call, lower) if isinstance(part, MEDIA_PARTS) else None
        if problem is None:
            content.append(part)
            continue
        content.append(TextPart(f"[a file that cannot be shown here: {problem}]"))
        warnings.append(CallWarning("result_file_left_out", f"result.content[{index}]", problem))
    if not warnings:
        return step
    result = replace(step.result, content=tuple(content))
    return replace(step, result=result, warnings=(*step.warnings, *warnings))


async def _problem(
    part: ContentPart, step: ToolStep, call: ModelCall, lower: Callable[[ModelCall], Awaitable[object]]
) -> str | None:
    """Returns why the model cannot be sent this part of a result; None if it can."""
    messages = (
        Message.user("-"),
        Message("assistant", (step.call,)),
        Message.tool(ToolResult(step.call.id, (part,))),
    )
    try:
        await lower(call.with_(messages=messages, output=None))
    except (UnsupportedContentError, MediaError) as error:
        return error.message
    return None
