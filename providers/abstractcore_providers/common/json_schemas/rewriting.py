"""Rewrites one schema by one vendor's rules, in time linear in the size of the result, which is limited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from abstractcore.errors import InvalidInputError

from .changes import SchemaChanges
from .keywords import (
    ANNOTATIONS,
    add_items,
    add_type,
    close,
    demand_items,
    has_any_keys,
    is_tuple,
    leave_out_unknown,
    refuse_any_object,
    require,
    tuple_as_list,
)
from .references import definition_of, merge, resolve, without_definitions
from .rules import Rules
from .subschemas import KINDS, ROOT, Kind, Node, as_list, as_named, check_limits, check_type, is_list
from .unions import TURNS, leave_out_turns, merge_all_of, one_of_as_any_of, root_object, split_types

_MOST = 20_000
"""The largest number of subschemas: several times what any vendor accepts."""

_DEEPEST = 100


def rewrite(
    schema: Mapping[str, Any], rules: Rules, changes: SchemaChanges, *, is_tool: bool = False
) -> Mapping[str, Any]:
    """Returns `schema` rewritten by `rules`, or the same object if it conforms. Changes are added to `changes`.

    Raises `InvalidInputError` with the path of an invalid schema, or of one that the rules cannot express.
    """
    rewriting = _SchemaRewriter(schema, rules, changes)
    whole = rewriting.whole(is_tool)
    if rewriting.turns and changes.effect != "same":
        changes.begin_again()
        whole = _SchemaRewriter(schema, rules, changes, without_turns=True).whole(is_tool)
    if not changes.recorded:
        whole = schema
    if rules.limits is not None:
        check_limits(whole, rules.limits)
    return whole


class _SchemaRewriter:
    """The rewriting of one schema."""

    def __init__(
        self, root: Mapping[str, Any], rules: Rules, changes: SchemaChanges, *, without_turns: bool = False
    ) -> None:
        self.turns = False
        """Whether a subschema is negated, so that it accepts more where the schema accepts less."""
        self._without_turns = without_turns
        self._root = root
        self._rules = rules
        self._changes = changes
        self._definitions: Node = {}
        self._names: dict[str, str] = {}
        self._open: dict[str, int] = {"#": 0}
        self._optional = 0
        self._leaves_out = rules.keywords is not None or rules.formats is not None

    def whole(self, is_tool: bool) -> Node:
        """Rewrites the root and its definitions."""
        root = dict(self._root)
        given = as_named(root.pop("$defs", {}), f"{ROOT}.$defs")
        if self._rules.inlined:
            root.pop("definitions", None)
        if self._rules.closed and not is_tool and has_any_keys(root):
            self._changes.narrower(ROOT, "loses its keys, which are arbitrary", is_structural=True)
        if self._rules.root_object:
            root = root_object(root, self._root, self._rules, self._changes, is_tool=is_tool)
        whole = cast(Node, self._schema(root, ROOT, 0))
        if self._rules.inlined:
            for name in self._root.keys() & {"$defs", "definitions"}:
                self._changes.same(f"{ROOT}.{name}", "is left out")
            return whole
        for name in given:
            self._definition(f"#/$defs/{name}", given[name], name, 1)
        order = [*given, *(name for name in self._definitions if name not in given)]
        if "$defs" in self._root or order:
            whole["$defs"] = {name: self._definitions[name] for name in order}
        return whole

    def _schema(self, schema: Any, path: str, depth: int) -> Any:
        self._changes.parts += 1
        if self._changes.parts > _MOST:
            raise InvalidInputError(f"the schema has more than {_MOST:,} parts", path=path)
        if depth > _DEEPEST:
            raise InvalidInputError(f"the schema is nested deeper than {_DEEPEST} levels", path=path)
        if isinstance(schema, bool):
            return self._boolean(schema, path)
        if not isinstance(schema, dict):
            raise InvalidInputError("expected a schema", path=path)
        node: Node = dict(cast("Mapping[str, Any]", schema))
        if "type" in node:
            check_type(node["type"], f"{path}.type")
        if (self._rules.any_of_only or self._rules.closed) and "allOf" in node:
            node = merge_all_of(node, self._root, path, self._changes)
        if "$ref" in node:
            return self._reference(node, path, depth)
        self._apply(node, path)
        return self._with_children(node, path, depth)

    def _boolean(self, schema: bool, path: str) -> Any:
        if not self._rules.typed:
            return schema
        raise InvalidInputError("a value of any type, or of none, is not supported here", path=path)

    def _apply(self, node: Node, path: str) -> None:
        """Applies the rules to one schema, without its subschemas."""
        rules, changes = self._rules, self._changes
        if (rules.any_of_only or self._without_turns) and "oneOf" in node:
            one_of_as_any_of(node, self._root, path, changes)
        if self._without_turns:
            leave_out_turns(node, path, changes)
        if rules.typed:
            add_type(node, rules, path, changes)
        if rules.keywords is not None and "prefixItems" not in rules.keywords and is_tuple(node):
            tuple_as_list(node, path, changes)
        if rules.typed:
            demand_items(node, path)
        if not rules.type_lists:
            split_types(node, path, changes)
        if rules.closed:
            close(node, path, changes, is_root=path == ROOT)
        if not rules.any_object:
            refuse_any_object(node, path)
        if rules.required != "any":
            require(node, rules, path, changes)
        if rules.explicit_items:
            add_items(node, path, changes)
        if self._leaves_out:
            leave_out_unknown(node, rules, path, changes)

    def _with_children(self, node: Node, path: str, depth: int) -> Any:
        for keyword in node:
            kind = KINDS.get(keyword)
            if kind is not None:
                self.turns |= keyword in TURNS
                node[keyword] = self._subschemas(node, keyword, kind, f"{path}.{keyword}", depth + 1)
        return node

    def _subschemas(self, node: Node, keyword: str, kind: Kind, path: str, depth: int) -> Any:
        value = node[keyword]
        if keyword == "properties":
            return self._properties(node, path, depth)
        if kind == "named":
            return {name: self._schema(item, f"{path}.{name}", depth) for name, item in as_named(value, path).items()}
        if kind == "list" or is_list(value):
            return [self._schema(item, f"{path}[{i}]", depth) for i, item in enumerate(as_list(value, path))]
        if keyword == "additionalProperties" and isinstance(value, bool):
            return value
        return self._schema(value, path, depth)

    def _properties(self, node: Node, path: str, depth: int) -> Node:
        properties = as_named(node["properties"], path)
        required = node.get("required", ())
        needed = set(required) if is_list(required) else set[Any]()
        written: Node = {}
        for name, item in properties.items():
            self._optional += name not in needed
            written[name] = self._schema(item, f"{path}.{name}", depth)
            self._optional -= name not in needed
        return written

    def _reference(self, node: Node, path: str, depth: int) -> Any:
        reference = node["$ref"]
        target = resolve(self._root, reference, f"{path}.$ref")
        since = self._open.get(reference)
        if since is not None and self._is_cut(since):
            return self._cut(node, path)
        if self._rules.inlined:
            return self._inline(node, target, path, depth)
        if self._rules.lone_references and not node.keys() <= {"$ref", *ANNOTATIONS}:
            return self._join(node, target, path, depth)
        node["$ref"] = self._reference_to(reference, target, path, depth)
        if self._rules.lone_references and len(node) > 1:
            self._changes.same(f"{path}.$ref", "moved into anyOf")
            node = {"anyOf": [{"$ref": node.pop("$ref")}], **node}
        self._apply(node, path)
        return node if "anyOf" in node else self._with_children(node, path, depth)

    def _cut(self, node: Node, path: str) -> Node:
        """Returns a schema that accepts anything, in place of an infinite recursion."""
        if self._rules.typed:
            raise InvalidInputError("a recursive schema is not supported here", path=f"{path}.$ref")
        self._changes.looser(f"{path}.$ref", "is cut: it is recursive", is_structural=True)
        return {name: value for name, value in node.items() if name in ("title", "description")}

    def _is_cut(self, since: int) -> bool:
        if self._rules.inlined or self._rules.recursion == "cut":
            return True
        return self._rules.recursion == "optional" and self._optional == since

    def _inline(self, node: Node, target: Any, path: str, depth: int) -> Any:
        reference = node["$ref"]
        self._open[reference] = self._optional
        try:
            return self._join(node, target, path, depth)
        finally:
            del self._open[reference]

    def _join(self, node: Node, target: Any, path: str, depth: int) -> Any:
        """Returns the referenced schema, merged with the keywords next to the reference."""
        beside = {name: value for name, value in node.items() if name != "$ref"}
        whole = merge([beside, without_definitions(target)])
        if whole is None:
            raise InvalidInputError("the referenced schema cannot be merged with its neighbours", path=f"{path}.$ref")
        self._changes.same(f"{path}.$ref", "became the schema it refers to")
        return self._schema(whole, path, depth + 1)

    def _reference_to(self, reference: str, target: Any, path: str, depth: int) -> str:
        """Returns the reference to write, to a definition that is rewritten by then."""
        if self._rules.references_anywhere or reference == "#":
            return reference
        if reference in self._names:
            return self._names[reference]
        name = definition_of(reference)
        if name is None:
            name = self._new_name(reference)
            self._changes.same(f"{path}.$ref", f"became #/$defs/{name}")
        self._definition(reference, target, name, depth)
        return self._names[reference]

    def _definition(self, reference: str, target: Any, name: str, depth: int) -> None:
        if reference in self._names:
            return
        self._names[reference] = f"#/$defs/{name}"
        self._open[reference] = self._optional
        self._definitions[name] = self._schema(target, f"{ROOT}.$defs.{name}", depth + 1)
        del self._open[reference]

    def _new_name(self, reference: str) -> str:
        taken = {*cast("Mapping[str, Any]", self._root.get("$defs", {})), *self._definitions}
        taken.update(name.removeprefix("#/$defs/") for name in self._names.values())
        name = base = reference.rpartition("/")[2].replace("~", "_").replace("%", "_") or "definition"
        number = 2
        while name in taken:
            name, number = f"{base}_{number}", number + 1
        return name
