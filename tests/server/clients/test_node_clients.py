"""Clients of npm: openai, @anthropic-ai/sdk and the AI SDK with its providers for both APIs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.node_packages import node
from tests.server.clients.replies import CALL, CHUNKS, COUNTED, STREAM, WEATHER, WHOLE, refusal
from tests.server.serving import Served

pytestmark = pytest.mark.process

PACKAGES = Path(__file__).parent / "node"


def results(served: Served, script: str) -> dict[str, Any]:
    """What a script prints."""
    done = node(script, f"{served.url}/v1", source=PACKAGES)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_openai(served: Served):
    served.script(WHOLE, STREAM, CALL, WHOLE, STREAM, refusal())
    assert results(served, "openai_client.mjs") == {
        "whole": COUNTED,
        "stream": [CHUNKS, 11, 3],
        "tool": [*WEATHER, "tool_calls"],
        "response": COUNTED,
        "events": CHUNKS,
        "error": [True, 429],
        "models": True,
    }


def test_anthropic(served: Served):
    served.script(WHOLE, STREAM, CALL, refusal())
    assert results(served, "anthropic_client.mjs") == {
        "whole": COUNTED,
        "stream": [CHUNKS, 11, 3],
        "tool": [*WEATHER, "tool_use"],
        "count": True,
        "error": [True, 429],
    }


def test_ai_sdk_with_three_of_its_providers(served: Served):
    served.script(*(reply for _ in range(3) for reply in (WHOLE, STREAM, CALL, refusal())))
    expected = {
        "whole": COUNTED,
        "stream": [CHUNKS, 11, 3],
        "tool": [*WEATHER, "tool-calls"],
        "error": [True, 429],
    }
    assert results(served, "ai_client.mjs") == dict.fromkeys(("compatible", "responses", "anthropic"), expected)
