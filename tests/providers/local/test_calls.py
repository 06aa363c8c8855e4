"""The embedded model through the whole pipeline: real weights, a real child process, sync and async."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from abstractcore import LLM, ContextOverflowError, ModelCrashedError, Services, create_llm
from abstractcore.engine import lower
from abstractcore.stores.models import FileModelStore

pytestmark = [pytest.mark.process, pytest.mark.weights]

pytest.importorskip("xllamacpp")
CONTEXT = 512


@dataclass
class Capital:
    city: str


@pytest.fixture(scope="module")
def services(models: FileModelStore) -> Iterator[Services]:
    services = Services(models=models, environment={})
    yield services
    services.registry.provider("local").close()
    services.close()


@pytest.fixture(scope="module")
def llm(services: Services) -> LLM:
    return create_llm("local", context_size=CONTEXT, threads=1, temperature=0, services=services)


def test_answer_has_token_counts_and_costs_nothing(call_style, llm):
    response = call_style.generate(llm, "Name the capital of France.", max_output_tokens=20)
    assert "Paris" in response.content
    assert response.usage.input > 0
    assert response.usage.output > 0
    assert (response.cost, response.provider, response.model) == (0.0, "local", "smollm2-135m-instruct")


def test_prompt_over_the_context_is_an_error_with_both_numbers(call_style, llm):
    with pytest.raises(ContextOverflowError) as caught:
        call_style.generate(llm, "word " * 1000)
    assert caught.value.context_tokens == CONTEXT
    assert caught.value.prompt_tokens > 1000
    assert "1031" in str(caught.value)
    assert "512" in str(caught.value)


def test_response_model_is_enforced_and_parsed(call_style, llm):
    prompt = "Give the capital of France as JSON."
    response = call_style.generate(llm, prompt, response_model=Capital, max_output_tokens=30)
    assert response.output == Capital("Paris")


def test_recommended_sampling_applies_to_unset_options(services):
    llm = create_llm("local", services=services)
    lowered = lower(llm.build("Hi.", temperature=0.7), llm._pipelines.session.profile, ()).call
    assert (lowered.sampling.max_output_tokens, lowered.sampling.temperature) == (512, 0.7)


def test_killed_model_is_a_typed_error_and_the_next_call_restarts_it(call_style, llm, services):
    call_style.generate(llm, "Hi.", max_output_tokens=1)
    pool = services.registry.provider("local")._pool()
    (child,) = pool.processes()
    os.kill(child.pid, signal.SIGKILL)
    child._process.wait()
    assert call_style.generate(llm, "Hi.", max_output_tokens=1).usage.output == 1

    (child,) = pool.processes()
    with call_style.stream(llm, "Tell me a long story.", max_output_tokens=200) as stream:
        next(stream)
        os.kill(child.pid, signal.SIGKILL)
        with pytest.raises(ModelCrashedError, match="SIGKILL") as caught:
            list(stream)
    assert caught.value.partial is not None
    assert call_style.generate(llm, "Hi.", max_output_tokens=1).usage.output == 1
