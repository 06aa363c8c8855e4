"""Differences between servers of this format, as data.

The fields of token counts and billing data of a reply, by vendor. Tools and choices that a call has no field for, such
as custom tools: they are provider options. Thinking options in a request's fields, written and read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from abstractcore.ports import TranscriptionRules
from abstractcore.schema import EmbedPurpose, ThinkingLevel

from ...common import json_schemas, request_limits
from ...common.reading import Object, text_of
from ...common.response_bodies import BillingTable, UsageTable

USAGE = UsageTable(
    {
        "input": "prompt_tokens",
        "output": "completion_tokens",
        "total": "total_tokens",
        "cached": "prompt_tokens_details.cached_tokens",
        "cache_written": "prompt_tokens_details.cache_write_tokens",
        "input_audio": "prompt_tokens_details.audio_tokens",
        "reasoning": "completion_tokens_details.reasoning_tokens",
        "output_audio": "completion_tokens_details.audio_tokens",
    }
)
CACHE_HITS = "prompt_cache_hit_tokens"
_TIER = "service_tier"
_OTHERS = tuple(f"usage.{name}" for name in (*USAGE.names, CACHE_HITS))
_COUNTS = {"input_image": "usage.prompt_tokens_details.image_tokens"}

OPENAI_USAGE = BillingTable(tier=_TIER, counts=_COUNTS, others=_OTHERS)
"""OpenAI (https://developers.openai.com/api/reference/resources/chat: `service_tier`, `usage`), and most others."""
MISTRAL = BillingTable(tier="usage.service_tier", counts={"audio_second": "usage.prompt_audio_seconds"}, others=_OTHERS)
"""Mistral (`UsageInfo` in mistralai 3.7)."""
OPENROUTER = BillingTable(
    tier=_TIER,
    cost="usage.cost",
    own_key="usage.is_byok",
    upstream="usage.cost_details.upstream_inference_cost",
    counts={
        "input_video": "usage.prompt_tokens_details.video_tokens",
        "web_search": "usage.server_tool_use_details.web_search_requests",
    },
    others=_OTHERS,
)
"""OpenRouter (https://openrouter.ai/docs/use-cases/usage-accounting: `cost` is what was charged to the account, for a
key of the user's own only the fee).
"""
PERPLEXITY = BillingTable(
    cost="usage.cost.total_cost",
    counts={"citation": "usage.citation_tokens", "web_search": "usage.num_search_queries"},
    others=_OTHERS,
)
"""Perplexity (`UsageInfo` in perplexityai 0.46)."""
XAI = BillingTable(
    tier=_TIER,
    ticks="usage.cost_in_usd_ticks",
    counts={
        **_COUNTS,
        "web_search": "usage.server_side_tool_usage_details.web_search_calls",
        "code_execution": "usage.server_side_tool_usage_details.code_interpreter_calls",
        "file_search": "usage.server_side_tool_usage_details.file_search_calls",
        "attachment_search": "usage.server_side_tool_usage_details.document_search_calls",
        "x_post": "usage.server_side_tool_usage_details.x_posts_fetched",
        "x_profile": "usage.server_side_tool_usage_details.x_users_fetched",
    },
    others=_OTHERS,
)
"""xAI (https://docs.x.ai/developers/cost-tracking: the exact cost of the request, with discounts and tools)."""


Field: TypeAlias = "tuple[str, ...]"
"""A field of a request, or a field of an object there: `("reasoning", "effort")`."""

LEVELS: tuple[ThinkingLevel, ...] = ("minimal", "low", "medium", "high", "xhigh", "max")

COMMON_OPTIONS = frozenset(
    {
        "temperature",
        "top_p",
        "seed",
        "stop",
        "presence_penalty",
        "frequency_penalty",
        "top_logprobs",
        "parallel_tool_calls",
    }
)
"""Options that OpenAI accepts."""
WITH_TOP_K = COMMON_OPTIONS | {"top_k"}


@dataclass(frozen=True, slots=True)
class ThinkingFields:
    """The fields of a request for thinking: a level, off, or a budget of tokens. `levels` are those that the API has,
    whatever the model; `words` are the vendor's names of them, where they differ. Without `level`, thinking has none.
    """

    level: Field | None = ("reasoning_effort",)
    off: tuple[Field, str | bool] = (("reasoning_effort",), "none")
    budget: Field | None = None
    levels: tuple[ThinkingLevel, ...] = LEVELS
    words: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)


USUAL = "reasoning_content"
"""The field for reasoning that most servers have."""
PIECES, DETAILS, BLOCKS, TAGS = "content", "reasoning_details", "thinking_blocks", "think_tags"
"""The ways in which reasoning is sent back as something other than a text of its own: as content items, as objects
(OpenRouter's, and LiteLLM's for Claude), or between tags in the answer's text.
"""
RECEIVED = "as_received"
"""Reasoning is sent back in the field in which it came."""


@dataclass(frozen=True, slots=True)
class CacheField:
    """The field `name`, whose value is `value` with an optional "ttl": one of `ttls`, which are in seconds.

    Blocks of the types `blocks` can have it, and with `tools` a tool.
    """

    name: str
    value: Mapping[str, str] = field(hash=False)
    ttls: Mapping[str, int] = field(hash=False)
    blocks: frozenset[str]
    tools: bool = False


BREAKPOINT = CacheField(
    "prompt_cache_breakpoint",
    {"mode": "explicit"},
    {"30m": 1800, "12h": 43200},
    frozenset({"text", "image_url", "input_audio", "file"}),
)
"""OpenAI, for GPT-5.6 and later (`PromptCacheBreakpoint` in the openai package)."""
CACHE_CONTROL = CacheField(
    "cache_control", {"type": "ephemeral"}, {"5m": 300, "1h": 3600}, frozenset({"text"}), tools=True
)
"""OpenRouter (openrouter.ai/docs/features/prompt-caching; `ChatContentText` and `ChatFunctionTool` in its package)."""


@dataclass(frozen=True, slots=True)
class TranscriptionFields:
    """The fields of a request for a transcript. Without `formats`, the response has one format. `keywords` is the list
    of names and terms; with `keywords_are_words`, an item has no spaces. `speakers` is a flag that asks for speakers,
    where no format does. `lists` ends the names of lists.
    """

    formats: bool = True
    keywords: str = "keywords"
    keywords_are_words: bool = False
    speakers: str | None = None
    lists: str = "[]"


@dataclass(frozen=True, slots=True)
class EmbeddingFields:
    """The request for vectors: at `path`, with the names of its fields; None for one that the server does not have.

    `encoding` asks for base64. `purpose` is the field for what the vectors are for, with the vendor's `words`.
    `truncate` is the field for texts that are too long, with the values `cut` and `refuse`. `image` is the name of an
    image's URL in an item that is an object, next to "text"; without one, items are texts. Models with `parts` in their
    name have the path `parts_path`, where an item is a list of parts.
    """

    path: str = "/embeddings"
    encoding: str | None = "encoding_format"
    dimensions: str | None = "dimensions"
    purpose: str | None = None
    words: Mapping[EmbedPurpose, str] = field(default_factory=dict[EmbedPurpose, str], hash=False)
    truncate: str | None = None
    cut: str | bool = True
    refuse: str | bool = False
    image: str | None = None
    parts: str | None = None
    parts_path: str = ""


@dataclass(frozen=True, slots=True)
class RerankFields:
    """The request for a ranking: at `path`, with the names of its fields; None for one that the server does not have.

    `truncate` is a flag that texts which are too long are cut, `return_documents` one for documents in the response. A
    response has its results at `results`, or is the list of them without a name; each has its number at `score`.
    """

    path: str = "/rerank"
    documents: str = "documents"
    top: str | None = "top_n"
    truncate: str | None = None
    return_documents: str | None = None
    results: str = "results"
    score: str = "relevance_score"


@dataclass(frozen=True, slots=True)
class CountEndpoint:
    """Where a server counts tokens: at `path`, from the `fields` of a chat request; the result has them at `count`."""

    path: str
    count: str
    fields: frozenset[str]


_IN_THE_TEMPLATE = frozenset({"model", "messages", "tools", "chat_template_kwargs"})
COUNT_OF_LLAMA_CPP = CountEndpoint(
    "/chat/completions/input_tokens",
    "input_tokens",
    _IN_THE_TEMPLATE | {"tool_choice", "parallel_tool_calls", "reasoning_effort", "response_format"},
)
"""llama.cpp's own server (tools/server/README.md in its repository): it reads a request as for an answer."""
COUNT_OF_VLLM = CountEndpoint(
    "/../tokenize",
    "count",
    _IN_THE_TEMPLATE
    | {"add_generation_prompt", "chat_template", "continue_final_message", "media_io_kwargs", "mm_processor_kwargs"},
)
"""`TokenizeChatRequest` in vllm/entrypoints/serve/tokenize/protocol.py."""

_TEXT_ONLY = TranscriptionRules(terms="prompt")
"""What every server with this endpoint does."""
_OF_OPENAI = TranscriptionFields()
EMBEDDINGS_OF_OPENAI = EmbeddingFields()


@dataclass(frozen=True, slots=True)
class ChatDialect:
    """One vendor's variant of the format.

    `provider` is the key of `provider_options`. `max_tokens_field` and `seed_field` are the names of these fields.
    `options` are the options of a call that are supported. With `counted_logprobs`, `logprobs` is the number of
    alternatives instead of a flag next to it; `most_alternatives` is the highest number that is accepted, 5 where none
    is documented. `thinking` is None where it cannot be set. With `stream_usage`, a stream
    has usage only if requested. With `think_tags`, a server may leave reasoning in the text, between the tags that the
    model wrote. `reasoning_field` is the field in which earlier reasoning is sent back to its model, None if it is not;
    with `reasoning_with_calls`, only that of turns in which tools are called; with `empty_reasoning`, an answer with
    tool calls always has that field. `call_id_size` is the prescribed length of
    tool call ids. With `search_results`, the sources of an answer are next to it. With `json_mode_only`, answers can be
    JSON, but not of a given schema. Without `named_tool_choice`, a specific tool cannot be forced. `limits` are
    those of a request; with `tool_descriptions`, each tool needs a description. `schemas` is the supported subset of
    JSON Schema. `cache` is the field for cache points, None if there is none. `billing` are the fields of a reply with
    its cost, service tier and meters. `counts` is the endpoint that counts tokens, None if there is none. `embeddings`
    is the request for vectors, `reranking` that for a ranking, None if there is none. Without `has_chat`, these are all
    that the vendor has.
    """

    provider: str = "openai"
    max_tokens_field: str = "max_completion_tokens"
    seed_field: str = "seed"
    options: frozenset[str] = COMMON_OPTIONS
    counted_logprobs: bool = False
    most_alternatives: int = 5
    thinking: ThinkingFields | None = ThinkingFields()
    stream_usage: bool = True
    think_tags: bool = False
    reasoning_field: str | None = None
    reasoning_with_calls: bool = False
    empty_reasoning: bool = False
    call_id_size: int | None = None
    search_results: bool = False
    json_mode_only: bool = False
    named_tool_choice: bool = True
    limits: request_limits.RequestLimits = request_limits.LIKE_OPENAI
    tool_descriptions: bool = False
    schemas: json_schemas.SchemaRules = json_schemas.OPENAI
    cache: CacheField | None = None
    billing: BillingTable = OPENAI_USAGE
    counts: CountEndpoint | None = None
    transcription: TranscriptionRules = _TEXT_ONLY
    transcription_fields: TranscriptionFields = _OF_OPENAI
    embeddings: EmbeddingFields | None = EMBEDDINGS_OF_OPENAI
    reranking: RerankFields | None = None
    has_chat: bool = True


OPENAI = ChatDialect(most_alternatives=20, limits=request_limits.OPENAI_CHAT, cache=BREAKPOINT)
"""OpenAI's own API, and that of Azure."""

COMPATIBLE = ChatDialect(
    "openai-compatible",
    "max_tokens",
    thinking=None,
    think_tags=True,
    limits=request_limits.UNLIMITED,
    reasoning_field=RECEIVED,
    reasoning_with_calls=True,
    schemas=json_schemas.COMPATIBLE,
    reranking=RerankFields(),
)
"""The common subset of servers with this format."""

VERTEX = ChatDialect(
    "vertex-openai",
    "max_tokens",
    options=COMMON_OPTIONS - {"parallel_tool_calls"},
    think_tags=True,
    reasoning_field=RECEIVED,
    reasoning_with_calls=True,
    schemas=json_schemas.TOLERANT,
)
"""Open models on Vertex AI (docs.cloud.google.com/vertex-ai/generative-ai/docs/maas/call-open-model-apis)."""

LLAMA_CPP = ChatDialect(
    "local",
    "max_tokens",
    options=WITH_TOP_K,
    most_alternatives=20,
    thinking=None,
    think_tags=True,
    limits=request_limits.UNLIMITED,
    reasoning_field=USUAL,
    schemas=json_schemas.TOLERANT,
    counts=COUNT_OF_LLAMA_CPP,
    reranking=RerankFields(),
)
"""llama.cpp's own server (tools/server/README.md in its repository)."""


def is_other_tool(value: Any) -> bool:
    """Whether `value` is a tool of a vendor's own type."""
    return isinstance(value, dict) and text_of(cast(Object, value), "type") not in (None, "function")


def other_tools(tools: Any) -> list[Any]:
    """Returns the tools of a vendor's own types among those of a request."""
    return [tool for tool in cast("list[Any]", tools) if is_other_tool(tool)] if isinstance(tools, list) else []


def are_other_tools(value: Any) -> bool:
    """Whether `value` is a list with tools of a vendor's own types only."""
    others = other_tools(value)
    return bool(others) and len(others) == len(value)


def is_other_choice(value: Any) -> bool:
    """Whether `value` is a choice other than a mode or a function, such as that of a custom tool."""
    return is_other_tool(value)


def write_thinking(asked: ThinkingLevel | int, fields: ThinkingFields | None) -> Object | None:
    """Returns the field to send; None if it cannot be expressed."""
    if fields is None:
        return None
    if asked == "off":
        return _nest(*fields.off)
    if isinstance(asked, int):
        return None if fields.budget is None else _nest(fields.budget, asked)
    return None if fields.level is None else _nest(fields.level, fields.words.get(asked, asked))


def read_thinking(name: str, value: Any, fields: ThinkingFields | None) -> ThinkingLevel | int | None:
    """Reads a request's field; None if it is not set, or a call cannot express it."""
    if fields is None or name not in {field[0] for field in (fields.level, fields.off[0], fields.budget) if field}:
        return None
    off, word = fields.off
    found = _at(off, name, value)
    if type(found) is type(word) and found == word:
        return "off"
    level = None if fields.level is None else _at(fields.level, name, value)
    level = next((ours for ours, theirs in fields.words.items() if theirs == level), level)
    if isinstance(level, str) and level in LEVELS:
        return level
    budget = None if fields.budget is None else _at(fields.budget, name, value)
    return budget if type(budget) is int and budget >= 0 else None


def _nest(field: Field, value: str | bool | int) -> Object:
    nested: Any = value
    for name in reversed(field):
        nested = {name: nested}
    return nested


def _at(field: Field, name: str, value: Any) -> Any:
    """Returns the value at `field` if `name: value` has nothing else."""
    data: Any = {name: value}
    for key in field:
        if not isinstance(data, dict) or list(cast(Object, data)) != [key]:
            return None
        data = cast(Object, data)[key]
    return data
