"""The JSON document of a successful response, or the error for a body that is none.

Finish reasons: the vendors' values and ours. Token counts in a vendor's usage object, read and written with one
table. Billing data in a vendor's response, read and written with one table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

from abstractcore.errors import InvalidInputError, ProviderError, ServerError, UnexpectedResponseError
from abstractcore.schema import (
    EMPTY,
    METERS,
    TOKEN_COUNTS,
    Billing,
    FinishReason,
    ModelReply,
    Part,
    SchemaError,
    ToolCall,
    Usage,
    WireResponse,
)
from abstractcore.schema.wire import failed_base

from .reading import MAX_COUNT, UNREAD, Object, UnreadValues, as_object, count_of, note_unread, quoting, read_answer

_EXCERPT = 80
T = TypeVar("T")
_LOOK = "If so, a proxy or a sign-in page answered instead: open the URL in a browser."
_JSON_MARKS = (b"{", b"[")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

NO_ERROR = (None, False, "")
"""Values of a field `error` that report none."""


def states_error(data: Object) -> bool:
    """Returns whether a body, an event or a choice says that it is an error, whatever else it contains."""
    return (
        data.get("error") not in NO_ERROR
        or data.get("object") == "error"
        or data.get("type") == "error"
        or data.get("success") is False
        or failed_base(data) is not None
        or isinstance(data.get("fault"), dict)
    )


def read_body(response: WireResponse, hint: str) -> Any:
    """Parses the JSON of a response. `hint` describes a correct base URL.

    Raises `UnexpectedResponseError` for a body that does not start like JSON (a web page, say), and `ServerError`,
    which can be retried, for one that is truncated, corrupt or empty.
    """
    with suppress(ValueError):
        return read_answer(response.body)
    text = response.body.removeprefix(_BYTE_ORDER_MARK).lstrip()
    if not text:
        raise ServerError("the answer is empty", status=response.status, hint=hint)
    quoted = repr(" ".join(text[: 4 * _EXCERPT].decode("utf-8", "replace").split())[:_EXCERPT])
    if text.startswith(_JSON_MARKS):
        message = f"the response is not JSON: it begins with {quoted}"
        raise quoting(ServerError(message, status=response.status, hint=hint), quoted)
    content_type = response.headers.get("content-type")
    message = f"the response is not JSON: its content type is {content_type or 'missing'}, it begins with {quoted}"
    error = UnexpectedResponseError(message, status=response.status, hint=f"{hint} {_LOOK}")
    error.content_type, error.quoted = content_type, quoted
    raise error


def no_reply(response: WireResponse, data: Any, missing: str, marks: frozenset[str], hint: str) -> ServerError:
    """Returns the error for a JSON document without `missing`, which reports no error.

    It is an `UnexpectedResponseError`, which is not retried, unless the document has a field of `marks`: names that
    only replies of the format have.
    """
    message = f"the response has no {missing}"
    if not marks.isdisjoint(as_object(data)):
        return ServerError(message, status=response.status, hint=hint)
    shown = " ".join(response.body[: 4 * _EXCERPT].decode("utf-8", "replace").split())[:_EXCERPT]
    error = UnexpectedResponseError(
        f"{message}: it is the JSON {shown!r}", status=response.status, hint=f"{hint} {_LOOK}"
    )
    error.content_type = response.headers.get("content-type")
    return error


def fitting(response: WireResponse, make: Callable[..., T], *given: Any) -> T:
    """Returns `make(given)`; raises `ServerError` if the response does not match the schema."""
    try:
        return make(*given)
    except (SchemaError, InvalidInputError) as error:
        raise ServerError(f"the answer does not match the schema: {error}", status=response.status) from None


def fitting_reply(response: WireResponse, make: Callable[..., ModelReply], *given: Any) -> ModelReply:
    """As `fitting`, for a reply, with a warning for each value that has another type than its field."""
    unread: UnreadValues = {}
    token = UNREAD.set(unread)
    try:
        reply = fitting(response, make, *given)
    finally:
        UNREAD.reset(token)
    return replace(reply, warnings=(*reply.warnings, *unread.values())) if unread else reply


def read_count(
    response: WireResponse, field: str, error_in: Callable[[Object], ProviderError | None], hint: str
) -> int:
    """Returns the number of tokens at `field`.

    Raises the error that the body reports, as `error_in` reads it, and `ServerError` for a body without the number.
    """
    data = as_object(read_body(response, hint))
    count = count_of(data, field)
    if count is None:
        raise error_in(data) or ServerError("the response has no token count", status=response.status)
    return count


@dataclass(frozen=True, slots=True)
class FinishReasons:
    """A vendor's finish reasons and ours, both ways. `to_theirs` may omit reasons that are not written."""

    to_ours: Mapping[str, FinishReason]
    to_theirs: Mapping[FinishReason, str]

    def read(self, raw: str | None, *, calls: bool) -> FinishReason:
        """Returns our value for `raw`.

        An unknown value is "tool_calls" if the reply `calls` tools. Any other unknown or missing value is "unknown"; so
        are known values that do not determine the reason.
        """
        return self.to_ours.get(raw or "", "tool_calls" if calls and raw else "unknown")


def calls_tools(parts: Iterable[Part]) -> bool:
    """Whether a reply with these parts needs tool results."""
    return any(isinstance(part, ToolCall) for part in parts)


_TOTAL = "total"


class UsageTable:
    """The counts of `Usage` by their names in a vendor's object, in the order in which they are written.

    A name may be nested: `input_tokens_details.cached_tokens`. `total` is written but not read. `missing` are the
    counts that the vendor does not have. With `cache_apart`, the vendor's input count excludes tokens read from and
    written to a cache. Raises `TypeError` for a name that is not a count, or is nested deeper than once.
    """

    __slots__ = ("_cache_apart", "_groups", "_input", "_read", "missing", "names")

    def __init__(self, names: Mapping[str, str], *, cache_apart: bool = False) -> None:
        unknown = names.keys() - {*TOKEN_COUNTS, _TOTAL}
        if unknown:
            raise TypeError(f"not a count: {sorted(unknown)}")
        if any(field_name.count(".") > 1 for field_name in names.values()):
            raise TypeError(f"nested deeper than once: {sorted(names.values())}")
        groups: dict[str, list[tuple[str, str]]] = {}
        for ours, field_name in names.items():
            group, _, theirs = field_name.rpartition(".")
            groups.setdefault(group, []).append((ours, theirs))
        self._groups = tuple(groups.items())
        self._read = tuple((group, [pair for pair in pairs if pair[0] != _TOTAL]) for group, pairs in groups.items())
        self._cache_apart = cache_apart
        self._input = names.get("input", "")
        self.missing = tuple(name for name in TOKEN_COUNTS if name not in names)
        self.names = frozenset(field_name.partition(".")[0] for field_name in names.values())
        """The vendor's top-level names."""

    def read(self, data: Object, billing: Billing | None = None) -> Usage:
        """Reads the counts; None for those that are not reported or not integers of at least zero."""
        counts: dict[str, Any] = {}
        for group, names in self._read:
            holder = data.get(group) if group else data
            if isinstance(holder, dict):
                for ours, theirs in names:
                    count = holder.get(theirs)  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
                    if type(count) is int and 0 <= count < MAX_COUNT:  # pyright: ignore[reportUnknownArgumentType]
                        counts[ours] = count
                    elif count is not None:
                        note_unread(theirs, "a count", count)
            elif holder is not None:
                note_unread(group, "an object", holder)
        if self._cache_apart and "input" in counts:
            counts["input"] += counts.get("cached", 0) + counts.get("cache_written", 0)
        return Usage(**counts, billing=billing)

    def write(self, usage: Usage) -> Object:
        """Returns the object of the reported counts."""
        written: Object = {}
        for group, names in self._groups:
            holder = {} if group else written
            for ours, theirs in names:
                count = getattr(usage, ours)
                if count is not None:
                    holder[theirs] = count
            if group and holder:
                written[group] = holder
        if self._cache_apart and usage.input is not None:
            written[self._input] = usage.input - (usage.cached or 0) - (usage.cache_written or 0)
        return written


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


def merge(left: Object, right: Object) -> Object:
    """Returns the fields of both, merging objects that both have; other fields of `right` replace those of `left`."""
    both = dict(left)
    for name, value in right.items():
        other = both.get(name)
        if isinstance(other, dict) and isinstance(value, dict):
            value = merge(cast(Object, other), cast(Object, value))
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
