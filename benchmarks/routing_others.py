"""Runs where other libraries are installed: NAME DEAD_URL WELL_URL CALLS. Prints what a group of theirs adds to a call
that its first member answers, without HTTP, and how many calls are lost when the first member is dead.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

_COUNT, _ROUNDS = 100, 6
_PROMPT = "What is the capital of France? Answer in one word."


def seconds(function: Callable[[], object]) -> float:
    """Returns the processor time of one call."""
    start = time.process_time()
    for _ in range(_COUNT):
        function()
    return (time.process_time() - start) / _COUNT


def added(plain: Callable[[], object], group: Callable[[], object]) -> float:
    """Returns the difference of the best of interleaved rounds."""
    times = [(seconds(plain), seconds(group)) for _ in range(_ROUNDS)]
    return min(each[1] for each in times) - min(each[0] for each in times)


def litellm(dead: str, well: str, calls: int) -> dict[str, float]:
    """LiteLLM's Router, with its defaults."""
    import litellm
    from litellm import Router

    litellm.suppress_debug_info = True
    messages: list[Any] = [{"role": "user", "content": _PROMPT}]

    def member(name: str, **parameters: Any) -> dict[str, Any]:
        return {"model_name": name, "litellm_params": {"model": "openai/m", "api_key": "k", **parameters}}

    first = Router(model_list=[member("one", mock_response="Paris."), member("two", mock_response="Paris.")])
    more = added(
        lambda: litellm.completion("openai/m", messages, api_key="k", mock_response="Paris."),
        lambda: first.completion("one", messages),
    )
    router = Router(
        model_list=[member("one", api_base=dead), member("two", api_base=well)],
        fallbacks=[{"one": ["two"]}],
        num_retries=0,
        cooldown_time=30,
    )
    return {"added": more, "lost": lost(lambda: router.completion("one", messages), calls)}


def pydantic_ai(dead: str, well: str, calls: int) -> dict[str, float]:
    """pydantic-ai's FallbackModel."""
    import openai
    from pydantic_ai import Agent
    from pydantic_ai.models.fallback import FallbackModel
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.providers.openai import OpenAIProvider

    plain, group = Agent(TestModel()), Agent(FallbackModel(TestModel(), TestModel()))
    more = added(lambda: plain.run_sync(_PROMPT), lambda: group.run_sync(_PROMPT))

    def member(url: str) -> OpenAIChatModel:
        client = openai.AsyncOpenAI(base_url=url, api_key="k", max_retries=0)
        return OpenAIChatModel("m", provider=OpenAIProvider(openai_client=client))

    agent = Agent(FallbackModel(member(dead), member(well)))
    return {"added": more, "lost": lost(lambda: agent.run_sync(_PROMPT), calls)}


def lost(call: Callable[[], object], calls: int) -> int:
    """Returns how many calls fail."""
    failed = 0
    for _ in range(calls):
        try:
            call()
        except Exception as error:
            print(type(error).__name__, str(error)[:200], file=sys.stderr)
            failed += 1
    return failed


if __name__ == "__main__":
    _, name, dead, well, calls = sys.argv
    print(json.dumps({"litellm": litellm, "pydantic_ai": pydantic_ai}[name](dead, well, int(calls))))
