"""Files that a tool returns: a note in place of one that the model cannot be sent; and for models that accept only text
in results, files after them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from ..errors import MediaError, UnsupportedContentError
from ..schema import MEDIA_PARTS, CallWarning, ContentPart, Lowered, Message, ModelCall, TextPart, ToolResult, ToolStep


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


def move_files_after_results(lowered: Lowered) -> Lowered:
    """Returns the call with a user message of files after each tool message that held them, and warnings.

    A marker, `[media_1 of the result of tool call call_1]`, replaces the file, and precedes it in the user message.
    """
    messages: list[Message] = []
    warnings: list[CallWarning] = []
    for index, message in enumerate(lowered.call.messages):
        beside: list[ContentPart] = []
        if message.role == "tool":
            message = _without_files(message, f"messages[{index}].parts", beside, warnings)
        messages.append(message)
        if beside:
            messages.append(Message("user", tuple(beside)))
    if not warnings:
        return lowered
    call = lowered.call.with_(messages=tuple(messages))
    return replace(lowered, call=call, warnings=(*lowered.warnings, *warnings))


def _without_files(message: Message, path: str, beside: list[ContentPart], warnings: list[CallWarning]) -> Message:
    results: list[ToolResult] = []
    for result_index, result in enumerate(message.parts):
        assert isinstance(result, ToolResult)
        content: list[ContentPart] = []
        for index, part in enumerate(result.content):
            if not isinstance(part, MEDIA_PARTS):
                content.append(part)
                continue
            marker = TextPart(f"[media_{len(beside) // 2 + 1} of the result of tool call {result.call_id}]")
            content.append(marker)
            beside += [marker, part]
            where = f"{path}[{result_index}].content[{index}]"
            reason = "tool results support only text: the file is moved to the next message, and replaced by a marker"
            warnings.append(CallWarning("moved_after_results", where, reason, sent=marker.text))
        results.append(replace(result, content=tuple(content)))
    return Message("tool", tuple(results))
