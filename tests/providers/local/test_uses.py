"""The lifetime of the process of an embedded model."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from abstractcore import LLM, ConfigurationError, ModelCrashedError, Services, create_llm
from abstractcore.registry import Registry
from abstractcore.stores.models import FileModelStore
from abstractcore.testing import SyncCalls
from abstractcore_providers.local import LocalProvider
from abstractcore_providers.local.process import ModelProcess
from abstractcore_providers.local.servers import ServerPool
from tests.conftest import PROXY_VARIABLES
from tests.providers.local.test_local import ends, needs_linux

pytest.importorskip("xllamacpp")
pytestmark = [needs_linux, pytest.mark.process, pytest.mark.weights]


class Limited(LocalProvider):
    """As built in, with other limits."""

    def __init__(self, **limits: Any) -> None:
        super().__init__()
        self._pools["shared"] = ServerPool(**limits)

    @property
    def processes(self) -> list[ModelProcess]:
        return self._pool().processes()


@pytest.fixture
def local(models: FileModelStore) -> Iterator[Callable[..., tuple[Callable[[int], LLM], Limited]]]:
    """`local(most=2)`: a function that makes LLMs by their context size, and their provider."""
    made: list[tuple[Services, Limited]] = []

    def local(**limits: Any) -> tuple[Callable[[int], LLM], Limited]:
        registry, provider = Registry(), Limited(**limits)
        registry.add_provider(provider)
        services = Services(registry=registry, models=models, environment={})
        made.append((services, provider))
        return lambda size: create_llm("local", context_size=size, threads=1, services=services), provider

    yield local
    for services, provider in made:
        provider.close()
        services.close()


def ask(call_style, llm: LLM) -> None:
    assert call_style.generate(llm, "Hi.", max_output_tokens=1).usage.output == 1


def test_closing_llms_ends_their_processes(call_style, local):
    llm_of, provider = local()
    llms = [llm_of(size) for size in (256, 257)]
    for llm in llms:
        ask(call_style, llm)
    pids = [process.pid for process in provider.processes]
    for llm in llms:
        llm.close()
        llm.close()
    assert provider.processes == []
    assert len(pids) == 2
    assert all(map(ends, pids))
    with pytest.raises(ConfigurationError, match="closed"):
        ask(call_style, llms[0])


def test_process_runs_until_the_last_llm_that_uses_it_is_closed(call_style, local):
    llm_of, provider = local()
    first, second = llm_of(256), llm_of(256)
    ask(call_style, first)
    ask(call_style, second)
    (process,) = provider.processes
    first.close()
    ask(call_style, second)
    assert provider.processes == [process]
    second.close()
    assert ends(process.pid)


def test_dropped_llm_ends_its_process(call_style, local):
    llm_of, provider = local()
    ask(call_style, llm_of(256))
    pids = [process.pid for process in provider.processes]
    gc.collect()
    assert all(map(ends, pids))


def test_least_recently_used_process_ends_above_the_limit(local):
    call_style = SyncCalls()
    llm_of, provider = local(most=2)
    llms = [llm_of(size) for size in (256, 257, 258)]
    ask(call_style, llms[0])
    (first,) = provider.processes
    ask(call_style, llms[1])
    ask(call_style, llms[0])
    ask(call_style, llms[2])
    assert len(provider.processes) == 2
    assert first in provider.processes
    ask(call_style, llms[1])
    assert len(provider.processes) == 2
    assert ends(first.pid)


def test_busy_process_is_not_ended(call_style, local):
    llm_of, provider = local(most=1)
    asked, other = llm_of(256), llm_of(257)
    with call_style.stream(asked, "Tell me a long story.", max_output_tokens=100) as stream:
        next(stream)
        (answering,) = provider.processes
        ask(call_style, other)
        assert provider.processes == [answering]
        asked.close()
        assert provider.processes == [answering]
        assert "".join(stream.text())
    assert provider.processes == []
    assert ends(answering.pid)


def test_idle_process_ends_and_the_next_call_restarts_it(call_style, local):
    llm_of, provider = local(idle_seconds=0.05)
    llm = llm_of(256)
    for _ in range(2):
        with call_style.stream(llm, "Tell me a story.", max_output_tokens=20) as stream:
            next(stream)
            (process,) = provider.processes
            assert "".join(stream.text())
        assert ends(process.pid)


def test_failed_start_leaves_no_lease(call_style, models, local, tmp_path):
    llm_of, provider = local()
    (tmp_path / "x.gguf").write_bytes(b"GGUF")
    services = llm_of(256)._pipelines.services
    llm = create_llm("local", model=str(tmp_path / "x.gguf"), services=services)
    with pytest.raises(ModelCrashedError):
        call_style.generate(llm, "Hi.")
    llm.close()
    assert provider._pool()._slots._slots == {}


def test_dropped_lease_is_released(local, models):
    """As of a task that was cancelled while a thread started the model for it."""
    llm_of, provider = local()
    llm = llm_of(256)
    endpoint = llm._pipelines.session.endpoint
    thread = threading.Thread(target=endpoint._start)
    thread.start()
    thread.join()
    (process,) = provider.processes
    llm.close()
    assert ends(process.pid)


def test_environment_proxy_is_not_used_for_the_local_model_process(call_style, local, monkeypatch):
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    llm_of, _ = local()
    ask(call_style, llm_of(256))
