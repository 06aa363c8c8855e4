"""What the system message says about tools: their specifications, how to call them, and whether to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from ...schema import JSONObject, ToolChoice, ToolSpec
from .lenient_values import GEMMA_QUOTE, as_json

_EMPTY: Final[JSONObject] = {"type": "object", "properties": {}}


def function(tool: ToolSpec) -> str:
    """Returns a tool as OpenAI's API describes functions, which most templates do too."""
    return as_json({"type": "function", "function": _fields(tool)})


def plain_function(tool: ToolSpec) -> str:
    """Returns a tool's name, description and parameters as one object."""
    return as_json(_fields(tool))


def gemma_declaration(tool: ToolSpec) -> str:
    """Returns a tool as the template of Gemma 4 declares it."""
    fields = {"description": tool.description, "parameters": _upper_types(tool.parameters or _EMPTY)}
    return f"<|tool>declaration:{tool.name}{gemma_value(fields)}<tool|>"


def gemma_value(value: object) -> str:
    """Returns a value in the syntax of Gemma 4: keys without quotes, texts between `<|"|>`."""
    if isinstance(value, str):
        return (
            f"{GEMMA_QUOTE}{value}{GEMMA_QUOTE}" if GEMMA_QUOTE not in value else as_json(value).replace("<", "\\u003c")
        )
    if isinstance(value, Mapping):
        items = (f"{_gemma_key(key)}:{gemma_value(item)}" for key, item in cast("Mapping[str, Any]", value).items())
        return "{" + ",".join(items) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(gemma_value, cast("Sequence[object]", value))) + "]"
    return as_json(value)


def _gemma_key(key: str) -> str:
    return key if key.isidentifier() and key.isascii() else gemma_value(key)


def _fields(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters or _EMPTY}


def _upper_types(schema: object) -> Any:
    if isinstance(schema, Mapping):
        return {
            key: value.upper() if key == "type" and isinstance(value, str) else _upper_types(value)
            for key, value in cast("Mapping[str, Any]", schema).items()
        }
    return [_upper_types(item) for item in cast("list[object]", schema)] if isinstance(schema, list) else schema


_EXAMPLES: Final = """\
There are no tools but {names}. If you need one, write nothing but its call.{several} All other questions you answer \
yourself, in plain text, as here:
Question: Who wrote Faust?
Goethe.
Question: What is 6 times 7?
42
Question: Translate 'dog' into Italian.
cane
Question: Write a query that counts the rows of t.
```sql
SELECT COUNT(*) FROM t;
```"""
_STOP: Final = "After a call, stop and wait for its result: never invent results."


def when_to_call(
    tools: Sequence[ToolSpec], choice: ToolChoice | None, parallel: bool | None, *, examples: bool = False
) -> str:
    """Returns the sentences on whether to call tools, and how many at a time. With `examples`, and the choice left to
    the model, they have answers to questions that need no tool.
    """
    mode = choice.mode if choice is not None else "auto"
    if mode == "none":
        return "Do not call any of them now: answer in plain text."
    several = (
        "" if parallel is None else " You may make several calls at once." if parallel else " Make one call at a time."
    )
    if choice is not None and mode == "tool":
        whether = f"You must call {choice.tool} now. Write nothing else."
    elif mode == "required":
        whether = "You must call at least one of them now. Write nothing else."
    elif examples:
        return _EXAMPLES.format(names=_listed([tool.name for tool in tools]), several=several) + f"\n\n{_STOP}"
    else:
        # Of six wordings this had the most right calls, and the fewest needless ones, of Qwen2.5-Coder-1.5B.
        whether = "Most questions need no tool: answer them in plain text. If you need one, write nothing but its call."
    return f"{whether}{several} {_STOP}"


def _listed(names: Sequence[str]) -> str:
    """Returns names as in "a, b and c"."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
