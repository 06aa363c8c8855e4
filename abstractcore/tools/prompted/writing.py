"""Writes calls and results of a conversation as the text of its turns."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final, cast

from ...schema import TextPart, ToolCall, ToolResult, ToolSpec
from .descriptions import gemma_value
from .lenient_values import as_json
from .offered import OfferedTools
from .tagged_bodies import TagGrammar

_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def arguments_json(call: ToolCall) -> str:
    """Returns the arguments of a call as JSON in which no marker can occur; its text if it is not JSON."""
    if call.arguments is None:
        return call.arguments_text
    return as_json(call.arguments).replace("<", "\\u003c")


def json_object(name: str, arguments: str, key: str = "arguments") -> str:
    """Returns a call as an object with its name and arguments."""
    return f'{{"name": {as_json(name)}, "{key}": {arguments}}}'


def python_call(call: ToolCall) -> str:
    """Returns a call in Python's syntax."""
    if call.arguments is None:
        return f"{call.name}({call.arguments_text})"
    named = [f"{key}={python_literal(value)}" for key, value in call.arguments.items() if _IDENTIFIER.fullmatch(key)]
    others = {key: value for key, value in call.arguments.items() if not _IDENTIFIER.fullmatch(key)}
    return f"{call.name}({', '.join([*named, *([f'**{python_literal(others)}'] if others else [])])})"


def python_literal(value: Any) -> str:
    """Returns a JSON value as a Python literal, texts as JSON writes them."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return "{" + ", ".join(f"{python_literal(key)}: {python_literal(item)}" for key, item in items) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(python_literal, cast("list[Any]", value))) + "]"
    if isinstance(value, str):
        return json.dumps(value).replace("<", "\\u003c").replace("`", "\\u0060")
    return repr(value)


def gemma_call(call: ToolCall) -> str:
    """Returns a call in the syntax of Gemma 4."""
    arguments = gemma_value(call.arguments) if call.arguments is not None else f"{{{call.arguments_text}}}"
    return f"<|tool_call>call:{call.name}{arguments}<tool_call|>"


def tagged_arguments(call: ToolCall, grammar: TagGrammar, tools: Sequence[ToolSpec], template: str) -> str:
    """Returns the arguments of a call, each in `template` with `{key}` and `{value}`."""
    offered = OfferedTools(tools)
    arguments = call.arguments if call.arguments is not None else {"arguments": call.arguments_text}
    return "".join(
        template.replace("{key}", grammar.write_key(key), 1).replace(
            "{value}", grammar.write_value(value, offered.types(call.name, key)), 1
        )
        for key, value in arguments.items()
    )


def result_text(result: ToolResult) -> str:
    """Returns the text of a result, that of an error with a label; `[image 1]` in place of a file."""
    texts: list[str] = []
    files = 0
    for part in result.content:
        if isinstance(part, TextPart):
            texts.append(part.text)
        else:
            files += 1
            texts.append(f"[{part.type} {files}]")
    text = "\n".join(texts) if files else "".join(texts)
    return f"Error: {text}" if result.is_error else text
