"""Moves files out of tool results, for models that accept only text there."""

from __future__ import annotations

from dataclasses import replace

from ..schema import MEDIA_PARTS, CallWarning, ContentPart, Lowered, Message, TextPart, ToolResult


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
