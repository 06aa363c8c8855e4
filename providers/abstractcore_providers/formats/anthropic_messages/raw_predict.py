"""Vertex AI's variant of a request: `POST .../publishers/anthropic/models/MODEL:rawPredict`.

Source: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude, and
`anthropic.AnthropicVertex`.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from ...common.reading import Object

VERSION = "anthropic_version"
"""The field with the version, which is a header elsewhere."""
_FIRST = {"2023-06-01": "vertex-2023-10-16"}
"""The name that the first version has here."""
COUNT_PATH = "/publishers/anthropic/models/count-tokens:rawPredict"
_PATH = re.compile(r"[^?#]*/publishers/anthropic/models/([^/?#:]+):(?:stream)?[rR]awPredict")


def path_of(model: str, *, stream: bool) -> str:
    """Returns the path for a model."""
    return f"/publishers/anthropic/models/{quote(model, safe='@')}:{'streamRawPredict' if stream else 'rawPredict'}"


def model_in(url: str) -> str | None:
    """Returns the model that a URL names."""
    found = _PATH.match(url)
    return unquote(found[1]) if found else None


def with_version(body: Object, version: str) -> Object:
    """Returns the body with the version first, unless there is none."""
    return {VERSION: _FIRST.get(version, version), **body} if version else body
