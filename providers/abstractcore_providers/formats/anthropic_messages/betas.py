"""Beta features, named in a header: those that a request's fields need, and those of the option `betas`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning

from ...common.reading import Object, as_object, as_objects
from ...common.thinking import BINDING_BETA

_HEADER = "anthropic-beta"
_OF_TOOLS = {"computer_20250124": "computer-use-2025-01-24", "computer_20251124": "computer-use-2025-11-24"}
"""Betas that tools of these types need."""


def betas_to_theirs(asked: Any, body: Object, path: str, warnings: list[CallWarning]) -> dict[str, str]:
    """Returns the header for a request; empty if no beta is needed. Raises `InvalidInputError` for invalid names."""
    names = _needed(body)
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


def betas_to_ours(headers: Mapping[str, str], body: Object) -> list[str]:
    """Returns the betas of a request beyond those that its fields need."""
    needed = _needed(body)
    value = next((value for name, value in headers.items() if name.lower() == _HEADER), "")
    return [name for name in map(str.strip, value.split(",")) if name and name not in needed]


def _needed(body: Object) -> list[str]:
    types = dict.fromkeys(str(tool.get("type")) for tool in as_objects(body.get("tools")))
    needed = [_OF_TOOLS[type_] for type_ in types if type_ in _OF_TOOLS]
    return [*needed, BINDING_BETA] if "block_binding" in as_object(body.get("thinking")) else needed


def _listed(asked: Any, path: str) -> Sequence[Any]:
    if asked is None:
        return ()
    if not isinstance(asked, list) or not asked:
        raise InvalidInputError("expected a list of names", path=path)
    return cast("Sequence[Any]", asked)
