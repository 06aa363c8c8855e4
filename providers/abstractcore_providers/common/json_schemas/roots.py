"""The root of a schema for vendors that accept only an object there, not a reference or a union."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from abstractcore.errors import InvalidInputError

from .changes import SchemaChanges
from .merging import merge
from .references import end_of, without_definitions
from .rules import Rules
from .subschemas import ROOT, Node, as_list, as_named, is_list
from .unions import merge_all_of

_UNIONS = ("anyOf", "oneOf")
_NOT_AT_ROOT = ("allOf", "not", "enum", "const")
_HINT = "Put it into a property of an object."


def root_object(root: Node, source: Mapping[str, Any], rules: Rules, changes: SchemaChanges, *, is_tool: bool) -> Node:
    """Returns `root`, which is `source` without its definitions, as an object. Roots of tools are objects anyway.

    Raises `InvalidInputError` for a root that cannot be one.
    """
    if "$ref" in root:
        root = _follow_reference(root, source, changes)
    if "allOf" in root:
        root = merge_all_of(root, source, ROOT, changes)
    for keyword in _UNIONS:
        if keyword in root:
            root = _one_object(root, keyword, source, rules, changes)
    for keyword in _NOT_AT_ROOT:
        if root.pop(keyword, None) is not None:
            changes.looser(f"{ROOT}.{keyword}", "is left out")
    if root.get("type", "object") not in ("object", ["object"], ("object",)):
        raise InvalidInputError("the schema is not an object schema", path=f"{ROOT}.type", hint=_HINT)
    if root.get("type") != "object":
        note = changes.same if is_tool else changes.narrower
        note(f"{ROOT}.type", "is added")
        root = {"type": "object", **{name: value for name, value in root.items() if name != "type"}}
    if rules.explicit_properties and "properties" not in root:
        root["properties"] = {}
        changes.same(f"{ROOT}.properties", "is added")
    return root


def _follow_reference(root: Node, source: Mapping[str, Any], changes: SchemaChanges) -> Node:
    beside = {name: value for name, value in root.items() if name != "$ref"}
    whole = merge([beside, without_definitions(end_of(source, root, ROOT))])
    if whole is None:
        raise InvalidInputError("the referenced schema cannot be merged with its neighbours", path=f"{ROOT}.$ref")
    changes.same(f"{ROOT}.$ref", "became the schema it refers to")
    return whole


def _one_object(root: Node, keyword: str, source: Mapping[str, Any], rules: Rules, changes: SchemaChanges) -> Node:
    """Returns the union at the root as an object with the properties of all branches, none of which is closed."""
    path = f"{ROOT}.{keyword}"
    branches = [end_of(source, branch, path) for branch in as_list(root[keyword], path)]
    whole = _without_union({name: value for name, value in root.items() if name != keyword}, branches)
    if whole is None or rules.closed:
        raise InvalidInputError("the schema is a union", path=path, hint=_HINT)
    changes.looser(path, "became one object with the properties of all")
    changes.narrower(path, "became one object with the properties of all")
    return whole


def _without_union(node: Node, branches: Sequence[Any]) -> Node | None:
    """Returns an object with the properties of `node` and all `branches`; None if a branch is not an object.

    A property is required if all of them require it.
    """
    properties: dict[str, list[Any]] = {}
    required: list[list[str]] = []
    for branch in branches:
        if not isinstance(branch, dict):
            return None
        data = cast("Node", branch)
        if data.get("type", "object") != "object" or not isinstance(data.get("properties", {}), dict):
            return None
        for name, schema in cast("Node", data.get("properties", {})).items():
            known = properties.setdefault(name, [])
            known += [schema] if schema not in known else []
        required.append(list(data.get("required", ())) if is_list(data.get("required", ())) else [])
    own = as_named(node.get("properties", {}), f"{ROOT}.properties")
    more = {
        name: schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
        for name, schemas in properties.items()
        if name not in own
    }
    of_all = [name for name in required[0] if all(name in names for names in required)] if required else []
    whole: Node = {name: value for name, value in node.items() if name not in ("properties", "required")}
    whole["properties"] = {**own, **more}
    own_required = node.get("required", [])
    if not is_list(own_required):
        raise InvalidInputError("expected a list of names", path=f"{ROOT}.required")
    whole["required"] = list(dict.fromkeys([*own_required, *of_all]))
    return whole
