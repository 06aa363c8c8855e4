"""`make live`, without a network."""

import json
from pathlib import Path

import pytest

from abstractcore import LLM, RateLimitError, create_llm
from tests import live


@pytest.fixture(autouse=True)
def without_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(live, "FOLDER", tmp_path)


def scripted(*replies: object):
    """Creates a scripted model, whatever the vendor."""

    def make(provider: str, *, model: str, middleware: list[object]) -> LLM:
        return create_llm("scripted", model=model, replies=list(replies), middleware=middleware, max_retries=0)

    return make


def test_every_vendor_has_a_model():
    assert live.vendors() == {*live.MODELS, *live.OWN_SERVERS}


def test_without_a_key_nothing_is_sent(tmp_path: Path):
    (result,) = live.run(["openai"])
    assert not result.failed
    assert result.outcome == "skipped: no API key. Set OPENAI_API_KEY, or pass api_key=..."
    assert list(tmp_path.iterdir()) == []


def test_call_and_stream_are_recorded_and_replayed(tmp_path: Path):
    (result,) = live.run(["openai/gpt"], scripted("Bonjour.", "Salut."))
    assert result.outcome.startswith("ok: gpt said 'Bonjour.', and streamed 'Salut.'")
    lines = (tmp_path / "openai.jsonl").read_text(encoding="utf-8").splitlines()
    assert ["reply" in json.loads(line) for line in lines] == [True, False]


def test_vendor_failure_is_reported():
    (result,) = live.run(["openai"], scripted(RateLimitError("slow down")))
    assert result.failed
    assert "RateLimitError" in result.outcome
