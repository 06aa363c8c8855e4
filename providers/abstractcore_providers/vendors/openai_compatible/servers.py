"""Servers of the user's own.

Requests, responses and errors on the wire: `formats/openai_chat`.
"""

from __future__ import annotations

from ...common import json_schemas, request_limits
from ...formats.openai_chat import ChatDialect
from ...formats.openai_chat.dialect import (
    COMMON_OPTIONS,
    COMPATIBLE,
    COUNT_OF_LLAMA_CPP,
    COUNT_OF_VLLM,
    RECEIVED,
    USUAL,
    WITH_TOP_K,
    CountEndpoint,
    RerankFields,
    ThinkingFields,
)
from ..presets import Preset


def _of_llama_cpp(name: str, summary: str, url: str, key_variable: str, counts: CountEndpoint | None = None) -> Preset:
    """Returns the row of a server that runs llama.cpp (tools/server/README.md in its repository)."""
    dialect = ChatDialect(
        name,
        "max_tokens",
        options=WITH_TOP_K,
        most_alternatives=20,
        think_tags=True,
        limits=request_limits.UNLIMITED,
        reasoning_field=USUAL,
        schemas=json_schemas.TOLERANT,
        counts=counts,
        reranking=RerankFields(),
    )
    return Preset(
        name, summary, url, key_variable, key_needed=False, url_path="/v1", runs_templates=True, dialect=dialect
    )


SERVERS = (
    Preset(
        "lmstudio",
        "an LM Studio server, on this machine by default",
        "http://localhost:1234/v1",
        "LM_API_TOKEN",
        key_needed=False,
        url_path="/v1",
        runs_templates=True,
        dialect=ChatDialect(
            "lmstudio",
            "max_tokens",
            options=WITH_TOP_K - {"top_logprobs", "parallel_tool_calls"},
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
        dialect=ChatDialect(
            "vllm",
            options=WITH_TOP_K,
            most_alternatives=20,  # `--max-logprobs` in docs.vllm.ai/en/latest/configuration/engine_args
            thinking=ThinkingFields(
                off=(("chat_template_kwargs", "enable_thinking"), False), budget=("thinking_token_budget",)
            ),
            think_tags=True,
            limits=request_limits.UNLIMITED,
            reasoning_field="reasoning",
            schemas=json_schemas.TOLERANT,
            counts=COUNT_OF_VLLM,
            reranking=RerankFields(),
        ),
    ),
    _of_llama_cpp(
        "llama-cpp",
        "a llama.cpp server, on this machine by default",
        "http://localhost:8080/v1",
        "LLAMA_API_KEY",
        COUNT_OF_LLAMA_CPP,
    ),
    Preset(  # docs.sglang.io: OpenAI-compatible APIs, and --reasoning-parser for "reasoning_content"
        "sglang",
        "an SGLang server, on this machine by default",
        "http://localhost:30000/v1",
        "SGLANG_API_KEY",
        key_needed=False,
        url_path="/v1",
        runs_templates=True,
        dialect=ChatDialect(
            "sglang",
            "max_tokens",
            options=WITH_TOP_K,
            most_alternatives=20,
            thinking=ThinkingFields(off=(("chat_template_kwargs", "enable_thinking"), False)),
            think_tags=True,
            limits=request_limits.UNLIMITED,
            reasoning_field=USUAL,
            schemas=json_schemas.TOLERANT,
        ),
    ),
    Preset(  # huggingface.co/docs/text-generation-inference/reference/api_reference
        "tgi",
        "a Text Generation Inference server, on this machine by default",
        "http://localhost:3000/v1",
        "TGI_API_KEY",
        key_needed=False,
        url_path="/v1",
        runs_templates=True,
        dialect=ChatDialect(
            "tgi",
            "max_tokens",
            options=COMMON_OPTIONS - {"parallel_tool_calls"},
            thinking=None,
            think_tags=True,
            limits=request_limits.UNLIMITED,
            reasoning_field=RECEIVED,
            reasoning_with_calls=True,
            schemas=json_schemas.TOLERANT,
        ),
    ),
    _of_llama_cpp(  # github.com/mozilla-ai/llamafile
        "llamafile", "a llamafile, on this machine by default", "http://localhost:8080/v1", "LLAMAFILE_API_KEY"
    ),
    _of_llama_cpp(  # jan.ai/docs/desktop/api-server
        "jan", "Jan's local API server", "http://localhost:1337/v1", "JAN_API_KEY"
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
"""Servers of the user's own."""
