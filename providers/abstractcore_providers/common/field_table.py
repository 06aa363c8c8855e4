"""Maps a dataclass to fields of a vendor's JSON object, for writing and for reading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Generic, TypeVar

from abstractcore.schema import JSONValue, SchemaError

from .json_reading import Object

Record = TypeVar("Record")


class FieldTable(Generic[Record]):
    """The fields of the dataclass `make` by the vendor's names, in the order in which they are written.

    Every field must be listed, so that a new one cannot be forgotten: in `names` (the vendor's name to ours), in
    `elsewhere` (ours to the path at which the format reads it separately) or in `unsupported`, for fields without a
    counterpart. `path` is the prefix of paths in errors. Raises `TypeError` for a field that is not listed or does not
    exist.
    """

    __slots__ = ("_make", "_names", "_paths", "_unsupported")

    def __init__(
        self,
        make: Callable[..., Record],
        names: Mapping[str, str],
        *,
        path: str = "",
        elsewhere: Mapping[str, str] | None = None,
        unsupported: Iterable[str] = (),
    ) -> None:
        self._make = make
        self._names = dict(names)
        self._unsupported = tuple(unsupported)
        self._paths = {ours: f"{path}{theirs}" for theirs, ours in names.items()} | dict(elsewhere or {})
        known = {field.name for field in fields(make)} if is_dataclass(make) else set[str]()
        mentioned = {*self._paths, *self._unsupported}
        if known != mentioned:
            raise TypeError(f"not mentioned: {sorted(known - mentioned)}, no field: {sorted(mentioned - known)}")

    @property
    def names(self) -> tuple[str, ...]:
        """The vendor's names."""
        return tuple(self._names)

    def write(self, record: Record) -> Object:
        """Returns the JSON object of the fields that are set; None and empty tuples are omitted."""
        values = ((theirs, getattr(record, ours)) for theirs, ours in self._names.items())
        return {theirs: _written(value) for theirs, value in values if value is not None and value != ()}

    def unsupported(self, record: Record) -> Iterator[tuple[str, JSONValue]]:
        """Returns the fields that are set and have no counterpart, by our names."""
        for name in self._unsupported:
            value = getattr(record, name)
            if value is not None and value != ():
                yield name, _written(value)

    def read(self, data: Object, paths: Mapping[str, str] | None = None, /, **elsewhere: Any) -> Record:
        """Reads the dataclass from `data`, with the fields that are read `elsewhere`; `paths` are theirs where these
        vary.

        Raises `SchemaError` with the path in the vendor's field names.
        """
        given = {ours: data[theirs] for theirs, ours in self._names.items() if data.get(theirs) is not None}
        try:
            return self._make(**given, **elsewhere)
        except SchemaError as error:
            name, bracket, rest = error.path.partition("[")
            known = {**self._paths, **(paths or {})}
            raise SchemaError(error.message, f"{known.get(name, name)}{bracket}{rest}") from None


def _written(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
