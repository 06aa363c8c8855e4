"""Tool names that vendors accept: invalid ones are rejected in definitions and replaced in earlier messages."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, Message, ModelCall, ToolCall


@dataclass(frozen=True, slots=True)
class ToolNames:
    """The tool names that a vendor accepts: at most `longest` characters of `alphabet` (regular expression syntax), the
    first from `first`. `described` is the rule in words.
    """

    described: str
    alphabet: str = "a-zA-Z0-9_-"
    longest: int = 64
    first: str = "a-zA-Z0-9_-"

    def allow(self, name: str) -> bool:
        """Whether the vendor accepts the name."""
        return _is_allowed(name, self.first, self.alphabet, self.longest)

    def nearest(self, name: str) -> str:
        """Returns the closest valid name."""
        name = re.sub(f"[^{self.alphabet}]", "_", name) or "tool"
        if not re.match(f"[{self.first}]", name):
            name = f"_{name}"
        return name[: self.longest]


@lru_cache(maxsize=1024)
def _is_allowed(name: str, first: str, alphabet: str, longest: int) -> bool:
    return re.fullmatch(f"[{first}][{alphabet}]{{0,{longest - 1}}}", name) is not None


OPENAI = ToolNames("up to 64 letters, digits, underscores and dashes")
"""`FunctionDefinition` in the openai package; the same in Mistral's mistral-common (`validator.py`)."""
ANTHROPIC = ToolNames("up to 128 letters, digits, underscores and dashes", longest=128)
"""platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use, "Specifying client tools"."""
BEDROCK = ToolNames("up to 64 letters, digits, underscores and dashes")
"""`ToolName` in botocore's model of bedrock-runtime."""
GEMINI = ToolNames(
    "up to 128 letters, digits, underscores, dots, colons and dashes, the first a letter or an underscore",
    alphabet="a-zA-Z0-9_.:-",
    longest=128,
    first="a-zA-Z_",
)
"""`FunctionDeclaration` in the google-genai package."""


def with_valid_names(call: ModelCall, names: ToolNames, warnings: list[CallWarning]) -> ModelCall:
    """Returns the call with valid tool names: calls in its messages are renamed, with a warning each.

    Different names of calls stay different. Raises `InvalidInputError` with the path and a valid suggestion for a tool
    that the call defines or chooses.
    """
    for index, tool in enumerate(call.tools):
        _check(tool.name, f"tools[{index}].name", names)
    if call.tool_choice is not None and call.tool_choice.tool is not None:
        _check(call.tool_choice.tool, "tool_choice.tool", names)
    renamed = _renamed(call.messages, names)
    if not renamed:
        return call
    messages = tuple(_with_names(message, i, renamed, names, warnings) for i, message in enumerate(call.messages))
    return call.with_(messages=messages)


def _check(name: str, path: str, names: ToolNames) -> None:
    if not names.allow(name):
        raise InvalidInputError(
            f"{name!r} is not a tool name that this provider accepts: {names.described}",
            path=path,
            hint=f"Use {names.nearest(name)!r}.",
        )


def _renamed(messages: Iterable[Message], names: ToolNames) -> dict[str, str]:
    """Maps each invalid name in calls to a unique valid one."""
    spoken = (message for message in messages if message.role == "assistant")
    called = dict.fromkeys(part.name for message in spoken for part in message.parts if type(part) is ToolCall)
    found: dict[str, str] = {}
    for name in called:
        if not names.allow(name):
            found[name] = _unused(names.nearest(name), {*called, *found.values()}, names.longest)
    return found


def _unused(name: str, taken: Container[str], longest: int) -> str:
    unused, number = name, 1
    while unused in taken:
        number += 1
        unused = f"{name[: longest - len(str(number)) - 1]}_{number}"
    return unused


def _with_names(
    message: Message, index: int, renamed: dict[str, str], names: ToolNames, warnings: list[CallWarning]
) -> Message:
    if message.role != "assistant":
        return message
    parts = list(message.parts)
    for number, part in enumerate(parts):
        if isinstance(part, ToolCall) and part.name in renamed:
            sent = renamed[part.name]
            path = f"messages[{index}].parts[{number}].name"
            message_ = f"a tool's name is {names.described}"
            warnings.append(CallWarning("tool_name_changed", path, message_, part.name, sent))
            parts[number] = replace(part, name=sent)
    return replace(message, parts=tuple(parts))
