"""The vendors that speak the chat completions format, a row each."""

from __future__ import annotations

from . import families
from .openai_chat import Dialect
from .openai_chat.dialect import COMMON_OPTIONS, COMPATIBLE, ThinkingFields
from .presets import Preset

_WITH_TOP_K = COMMON_OPTIONS | {"top_k"}
_SEEDLESS = COMMON_OPTIONS - {"seed"}

VENDORS = (
    Preset(
        "openai",
        "OpenAI, chat completions",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        families=families.OPENAI,
    ),
    Preset(
        "azure",
        "OpenAI's models on Azure; the model is a deployment's name",
        "https://{resource}.openai.azure.com/openai/v1",
        "AZURE_OPENAI_API_KEY",
        key_header="api-key",
        dialect=Dialect("azure"),
        families=families.OPENAI,
    ),
    Preset(
        "openrouter",
        "OpenRouter, models of many vendors",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        dialect=Dialect(
            "openrouter",
            "max_tokens",
            options=_WITH_TOP_K,
            thinking=ThinkingFields(
                level=("reasoning", "effort"), off=(("reasoning", "effort"), "none"), budget=("reasoning", "max_tokens")
            ),
        ),
        families=families.OPENROUTER,
    ),
    Preset(
        "groq",
        "Groq",
        "https://api.groq.com/openai/v1",
        "GROQ_API_KEY",
        dialect=Dialect("groq", options=COMMON_OPTIONS - {"top_logprobs"}, think_tags=True),
        families=families.GROQ,
    ),
    Preset(
        "mistral",
        "Mistral",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        dialect=Dialect(
            "mistral",
            "max_tokens",
            seed_field="random_seed",
            options=COMMON_OPTIONS - {"top_logprobs"},
            stream_usage=False,
            call_id_size=9,
        ),
        families=families.MISTRAL,
    ),
    Preset(
        "deepseek",
        "DeepSeek",
        "https://api.deepseek.com",
        "DEEPSEEK_API_KEY",
        dialect=Dialect(
            "deepseek",
            "max_tokens",
            options=_SEEDLESS - {"parallel_tool_calls"},
            thinking=ThinkingFields(off=(("thinking", "type"), "disabled")),
            reasoning_field="reasoning_content",
        ),
        families=families.DEEPSEEK,
    ),
    Preset(
        "xai",
        "xAI",
        "https://api.x.ai/v1",
        "XAI_API_KEY",
        dialect=Dialect("xai"),
        families=families.XAI,
    ),
    Preset(
        "together",
        "Together AI, open models",
        "https://api.together.xyz/v1",
        "TOGETHER_API_KEY",
        dialect=Dialect(
            "together",
            "max_tokens",
            options=_WITH_TOP_K - {"top_logprobs", "parallel_tool_calls"},
            thinking=ThinkingFields(off=(("reasoning", "enabled"), False)),
            stream_usage=False,
            think_tags=True,
        ),
        families=families.TOGETHER,
    ),
    Preset(
        "fireworks",
        "Fireworks AI, open models",
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_KEY",
        dialect=Dialect("fireworks", "max_tokens", options=_WITH_TOP_K, think_tags=True),
        families=families.FIREWORKS,
    ),
    Preset(
        "perplexity",
        "Perplexity, answers from the web with their sources",
        "https://api.perplexity.ai",
        "PERPLEXITY_API_KEY",
        dialect=Dialect(
            "perplexity",
            "max_tokens",
            options=_WITH_TOP_K - {"seed"},
            stream_usage=False,
            think_tags=True,
            search_results=True,
        ),
        families=families.PERPLEXITY,
    ),
    Preset(
        "cerebras",
        "Cerebras",
        "https://api.cerebras.ai/v1",
        "CEREBRAS_API_KEY",
        dialect=Dialect("cerebras", think_tags=True),
        families=families.CEREBRAS,
    ),
    Preset(
        "lmstudio",
        "a server of LM Studio, on this machine unless told",
        "http://localhost:1234/v1",
        "LM_API_TOKEN",
        key_needed=False,
        dialect=Dialect("lmstudio", "max_tokens", options=_WITH_TOP_K, thinking=None, think_tags=True),
        families=families.ANYTHING,
    ),
    Preset(
        "vllm",
        "a server of vLLM, on this machine unless told",
        "http://localhost:8000/v1",
        "VLLM_API_KEY",
        key_needed=False,
        dialect=Dialect(
            "vllm",
            options=_WITH_TOP_K,
            thinking=ThinkingFields(off=(("chat_template_kwargs", "enable_thinking"), False)),
            think_tags=True,
            reasoning_field="reasoning",
        ),
        families=families.ANYTHING,
    ),
    Preset(
        "llama-cpp",
        "a server of llama.cpp, on this machine unless told",
        "http://localhost:8080/v1",
        "LLAMA_API_KEY",
        key_needed=False,
        dialect=Dialect(
            "llama-cpp", "max_tokens", options=_WITH_TOP_K, think_tags=True, reasoning_field="reasoning_content"
        ),
        families=families.ANYTHING,
    ),
    Preset(
        "openai-compatible",
        "any server that speaks OpenAI's chat completions; needs base_url",
        None,
        "OPENAI_COMPATIBLE_API_KEY",
        key_needed=False,
        dialect=COMPATIBLE,
        families=families.ANYTHING,
    ),
)
