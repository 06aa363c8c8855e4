"""What the system message says about tools: their specifications, how to call them, and whether to.

Grammars of calls, for servers that can constrain what a model writes: llama.cpp's GBNF.

Its syntax is described in https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md.
"""

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
        return _EXAMPLES.format(names=_enumeration([tool.name for tool in tools]), several=several) + f"\n\n{_STOP}"
    else:
        # Of six wordings this had the most right calls, and the fewest needless ones, of Qwen2.5-Coder-1.5B.
        whether = "Most questions need no tool: answer them in plain text. If you need one, write nothing but its call."
    return f"{whether}{several} {_STOP}"


def _enumeration(names: Sequence[str]) -> str:
    """Returns names as in "a, b and c"."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


_COMMON: Final = r"""
ws ::= [ \n]?
string ::= "\"" ([^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\""
integer ::= "-"? ("0" | [1-9] [0-9]{0,15})
number ::= integer ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,3})?
boolean ::= "true" | "false"
null ::= "null"
value ::= string | number | boolean | null | object | array
object ::= "{" ws (string ":" ws value ("," ws string ":" ws value)*)? ws "}"
array ::= "[" ws (value ("," ws value)*)? ws "]"
""".strip()
_TEXT: Final = r"""
text ::= first other*
first ::= [^<{` \n\t] | tag | "`" [^`] | "```" [a-zA-Z0-9+#-]* " "? "\n" [^{[<]
other ::= [^<] | tag
tag ::= "<" [^t|] | "<t" [^o] | "<|" [^a-zA-Z]
""".strip()
"""An answer: text in which no call begins. It may begin with code, but not with JSON, which would be a call, nor with
white space, after which a model that may not write what it wants to would end. For the grammar, a control token such as
`<|im_start|>` is the text of its name: with it a model could begin another turn, which the server does not show."""
_SIMPLE: Final = frozenset({"string", "integer", "number", "boolean", "null"})
_DEEPEST = 6
_MOST_OPTIONAL = 16


def call_grammar(
    tools: Sequence[ToolSpec],
    choice: ToolChoice | None = None,
    parallel: bool | None = None,
    *,
    plain: bool = True,
) -> str | None:
    """Returns the grammar of a reply in the format "hermes": calls of `tools`, or text unless `choice` requires a call.

    Several calls at once are possible with `parallel` only: a weak model repeats a call as long as it may. With
    `plain`, a reply may also be one call as JSON without tags, in a code block or not, which Qwen2.5-Coder prefers:
    where it may not, it answers in prose. Returns None if calls are forbidden. Keywords of JSON Schema without a rule,
    such as `pattern`, are not enforced.
    """
    mode = choice.mode if choice is not None else "auto"
    named = [tool for tool in tools if choice is None or mode != "tool" or tool.name == choice.tool]
    if mode == "none" or not named:
        return None
    several = r' ("\n" call){0,15}' if parallel else ""
    head = [
        f"calls ::= call{several}",
        r'call ::= "<tool_call>\n" json "\n</tool_call>"',
        f"json ::= {' | '.join(f'call{index}' for index in range(len(named)))}",
    ]
    if mode in ("required", "tool"):
        head.insert(0, "root ::= calls")
    else:
        others = r' | "```json\n" json "\n```" | json' if plain else ""
        head = [f"root ::= calls | text calls?{others}", _TEXT, *head]
    rules = [_call_rule(tool, index) for index, tool in enumerate(named)]
    return "\n".join([*head, *rules, _COMMON])


def _call_rule(tool: ToolSpec, index: int) -> str:
    begin = _literal(f'{{"name": {as_json(tool.name)}, "arguments": ')
    arguments = _rule(tool.parameters or {"type": "object", "properties": {}}, tool.parameters, 0)
    return f'call{index} ::= {begin} {arguments} "}}"'


def _rule(schema: object, root: Mapping[str, Any], depth: int) -> str:
    """Returns the expression of a schema's values; that of any value where the schema is not understood."""
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return "value"
    node = cast("Mapping[str, Any]", schema)
    if "$ref" in node:
        definitions: Any = root.get("$defs") or root.get("definitions") or {}
        return _rule(definitions.get(str(node["$ref"]).rpartition("/")[2]), root, depth + 1)
    if "enum" in node or "const" in node:
        values = node["enum"] if "enum" in node else [node["const"]]
        return f"({' | '.join(_literal(as_json(value)) for value in values)})" if values else "value"
    choices = node.get("anyOf") or node.get("oneOf")
    if choices:
        return f"({' | '.join(dict.fromkeys(_rule(each, root, depth + 1) for each in choices))})"
    kind = node.get("type")
    if isinstance(kind, list | tuple):
        kinds = cast("Sequence[str]", kind)
        return f"({' | '.join(_rule({**node, 'type': each}, root, depth + 1) for each in kinds)})"
    if kind == "array":
        item = _rule(node.get("items"), root, depth + 1)
        return f'"[" ws ({item} ("," ws {item})*)? ws "]"'
    if kind == "object":
        return _object_rule(node, root, depth)
    return str(kind) if kind in _SIMPLE else "value"


def _object_rule(node: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> str:
    properties = cast("Mapping[str, Any]", node.get("properties") or {})
    if not properties:
        return '"{}"' if node.get("additionalProperties") is not True and "properties" in node else "object"
    required = [name for name in properties if name in (node.get("required") or ())]
    optional = [name for name in properties if name not in required]
    if len(optional) > _MOST_OPTIONAL:
        return "object"
    written = {
        name: f"{_literal(as_json(name) + ': ')} {_rule(properties[name], root, depth + 1)}" for name in properties
    }
    rest = "".join(f' (", " {written[name]})?' for name in optional)
    if required:
        first = ' ", " '.join(written[name] for name in required)
        return f'"{{" {first}{rest} "}}"'
    variants = [
        written[name] + "".join(f' (", " {written[other]})?' for other in optional[index + 1 :])
        for index, name in enumerate(optional)
    ]
    return f'"{{" ({" | ".join(variants)})? "}}"'


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'
