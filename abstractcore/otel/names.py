"""The names of OpenTelemetry's conventions for generative AI, as they were on a date. All of them are in Development.

What has no name there begins with `abstractcore`. Nothing else in this package has a name of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

CONVENTIONS: Final = (
    "https://github.com/open-telemetry/semantic-conventions-genai",
    "024a4f944a1291fcb627c9c47da69e79868dd15e",
    "2026-11-29",
)
"""The repository, the commit of docs/gen-ai/client-inference.md, and the day on which the names were compared with it:
docs/gen-ai/gen-ai-token-metrics.md was that of 066d4a7f, client-embeddings.md of 88eccb15, model/gen-ai/spans.yaml, for
tools and agents, of 7e7e4e76."""

OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
CONVERSATION: Final = "gen_ai.conversation.id"
PROMPT_NAME: Final = "gen_ai.prompt.name"
PROMPT_VERSION: Final = "gen_ai.prompt.version"
OUTPUT_TYPE: Final = "gen_ai.output.type"
ERROR_TYPE: Final = "error.type"

REQUEST_MODEL: Final = "gen_ai.request.model"
REQUEST_STREAM: Final = "gen_ai.request.stream"
REQUEST_REASONING: Final = "gen_ai.request.reasoning.level"
SAMPLING: Final[Mapping[str, str]] = {
    "max_output_tokens": "gen_ai.request.max_tokens",
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "top_k": "gen_ai.request.top_k",
    "seed": "gen_ai.request.seed",
    "presence_penalty": "gen_ai.request.presence_penalty",
    "frequency_penalty": "gen_ai.request.frequency_penalty",
}
"""By the field of `Sampling`."""
STOP: Final = "gen_ai.request.stop_sequences"

RESPONSE_ID: Final = "gen_ai.response.id"
RESPONSE_MODEL: Final = "gen_ai.response.model"
FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
TIME_TO_FIRST_CHUNK: Final = "gen_ai.response.time_to_first_chunk"

USAGE: Final[Mapping[str, str]] = {
    "input": "gen_ai.usage.input_tokens",
    "output": "gen_ai.usage.output_tokens",
    "cached": "gen_ai.usage.cache_read.input_tokens",
    "cache_written": "gen_ai.usage.cache_write.input_tokens",
    "reasoning": "gen_ai.usage.reasoning.output_tokens",
    "input_audio": "gen_ai.usage.audio.input_tokens",
    "output_audio": "gen_ai.usage.audio.output_tokens",
}
"""By the field of `Usage`: the input includes what was read from a cache and written to it, as there."""
METERS: Final[Mapping[str, str]] = {
    "input_image": "gen_ai.usage.image.input_tokens",
    "output_image": "gen_ai.usage.image.output_tokens",
    "cache_read_audio": "gen_ai.usage.audio.cache_read.input_tokens",
    "cache_read_image": "gen_ai.usage.image.cache_read.input_tokens",
}
"""By the meter of `Billing`."""

TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
TOOL_TYPE: Final = "gen_ai.tool.type"

INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
SYSTEM_INSTRUCTIONS: Final = "gen_ai.system_instructions"
TOOL_DEFINITIONS: Final = "gen_ai.tool.definitions"
TOOL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_RESULT: Final = "gen_ai.tool.call.result"

CHAT: Final = "chat"
EMBEDDINGS: Final = "embeddings"
INVOKE_AGENT: Final = "invoke_agent"
EXECUTE_TOOL: Final = "execute_tool"
OPERATIONS: Final[Mapping[str, str]] = {
    "embed": EMBEDDINGS,
    "embeddings": EMBEDDINGS,
    "retrieve_reply": "fetch_response",
}
"""By the name of an operation; others keep theirs."""

PROVIDERS: Final[Mapping[str, str]] = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "bedrock-anthropic": "aws.bedrock",
    "bedrock-openai": "aws.bedrock",
    "google": "gcp.gemini",
    "google-interactions": "gcp.gemini",
    "mistral": "mistral_ai",
    "moonshot": "moonshot_ai",
    "openai-responses": "openai",
    "vertex": "gcp.vertex_ai",
    "vertex-anthropic": "gcp.vertex_ai",
    "vertex-openai": "gcp.vertex_ai",
    "xai": "x_ai",
}
"""By the name of a provider; others keep theirs, which the conventions have for most."""

FINISHES: Final[Mapping[str, str]] = {"tool_calls": "tool_call", "refusal": "content_filter"}
"""By the finish reason of a reply; others keep theirs."""

TRACE_ID: Final = "abstractcore.trace_id"
PARENT_ID: Final = "abstractcore.parent_id"
OUTCOME: Final = "abstractcore.outcome"
TAG: Final = "abstractcore.tag."
COST: Final = "abstractcore.cost.usd"
ESTIMATED_COST: Final = "abstractcore.cost.estimated_usd"
SAVED_COST: Final = "abstractcore.cost.saved_usd"
COST_SOURCE: Final = "abstractcore.cost.source"
COST_REASON: Final = "abstractcore.cost.reason"
DISCARDED: Final = "abstractcore.discarded"
ATTEMPTS: Final = "abstractcore.attempts"
SECONDS_WAITED: Final = "abstractcore.seconds_waited"
FAILED_ATTEMPT: Final = "abstractcore.failed_attempt"
INTERACTION: Final = "abstractcore.interaction.kind"
LOOP_STATUS: Final = "abstractcore.loop.status"
CALLS: Final = "abstractcore.calls"
TOOL_RUNS: Final = "abstractcore.tool_runs"
TOOL_SOURCE: Final = "abstractcore.tool.source"
TOOL_SERVER: Final = "abstractcore.tool.server"
TOOL_APPROVAL: Final = "abstractcore.tool.approval"

MODALITY: Final = "gen_ai.token.modality"


class Metric(NamedTuple):
    """An instrument. Histograms have boundaries."""

    name: str
    kind: Literal["counter", "histogram"]
    unit: str
    description: str
    boundaries: Sequence[float] | None = None


_SECONDS: Final = tuple(0.01 * 2**power for power in range(14))
_TOKENS: Final = tuple(4.0**power for power in range(14))
_TOKEN: Final = "{token}"

INFERENCE_DURATION: Final = Metric(
    "gen_ai.client.inference.duration", "histogram", "s", "How long a call of a model took.", _SECONDS
)
EMBEDDINGS_DURATION: Final = Metric(
    "gen_ai.client.embeddings.duration", "histogram", "s", "How long a request for embeddings took.", _SECONDS
)
OTHER_DURATION: Final = Metric(
    "gen_ai.client.operation.duration", "histogram", "s", "How long another operation took.", _SECONDS
)
FIRST_CHUNK: Final = Metric(
    "gen_ai.client.inference.time_to_first_chunk", "histogram", "s", "Time to the first part of a stream.", _SECONDS
)
INPUT_OF_OPERATION: Final = Metric(
    "gen_ai.client.inference.operation.input_tokens", "histogram", _TOKEN, "Input tokens of one call.", _TOKENS
)
OUTPUT_OF_OPERATION: Final = Metric(
    "gen_ai.client.inference.operation.output_tokens", "histogram", _TOKEN, "Output tokens of one call.", _TOKENS
)
INPUT_OF_EMBEDDINGS: Final = Metric(
    "gen_ai.client.embeddings.operation.input_tokens", "histogram", _TOKEN, "Input tokens of one request.", _TOKENS
)
USED: Final[Mapping[str, Metric]] = {
    field: Metric(f"gen_ai.client.inference.usage.{name}", "counter", _TOKEN, description)
    for field, name, description in (
        ("input", "input_tokens", "Input tokens, those of caches included."),
        ("output", "output_tokens", "Output tokens, those of reasoning included."),
        ("cached", "cache_read.input_tokens", "Input tokens that were read from a cache."),
        ("cache_written", "cache_write.input_tokens", "Input tokens that were written to a cache."),
        ("reasoning", "reasoning.output_tokens", "Output tokens of reasoning."),
    )
}
"""By the field of `Usage`."""
SPENT: Final = Metric(COST, "counter", "USD", "Known costs of calls and tool runs.")
SPENT_ABOUT: Final = Metric(ESTIMATED_COST, "counter", "USD", "Estimated costs of requests without a report.")
SAVED: Final = Metric(SAVED_COST, "counter", "USD", "What answers of caches cost when they were asked for.")
UNKNOWN: Final = Metric("abstractcore.cost.unknown_calls", "counter", "{call}", "Calls whose cost is unknown.")
