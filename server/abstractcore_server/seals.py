"""Seals: what the server writes into fields that clients send back unread, so that it is known again.

Nothing of it is secret: it is the client's own content, in base64 after a mark. So it outlives the process, and every
other process can read it.
"""

from __future__ import annotations

import base64
import json
from typing import Any

_MARK = b"abstractcore:1:"
"""A multiple of three bytes, so that its base64 is the beginning of that of the whole."""
BEGINNING = base64.b64encode(_MARK).decode()
"""How every seal begins."""


def sealed(content: Any) -> str:
    """Returns a seal with JSON data."""
    return base64.b64encode(_MARK + json.dumps(content).encode()).decode()


def unsealed(value: object) -> Any:
    """Returns the data in a seal; None for anything else."""
    if not isinstance(value, str) or not value.startswith(BEGINNING):
        return None
    try:
        return json.loads(base64.b64decode(value, validate=True)[len(_MARK) :])
    except (ValueError, RecursionError):
        return None
