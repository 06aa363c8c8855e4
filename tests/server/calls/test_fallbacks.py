"""Groups of models: if one fails, the next is called, and the log says why."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from abstractcore import OverloadedError
from abstractcore_server import ModelSettings, Settings
from tests.server.serving import Served, serving


@pytest.fixture
def grouped() -> Iterator[Served]:
    with serving(Settings(models={"smart": ModelSettings(("scripted", "scripted"))})) as served:
        yield served


@pytest.mark.parametrize("stream", [False, True])
def test_the_next_model_answers_and_the_log_says_why(grouped: Served, stream: bool, caplog: pytest.LogCaptureFixture):
    grouped.begin_test()
    grouped.script(OverloadedError("too busy"), "hello")
    body = {"model": "smart", "messages": [{"role": "user", "content": "hi"}], "stream": stream}
    response = httpx2.post(f"{grouped.url}/v1/chat/completions", json=body, trust_env=False)
    assert "hello" in response.text
    (line,) = [record.getMessage() for record in caplog.records if record.name == "abstractcore.server"]
    assert response.headers["x-abstractcore-trace-id"] in line
    assert line.endswith("scripted failed, the next model is called: too busy")
