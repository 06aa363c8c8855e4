"""Shared by tests of cassettes: the lines of a file, and a URL without a server."""

from __future__ import annotations

import json

CLOSED = "http://127.0.0.1:1/v1"


def lines(path) -> list[dict]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]
