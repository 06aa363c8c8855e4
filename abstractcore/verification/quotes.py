"""The quotes beside a typed answer: what the model is asked for, and how its answer is divided. Knows no documents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, cast

from ..errors import InvalidInputError
from ..outputs.output_type import WRAPPER_KEY
from ..schema import JSONObject, OutputSchema
from .paths import Steps, leaves, read, written

VALUE_KEY: Final = WRAPPER_KEY
QUOTES_KEY: Final = "quotes"
_REFERENCES = ("#/$defs/", "#/definitions/")
_MOST_NAMED_PATHS = 60
_MOST_VISITS = 2000
_DEEPEST = 8
_ITEM = "[0]"
_SPACES = " \t\r\n"


class Quote(NamedTuple):
    """A quote of the model: for the value at `steps`, from the file with the number `document`, from 1."""

    steps: tuple[str, ...]
    text: str
    document: int | None = None


class Answer(NamedTuple):
    """An answer divided: the JSON text of the value, and the quotes."""

    value: str
    quotes: tuple[Quote, ...]


def with_quotes(output: OutputSchema, *, is_wrapped: bool, files: int) -> OutputSchema:
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
    value: Any = cast(Any, schema)["properties"][VALUE_KEY] if is_wrapped else schema
    wrapper = {
        "type": "object",
        "properties": {VALUE_KEY: value, QUOTES_KEY: _quotes_schema(value, output.schema, files)},
        "required": [VALUE_KEY, QUOTES_KEY],
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


def instruction(schema: OutputSchema, files: int) -> str:
    """Returns what the model is asked for besides the answer; `schema` is that of `with_quotes`."""
    properties = cast(Any, schema.schema)["properties"]
    copied = (
        "the words of the file or message that state it, copied exactly, whole words and numbers, as few as are clear"
    )
    is_list = "path" in cast(Any, properties[QUOTES_KEY].get("items") or {}).get("properties", ())
    number = " `document` is the number of the file that has it: 1 for the first." if files > 1 else ""
    begin = f"Answer with a JSON object of `{VALUE_KEY}`, the answer, and `{QUOTES_KEY}`, the evidence for it."
    if not is_list:
        return (
            f"{begin} `{QUOTES_KEY}` has the same shape as `{VALUE_KEY}`, with a quote in place of each value: "
            f"{copied}.{number} The quote is empty for a value that is stated nowhere."
        )
    paths = list(dict.fromkeys(islice(_paths(properties[VALUE_KEY], schema.schema), _MOST_NAMED_PATHS)))
    more = ", and so on" if any(_ITEM in path for path in paths) else ""
    return (
        f"{begin} For each value, `{QUOTES_KEY}` has an object with `path`, the path of the value, and `quote`: "
        f"{copied}.{number} Leave out values that are stated nowhere. The paths are {', '.join(paths)}{more}."
    )


def _paths(value: Any, root: JSONObject) -> Iterator[str]:
    """Yields the paths of the values of an answer, with the first item of every list."""
    stack: list[tuple[Steps, Any]] = [((), value)]
    visits = 0
    while stack and (visits := visits + 1) < _MOST_VISITS:
        steps, node = stack.pop()
        children: list[tuple[Steps, Any]] = []
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
            yield written(steps)


def is_choice(schema: JSONObject, steps: Steps) -> bool:
    """Returns whether the schema of `with_quotes` has a choice of fixed values at a path of the answer."""
    nodes = list(_alternatives(cast(Any, schema)["properties"][VALUE_KEY], schema))
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


def divide(text: str) -> Answer | None:
    """Returns the parts of an answer; None for a text that is not an object of `value` and `quotes`.

    The value is the model's own text, so that no digit of a number is lost. Quotes of another form are left out.
    """
    try:
        members = _members(text)
        quotes = json.loads(members.get(QUOTES_KEY, "[]"))
    except (ValueError, RecursionError):
        return None
    if VALUE_KEY not in members or not members.keys() <= {VALUE_KEY, QUOTES_KEY}:
        return None
    return Answer(members[VALUE_KEY], tuple(_quotes(quotes)))


def _members(text: str) -> dict[str, str]:
    """Returns the members of a JSON object as texts; raises `ValueError` for anything else."""
    decoder = json.JSONDecoder()
    position = _after_spaces(text, 0)
    if text[position : position + 1] != "{":
        raise ValueError("not an object")
    members: dict[str, str] = {}
    position = _after_spaces(text, position + 1)
    while text[position : position + 1] != "}":
        key, position = decoder.raw_decode(text, position)
        position = _after_spaces(text, position)
        if text[position : position + 1] != ":" or not isinstance(key, str):
            raise ValueError("not a member")
        begin = _after_spaces(text, position + 1)
        _, position = decoder.raw_decode(text, begin)
        members[key] = text[begin:position]
        position = _after_spaces(text, position)
        if text[position : position + 1] == ",":
            position = _after_spaces(text, position + 1)
        elif text[position : position + 1] != "}":
            raise ValueError("not the end of an object")
    if text[position + 1 :].strip():
        raise ValueError("more than an object")
    return members


def _after_spaces(text: str, position: int) -> int:
    while text[position : position + 1] in _SPACES and position < len(text):
        position += 1
    return position


def _quotes(data: Any) -> Iterator[Quote]:
    """Yields the quotes of a list of objects with `path` and `quote`, or of data in the shape of the answer."""
    if isinstance(data, list) and any(isinstance(each, Mapping) and "path" in each for each in cast("list[Any]", data)):
        for each in cast("list[Any]", data):
            entry: Mapping[str, Any] = cast("Mapping[str, Any]", each) if isinstance(each, Mapping) else {}
            path, quote, document = (entry.get(key) for key in ("path", "quote", "document"))
            if isinstance(path, str) and isinstance(quote, str):
                yield Quote(read(path), quote, document if type(document) is int else None)
        return
    found = list(leaves(data))
    numbers = {steps[:-1]: value for steps, value in found if steps[-1:] == ("document",) and type(value) is int}
    for steps, value in found:
        if isinstance(value, str) and value.strip():
            number = numbers.get(steps[:-1]) if steps[-1:] == ("quote",) else None
            yield Quote(tuple(map(str, steps)), value, number)
