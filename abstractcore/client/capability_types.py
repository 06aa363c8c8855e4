"""The types of capabilities in `llm.capability`: the name that a class has, and whether an object is of a type."""

from __future__ import annotations

from typing import Any, get_origin

from ..errors import InvalidInputError
from ..schema.quoting import shown


def name_of(of_type: type) -> str:
    """Returns the name of the capability of a class; raises `InvalidInputError` for a class without one."""
    name: object = getattr(of_type, "capability", None)
    if isinstance(name, str):
        return name
    hint = f"Pass the name too: capability(NAME, {of_type.__name__}), or give the class an attribute `capability`."
    raise InvalidInputError(f"{of_type.__name__} names no capability", path="name", hint=hint)


def check_type(found: object, name: str, of_type: Any) -> None:
    """Raises `InvalidInputError` if the object of a capability is not of a type. Of a protocol it has all members."""
    kind: Any = get_origin(of_type) or of_type
    if not isinstance(kind, type) or _is_of(found, kind):
        return
    message = f"the capability {shown(name)} is of the type {type(found).__name__}, not {kind.__name__}"
    raise InvalidInputError(message, path="of_type", hint=f"Call capability({name!r}) for any type.")


def _is_of(found: object, kind: type) -> bool:
    from typing_extensions import get_protocol_members, is_protocol

    if is_protocol(kind):
        return all(hasattr(found, member) for member in get_protocol_members(kind))
    return isinstance(found, kind)
