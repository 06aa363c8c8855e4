"""Schema objects as plain JSON data and canonical JSON, and their digests."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import cast

from .frozen_json import freeze
from .json_values import JSONValue
from .responses import GenerateResponse
from .writing import written


def to_data(value: object) -> JSONValue:
    """Returns a schema object as plain JSON values, without fields at their default, with bytes in base64.

    Raises `SchemaError` with the path of a value that JSON cannot represent.
    """
    return json.loads(json_of(value))


def canonical_json(value: object) -> str:
    """Returns the canonical JSON of a value: sorted keys, no spaces, without fields at their default.

    A blob is written as its hash, wherever its content is, so the value cannot be read back.
    """
    return json_of(value, canonical=True).decode()


def digest(value: object) -> str:
    """Returns the SHA-256 of `canonical_json(value)` in hex: equal for equal content, in every process."""
    return hashlib.sha256(json_of(value, canonical=True)).hexdigest()


def json_of(value: object, *, canonical: bool = False) -> bytes:
    """Returns the JSON text of a schema object, in UTF-8.

    The `output` of a response must be JSON data: types of the user's own cannot be serialised here.
    """
    if isinstance(value, GenerateResponse):
        response = cast("GenerateResponse[object]", value)
        value = replace(response, output=freeze(response.output, "output"))
    return written(value, canonical=canonical)
