"""The client of the TypeScript SDK against `abstractcore mcp serve`."""

from __future__ import annotations

import json

import pytest

from tests.core.mcp.server.served import COMMAND, FOLDER, MODERN, NO_MODEL, environment, serving_http
from tests.node_packages import node

pytestmark = pytest.mark.process

KEY = "the-key-of-the-server"
TOOLS = (*NO_MODEL, "--tool", "served_tools")
EXPECTED = {
    "weather": {"city": "Oslo", "celsius": 7.5},
    "failed": [True, "sold out"],
    "picture": ["text", "image", "resource_link"],
    "cancelled": True,
    "again": "Lima",
}


def check(mode: str, printed: str) -> None:
    found = json.loads(printed)
    assert "weather" in found.pop("tools")
    assert (found.pop("version") == MODERN) == (mode == "auto")
    assert found == EXPECTED


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_over_http(mode: str):
    with serving_http(*TOOLS, ABSTRACTCORE_SERVER_KEY=KEY) as (_, url):
        done = node("client.mjs", mode, url, env={"TEST_KEY": KEY})
        assert done.returncode == 0, done.stderr
        check(mode, done.stdout)
        wrong = node("client.mjs", mode, url, env={"TEST_KEY": "another-key-of-the-server"})
        assert wrong.returncode != 0
        assert "401" in wrong.stderr or "Unauthorized" in wrong.stderr


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_over_stdio(mode: str):
    done = node("client.mjs", mode, *COMMAND, *TOOLS, env={**environment(), "TEST_FOLDER": str(FOLDER)})
    assert done.returncode == 0, done.stderr
    check(mode, done.stdout)
