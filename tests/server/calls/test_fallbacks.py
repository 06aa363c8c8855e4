"""Groups of models: if one fails, the next is called, and the log says why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from abstractcore import InvalidInputError, OverloadedError, Routing
from abstractcore_server import FixedKeys, ModelSettings, Settings
from tests.chaos_server import HANG, completion
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


SPREAD = Settings(models={"smart": ModelSettings(("openai/a", "openai/b"), Routing(order="spread"))})


def asked(served: Served, key: str = "", **fields: Any) -> str:
    """Returns the model that answers a call."""
    served.vendor.script(completion("hello"))
    body = {"model": "smart", "messages": [{"role": "user", "content": "hi"}], **fields}
    headers = {"authorization": f"Bearer {key}"} if key else {}
    response = httpx2.post(f"{served.url}/v1/chat/completions", json=body, headers=headers, trust_env=False)
    assert response.status_code == 200, response.text
    return f"openai/{served.vendor.requests[-1].json['model']}"


@pytest.mark.parametrize("session", [{"abstractcore": {"tags": {"session": "s"}}}, {"prompt_cache_key": "s"}])
def test_calls_of_a_session_stay_with_the_model_that_answered(session: dict[str, Any]):
    with serving(SPREAD) as served:
        assert {asked(served) for _ in range(2)} == {"openai/a", "openai/b"}
        assert {asked(served, **session) for _ in range(3)} == {"openai/a"}


def test_sessions_of_two_keys_are_two():
    keys = ["key-of-one-0123456789", "key-of-two-0123456789"]
    with serving(SPREAD, access=FixedKeys(keys)) as served:
        assert [asked(served, key, prompt_cache_key="s") for key in keys] == ["openai/a", "openai/b"]
        assert [asked(served, key, prompt_cache_key="s") for key in keys] == ["openai/a", "openai/b"]


def test_sessions_may_be_spread_too():
    group = ModelSettings(("openai/a", "openai/b"), Routing(order="spread", sticky=None))
    with serving(Settings(models={"smart": group})) as served:
        assert {asked(served, prompt_cache_key="s") for _ in range(2)} == {"openai/a", "openai/b"}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
def test_model_that_does_not_begin_to_answer_in_its_time_is_left(path: str, stream: bool):
    group = ModelSettings(("openai/a", "scripted"), Routing(member_timeout=0.2))
    with serving(Settings(models={"smart": group})) as served:
        served.vendor.script(HANG)
        served.script("hello", "hello again")
        body = {"model": "smart", "messages": [{"role": "user", "content": "hi"}], "stream": stream, "max_tokens": 9}
        answers = [httpx2.post(f"{served.url}{path}", json=body, trust_env=False) for _ in range(2)]
        assert [each.status_code for each in answers] == [200, 200]
        assert "hello" in answers[0].text
        assert "again" in answers[1].text
        assert len(served.vendor.requests) == 1


def test_two_models_cannot_make_one_answer_of_a_server():
    with pytest.raises(InvalidInputError, match=r"routing\.hedge_after: a server sends an answer while it is made"):
        ModelSettings(("openai/a", "openai/b"), Routing(hedge_after=1))
