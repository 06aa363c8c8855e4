"""The definitions of a server's tools, with their digests, and the labels of their data."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ..errors import InvalidInputError
from ..schema import CallWarning, SchemaError, ToolLabel, ToolSpec
from ..schema.base_error import shown
from ..schema.codec import written
from ..schema.tools import check_labels as check_each

UNTRUSTED_AND_SENDS: tuple[ToolLabel, ...] = ("untrusted", "sends")
"""The labels of tools that reach other parties: results are untrusted, and arguments leave."""
Labels = Sequence[ToolLabel] | Mapping[str, Sequence[ToolLabel]]
"""Labels of all tools of a server, or by pattern of their names."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A tool of a server: `name` is the server's for it, `spec` what the model is given, `digest` its SHA-256."""

    name: str
    spec: ToolSpec
    digest: str

    @classmethod
    def of(cls, name: str, spec: ToolSpec) -> Definition:
        """Returns a definition with its digest: of what the model reads, and of what the tool says it does."""
        return cls(name, spec, hashlib.sha256(written(spec, canonical=True)).hexdigest())


def labels_of(name: str, labels: Labels | None, *, default: tuple[ToolLabel, ...]) -> tuple[ToolLabel, ...]:
    """Returns the labels of a tool: those of the first pattern that matches its name, or `default`."""
    if isinstance(labels, Mapping):
        for pattern, given in labels.items():
            if fnmatchcase(name, pattern):
                return tuple(given)
    elif labels is not None:
        return tuple(labels)
    return default


def unused_labels(names: Iterable[str], labels: Labels | None, server: str) -> list[CallWarning]:
    """Returns a warning for each pattern of labels that matches none of the names."""
    if not isinstance(labels, Mapping):
        return []
    known = list(names)
    unused = [pattern for pattern in labels if not any(fnmatchcase(name, pattern) for name in known)]
    message = "labels[{}] matches no tool of the server " + server
    return [CallWarning("no_tool_matches", f"tools.{server}", message.format(shown(each))) for each in unused]


def check_labels(labels: Labels | None) -> None:
    """Raises `InvalidInputError` for labels that are not known."""
    if isinstance(labels, str):
        raise InvalidInputError(f"expected labels, got {shown(labels)}", path="labels")
    given = labels.values() if isinstance(labels, Mapping) else [] if labels is None else [labels]
    for each in given:
        try:
            check_each(tuple(each) if isinstance(each, list | tuple) else each)
        except SchemaError as error:
            raise InvalidInputError(str(error), path="labels") from None
