"""The limits of a vendor's requests: names, numbers and lengths, as data. Those of schemas are in `json_schemas`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from . import name_rules
from .name_rules import NameRule


@dataclass(frozen=True, slots=True)
class TextLimit:
    """The limit of an option that is a text, in characters."""

    longest: int


@dataclass(frozen=True, slots=True)
class PairsLimit:
    """The limits of an option that is a mapping of texts: how many there are, and the characters of each."""

    most: int
    longest_key: int
    longest_value: int


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What a vendor accepts in one request, by the page or package `source`. None means that no limit is published.

    `tool_names` and `output_names` are the accepted names of tools and of schemas of answers: others are replaced, and
    restored in the reply. `tools` is the number of tools, `strict_tools` that of strict ones, `stops` that of stop
    sequences. `options` are the limits of provider options.
    """

    source: str
    tool_names: NameRule | None = None
    output_names: NameRule | None = None
    tools: int | None = None
    strict_tools: int | None = None
    stops: int | None = None
    options: Mapping[str, TextLimit | PairsLimit] = field(
        default_factory=dict[str, "TextLimit | PairsLimit"], hash=False
    )


UNLIMITED = RequestLimits("no limit is published: Ollama, and servers of one's own")
LIKE_OPENAI = RequestLimits(
    "`FunctionDefinition` and `JSONSchema` in the openai package, for vendors whose reference is OpenAI's",
    tool_names=name_rules.OPENAI,
    output_names=name_rules.OPENAI,
)
_OPENAI_OPTIONS: Mapping[str, TextLimit | PairsLimit] = {
    "metadata": PairsLimit(16, 64, 512),
    "safety_identifier": TextLimit(128),
}
OPENAI_CHAT = replace(
    LIKE_OPENAI,
    source="openai/types/chat/completion_create_params.py in the openai package",
    stops=4,
    options=_OPENAI_OPTIONS,
)
OPENAI_RESPONSES = replace(
    LIKE_OPENAI,
    source="openai/types/responses/response_create_params.py in the openai package",
    options=_OPENAI_OPTIONS,
)
MISTRAL = replace(LIKE_OPENAI, source="`validator.py` in the mistral-common package")
GROQ = replace(
    LIKE_OPENAI, source="groq/types/chat/completion_create_params.py in the groq package", tools=128, stops=4
)
XAI = replace(LIKE_OPENAI, source="`tool` and `BaseClient.create` in xai_sdk/chat.py", tools=128, stops=4)
DEEPSEEK = replace(
    LIKE_OPENAI, source="api-docs.deepseek.com/api/create-chat-completion", output_names=None, tools=128, stops=16
)
CEREBRAS = replace(LIKE_OPENAI, source="inference-docs.cerebras.ai/api-reference/chat-completions", stops=4)
ANTHROPIC = RequestLimits(
    "platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use, and for strict tools "
    "platform.claude.com/docs/en/build-with-claude/structured-outputs",
    tool_names=name_rules.ANTHROPIC,
    strict_tools=20,
)
BEDROCK = RequestLimits(
    "`ToolName`, `InferenceConfiguration` and `RequestMetadata` in botocore's model of bedrock-runtime",
    tool_names=name_rules.BEDROCK,
    stops=2500,
    options={"requestMetadata": PairsLimit(16, 256, 256)},
)
GEMINI = RequestLimits(
    "`FunctionDeclaration` and `Tool` in the google-genai package, and ai.google.dev/api/generate-content",
    tool_names=name_rules.GEMINI,
    tools=512,
    stops=5,
)
COHERE = RequestLimits("`ClientV2.chat` in the cohere package", stops=5)
