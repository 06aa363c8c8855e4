"""The data model: messages, calls, replies, deltas and records. Imports only the standard library."""

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
    OutputMode,
    OutputSchema,
    Sampling,
    ThinkingLevel,
    ToolSearch,
)
from .codec import SCHEMA_VERSION, canonical_json, digest, from_json, to_data, to_json
from .deferred_costs import CostSource
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
from .error_records import ErrorRecord
from .evidence import Evidence, EvidenceMap, EvidenceMatch, EvidenceSource
from .frozen_json import EMPTY, FrozenDict, FrozenList, freeze, freeze_object
from .input_requests import InputRequest, InputResponse, Question
from .journal_entries import JournalEntry, JournalKind
from .json_values import JSONObject, JSONValue
from .media_kinds import MEDIA_PART_BY_KIND, media_kind_of
from .messages import Message, Role
from .model_lists import ModelList
from .output_attempts import OutputAttempt
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
    canonical_content,
)
from .pending_calls import AllowedCall, AnswerKind, PendingCall, PendingReason, ToolAnswer, call_digest
from .provider_options import NO_OPTIONS, ProviderOptions
from .reading import from_data
from .records import CallRecord, Capture, Outcome
from .redaction import redacted_call, redacted_reply
from .replies import FINISH_REASONS, FinishReason, ModelReply
from .responses import AttemptRecord, GenerateResponse, MediaDecision, MediaRoute, MediaSent, Plan
from .sizes import content_size, size_of
from .tool_events import StreamEvent, ToolEnded, ToolEvent, ToolProgress, ToolStarted
from .tool_loops import LoopStatus, ToolLoop, added_messages
from .tool_steps import TOOL_OUTCOMES, ToolOutcome, ToolStep
from .tools import HostedTool, HostedToolKind, ToolChoice, ToolLabel, ToolSpec, check_labels
from .usage import METERS, TOKEN_COUNTS, Billing, MeterUnit, SeparateUsage, Usage
from .wire import Encoded, Lowered, Parsed, Rendered, ReplyReading, WireRequest, WireResponse

__all__ = [
    "EMPTY",
    "FINISH_REASONS",
    "MEDIA_PARTS",
    "MEDIA_PART_BY_KIND",
    "MEDIA_POLICIES",
    "METERS",
    "NO_OPTIONS",
    "SCHEMA_VERSION",
    "TOKEN_COUNTS",
    "TOOL_OUTCOMES",
    "AbstractCoreError",
    "AllowedCall",
    "AnswerKind",
    "AttemptRecord",
    "AudioPart",
    "Billing",
    "Blob",
    "BlobForm",
    "CachePoint",
    "CachedContent",
    "CallRecord",
    "CallWarning",
    "Capture",
    "Citation",
    "ContentPart",
    "CostSource",
    "Delta",
    "DocumentPart",
    "Encoded",
    "ErrorRecord",
    "Evidence",
    "EvidenceMap",
    "EvidenceMatch",
    "EvidenceSource",
    "FinishReason",
    "FrozenDict",
    "FrozenList",
    "GenerateResponse",
    "HostedTool",
    "HostedToolCall",
    "HostedToolKind",
    "HostedToolResult",
    "ImagePart",
    "InputRequest",
    "InputResponse",
    "JSONObject",
    "JSONValue",
    "JournalEntry",
    "JournalKind",
    "LoopStatus",
    "Lowered",
    "MediaDecision",
    "MediaKind",
    "MediaPart",
    "MediaPolicy",
    "MediaRoute",
    "MediaSent",
    "Message",
    "MeterUnit",
    "Modality",
    "ModelCall",
    "ModelList",
    "ModelReply",
    "OpaquePart",
    "Outcome",
    "OutputAttempt",
    "OutputMode",
    "OutputSchema",
    "Parsed",
    "Part",
    "PartDelta",
    "PendingCall",
    "PendingReason",
    "Plan",
    "ProviderOptions",
    "Question",
    "ReasoningDelta",
    "ReasoningEnd",
    "ReasoningPart",
    "ReasoningStart",
    "Rendered",
    "ReplyEnd",
    "ReplyReading",
    "ReplyStart",
    "Role",
    "Sampling",
    "SchemaError",
    "SeparateUsage",
    "StreamEvent",
    "TextDelta",
    "TextEnd",
    "TextPart",
    "TextStart",
    "ThinkingLevel",
    "ToolAnswer",
    "ToolCall",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallStart",
    "ToolChoice",
    "ToolEnded",
    "ToolEvent",
    "ToolLabel",
    "ToolLoop",
    "ToolOutcome",
    "ToolProgress",
    "ToolResult",
    "ToolSearch",
    "ToolSpec",
    "ToolStarted",
    "ToolStep",
    "Usage",
    "UsageDelta",
    "VideoPart",
    "WireRequest",
    "WireResponse",
    "accumulate",
    "added_messages",
    "call_digest",
    "canonical_content",
    "canonical_json",
    "check_labels",
    "content_size",
    "deltas_of",
    "digest",
    "freeze",
    "freeze_object",
    "from_data",
    "from_json",
    "media_kind_of",
    "partial_reply",
    "redacted_call",
    "redacted_reply",
    "size_of",
    "to_data",
    "to_json",
    "usage_so_far",
]
