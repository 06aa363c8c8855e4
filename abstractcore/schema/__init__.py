"""The data model: messages, calls, replies, deltas and records. Imports only the standard library.

What only some calls need (streams, tool loops, evidence, records, documents) is imported on first access.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .base_error import AbstractCoreError, SchemaError
from .blobs import Blob, BlobForm
from .cache_points import CachePoint
from .call_warnings import CallWarning
from .calls import (
    MEDIA_RULES,
    FileStorePolicy,
    MediaHistory,
    MediaPolicy,
    Modality,
    ModelCall,
    OutputMode,
    OutputSchema,
    Sampling,
    ThinkingLevel,
    ToolSearch,
)
from .codec import canonical_json, digest, to_data
from .deferred_costs import CostSource
from .evidence_maps import EvidenceMap
from .frozen_json import EMPTY, FrozenDict, FrozenList, freeze, freeze_object
from .json_values import JSONObject, JSONValue
from .loop_messages import added_messages
from .media_kinds import MEDIA_PART_BY_KIND, media_kind_of
from .messages import Message, Role
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
from .provider_options import NO_OPTIONS, ProviderOptions
from .replies import FINISH_REASONS, FinishReason, ModelReply
from .responses import AttemptRecord, GenerateResponse
from .tools import HostedTool, HostedToolKind, ToolChoice, ToolLabel, ToolSpec, check_labels
from .usage import METERS, TOKEN_COUNTS, Billing, MeterUnit, SeparateUsage, Usage
from .wire import Encoded, Lowered, WireRequest, WireResponse

if TYPE_CHECKING:
    from .accumulation import accumulate, deltas_of
    from .base_urls import whole_base_url
    from .cached_contents import CachedContent
    from .call_progress import CallProgress
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
    from .documents import SCHEMA_VERSION, from_json, to_json
    from .drawn_text import DrawnText
    from .error_messages import response_message
    from .error_records import ErrorRecord
    from .evidence import Evidence, EvidenceMatch, EvidenceSource
    from .input_requests import InputRequest, InputResponse, Question
    from .install_hints import install_hint
    from .journal_entries import JournalEntry, JournalKind
    from .media_anchors import MediaAnchor
    from .media_controls import FetchedBy, MediaControls, MediaResolution
    from .media_decisions import MediaDecision, MediaLoss, MediaRoute, MediaSent
    from .media_facts import MediaFacts
    from .media_progress import MediaProgress
    from .media_results import BackendFacts, MediaResult, TranscriptResult
    from .media_texts import MediaText
    from .media_verifications import MediaVerification, WordDifference
    from .model_lists import ModelList
    from .operation_inputs import CallInput, ModelListInput, OperationInput, StoredReplyInput
    from .output_attempts import OutputAttempt
    from .partial_replies import partial_reply, usage_so_far
    from .pending_calls import AllowedCall, AnswerKind, PendingCall, PendingReason, ToolAnswer, call_digest
    from .plans import CostRange, Plan
    from .quoting import shown
    from .reading import from_data
    from .records import CallRecord, Capture, Outcome
    from .redaction import redacted_call, redacted_data, redacted_reply
    from .reply_readings import ReplyReading
    from .sent_names import SentNames
    from .server_side import Parsed, Rendered
    from .sizes import content_size, size_of
    from .sources import Source, SourceKind, SourceMatch
    from .spoken_replies import HeardMeans, HeardReply, SpokenPiece, SpokenWord
    from .stored_files import StoredFile
    from .token_counts import TokenCount, text_tokens
    from .tool_events import StreamEvent, ToolEnded, ToolEvent, ToolProgress, ToolStarted
    from .tool_loops import LoopStatus, ToolLoop
    from .tool_steps import TOOL_OUTCOMES, ToolOutcome, ToolStep
    from .transcripts import DroppedSpan, DropReason, Transcript, TranscriptSegment, TranscriptWord
    from .verifications import Check, CheckKind, Verdict, Verification

_LATER = {
    "HeardMeans": "spoken_replies",
    "HeardReply": "spoken_replies",
    "SpokenPiece": "spoken_replies",
    "SpokenWord": "spoken_replies",
    "WordDifference": "media_verifications",
    "MediaVerification": "media_verifications",
    "TranscriptResult": "media_results",
    "BackendFacts": "media_results",
    "MediaResult": "media_results",
    "shown": "quoting",
    "text_tokens": "token_counts",
    "CallProgress": "call_progress",
    "AllowedCall": "pending_calls",
    "AnswerKind": "pending_calls",
    "CachedContent": "cached_contents",
    "CallRecord": "records",
    "Capture": "records",
    "Check": "verifications",
    "CheckKind": "verifications",
    "CostRange": "plans",
    "Delta": "deltas",
    "DrawnText": "drawn_text",
    "DropReason": "transcripts",
    "DroppedSpan": "transcripts",
    "ErrorRecord": "error_records",
    "Evidence": "evidence",
    "EvidenceMatch": "evidence",
    "EvidenceSource": "evidence",
    "InputRequest": "input_requests",
    "InputResponse": "input_requests",
    "JournalEntry": "journal_entries",
    "JournalKind": "journal_entries",
    "LoopStatus": "tool_loops",
    "MediaAnchor": "media_anchors",
    "MediaControls": "media_controls",
    "FetchedBy": "media_controls",
    "MediaDecision": "media_decisions",
    "MediaFacts": "media_facts",
    "MediaLoss": "media_decisions",
    "MediaResolution": "media_controls",
    "MediaRoute": "media_decisions",
    "MediaSent": "media_decisions",
    "MediaProgress": "media_progress",
    "MediaText": "media_texts",
    "ModelList": "model_lists",
    "CallInput": "operation_inputs",
    "ModelListInput": "operation_inputs",
    "OperationInput": "operation_inputs",
    "StoredReplyInput": "operation_inputs",
    "Outcome": "records",
    "OutputAttempt": "output_attempts",
    "Parsed": "server_side",
    "PartDelta": "deltas",
    "PendingCall": "pending_calls",
    "PendingReason": "pending_calls",
    "Plan": "plans",
    "Question": "input_requests",
    "ReasoningDelta": "deltas",
    "ReasoningEnd": "deltas",
    "ReasoningStart": "deltas",
    "Rendered": "server_side",
    "ReplyEnd": "deltas",
    "ReplyReading": "reply_readings",
    "SentNames": "sent_names",
    "ReplyStart": "deltas",
    "SCHEMA_VERSION": "documents",
    "Source": "sources",
    "SourceKind": "sources",
    "SourceMatch": "sources",
    "StoredFile": "stored_files",
    "StreamEvent": "tool_events",
    "TOOL_OUTCOMES": "tool_steps",
    "TextDelta": "deltas",
    "TextEnd": "deltas",
    "TextStart": "deltas",
    "TokenCount": "token_counts",
    "ToolAnswer": "pending_calls",
    "ToolCallDelta": "deltas",
    "ToolCallEnd": "deltas",
    "ToolCallStart": "deltas",
    "ToolEnded": "tool_events",
    "ToolEvent": "tool_events",
    "ToolLoop": "tool_loops",
    "ToolOutcome": "tool_steps",
    "ToolProgress": "tool_events",
    "ToolStarted": "tool_events",
    "ToolStep": "tool_steps",
    "Transcript": "transcripts",
    "TranscriptSegment": "transcripts",
    "TranscriptWord": "transcripts",
    "UsageDelta": "deltas",
    "Verdict": "verifications",
    "Verification": "verifications",
    "accumulate": "accumulation",
    "call_digest": "pending_calls",
    "content_size": "sizes",
    "deltas_of": "accumulation",
    "from_data": "reading",
    "from_json": "documents",
    "install_hint": "install_hints",
    "partial_reply": "partial_replies",
    "redacted_call": "redaction",
    "redacted_data": "redaction",
    "redacted_reply": "redaction",
    "response_message": "error_messages",
    "size_of": "sizes",
    "to_json": "documents",
    "usage_so_far": "partial_replies",
    "whole_base_url": "base_urls",
}
"""Names whose modules are imported on first access."""

__all__ = [
    "EMPTY",
    "FINISH_REASONS",
    "MEDIA_PARTS",
    "MEDIA_PART_BY_KIND",
    "MEDIA_RULES",
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
    "BackendFacts",
    "Billing",
    "Blob",
    "BlobForm",
    "CachePoint",
    "CachedContent",
    "CallInput",
    "CallProgress",
    "CallRecord",
    "CallWarning",
    "Capture",
    "Check",
    "CheckKind",
    "Citation",
    "ContentPart",
    "CostRange",
    "CostSource",
    "Delta",
    "DocumentPart",
    "DrawnText",
    "DropReason",
    "DroppedSpan",
    "Encoded",
    "ErrorRecord",
    "Evidence",
    "EvidenceMap",
    "EvidenceMatch",
    "EvidenceSource",
    "FetchedBy",
    "FileStorePolicy",
    "FinishReason",
    "FrozenDict",
    "FrozenList",
    "GenerateResponse",
    "HeardMeans",
    "HeardReply",
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
    "MediaAnchor",
    "MediaControls",
    "MediaDecision",
    "MediaFacts",
    "MediaHistory",
    "MediaKind",
    "MediaLoss",
    "MediaPart",
    "MediaPolicy",
    "MediaProgress",
    "MediaResolution",
    "MediaResult",
    "MediaRoute",
    "MediaSent",
    "MediaText",
    "MediaVerification",
    "Message",
    "MeterUnit",
    "Modality",
    "ModelCall",
    "ModelList",
    "ModelListInput",
    "ModelReply",
    "OpaquePart",
    "OperationInput",
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
    "SentNames",
    "SeparateUsage",
    "Source",
    "SourceKind",
    "SourceMatch",
    "SpokenPiece",
    "SpokenWord",
    "StoredFile",
    "StoredReplyInput",
    "StreamEvent",
    "TextDelta",
    "TextEnd",
    "TextPart",
    "TextStart",
    "ThinkingLevel",
    "TokenCount",
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
    "Transcript",
    "TranscriptResult",
    "TranscriptSegment",
    "TranscriptWord",
    "Usage",
    "UsageDelta",
    "Verdict",
    "Verification",
    "VideoPart",
    "WireRequest",
    "WireResponse",
    "WordDifference",
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
    "install_hint",
    "media_kind_of",
    "partial_reply",
    "redacted_call",
    "redacted_data",
    "redacted_reply",
    "response_message",
    "shown",
    "size_of",
    "text_tokens",
    "to_data",
    "to_json",
    "usage_so_far",
    "whole_base_url",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_LATER[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
