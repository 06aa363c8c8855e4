"""Unions and intersections for vendors that support only `anyOf`, and the root for those that accept only an object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from abstractcore.errors import InvalidInputError

from .changes import SchemaChanges
from .references import end_of, merge, without_definitions
from .rules import Rules
from .subschemas import ROOT, Node, as_list, as_named, check_schema, is_list, type_of, types_of

TURNS = frozenset({"oneOf", "not", "if"})
"""Keywords under which accepting more in a subschema may mean accepting less."""

_CONDITIONS = ("not", "if", "then", "else")
_ALL_TYPES = frozenset({"object", "array", "string", "number", "boolean", "null"})


def merge_all_of(node: Node, root: Mapping[str, Any], path: str, changes: SchemaChanges) -> Node:
    """Returns `node` merged with its `allOf`, which is removed where it cannot be merged."""
    seen: set[str] = set()
    while "allOf" in node:
        whole = _with_branches(node, root, path, seen)
        if whole is None:
            changes.looser(f"{path}.allOf", "is left out", is_structural=True)
            return {name: value for name, value in node.items() if name != "allOf"}
        changes.same(f"{path}.allOf", "became one schema")
        node = whole
    return node


def _with_branches(node: Node, root: Mapping[str, Any], path: str, seen: set[str]) -> Node | None:
    branches = list(as_list(node["allOf"], f"{path}.allOf"))
    rest = {name: value for name, value in node.items() if name != "allOf"}
    for index, branch in enumerate(branches):
        check_schema(branch, f"{path}.allOf[{index}]")
    if len(branches) == 1 and isinstance(branches[0], dict) and not rest.keys() & _keys(branches[0]):
        return {**rest, **branches[0]}
    for index, branch in enumerate(branches):
        if isinstance(branch, dict) and "$ref" in branch:
            data = cast("Mapping[str, Any]", branch)
            if str(data["$ref"]) in seen:
                return None
            seen.add(str(data["$ref"]))
            beside = {name: value for name, value in data.items() if name != "$ref"}
            target = end_of(root, data, f"{path}.allOf[{index}]")
            branches[index] = merge([target, beside])
    return merge([rest, *branches])


def _keys(schema: Any) -> set[str]:
    """Returns the keywords of a schema; none for a boolean schema."""
    return set(cast("Mapping[str, Any]", schema)) if isinstance(schema, dict) else {"type", "allOf", "$ref"}


def one_of_as_any_of(node: Node, root: Mapping[str, Any], path: str, changes: SchemaChanges) -> None:
    """Replaces `oneOf` by `anyOf`, which is equivalent if no value matches two branches.

    A property that `discriminator` names, as in OpenAPI and pydantic, is assumed to be required.
    """
    branches = as_list(node["oneOf"], f"{path}.oneOf")
    if "anyOf" in node:
        del node["oneOf"]
        changes.looser(f"{path}.oneOf", "is left out beside anyOf", is_structural=True)
        return
    ends = [end_of(root, branch, f"{path}.oneOf[{i}]") for i, branch in enumerate(branches)]
    discriminator = node.get("discriminator")
    tag = cast("Mapping[str, Any]", discriminator).get("propertyName") if isinstance(discriminator, dict) else None
    always_there = frozenset({tag} if isinstance(tag, str) else ())
    renamed = {"anyOf" if name == "oneOf" else name: value for name, value in node.items()}
    node.clear()
    node.update(renamed)
    if _are_disjoint(ends, always_there):
        changes.same(f"{path}.oneOf", "became anyOf")
    else:
        changes.looser(f"{path}.oneOf", "became anyOf")


def leave_out_turns(node: Node, path: str, changes: SchemaChanges) -> None:
    """Removes `not` and `if`, whose meaning is unknown after their subschemas are rewritten."""
    for keyword in _CONDITIONS:
        if keyword in node:
            del node[keyword]
            changes.looser(f"{path}.{keyword}", "is left out")


def split_types(node: Node, path: str, changes: SchemaChanges) -> None:
    """Replaces a list of types by `anyOf`."""
    types = node.get("type")
    if not is_list(types):
        return
    if len(types) == 1:
        node["type"] = types[0]
    elif "enum" in node or "const" in node:
        del node["type"]
        values = [node["const"]] if "const" in node else node["enum"]
        if not all(type_of(value) in types for value in as_list(values, f"{path}.enum")):
            changes.looser(f"{path}.type", "is left out beside enum")
            return
    elif "anyOf" in node:
        del node["type"]
        changes.looser(f"{path}.type", "is left out beside anyOf")
        return
    else:
        about = {name: value for name, value in node.items() if name in ("title", "description", "default")}
        rest = {name: value for name, value in node.items() if name != "type" and name not in about}
        node.clear()
        node.update(about)
        node["anyOf"] = [{"type": type, **rest} for type in types]
    changes.same(f"{path}.type", "became a union")


def _are_disjoint(branches: Sequence[Any], always_there: frozenset[str]) -> bool:
    """Whether certainly no value matches two of them: by type, or by a property that discriminates them."""
    if branches and all(isinstance(branch, dict) for branch in branches):
        schemas = cast("Sequence[Mapping[str, Any]]", branches)
        return _types_differ(schemas) or _tags_differ(schemas, always_there)
    return False


def _types_differ(schemas: Sequence[Mapping[str, Any]]) -> bool:
    seen: set[str] = set()
    for schema in schemas:
        types = {"number" if name == "integer" else name for name in types_of(schema)} or _ALL_TYPES
        if seen & types:
            return False
        seen |= types
    return True


def _tags_differ(schemas: Sequence[Mapping[str, Any]], always_there: frozenset[str]) -> bool:
    tags = [_tags(schema) for schema in schemas]
    shared = [name for name in tags[0] if all(name in others for others in tags)]
    return any(_tell_apart(name, [found[name] for found in tags], schemas, name in always_there) for name in shared)


def _tags(schema: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Returns the possible texts of each property that has a fixed set of them."""
    if types_of(schema) != ("object",) or not isinstance(schema.get("properties"), dict):
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for name, value in cast("Mapping[str, Any]", schema["properties"]).items():
        if isinstance(value, dict):
            data = cast("Mapping[str, Any]", value)
            texts = [data["const"]] if "const" in data else data.get("enum")
            if is_list(texts) and all(isinstance(text, str) for text in texts):
                found[name] = tuple(texts)
    return found


def _tell_apart(
    name: str, values: Sequence[tuple[str, ...]], schemas: Sequence[Mapping[str, Any]], always_there: bool
) -> bool:
    """Whether a property has a different value in each, and is missing in at most one."""
    every = [text for texts in values for text in set(texts)]
    optional = [schema for schema in schemas if name not in _required_names(schema)]
    return len(every) == len(set(every)) and (always_there or len(optional) < 2)


def _required_names(schema: Mapping[str, Any]) -> Sequence[Any]:
    names = schema.get("required")
    return names if is_list(names) else ()


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
