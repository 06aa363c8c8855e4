"""Vendors that run open models.

Requests, responses and errors on the wire: `formats/openai_chat`.
"""

from __future__ import annotations

from functools import partial

from ...common import json_schemas, request_limits
from ...formats.openai_chat import ChatDialect
from ...formats.openai_chat.dialect import COMMON_OPTIONS, RECEIVED, USUAL, WITH_TOP_K, ThinkingFields
from ..presets import Preset

_open_models = partial(
    ChatDialect,
    max_tokens_field="max_tokens",
    think_tags=True,
    reasoning_field=RECEIVED,
    reasoning_with_calls=True,
    schemas=json_schemas.TOLERANT,
)
"""What the dialects of most of these vendors have in common."""

HOSTS = (
    Preset(
        "groq",
        "Groq",
        "https://api.groq.com/openai/v1",
        "GROQ_API_KEY",
        url_variable="GROQ_BASE_URL",
        url_path="/openai/v1",
        dialect=ChatDialect(
            "groq",
            options=COMMON_OPTIONS - {"top_logprobs"},
            thinking=ThinkingFields(levels=("low", "medium", "high")),
            think_tags=True,
            reasoning_field="reasoning",  # `ChatCompletionAssistantMessageParam` in the groq package
            reasoning_with_calls=True,
            limits=request_limits.GROQ,
            schemas=json_schemas.GROQ,
        ),
    ),
    Preset(
        "together",
        "Together AI, open models",
        "https://api.together.xyz/v1",
        "TOGETHER_API_KEY",
        url_variable="TOGETHER_BASE_URL",
        dialect=ChatDialect(
            "together",
            "max_tokens",
            options=WITH_TOP_K - {"parallel_tool_calls"},
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
        dialect=ChatDialect(
            "fireworks",
            "max_tokens",
            options=WITH_TOP_K,
            thinking=ThinkingFields(budget=("reasoning_effort",)),
            think_tags=True,
            reasoning_field=USUAL,
            schemas=json_schemas.TOLERANT,
        ),
        model_examples={"accounts/fireworks/": "accounts/fireworks/models/deepseek-v4p1-flash"},
    ),
    Preset(
        "cerebras",
        "Cerebras",
        "https://api.cerebras.ai/v1",
        "CEREBRAS_API_KEY",
        url_variable="CEREBRAS_BASE_URL",
        url_path="/v1",
        dialect=ChatDialect("cerebras", think_tags=True, limits=request_limits.CEREBRAS, schemas=json_schemas.CEREBRAS),
    ),
    Preset(  # docs.api.nvidia.com/nim/reference/llm-apis; fields for thinking depend on the model
        "nvidia",
        "NVIDIA NIM, open models",
        "https://integrate.api.nvidia.com/v1",
        "NVIDIA_API_KEY",
        dialect=_open_models(
            "nvidia",
            options=COMMON_OPTIONS - {"top_logprobs"},
            thinking=None,
        ),
    ),
    Preset(  # docs.deepinfra.com/api-reference/chat-completions/openai-chat-completions
        "deepinfra",
        "DeepInfra, open models",
        "https://api.deepinfra.com/v1/openai",
        "DEEPINFRA_API_KEY",
        other_key_variables=("DEEPINFRA_TOKEN",),
        dialect=_open_models(
            "deepinfra",
            options=WITH_TOP_K - {"parallel_tool_calls", "top_logprobs"},
            thinking=ThinkingFields(levels=("low", "medium", "high", "xhigh")),  # docs.deepinfra.com/chat/reasoning
        ),
    ),
    Preset(  # docs.sambanova.ai/docs/en/api-reference/endpoints/chat-completions
        "sambanova",
        "SambaNova Cloud, open models",
        "https://api.sambanova.ai/v1",
        "SAMBANOVA_API_KEY",
        url_variable="SAMBANOVA_BASE_URL",
        dialect=_open_models(
            "sambanova",
            options=frozenset({"temperature", "top_p", "top_k", "stop", "parallel_tool_calls"}),
            thinking=ThinkingFields(
                off=(("chat_template_kwargs", "enable_thinking"), False), levels=("low", "medium", "high")
            ),
        ),
    ),
    Preset(  # novita.ai/docs/api-reference/model-apis-llm-create-chat-completion
        "novita",
        "Novita AI, open models",
        "https://api.novita.ai/openai/v1",
        "NOVITA_API_KEY",
        dialect=_open_models(
            "novita",
            options=WITH_TOP_K - {"parallel_tool_calls"},
            thinking=ThinkingFields(level=None, off=(("enable_thinking",), False)),
            # novita.ai/docs/guides/llm-interleaved-thinking
        ),
    ),
    Preset(  # docs.tokenfactory.nebius.com/api-reference/inference/create-chat-completion
        "nebius",
        "Nebius Token Factory, open models",
        "https://api.tokenfactory.nebius.com/v1",
        "NEBIUS_API_KEY",
        dialect=_open_models(
            "nebius",
            options=WITH_TOP_K,
            thinking=ThinkingFields(levels=("low", "medium", "high")),
        ),
    ),
    Preset(  # docs.hyperbolic.xyz/docs/rest-api
        "hyperbolic",
        "Hyperbolic, open models",
        "https://api.hyperbolic.xyz/v1",
        "HYPERBOLIC_API_KEY",
        dialect=_open_models(
            "hyperbolic",
            options=COMMON_OPTIONS - {"top_logprobs", "parallel_tool_calls"},
            thinking=None,
        ),
    ),
    Preset(  # docs.baseten.co/reference/inference-api/chat-completions
        "baseten",
        "Baseten, open models",
        "https://inference.baseten.co/v1",
        "BASETEN_API_KEY",
        dialect=_open_models(
            "baseten",
            options=WITH_TOP_K,
            # docs.baseten.co/inference/model-apis/reasoning
            thinking=ThinkingFields(off=(("chat_template_args", "enable_thinking"), False)),
        ),
    ),
    Preset(  # developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility
        "cloudflare",
        "Cloudflare Workers AI, open models",
        "https://api.cloudflare.com/client/v4/accounts/{CLOUDFLARE_ACCOUNT_ID}/ai/v1",
        "CLOUDFLARE_API_TOKEN",
        dialect=_open_models(
            "cloudflare",
            options=WITH_TOP_K - {"top_logprobs", "parallel_tool_calls"},
        ),
        model_examples={"@cf/": "@cf/openai/gpt-oss-120b"},
    ),
    Preset(  # docs.databricks.com/aws/en/machine-learning/foundation-model-apis/api-reference
        "databricks",
        "Databricks, models of a workspace",
        None,
        "DATABRICKS_TOKEN",
        url_variable="DATABRICKS_HOST",
        url_path="/serving-endpoints",
        dialect=_open_models(
            "databricks",
            options=frozenset({"temperature", "top_p", "top_k", "stop", "top_logprobs"}),
        ),
        model_examples={"databricks-": "databricks-gpt-oss-120b"},
    ),
    Preset(  # docs.aws.amazon.com/bedrock/latest/userguide/inference-chat-completions
        "bedrock-openai",
        "Amazon Bedrock, chat completions",
        "https://bedrock-runtime.{AWS_REGION}.amazonaws.com/openai/v1",
        "AWS_BEARER_TOKEN_BEDROCK",
        dialect=_open_models(
            "bedrock-openai",
            max_tokens_field="max_completion_tokens",
            options=COMMON_OPTIONS - {"seed", "top_logprobs", "parallel_tool_calls"},
            thinking=ThinkingFields(levels=("low", "medium", "high")),
        ),
        model_examples={"openai.": "openai.gpt-oss-120b-1:0"},
    ),
)
"""Vendors that run open models."""
