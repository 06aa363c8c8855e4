"""The data every other part speaks: messages, calls, replies, deltas. Standard library only."""

from .accumulation import accumulate, deltas_of
from .base_error import AbstractCoreError, SchemaError
from .blobs import Blob, BlobForm
from .cache_points import CachePoint
from .cached_contents import CachedContent
from .call_warnings import CallWarning
from .calls import (
    MEDIA_POLICIES,
    MediaPolicy,
    Modality,
    ModelCall,
    OutputSchema,
    Sampling,
    ThinkingLevel,
)
from .codec import SCHEMA_VERSION, canonical_json, digest, from_json, to_data, to_json
from .deltas import (
    Delta,
    PartDelta,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ReplyEnd,
    ReplyStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageDelta,
)
from .frozen_json import EMPTY, FrozenDict, FrozenList, freeze, freeze_object
from .json_values import JSONObject, JSONValue
from .messages import Message, Role
from .partial_replies import partial_reply, usage_so_far
from .parts import (
    MEDIA_PARTS,
    AudioPart,
    Citation,
    ContentPart,
    DocumentPart,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    MediaKind,
    MediaPart,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    VideoPart,
)
from .provider_options import NO_OPTIONS, ProviderOptions
from .reading import from_data
from .records import CallRecord, Capture, ErrorRecord, Outcome
from .redaction import redacted_call, redacted_reply
from .replies import FINISH_REASONS, FinishReason, ModelReply
from .responses import AttemptRecord, GenerateResponse, MediaDecision, MediaRoute, MediaSent
from .sizes import content_size, size_of
from .tools import HostedTool, HostedToolKind, ToolChoice, ToolSpec
from .usage import Usage
from .wire import Encoded, Lowered, Parsed, Rendered, WireRequest, WireResponse

__all__ = [
    "EMPTY",
    "FINISH_REASONS",
    "MEDIA_PARTS",
    "MEDIA_POLICIES",
    "NO_OPTIONS",
    "SCHEMA_VERSION",
    "AbstractCoreError",
    "AttemptRecord",
    "AudioPart",
    "Blob",
    "BlobForm",
    "CachePoint",
    "CachedContent",
    "CallRecord",
    "CallWarning",
    "Capture",
    "Citation",
    "ContentPart",
    "Delta",
    "DocumentPart",
    "Encoded",
    "ErrorRecord",
    "FinishReason",
    "FrozenDict",
    "FrozenList",
    "GenerateResponse",
    "HostedTool",
    "HostedToolCall",
    "HostedToolKind",
    "HostedToolResult",
    "ImagePart",
    "JSONObject",
    "JSONValue",
    "Lowered",
    "MediaDecision",
    "MediaKind",
    "MediaPart",
    "MediaPolicy",
    "MediaRoute",
    "MediaSent",
    "Message",
    "Modality",
    "ModelCall",
    "ModelReply",
    "OpaquePart",
    "Outcome",
    "OutputSchema",
    "Parsed",
    "Part",
    "PartDelta",
    "ProviderOptions",
    "ReasoningDelta",
    "ReasoningEnd",
    "ReasoningPart",
    "ReasoningStart",
    "Rendered",
    "ReplyEnd",
    "ReplyStart",
    "Role",
    "Sampling",
    "SchemaError",
    "TextDelta",
    "TextEnd",
    "TextPart",
    "TextStart",
    "ThinkingLevel",
    "ToolCall",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallStart",
    "ToolChoice",
    "ToolResult",
    "ToolSpec",
    "Usage",
    "UsageDelta",
    "VideoPart",
    "WireRequest",
    "WireResponse",
    "accumulate",
    "canonical_json",
    "content_size",
    "deltas_of",
    "digest",
    "freeze",
    "freeze_object",
    "from_data",
    "from_json",
    "partial_reply",
    "redacted_call",
    "redacted_reply",
    "size_of",
    "to_data",
    "to_json",
    "usage_so_far",
]
