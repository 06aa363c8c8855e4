"""`QuotedOutput`: the type of an answer with a quote for each of its values, its schema, and what asks for quotes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, cast

from ..errors import InvalidInputError
from ..outputs.output_types import WRAPPER_KEY, OutputType
from ..schema import MEDIA_PARTS, JSONObject, Message, ModelCall, OutputSchema, ToolResult
from ..schema.base_error import shown
from .quoted_answers import QUOTES_KEY, PathSteps, QuotedAnswer, format_path, parse_quoted_answer

_REFERENCES = ("#/$defs/", "#/definitions/")
_MOST_NAMED_PATHS = 60
_MOST_VISITS = 2000
_DEEPEST = 8
_FIRST_ITEM = "[0]"


class QuotedOutput(OutputType):
    """Answers of another type with quotes beside them; `answer` is the latest valid one. For one call.

    `files` is the number of files that quotes may come from. An answer without quotes is valid too.
    """

    is_wrapped = True

    def __init__(self, output: OutputType, files: int) -> None:
        self._output = output
        self.files = files
        self.label = output.label
        self.schema = quoted_schema(output.schema, is_wrapped=output.is_wrapped, files=files)
        self.answer: QuotedAnswer | None = None

    def value(self, text: str) -> Any:
        """Returns the value of a JSON text, without quotes; raises as that of the type does."""
        self.answer = None
        found = parse_quoted_answer(text)
        if found is None:
            value, found = self._output.value(text), QuotedAnswer(text, ())
        else:
            wrapped = f'{{"{WRAPPER_KEY}": {found.value}}}'
            value = self._output.value(wrapped if self._output.is_wrapped else found.value)
        self.answer = found
        return value

    def item_value(self, text: str) -> Any:
        """Returns the value of an item's JSON text; raises as that of the type does."""
        return self._output.item_value(text)

    def check_is_list(self) -> None:
        """Raises `InvalidInputError` unless answers are lists whose items can be validated one by one."""
        self._output.check_is_list()


def requested_quoted_output(
    output: OutputType | None, evidence: object, media: Sequence[object], messages: Sequence[Message]
) -> QuotedOutput:
    """Returns the type of an answer with quotes; raises `InvalidInputError`.

    Quotes may come from `media` and from the files in `messages`.
    """
    if evidence is not True:
        raise InvalidInputError(f"expected True or False, got {shown(evidence)}", path="evidence")
    if output is None:
        hint = "Pass response_model=TYPE too: each of its values gets a quote."
        raise InvalidInputError("there are no values without response_model", path="evidence", hint=hint)
    return QuotedOutput(output, len(media) + _count_files(messages))


def resumed_quoted_output(output: OutputType, call: ModelCall) -> QuotedOutput | None:
    """Returns the type of the answer of a call that goes on; None if it was begun without evidence."""
    both = (QuotedOutput(output, files) for files in (1, _count_files(call.messages)))
    return next((quoted for quoted in both if quoted.schema == call.output), None)


def _count_files(messages: Sequence[Message]) -> int:
    """Returns the number of files in messages and results of tools."""
    parts = [part for message in messages for part in message.parts]
    parts += [content for part in parts if isinstance(part, ToolResult) for content in part.content]
    return sum(isinstance(part, MEDIA_PARTS) for part in parts)


def quoted_schema(output: OutputSchema, *, is_wrapped: bool, files: int) -> OutputSchema:
    """Returns the schema of an object with the answer as `value` and `quotes` for its values.

    `is_wrapped` says that the schema is that of an object with the answer as `value` already. With several files each
    quote names its file. Raises `InvalidInputError` for a schema that refers to its root.
    """
    schema = dict(output.schema)
    for reference in _references(schema):
        if not reference.startswith(_REFERENCES):
            raise InvalidInputError(
                f"evidence is not possible for a JSON Schema with the reference {reference!r}",
                path="response_model",
                hint="Move the schema that it names into $defs: {'$ref': '#/$defs/NAME'}.",
            )
    definitions = {key: schema.pop(key) for key in ("$defs", "definitions") if key in schema}
    value: Any = cast(Any, schema)["properties"][WRAPPER_KEY] if is_wrapped else schema
    wrapper = {
        "type": "object",
        "properties": {WRAPPER_KEY: value, QUOTES_KEY: _quotes_schema(value, output.schema, files)},
        "required": [WRAPPER_KEY, QUOTES_KEY],
        "additionalProperties": False,
        **definitions,
    }
    return OutputSchema(output.name, wrapper, output.description, output.strict)


def _quotes_schema(value: Any, root: JSONObject, files: int) -> JSONObject:
    """Returns the schema of the quotes: of the same shape as the answer, else a list of paths with quotes.

    The shape needs no paths, which small models get wrong, and fewer tokens.
    """
    text = "A quote that states the value, copied character for character, whole words and numbers"
    quote: dict[str, Any] = {"type": "string", "description": text}
    document = {"type": "integer", "description": f"Number of the file, from 1 to {files}"}
    found = _object({"quote": quote, "document": document}) if files > 1 else {"type": "string"}
    shape = _shape(value, root, found, _DEEPEST)
    if shape is not None and sum(1 for _ in islice(_paths(value, root), _MOST_NAMED_PATHS + 1)) <= _MOST_NAMED_PATHS:
        return shape
    path = {"type": "string", "description": "Path of the value, such as total or items[0].price"}
    properties = {"path": path, "quote": quote, **({"document": document} if files > 1 else {})}
    return {"type": "array", "items": _object(properties)}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    names = list(properties)
    return {"type": "object", "properties": dict(properties), "required": names, "additionalProperties": False}


def _shape(node: Any, root: JSONObject, leaf: JSONObject, depth: int) -> dict[str, Any] | None:
    """Returns the schema with `leaf` for every value; None for one with other keys or several shapes, or too deep."""
    nodes = [each for each in _alternatives(node, root) if each.get("type") != "null"]
    if (
        depth == 0
        or not nodes
        or any("additionalProperties" in each and each["additionalProperties"] for each in nodes)
    ):
        return None
    if all("properties" not in each and "items" not in each for each in nodes):
        is_scalar = all(each.get("type") not in ("object", "array") for each in nodes)
        return dict(leaf) if is_scalar else None
    if len(nodes) > 1:
        return None
    items = nodes[0].get("items")
    if isinstance(items, Mapping):
        shape = _shape(items, root, leaf, depth - 1)
        return None if shape is None else {"type": "array", "items": shape}
    shapes: dict[str, Any] = {}
    for name, child in cast("Mapping[str, Any]", nodes[0].get("properties") or {}).items():
        shape = _shape(child, root, leaf, depth - 1)
        if shape is None:
            return None
        shapes[name] = shape
    return _object(shapes) if shapes else None


def quote_instruction(schema: OutputSchema, files: int) -> str:
    """Returns the request for quotes beside the answer; `schema` is that of `quoted_schema`."""
    properties = cast(Any, schema.schema)["properties"]
    copied = (
        "the words of the file or message that state it, copied exactly, whole words and numbers, as few as are clear"
    )
    is_list = "path" in cast(Any, properties[QUOTES_KEY].get("items") or {}).get("properties", ())
    number = " `document` is the number of the file that has it: 1 for the first." if files > 1 else ""
    begin = f"Answer with a JSON object of `{WRAPPER_KEY}`, the answer, and `{QUOTES_KEY}`, the evidence for it."
    if not is_list:
        return (
            f"{begin} `{QUOTES_KEY}` has the same shape as `{WRAPPER_KEY}`, with a quote in place of each value: "
            f"{copied}.{number} The quote is empty for a value that is stated nowhere."
        )
    paths = list(dict.fromkeys(islice(_paths(properties[WRAPPER_KEY], schema.schema), _MOST_NAMED_PATHS)))
    more = ", and so on" if any(_FIRST_ITEM in path for path in paths) else ""
    return (
        f"{begin} For each value, `{QUOTES_KEY}` has an object with `path`, the path of the value, and `quote`: "
        f"{copied}.{number} Leave out values that are stated nowhere. The paths are {', '.join(paths)}{more}."
    )


def _paths(value: Any, root: JSONObject) -> Iterator[str]:
    """Yields the paths of the values of an answer, with the first item of every list."""
    stack: list[tuple[PathSteps, Any]] = [((), value)]
    visits = 0
    while stack and (visits := visits + 1) < _MOST_VISITS:
        steps, node = stack.pop()
        children: list[tuple[PathSteps, Any]] = []
        nodes = list(_alternatives(node, root)) if len(steps) < _DEEPEST else []
        for each in nodes:
            properties = each.get("properties")
            if isinstance(properties, Mapping):
                children += [((*steps, str(name)), child) for name, child in cast(Any, properties).items()]
            elif isinstance(each.get("items"), Mapping):
                children.append(((*steps, 0), each["items"]))
        if children:
            stack += reversed(children)
        elif nodes:
            yield format_path(steps)


def is_choice(schema: JSONObject, steps: PathSteps) -> bool:
    """Returns whether the schema of `quoted_schema` has a choice of fixed values at a path of the answer."""
    nodes = list(_alternatives(cast(Any, schema)["properties"][WRAPPER_KEY], schema))
    for step in steps:
        found: list[Any] = []
        for node in nodes:
            child = node.get("items") if isinstance(step, int) else cast(Any, node.get("properties") or {}).get(step)
            child = node.get("additionalProperties") if child is None else child
            found += _alternatives(child, schema)
        nodes = found[:_MOST_NAMED_PATHS]
    return any("enum" in node or "const" in node for node in nodes)


def _alternatives(node: Any, root: JSONObject) -> Iterator[Mapping[str, Any]]:
    """Yields a schema, or what it refers to, or is one of."""
    pending, seen = [node], 0
    while pending and seen < _MOST_NAMED_PATHS:
        seen += 1
        each = pending.pop()
        if not isinstance(each, Mapping):
            continue
        schema = cast("Mapping[str, Any]", each)
        if isinstance(schema.get("$ref"), str):
            kind, _, name = schema["$ref"].removeprefix("#/").partition("/")
            pending.append(cast(Any, root.get(kind) or {}).get(name))
            continue
        branches = [branch for key in ("anyOf", "oneOf", "allOf") for branch in schema.get(key) or ()]
        if branches:
            pending += reversed(branches)
        else:
            yield schema


def _references(node: Any) -> Iterator[str]:
    stack = [node]
    while stack:
        each = stack.pop()
        if isinstance(each, Mapping):
            mapping = cast("Mapping[str, Any]", each)
            if isinstance(reference := mapping.get("$ref"), str):
                yield reference
            stack += mapping.values()
        elif isinstance(each, list | tuple):
            stack += cast("Sequence[Any]", each)
