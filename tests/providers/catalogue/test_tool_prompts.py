"""`tool_prompt`: open-weight models have the format of their family at every provider, also without a row."""

from __future__ import annotations

from pathlib import Path

import pytest

from abstractcore.catalogue import FileCatalogue
from abstractcore.engine import lower
from abstractcore.ports import ModelProfile
from abstractcore.schema import Message, ModelCall
from abstractcore_providers.plugin import register_catalogues
from tests.providers.catalogue_rows import PROVIDERS

FORMATS = {
    "hermes",
    "qwen_coder",
    "llama3",
    "pythonic",
    "mistral",
    "gemma3",
    "gemma4",
    "kimi_k2",
    "glm",
    "deepseek",
    "minimax",
    "harmony",
    "react",
}
SERVERS = ("llama-cpp", "lmstudio", "local", "openai-compatible", "vllm")
CATALOGUE = FileCatalogue(lambda: {file.name: file for file in register_catalogues()}, {}, updates=Path())


def profile(provider: str, model: str) -> ModelProfile:
    return CATALOGUE.profile(provider, model)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_format_of_the_tables_exists(provider: str):
    models = CATALOGUE.models(provider)
    assert {models.entry(name).profile.tool_prompt for name in models.names} <= {*FORMATS, None}


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        ("ollama", "qwen3:8b", "hermes"),
        ("ollama", "qwen3-coder:30b", "qwen_coder"),
        ("ollama", "llama3.2", "llama3"),
        ("ollama", "llama4", "pythonic"),
        ("ollama", "mistral:7b", "mistral"),
        ("ollama", "gemma3:1b", "gemma3"),
        ("ollama", "gemma4", "gemma4"),
        ("ollama", "gpt-oss:20b", "harmony"),
        ("ollama", "deepseek-v3.1:671b", "deepseek"),
        ("groq", "openai/gpt-oss-120b", "harmony"),
        ("groq", "moonshotai/kimi-k2-instruct", "kimi_k2"),
        ("groq", "moonshotai/kimi-k2-instruct-0905", "kimi_k2"),
        ("groq", "llama-3.3-70b-versatile", "llama3"),
        ("openrouter", "moonshotai/kimi-k2-thinking", "kimi_k2"),
        ("openrouter", "liquid/lfm-2.5-2.6b", "pythonic"),
        ("openrouter", "qwen/qwen3-235b-a22b-thinking", "hermes"),
        ("fireworks", "accounts/fireworks/models/kimi-k2p5", "kimi_k2"),
        ("fireworks", "accounts/fireworks/models/minimax-m2p7", "minimax"),
        ("together", "zai-org/GLM-5.1", "glm"),
        ("cerebras", "zai-glm-4.7", "glm"),
        ("bedrock", "us.meta.llama3-3-70b-instruct-v1:0", "llama3"),
        ("bedrock", "qwen.qwen3-coder-30b-a3b-v1:0", "qwen_coder"),
        ("mistral", "mistral-large-2512", "mistral"),
        ("google", "gemma-4-31b-it", "gemma4"),
    ],
)
def test_a_model_has_the_format_of_its_family_wherever_it_runs(provider: str, model: str, expected: str):
    assert profile(provider, model).tool_prompt == expected


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-5.4"),
        ("anthropic", "claude-opus-5-5"),
        ("google", "gemini-3.8-flash"),
        ("openrouter", "qwen/qwen3-max"),
        ("openrouter", "moonshotai/kimi-k3"),
        ("openrouter", "deepseek/deepseek-v3.2"),
        ("openrouter", "minimax/minimax-m3.1-flash"),
        ("mistral", "mistral-ocr-4-1"),
        ("local", "smollm2-135m-instruct"),
        ("vllm", "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B"),
        ("vllm", "acme/own-model"),
    ],
)
def test_a_model_of_which_no_format_is_known_has_none(provider: str, model: str):
    assert profile(provider, model).tool_prompt is None


@pytest.mark.parametrize("provider", SERVERS)
@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("Qwen/Qwen3-8B", "hermes"),
        ("Qwen/Qwen3-1.7B", "hermes"),
        ("Qwen/Qwen2.5-0.5B-Instruct", "hermes"),
        ("Qwen3-Coder-30B-A3B-Instruct-Q4_K_M.gguf", "qwen_coder"),
        ("Qwen/Qwen3.8-27B-FP8", "qwen_coder"),
        ("hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M", "hermes"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama3"),
        ("Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf", "llama3"),
        ("meta-llama/Llama-4-Scout-17B-16E-Instruct", "pythonic"),
        ("LiquidAI/LFM2-1.2B", "pythonic"),
        ("mistralai/Mistral-Small-3.2-24B-Instruct-2506", "mistral"),
        ("NousResearch/Hermes-3-Llama-3.1-8B", "hermes"),
        ("moonshotai/Kimi-K2.5", "kimi_k2"),
        ("zai-org/GLM-4.7-Flash", "glm"),
        ("deepseek-ai/DeepSeek-V3-0324", "deepseek"),
        ("openai/gpt-oss-120b", "harmony"),
    ],
)
def test_a_server_s_model_has_the_format_and_all_else_as_before(provider: str, model: str, expected: str):
    found, other = profile(provider, model), profile(provider, "acme/own-model")
    assert found.tool_prompt == expected
    assert (found.known, found.refused, found.assumed, found.accepts) == (
        True,
        other.refused,
        other.assumed,
        other.accepts,
    )
    assert lower(ModelCall(model, (Message.user("hi"),)), found, ()).warnings == ()
