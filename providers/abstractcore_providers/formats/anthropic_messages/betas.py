"""Beta features, named in a header: those that tools need, and those of the option `betas`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning

from ...common.json_reading import Object

_HEADER = "anthropic-beta"
_OF_TOOLS = {"computer_20250124": "computer-use-2025-01-24", "computer_20251124": "computer-use-2025-11-24"}
"""Betas that tools of these types need."""


def betas_to_theirs(asked: Any, tools: Iterable[Object], path: str, warnings: list[CallWarning]) -> dict[str, str]:
    """Returns the header; empty if no beta is needed. Raises `InvalidInputError` for invalid names."""
    names = _needed(tools)
    for index, name in enumerate(_listed(asked, path)):
        if (
            not isinstance(name, str)
            or not name.isascii()
            or not name.isprintable()
            or not name
            or set(name) & {",", " "}
        ):
            raise InvalidInputError("expected the name of a beta", path=f"{path}[{index}]")
        if name in names:
            warnings.append(CallWarning("beta_left_out", f"{path}[{index}]", "it is already listed", name))
        else:
            names.append(name)
    return {_HEADER: ",".join(names)} if names else {}


def betas_to_ours(headers: Mapping[str, str], tools: Iterable[Object]) -> list[str]:
    """Returns the betas of a request beyond those that its tools need."""
    needed = _needed(tools)
    value = next((value for name, value in headers.items() if name.lower() == _HEADER), "")
    return [name for name in map(str.strip, value.split(",")) if name and name not in needed]


def _needed(tools: Iterable[Object]) -> list[str]:
    return list(dict.fromkeys(_OF_TOOLS[type_] for tool in tools if (type_ := str(tool.get("type"))) in _OF_TOOLS))


def _listed(asked: Any, path: str) -> Sequence[Any]:
    if asked is None:
        return ()
    if not isinstance(asked, list) or not asked:
        raise InvalidInputError("expected a list of names", path=path)
    return cast("Sequence[Any]", asked)
