"""JSON as it is stored and hashed: canonical bytes, and checks that name the path of what is not JSON."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any, Final, TypeAlias, cast

from abstractcore.errors import InvalidInputError

JSON: TypeAlias = Any
"""None, booleans, finite numbers, texts, lists and dicts with texts as keys."""
MAX_DEPTH: Final = 100
DEPTH_AROUND: Final = 12
"""How much deeper documents of ours are than the values of users in them."""
MAX_BYTES: Final = 64 * 1024 * 1024
"""The longest value of a user."""
MAX_BYTES_AROUND: Final = 8 * MAX_BYTES
"""The longest document of ours, which has a few values of users in it."""
_PLAIN: Final = frozenset({str, int, bool, type(None)})
_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"), check_circular=False
).encode
_decode = json.JSONDecoder().decode


def canonical(value: JSON, path: str) -> bytes:
    """Returns a value of a user as UTF-8 JSON with sorted keys and no spaces: equal values give equal bytes.

    Tuples become lists. Raises `InvalidInputError`, which names the path, for anything that JSON does not have, and
    for a value that is too deep or too long.
    """
    return _bytes(value, path, MAX_DEPTH, MAX_BYTES)


def canonical_around(value: JSON, path: str) -> bytes:
    """Returns a document of ours, as `canonical` does: it may be deeper and longer than the values of users in it, so
    that what was accepted once can be written again with more around it.
    """
    return _bytes(value, path, MAX_DEPTH + DEPTH_AROUND, MAX_BYTES_AROUND)


def _bytes(value: JSON, path: str, depth: int, longest: int) -> bytes:
    check(value, path, depth)
    try:
        data = _encode(value).encode()
    except UnicodeEncodeError:
        raise InvalidInputError("has a lone surrogate, which is not valid Unicode text", path=path) from None
    except ValueError:
        hint = "Write it as a text."
        raise InvalidInputError("has an integer of too many digits for JSON", path=path, hint=hint) from None
    if len(data) > longest:
        hint = "Store it in a file or an artifact store, and keep its name or its hash."
        raise InvalidInputError(f"has {len(data):,} bytes of JSON, more than {longest:,}", path=path, hint=hint)
    return data


def parsed(data: bytes | str) -> JSON:
    """Returns the value of a stored document."""
    return _decode(data if isinstance(data, str) else str(data, "utf-8"))


def member(value: JSON, name: str) -> JSON:
    """Returns what an object has by a name; None without it, and for anything else than an object."""
    return cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None


def copied(value: JSON) -> JSON:
    """Returns a value that shares nothing that can be changed; tuples become lists."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [copied(item) for item in cast("list[Any]", value)]
    return value


def digest(data: bytes) -> str:
    """Returns the SHA-256 of bytes, in lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def check(value: JSON, path: str, left: int = MAX_DEPTH) -> None:
    """Raises `InvalidInputError`, which names the path, for what is no JSON, or is nested more than `left` deep."""
    kind = cast("type[Any]", type(value))
    if kind in _PLAIN:
        return
    if kind is float:
        if not math.isfinite(value):
            raise InvalidInputError(f"{value} is not a JSON number", path=path)
        return
    if not left:
        raise InvalidInputError(f"is nested more than {MAX_DEPTH} deep, or contains itself", path=path)
    if kind is dict:
        for key, item in value.items():
            if type(key) is not str:
                raise InvalidInputError(f"expected texts as keys, got {key!r:.80}", path=path)
            if type(item) not in _PLAIN:
                check(item, f"{path}.{key}", left - 1)
        return
    if kind is list or kind is tuple:
        for index, item in enumerate(value):
            if type(item) not in _PLAIN:
                check(item, f"{path}[{index}]", left - 1)
        return
    hint = "Give plain data, such as json.loads(abstractcore.to_json(value))."
    if isinstance(value, Mapping):
        hint = "Give a plain dict."
    raise InvalidInputError(f"expected JSON, got {kind.__name__}", path=path, hint=hint)
