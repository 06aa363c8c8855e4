"""Strict fakes of OpenAI-compatible vendors: each refuses what is not in the API reference that its row names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from huggingface_hub import ChatCompletionInput
from openai.types.chat.completion_create_params import CompletionCreateParamsBase

from tests.providers.strict_fakes.fake import Fake, Row
from tests.providers.strict_fakes.openai_chat import answer, sent
from tests.providers.strict_fakes.openai_options import error

_BASE = {
    "model", "messages", "stream", "stream_options", "max_tokens", "temperature", "top_p", "stop", "tools",
    "tool_choice", "response_format",
}  # fmt: skip
_PENALTIES = {"presence_penalty", "frequency_penalty"}
_LOGPROBS = {"logprobs", "top_logprobs"}
_OPENAI = set(CompletionCreateParamsBase.__annotations__) | {"stream"}
_MESSAGE = {"role", "content", "tool_calls", "tool_call_id"}


def _moonshot(body: Any) -> Iterator[str]:
    for index, message in enumerate(body["messages"]):
        if message.get("tool_calls") and "reasoning_content" not in message:
            yield (
                f"thinking is enabled but reasoning_content is missing in assistant tool call message at index {index}"
            )


def _automatic_tools(body: Any) -> Iterator[str]:
    if body.get("tool_choice", "auto") not in ("auto", "none"):
        yield "tool_choice: only auto is supported"


def _zai(body: Any) -> Iterator[str]:
    yield from _automatic_tools(body)
    if len(body.get("stop", ())) > 1:
        yield "stop: only one stop word is supported"
    if body.get("response_format", {}).get("type") == "json_schema":
        yield "response_format: text or json_object"


def _minimax(body: Any) -> Iterator[str]:
    yield from _automatic_tools(body)
    if not 0 < body.get("temperature", 1) <= 1:
        yield "invalid params, temperature must be in (0, 1]"


@dataclass(frozen=True)
class Published:
    """What an API reference says: the `fields` of a request beside the usual ones, those of an assistant's message, and
    further rules. `page` is where. `path` is
    that of the API on a server of the user.
    """

    page: str
    fields: set[str]
    reasoning: tuple[str, ...] = ()
    rules: Callable[[Any], Iterator[str]] = lambda body: iter(())
    without: frozenset[str] = frozenset()
    path: str = ""


_EITHER = ("reasoning_content", "reasoning")
_ANY = (*_EITHER, "reasoning_details")
PUBLISHED = {
    "moonshot": Published(
        "platform.kimi.ai/docs/api/chat",
        {"max_completion_tokens", "n", "prompt_cache_key", "thinking", "reasoning_effort", *_PENALTIES},
        ("reasoning_content",),
        _moonshot,
    ),
    "dashscope": Published(
        "alibabacloud.com/help/en/model-studio/qwen-api-via-openai-chat-completions",
        {"top_k", "seed", "presence_penalty", "n", "parallel_tool_calls", "enable_thinking", "thinking_budget"}
        | _LOGPROBS,
        ("reasoning_content",),
    ),
    "zai": Published(
        "docs.z.ai/api-reference/llm/chat-completion",
        {"do_sample", "thinking", "tool_stream", "request_id", "user_id"},
        ("reasoning_content",),
        _zai,
    ),
    "minimax": Published(
        "platform.minimax.io/docs/api-reference/text-openai-api",
        {"max_completion_tokens", "thinking", "reasoning_split"},
        _ANY,
        _minimax,
        frozenset({"response_format", "stop"}),
    ),
    "vercel": Published(
        "vercel.com/docs/ai-gateway/sdks-and-apis/openai-chat-completions",
        {"seed", "reasoning", "providerOptions", *_PENALTIES},
        _ANY,
    ),
    "huggingface": Published(
        "ChatCompletionInput in huggingface_hub; huggingface.co/docs/inference-providers/tasks/chat-completion",
        {field.name for field in fields(ChatCompletionInput)} | {"reasoning_effort"},
        _ANY,
    ),
    "portkey": Published("portkey.ai/docs/product/ai-gateway/universal-api", _OPENAI | {"top_k"}, _ANY),
    "litellm": Published("docs.litellm.ai/docs/completion/input", _OPENAI | {"top_k"}, (*_ANY, "thinking_blocks")),
    "nvidia": Published(
        "docs.api.nvidia.com/nim/reference/llm-apis", {"seed", "parallel_tool_calls", *_PENALTIES}, _EITHER
    ),
    "deepinfra": Published(
        "docs.deepinfra.com/api-reference/chat-completions/openai-chat-completions",
        {"top_k", "min_p", "seed", "n", "repetition_penalty", "reasoning_effort", "reasoning", *_PENALTIES},
        _EITHER,
        _automatic_tools,
    ),
    "sambanova": Published(
        "docs.sambanova.ai/docs/en/api-reference/endpoints/chat-completions",
        {"top_k", "parallel_tool_calls", "reasoning_effort", "chat_template_kwargs"},
        _EITHER,
    ),
    "novita": Published(
        "novita.ai/docs/api-reference/model-apis-llm-create-chat-completion",
        {"top_k", "min_p", "seed", "n", "repetition_penalty", "enable_thinking", "separate_reasoning"}
        | _PENALTIES
        | _LOGPROBS,
        _ANY,
    ),
    "nebius": Published(
        "docs.tokenfactory.nebius.com/api-reference/inference/create-chat-completion",
        {"top_k", "seed", "n", "parallel_tool_calls", "reasoning_effort", *_PENALTIES, *_LOGPROBS},
        _EITHER,
    ),
    "hyperbolic": Published("docs.hyperbolic.xyz/docs/rest-api", {"seed", "n", "user", *_PENALTIES}, _EITHER),
    "baseten": Published(
        "docs.baseten.co/reference/inference-api/chat-completions",
        {"top_k", "seed", "parallel_tool_calls", "reasoning_effort", "chat_template_args", *_PENALTIES, *_LOGPROBS},
        _EITHER,
    ),
    "cloudflare": Published(
        "developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility",
        {"top_k", "seed", "reasoning_effort", *_PENALTIES},
        _EITHER,
    ),
    "databricks": Published(
        "docs.databricks.com/aws/en/machine-learning/foundation-model-apis/api-reference",
        {"top_k", "n", "reasoning_effort", *_LOGPROBS},
        _EITHER,
        path="/serving-endpoints",
    ),
    "bedrock-openai": Published(
        "docs.aws.amazon.com/bedrock/latest/userguide/inference-chat-completions",
        {"max_completion_tokens", "reasoning_effort", *_PENALTIES},
        _EITHER,
        without=frozenset({"max_tokens"}),
    ),
    "sglang": Published(
        "ChatCompletionRequest in github.com/sgl-project/sglang",
        _OPENAI | {"top_k", "min_p", "chat_template_kwargs", "separate_reasoning"},
        ("reasoning_content",),
        path="/v1",
    ),
    "tgi": Published(
        "ChatRequest in github.com/huggingface/text-generation-inference",
        {"seed", "n", "logit_bias", *_PENALTIES, *_LOGPROBS},
        _EITHER,
        path="/v1",
    ),
    "llamafile": Published(
        "tools/server/README.md in github.com/ggml-org/llama.cpp", _OPENAI | {"top_k"}, _EITHER, path="/v1"
    ),
    "jan": Published(
        "tools/server/README.md in github.com/ggml-org/llama.cpp", _OPENAI | {"top_k"}, _EITHER, path="/v1"
    ),
}
"""By vendor: those whose own clients have no types that are installed with the tests."""


def _refusal(published: Published, row: Row, path: str, body: Any) -> str | None:
    return next(_refusals(published, path, body), None)


def _refusals(published: Published, path: str, body: Any) -> Iterator[str]:
    if path != f"{published.path}/chat/completions":
        yield f"no such path: {path}"
    unknown = body.keys() - (_BASE | published.fields) | (body.keys() & published.without)
    if unknown:
        yield f"unknown fields: {sorted(unknown)}"
    for message in body["messages"]:
        of_message = _MESSAGE | (set(published.reasoning) if message["role"] == "assistant" else set())
        if message.keys() - of_message:
            yield f"unknown fields of a message: {sorted(message.keys() - of_message)}"
    yield from published.rules(body)


def _without_key(row: Row, path: str, body: Any, headers: Mapping[str, str]) -> str | None:
    return None if headers.get("authorization") == "Bearer k" else "no API key"


def fake(name: str) -> Fake:
    """The fake of a vendor."""
    return Fake(
        partial(_refusal, PUBLISHED[name]),
        sent,
        frozenset(),
        answer,
        error,
        lambda path, body: body.get("stream", False),
        (None,),
        _without_key,
    )
