"""The vendors whose APIs are compatible with OpenAI's chat completions, a row each.

Requests, responses and errors on the wire: `formats/openai_chat`.
"""

from __future__ import annotations

from ..common import json_schemas, request_limits
from ..formats.openai_chat import Dialect, dialect, usage
from ..formats.openai_chat.dialect import (
    BREAKPOINT,
    CACHE_CONTROL,
    COMMON_OPTIONS,
    COMPATIBLE,
    COUNT_OF_LLAMA_CPP,
    COUNT_OF_VLLM,
    DETAILS,
    PIECES,
    RECEIVED,
    USUAL,
    ThinkingFields,
    TranscriptionFields,
)
from .azure import AzurePreset
from .presets import Preset

_WITH_TOP_K = COMMON_OPTIONS | {"top_k"}
_SEEDLESS = COMMON_OPTIONS - {"seed"}

VENDORS = (
    Preset(
        "openai",
        "OpenAI, chat completions",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        url_variable="OPENAI_BASE_URL",
        dialect=dialect.OPENAI,
        model_examples={"gpt": "gpt-5.4", "chatgpt": "gpt-5.4", "o1": "gpt-5.4", "o3": "gpt-5.4", "o4": "gpt-5.4"},
    ),
    AzurePreset(
        "azure",
        "OpenAI's models on Azure; the model is a deployment's name",
        None,
        "AZURE_OPENAI_API_KEY",
        dialect=Dialect("azure", most_alternatives=20, cache=BREAKPOINT),
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
            reasoning_field=DETAILS,
            cache=CACHE_CONTROL,
            billing=usage.OPENROUTER,
        ),
        model_examples={
            "meta-llama/": "meta-llama/llama-3.3-70b-instruct",
            "qwen/": "qwen/qwen3-32b",
            "mistralai/": "mistralai/mistral-large",
            "moonshotai/": "moonshotai/kimi-k2",
            "x-ai/": "x-ai/grok-4.3",
            "z-ai/": "z-ai/glm-4.6",
        },
    ),
    Preset(
        "groq",
        "Groq",
        "https://api.groq.com/openai/v1",
        "GROQ_API_KEY",
        url_variable="GROQ_BASE_URL",
        url_path="/openai/v1",
        dialect=Dialect(
            "groq",
            options=COMMON_OPTIONS - {"top_logprobs"},
            thinking=ThinkingFields(levels=("low", "medium", "high")),
            think_tags=True,
            limits=request_limits.GROQ,
            reasoning_field="reasoning",  # `ChatCompletionAssistantMessageParam` in the groq package
            reasoning_with_calls=True,
            schemas=json_schemas.GROQ,
        ),
    ),
    Preset(
        "mistral",
        "Mistral",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        url_path="/v1",
        dialect=Dialect(
            "mistral",
            "max_tokens",
            seed_field="random_seed",
            options=_WITH_TOP_K,
            stream_usage=False,
            reasoning_field=PIECES,
            call_id_size=9,
            limits=request_limits.MISTRAL,
            schemas=json_schemas.MISTRAL,
            billing=usage.MISTRAL,
            # A keyword has no spaces or commas: docs.mistral.ai/api/endpoint/audio/transcriptions
            transcription_fields=TranscriptionFields(
                formats=False, keywords="context_bias", keywords_are_words=True, speakers="diarize", lists=""
            ),
        ),
        model_examples={
            "mistral-": "mistral-large-latest",
            "ministral": "ministral-8b-latest",
            "magistral": "magistral-medium-latest",
            "codestral": "codestral-latest",
            "devstral": "devstral-medium-latest",
            "pixtral": "pixtral-large-latest",
        },
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
            most_alternatives=20,  # api-docs.deepseek.com/api/create-chat-completion
            thinking=ThinkingFields(off=(("thinking", "type"), "disabled")),
            reasoning_field=USUAL,
            empty_reasoning=True,
            json_mode_only=True,
            limits=request_limits.DEEPSEEK,
            schemas=json_schemas.DEEPSEEK,
        ),
        model_examples={"deepseek-": "deepseek-v4-pro"},
    ),
    Preset(
        "xai",
        "xAI",
        "https://api.x.ai/v1",
        "XAI_API_KEY",
        dialect=Dialect(
            "xai",
            most_alternatives=8,  # `BaseClient.create` in the xai-sdk package
            thinking=ThinkingFields(levels=("low", "medium", "high", "xhigh")),
            limits=request_limits.XAI,
            schemas=json_schemas.XAI,
            billing=usage.XAI,
        ),
        model_examples={"grok": "grok-4.3"},
    ),
    Preset(
        "together",
        "Together AI, open models",
        "https://api.together.xyz/v1",
        "TOGETHER_API_KEY",
        url_variable="TOGETHER_BASE_URL",
        dialect=Dialect(
            "together",
            "max_tokens",
            options=_WITH_TOP_K - {"parallel_tool_calls"},
            counted_logprobs=True,
            most_alternatives=20,  # `logprobs` in openapi.yaml of github.com/togethercomputer/openapi
            thinking=ThinkingFields(off=(("reasoning", "enabled"), False)),
            stream_usage=False,
            think_tags=True,
            reasoning_field=RECEIVED,  # "reasoning" or "reasoning_content": docs.together.ai/docs/glm-5.3-quickstart
            reasoning_with_calls=True,
            schemas=json_schemas.TOLERANT,
        ),
    ),
    Preset(
        "fireworks",
        "Fireworks AI, open models",
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_KEY",
        url_variable="FIREWORKS_BASE_URL",
        url_path="/inference/v1",
        dialect=Dialect(
            "fireworks",
            "max_tokens",
            options=_WITH_TOP_K,
            thinking=ThinkingFields(budget=("reasoning_effort",)),
            think_tags=True,
            reasoning_field=USUAL,
            schemas=json_schemas.TOLERANT,
        ),
        model_examples={"accounts/fireworks/": "accounts/fireworks/models/deepseek-v4p1-flash"},
    ),
    Preset(
        "perplexity",
        "Perplexity, answers from the web with their sources",
        "https://api.perplexity.ai",
        "PERPLEXITY_API_KEY",
        url_variable="PERPLEXITY_BASE_URL",
        dialect=Dialect(
            "perplexity",
            "max_tokens",
            thinking=ThinkingFields(levels=("minimal", "low", "medium", "high")),
            options=_WITH_TOP_K - {"seed"},
            stream_usage=False,
            think_tags=True,
            search_results=True,
            named_tool_choice=False,
            tool_descriptions=True,
            schemas=json_schemas.PERPLEXITY,
            billing=usage.PERPLEXITY,
        ),
        model_examples={"sonar": "sonar-pro"},
    ),
    Preset(
        "cerebras",
        "Cerebras",
        "https://api.cerebras.ai/v1",
        "CEREBRAS_API_KEY",
        url_variable="CEREBRAS_BASE_URL",
        url_path="/v1",
        dialect=Dialect("cerebras", think_tags=True, limits=request_limits.CEREBRAS, schemas=json_schemas.CEREBRAS),
    ),
    Preset(
        "lmstudio",
        "an LM Studio server, on this machine by default",
        "http://localhost:1234/v1",
        "LM_API_TOKEN",
        key_needed=False,
        url_path="/v1",
        runs_templates=True,
        dialect=Dialect(
            "lmstudio",
            "max_tokens",
            options=_WITH_TOP_K - {"top_logprobs", "parallel_tool_calls"},
            thinking=None,
            think_tags=True,
            limits=request_limits.UNLIMITED,
            reasoning_field=RECEIVED,  # depends on model and settings: lmstudio.ai/docs/developer/api-changelog
            reasoning_with_calls=True,
            schemas=json_schemas.TOLERANT,
        ),
    ),
    Preset(
        "vllm",
        "a vLLM server, on this machine by default",
        "http://localhost:8000/v1",
        "VLLM_API_KEY",
        key_needed=False,
        url_path="/v1",
        runs_templates=True,
        dialect=Dialect(
            "vllm",
            options=_WITH_TOP_K,
            most_alternatives=20,  # `--max-logprobs` in docs.vllm.ai/en/latest/configuration/engine_args
            thinking=ThinkingFields(
                off=(("chat_template_kwargs", "enable_thinking"), False), budget=("thinking_token_budget",)
            ),
            think_tags=True,
            limits=request_limits.UNLIMITED,
            reasoning_field="reasoning",
            schemas=json_schemas.TOLERANT,
            counts=COUNT_OF_VLLM,
        ),
    ),
    Preset(
        "llama-cpp",
        "a llama.cpp server, on this machine by default",
        "http://localhost:8080/v1",
        "LLAMA_API_KEY",
        key_needed=False,
        url_path="/v1",
        runs_templates=True,
        dialect=Dialect(
            "llama-cpp",
            "max_tokens",
            options=_WITH_TOP_K,
            most_alternatives=20,
            think_tags=True,
            limits=request_limits.UNLIMITED,
            reasoning_field="reasoning_content",
            reasoning_field=USUAL,
            schemas=json_schemas.TOLERANT,
            counts=COUNT_OF_LLAMA_CPP,
        ),
    ),
    Preset(
        "openai-compatible",
        "any server with OpenAI's chat completions API; needs base_url",
        None,
        "OPENAI_COMPATIBLE_API_KEY",
        key_needed=False,
        runs_templates=True,
        dialect=COMPATIBLE,
    ),
)
