"""Gateways to the models of many vendors.

Requests, responses and errors on the wire: `formats/openai_chat`.
"""

from __future__ import annotations

from ...common import json_schemas
from ...formats.openai_chat import ChatDialect, dialect
from ...formats.openai_chat.dialect import (
    CACHE_CONTROL,
    COMMON_OPTIONS,
    DETAILS,
    RECEIVED,
    WITH_TOP_K,
    ThinkingFields,
)
from ..presets import Preset

_REASONING = ThinkingFields(
    level=("reasoning", "effort"), off=(("reasoning", "effort"), "none"), budget=("reasoning", "max_tokens")
)

GATEWAYS = (
    Preset(
        "openrouter",
        "OpenRouter, models of many vendors",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        dialect=ChatDialect(
            "openrouter",
            "max_tokens",
            options=WITH_TOP_K,
            thinking=_REASONING,
            reasoning_field=DETAILS,
            cache=CACHE_CONTROL,
            billing=dialect.OPENROUTER,
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
    Preset(  # vercel.com/docs/ai-gateway/sdks-and-apis/openai-chat-completions/reasoning
        "vercel",
        "Vercel AI Gateway, models of many vendors",
        "https://ai-gateway.vercel.sh/v1",
        "AI_GATEWAY_API_KEY",
        other_key_variables=("VERCEL_OIDC_TOKEN",),
        dialect=ChatDialect(
            "vercel",
            "max_tokens",
            options=COMMON_OPTIONS - {"top_logprobs", "parallel_tool_calls"},
            thinking=_REASONING,
            reasoning_field=DETAILS,
        ),
    ),
    Preset(  # huggingface.co/docs/inference-providers/tasks/chat-completion; ChatCompletionInput in huggingface_hub
        "huggingface",
        "Hugging Face Inference Providers, open models at many vendors",
        "https://router.huggingface.co/v1",
        "HF_TOKEN",
        dialect=ChatDialect(
            "huggingface",
            "max_tokens",
            options=COMMON_OPTIONS - {"parallel_tool_calls"},
            thinking=ThinkingFields(levels=("minimal", "low", "medium", "high", "xhigh")),
            think_tags=True,
            reasoning_field=RECEIVED,
            reasoning_with_calls=True,
            schemas=json_schemas.TOLERANT,
        ),
    ),
    Preset(  # portkey.ai/docs/product/ai-gateway/universal-api
        "portkey",
        "Portkey's gateway, models of many vendors",
        "https://api.portkey.ai/v1",
        "PORTKEY_API_KEY",
        dialect=ChatDialect(
            "portkey",
            "max_tokens",
            options=WITH_TOP_K,
            think_tags=True,
            reasoning_field=RECEIVED,
            reasoning_with_calls=True,
            schemas=json_schemas.COMPATIBLE,
        ),
    ),
    Preset(  # docs.litellm.ai/docs/proxy/user_keys, docs.litellm.ai/docs/providers/litellm_proxy
        "litellm",
        "a LiteLLM proxy, on this machine by default",
        "http://localhost:4000",
        "LITELLM_PROXY_API_KEY",
        url_variable="LITELLM_PROXY_API_BASE",
        key_needed=False,
        runs_templates=True,
        dialect=ChatDialect(
            "litellm",
            "max_tokens",
            options=WITH_TOP_K,
            think_tags=True,
            reasoning_field=RECEIVED,
            reasoning_with_calls=True,
            schemas=json_schemas.COMPATIBLE,
        ),
    ),
)
"""Gateways to the models of many vendors."""
