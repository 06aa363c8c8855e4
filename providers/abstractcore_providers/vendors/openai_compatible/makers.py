"""Vendors with models of their own.

Requests, responses and errors on the wire: `formats/openai_chat`.
"""

from __future__ import annotations

from ...common import json_schemas, request_limits
from ...formats.openai_chat import ChatDialect, dialect
from ...formats.openai_chat import dialect as usage
from ...formats.openai_chat.dialect import (
    BREAKPOINT,
    COMMON_OPTIONS,
    PIECES,
    RECEIVED,
    USUAL,
    WITH_TOP_K,
    EmbeddingFields,
    ThinkingFields,
    TranscriptionFields,
)
from ..azure import AzurePreset
from ..presets import Preset

_SEEDLESS = COMMON_OPTIONS - {"seed"}


def _switched(on: str) -> ThinkingFields:
    """Returns the fields of an API in which thinking is on, with the word `on`, or off."""
    return ThinkingFields(
        ("thinking", "type"), (("thinking", "type"), "disabled"), levels=("high",), words={"high": on}
    )


MAKERS = (
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
        dialect=ChatDialect("azure", most_alternatives=20, cache=BREAKPOINT),
    ),
    Preset(
        "mistral",
        "Mistral",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        url_path="/v1",
        dialect=ChatDialect(
            "mistral",
            "max_tokens",
            seed_field="random_seed",
            options=WITH_TOP_K,
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
            # `EmbeddingRequest` in the mistralai package; its base64 has float32 numbers
            embeddings=EmbeddingFields(dimensions="output_dimension"),
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
        dialect=ChatDialect(
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
        dialect=ChatDialect(
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
        "perplexity",
        "Perplexity, answers from the web with their sources",
        "https://api.perplexity.ai",
        "PERPLEXITY_API_KEY",
        url_variable="PERPLEXITY_BASE_URL",
        dialect=ChatDialect(
            "perplexity",
            "max_tokens",
            thinking=ThinkingFields(levels=("minimal", "low", "medium", "high")),
            options=WITH_TOP_K - {"seed"},
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
    Preset(  # platform.kimi.ai/docs/api/chat
        "moonshot",
        "Moonshot AI, the Kimi models",
        "https://api.moonshot.ai/v1",
        "MOONSHOT_API_KEY",
        dialect=ChatDialect(
            "moonshot",
            options=_SEEDLESS - {"top_logprobs", "parallel_tool_calls"},
            thinking=ThinkingFields(off=(("thinking", "type"), "disabled"), levels=("low", "high", "max")),
            reasoning_field=USUAL,  # required with tool calls: platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model
            empty_reasoning=True,
            schemas=json_schemas.TOLERANT,
        ),
        model_examples={"kimi-": "kimi-k3", "moonshot-v1": "kimi-k3"},
    ),
    Preset(  # alibabacloud.com/help/en/model-studio/qwen-api-via-openai-chat-completions
        "dashscope",
        "Alibaba Cloud Model Studio, the Qwen models",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
        dialect=ChatDialect(
            "dashscope",
            "max_tokens",
            options=WITH_TOP_K - {"frequency_penalty"},
            thinking=ThinkingFields(level=None, off=(("enable_thinking",), False), budget=("thinking_budget",)),
            reasoning_field=USUAL,  # Qwen's is ignored, Kimi's is required
            reasoning_with_calls=True,
            schemas=json_schemas.TOLERANT,
        ),
        model_examples={"qwen-": "qwen-plus", "qwq-": "qwen-plus"},
    ),
    Preset(  # docs.z.ai/api-reference/llm/chat-completion
        "zai",
        "Z.ai, the GLM models",
        "https://api.z.ai/api/paas/v4",
        "ZAI_API_KEY",
        url_variable="ZAI_BASE_URL",
        dialect=ChatDialect(
            "zai",
            "max_tokens",
            options=frozenset({"temperature", "top_p", "stop"}),
            thinking=_switched("enabled"),
            reasoning_field=USUAL,  # docs.z.ai/guides/capabilities/thinking-mode
            json_mode_only=True,
            schemas=json_schemas.TOLERANT,
        ),
        model_examples={"glm-": "glm-5.2"},
    ),
    Preset(  # platform.minimax.io/docs/api-reference/text-openai-api
        "minimax",
        "MiniMax",
        "https://api.minimax.io/v1",
        "MINIMAX_API_KEY",
        dialect=ChatDialect(
            "minimax",
            options=frozenset({"temperature", "top_p"}),
            thinking=_switched("adaptive"),
            think_tags=True,
            reasoning_field=RECEIVED,  # between tags or in "reasoning_content", by model: it must be returned unchanged
            reasoning_with_calls=True,
            schemas=json_schemas.TOLERANT,
        ),
        model_examples={"minimax-": "MiniMax-M3"},
    ),
)
"""Vendors with models of their own."""
