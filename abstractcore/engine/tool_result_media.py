"""Files that tools give, for models that take text only in results: each stands behind, with a marker in its place."""

from __future__ import annotations

from dataclasses import replace

from ..schema import MEDIA_PARTS, CallWarning, ContentPart, Lowered, Message, TextPart, ToolResult


def beside_results(lowered: Lowered) -> Lowered:
    """The call with a user's message behind every tool message that held files, and a warning for each of them.

    A marker, `[media_1 of the result of tool call call_1]`, stands where the file stood and before the file itself.
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
    return Lowered(call, lowered.decisions, (*lowered.warnings, *warnings))


def _without_files(message: Message, path: str, beside: list[ContentPart], warnings: list[CallWarning]) -> Message:
    results: list[ToolResult] = []
    for place, result in enumerate(message.parts):
        assert isinstance(result, ToolResult)
        content: list[ContentPart] = []
        for index, part in enumerate(result.content):
            if not isinstance(part, MEDIA_PARTS):
                content.append(part)
                continue
            marker = TextPart(f"[media_{len(beside) // 2 + 1} of the result of tool call {result.call_id}]")
            content.append(marker)
            beside += [marker, part]
            where = f"{path}[{place}].content[{index}]"
            told = "results hold text only here: the file stands in a message behind, and a marker in its place"
            warnings.append(CallWarning("moved_beside", where, told, sent=marker.text))
        results.append(replace(result, content=tuple(content)))
    return Message("tool", tuple(results))
