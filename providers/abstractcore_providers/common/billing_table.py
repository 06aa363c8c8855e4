"""Billing data in a vendor's response, read and written with one table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Context, Decimal
from typing import Any, NamedTuple, TypeAlias, cast

from abstractcore.schema import EMPTY, METERS, Billing

from .json_reading import MAX_COUNT, Object
from .unread_values import note_unread

Tree: TypeAlias = "Mapping[str, Tree]"
"""Field names, nested; an empty mapping for a field that is modelled as a whole."""

_TEXTS = ("tier", "region")
_EXACT = Context(prec=120)
_LARGEST, _SMALLEST = 1e30, 1e-30


class _Node(NamedTuple):
    """The modelled fields of an object, and those among them whose own fields are modelled one by one."""

    names: frozenset[str]
    inner: tuple[tuple[str, _Node], ...]


class BillingTable:
    """The fields of a response with billing data, as paths such as `usage.cost.total_cost`.

    `cost` is a number of US dollars, `ticks` an integer of them in units of 10^-10; `counts` has the path of each
    meter, whose value may be a float without a fraction. Where the flag at `own_key` is true, the dollars at `upstream`
    are charged to the user's own account elsewhere, in addition to `cost`; both fields stay with the rest. `others` are
    paths of fields that are read elsewhere, or have no further meaning. Raises `TypeError` for an unknown meter.
    """

    __slots__ = ("_fields", "_groups", "_modelled", "_own_key", "_upstream")

    def __init__(
        self,
        *,
        tier: str = "",
        region: str = "",
        cost: str = "",
        ticks: str = "",
        own_key: str = "",
        upstream: str = "",
        counts: Mapping[str, str] | None = None,
        others: Iterable[str] = (),
    ) -> None:
        named = {"tier": tier, "region": region, "cost": cost, "ticks": ticks, **(counts or {})}
        unknown = (counts or {}).keys() - METERS.keys()
        if unknown:
            raise TypeError(f"not a meter: {sorted(unknown)}")
        self._fields = {name: tuple(path.split(".")) for name, path in named.items() if path}
        groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
        for name, path in self._fields.items():
            groups.setdefault(path[:-1], []).append((name, path[-1]))
        self._groups = tuple(groups.items())
        self._own_key, self._upstream = own_key, upstream
        self._modelled = _node(tree_of((*(path for path in named.values() if path), *others)))

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the fields with billing data."""
        return tuple(".".join(path) for path in self._fields.values())

    def read(self, data: Object) -> Billing | None:
        """Reads the billing data; None if nothing was reported. Values of another type are noted as unread."""
        found: dict[str, Any] = {}
        counts: dict[str, int] = {}
        for path, names in self._groups:
            group: Any = data
            for name in path:
                group = group.get(name)
                if not issubclass(group.__class__, dict):  # metadata hold read-only subclasses
                    if group is not None:
                        note_unread(name, "an object", group)
                    break
            else:
                for name, field in names:
                    value = group.get(field)
                    if value is not None and not _read(name, value, found, counts):
                        note_unread(field, "a text" if name in _TEXTS else "a count", value)
        if counts:
            found["counts"] = counts
        if self._own_key and "cost" in found and _at(data, self._own_key) is True:
            upstream = dollars_of(_at(data, self._upstream))
            fee = found.pop("cost")
            if upstream is not None:  # a fee alone is not what the response costs
                found["cost"] = _EXACT.add(fee, upstream)
        return Billing(**found) if found else None

    def write(self, billing: Billing | None, beside: Mapping[str, Any] = EMPTY) -> Object:
        """Returns the fields of `billing` that a response with the fields `beside` can have, in nested objects."""
        written: Object = {}
        if billing is not None:
            values: dict[str, Any] = {"tier": billing.tier, "region": billing.region, **billing.counts}
            cost = billing.cost
            if cost is not None and self._own_key and _at(beside, self._own_key) is True:
                upstream = dollars_of(_at(beside, self._upstream))
                cost = None if upstream is None else _EXACT.subtract(cost, upstream)
            if cost is not None and cost >= 0:
                values |= {"cost": float(cost), "ticks": _ticks(cost)}
            for name, path in self._fields.items():
                value = values.get(name)
                if value is not None:
                    _put(written, path, value)
        return written

    def rest(self, data: Mapping[str, Any]) -> Object:
        """Returns `data` without the fields of the table, those that are None, and objects that are empty then."""
        return _without(data, self._modelled)

    def is_rest(self, name: str, value: object) -> bool:
        """Whether a response that has `name: value` beside billing data keeps it unchanged."""
        return name not in self._modelled.names or self.rest({name: value}) == {name: value}


def tree_of(paths: Iterable[str]) -> Tree:
    """Returns the tree of `paths`; a path within another one is part of it."""
    tree: dict[str, Any] = {}
    for path in sorted(paths, key=len):
        node = tree
        for name in path.split("."):
            if name in node and not node[name]:
                break
            node = node.setdefault(name, {})
    return tree


def merged(left: Object, right: Object) -> Object:
    """Returns the fields of both, merging objects that both have; other fields of `right` replace those of `left`."""
    both = dict(left)
    for name, value in right.items():
        other = both.get(name)
        if isinstance(other, dict) and isinstance(value, dict):
            value = merged(cast(Object, other), cast(Object, value))
        both[name] = value
    return both


def dollars_of(value: object) -> Decimal | None:
    """Returns a JSON number of US dollars with the digits that it was written with; None for any other value."""
    if type(value) is not float and type(value) is not int:
        return None
    if value == 0:
        return Decimal(0)
    return Decimal(repr(value)) if _SMALLEST <= value < _LARGEST else None


def _at(data: Any, path: str) -> Any:
    for name in path.split("."):
        data = data.get(name) if isinstance(data, Mapping) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return data  # pyright: ignore[reportUnknownVariableType]


def _read(name: str, value: Any, found: dict[str, Any], counts: dict[str, int]) -> bool:
    """Reads one value; returns whether it has the type of its field."""
    if name in _TEXTS:
        if value and isinstance(value, str):
            found[name] = value
        return isinstance(value, str)
    if name == "cost":
        cost = dollars_of(value)
        if cost is not None:
            found["cost"] = cost
        return cost is not None
    if (type(value) is int or (type(value) is float and value.is_integer())) and 0 <= value < MAX_COUNT:
        if name == "ticks":
            found["cost"] = Decimal(int(value)).scaleb(-10, _EXACT)
        else:
            counts[name] = int(value)
        return True
    return False


def _ticks(cost: Decimal) -> int | None:
    ticks = cost.scaleb(10, _EXACT)
    return int(ticks) if ticks == int(ticks) and ticks < MAX_COUNT else None


def _put(written: Object, path: tuple[str, ...], value: Any) -> None:
    *groups, field = path
    for name in groups:
        written = written.setdefault(name, {})
    written[field] = value


def _node(tree: Tree) -> _Node:
    return _Node(frozenset(tree), tuple((name, _node(inner)) for name, inner in tree.items() if inner))


def _without(data: Mapping[str, Any], node: _Node) -> Object:
    names = node.names
    kept: Object = {}
    for name, inner in node.inner:
        value = data.get(name)
        if isinstance(value, dict):
            rest = _without(cast(Object, value), inner)
            if rest:
                kept[name] = rest
    if not kept and names.issuperset(data):
        return kept
    if not kept:
        return {name: value for name, value in data.items() if value is not None and name not in names}
    return {
        name: kept.get(name, value)
        for name, value in data.items()
        if name in kept or (value is not None and name not in names)
    }
