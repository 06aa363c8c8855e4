"""Clients of the Python index that are built on vendors' clients: langchain-openai, litellm, instructor, llm.

They are installed into an environment of their own, since each asks for versions of what the tests need too.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from abstractcore.testing import ScriptedReply
from tests.packages import kept_environment, run
from tests.server.clients.replies import CALL, CHUNKS, COUNTED, STREAM, WEATHER, WHOLE, refusal, result_of
from tests.server.serving import Served

pytestmark = pytest.mark.process

FOLDER = Path(__file__).parent / "python"
OSLO = {"name": "Oslo", "country": "Norway"}
CITY: dict[str, Any] = {"name": "Oslo", "people": 700_000}


@pytest.fixture(scope="module")
def executables() -> Path:
    """The commands of an environment with the clients."""
    return kept_environment(FOLDER / "requirements.txt")


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """An environment in which nothing is downloaded, and no home folder is written."""
    local = {"HOME": str(tmp_path), "LLM_USER_PATH": str(tmp_path), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    return {"PATH": os.defpath, "NO_PROXY": "127.0.0.1", "PYTHONUTF8": "1", **local}


def results(served: Served, executables: Path, env: dict[str, str], script: str) -> dict[str, Any]:
    """What a script prints."""
    return json.loads(run(executables / "python", FOLDER / script, f"{served.url}/v1", env=env))


def test_langchain(served: Served, executables: Path, env: dict[str, str]):
    served.script(WHOLE, STREAM, CALL, json.dumps(OSLO), refusal())
    assert results(served, executables, env, "langchain_client.py") == {
        "whole": COUNTED,
        "stream": CHUNKS,
        "tool": [WEATHER],
        "object": OSLO,
        "error": 429,
    }


def test_litellm_as_a_client_of_two_apis(served: Served, executables: Path, env: dict[str, str]):
    served.script(*(reply for _ in range(2) for reply in (WHOLE, STREAM, CALL, refusal())))
    expected = {"whole": COUNTED, "stream": CHUNKS, "tool": [WEATHER], "error": 429}
    assert results(served, executables, env, "litellm_client.py") == dict.fromkeys(("openai", "anthropic"), expected)


def test_instructor(served: Served, executables: Path, env: dict[str, str]):
    wrong = ScriptedReply.tool_call("City", {"name": "Oslo", "people": -1})
    right = ScriptedReply.tool_call("City", CITY)
    served.script(right, json.dumps(CITY), wrong, right)
    found = results(served, executables, env, "instructor_client.py")
    assert found == dict.fromkeys(("tool", "schema", "again"), CITY)
    assert "greater than 0" in result_of(served.calls[-1])


def test_llm(served: Served, executables: Path, env: dict[str, str], tmp_path: Path):
    described = f"- model_id: local\n  model_name: scripted\n  api_base: {served.url}/v1\n"
    (tmp_path / "extra-openai-models.yaml").write_text(described)
    served.script(STREAM, WHOLE)
    assert run(executables / "llm", "-m", "local", "Say hello.", env=env) == "Hello there.\n"
    assert run(executables / "llm", "-m", "local", "--no-stream", "Say hello.", env=env) == "Hello there.\n"
