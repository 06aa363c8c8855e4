"""Grammars of calls, for servers that can constrain what a model writes: llama.cpp's GBNF.

Its syntax is described in https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from ...schema import ToolChoice, ToolSpec
from .lenient_values import as_json

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
