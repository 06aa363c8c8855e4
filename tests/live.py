"""A small call and a small stream to every vendor whose key is in the environment, recorded without the key.

`python -m tests.live [PROVIDER or PROVIDER/MODEL ...]`. It goes to the network and costs a fraction of a cent a vendor.
Without a key nothing is sent, and it says so. The recordings go to build/live, and each is played back at once.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from abstractcore import LLM, Services, create_llm, record, replay
from abstractcore.errors import (
    AbstractCoreError,
    AuthenticationError,
    ConfigurationError,
    ConnectionFailedError,
    ModelNotFoundError,
)

FOLDER = Path(__file__).parents[1] / "build" / "live"
PROMPT = "Say hello in French, in one word."
MODELS = {
    "anthropic": "claude-haiku-5-5",
    "azure": "gpt-5.4-mini",
    "baseten": "openai/gpt-oss-120b",
    "bedrock": "us.amazon.nova-2-lite-v1:0",
    "bedrock-anthropic": "anthropic.claude-haiku-5-5",
    "bedrock-openai": "openai.gpt-oss-120b-1:0",
    "cerebras": "gpt-oss-120b",
    "cloudflare": "@cf/openai/gpt-oss-120b",
    "cohere": "command-r7b-12-2024",
    "dashscope": "qwen-plus",
    "databricks": "databricks-gpt-oss-120b",
    "deepinfra": "openai/gpt-oss-120b",
    "deepseek": "deepseek-v4-flash",
    "fireworks": "accounts/fireworks/models/deepseek-v4p1-flash",
    "google": "gemini-3.5-flash-lite",
    "google-interactions": "gemini-3.5-flash-lite",
    "groq": "openai/gpt-oss-20b",
    "huggingface": "openai/gpt-oss-120b",
    "hyperbolic": "openai/gpt-oss-120b",
    "minimax": "MiniMax-M3",
    "mistral": "ministral-3b-latest",
    "moonshot": "kimi-k3",
    "nebius": "openai/gpt-oss-120b",
    "novita": "openai/gpt-oss-120b",
    "nvidia": "openai/gpt-oss-120b",
    "openai": "gpt-5.4-mini",
    "openai-responses": "gpt-5.4-mini",
    "openrouter": "openai/gpt-5.4-mini",
    "perplexity": "sonar",
    "portkey": "@openai/gpt-5.4-mini",
    "sambanova": "gpt-oss-120b",
    "together": "openai/gpt-oss-120b",
    "vercel": "openai/gpt-5.4-mini",
    "vertex": "gemini-3.5-flash-lite",
    "vertex-anthropic": "claude-haiku-5-5",
    "vertex-openai": "openai/gpt-oss-120b-maas",
    "xai": "grok-4.3",
    "zai": "glm-5.2",
}
"""A small model of each vendor; how long each lives is in tests/model_names.toml."""
OWN_SERVERS = {
    "jan": "any",
    "litellm": "any",
    "llama-cpp": "any",
    "llamafile": "any",
    "lmstudio": "any",
    "ollama": "llama3.2",
    "openai-compatible": "any",
    "sglang": "any",
    "tgi": "any",
    "vllm": "any",
}
"""Self-hosted servers: a missing one is not a failure."""
NOT_ASKED = ("local", "scripted", "jina", "tei", "voyage")
"""Providers without a vendor, and those without a chat."""


@dataclass(frozen=True)
class Result:
    """What came of one vendor."""

    provider: str
    outcome: str
    failed: bool = False


def run(names: Sequence[str], make: Callable[..., LLM] = create_llm) -> Iterator[Result]:
    """Try `names` (`provider` or `provider/model`), or every vendor there is."""
    for name in names or sorted(vendors()):
        provider, _, model = name.partition("/")
        yield _tried(provider, model or (MODELS | OWN_SERVERS)[provider], make)


def vendors() -> set[str]:
    """All registered providers but those without a vendor or a chat."""
    return set(Services().registry.providers) - {*NOT_ASKED}


def _tried(provider: str, model: str, make: Callable[..., LLM]) -> Result:
    path = FOLDER / f"{provider}.jsonl"
    try:
        said = _asked(make(provider, model=model, middleware=[record(path)]))
    except AbstractCoreError as error:
        if _is_absent(provider, error):
            return Result(provider, f"skipped: {error.message} {error.hint or ''}".strip())
        return Result(provider, f"FAILED: {type(error).__name__}: {error}", failed=True)
    if _asked(make(provider, model=model, middleware=[replay(path)])) != said:
        return Result(provider, "FAILED: the recording does not say the same", failed=True)
    return Result(provider, f"ok: {model} said {said[0]!r}, and streamed {said[1]!r}; recorded in {path}")


def _is_absent(provider: str, error: AbstractCoreError) -> bool:
    """Returns whether the vendor cannot be called: no key, no URL, or no self-hosted server."""
    if isinstance(error, AuthenticationError):
        return error.status is None
    own = provider in OWN_SERVERS and isinstance(error, ConnectionFailedError | ModelNotFoundError)
    return own or isinstance(error, ConfigurationError)


def _asked(llm: LLM) -> tuple[str, str]:
    options: Any = {"max_output_tokens": 2000}
    answer = llm.generate(PROMPT, **options).content
    with llm.stream(PROMPT, **options) as stream:
        for _ in stream:
            pass
        return answer, stream.response.content


def main() -> int:
    """Print a line for each vendor; 1 if one failed."""
    failed = False
    for result in run(sys.argv[1:]):
        sys.stdout.write(f"{result.provider}: {result.outcome}\n")
        failed = failed or result.failed
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
