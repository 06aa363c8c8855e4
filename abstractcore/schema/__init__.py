"""The data model: messages, calls, replies, deltas and records. Imports only the standard library.

What only some calls need (streams, tool loops, evidence, records, documents) is imported on first access.
"""

from ..lazy_modules import LazyImports as _LazyImports
from .base_error import (
    AbstractCoreError as AbstractCoreError,
    SchemaError as SchemaError,
)
from .blobs import (
    Blob as Blob,
    BlobForm as BlobForm,
    ending_of as ending_of,
    write_whole as write_whole,
)
from .tools import CachePoint as CachePoint
from .replies import CallWarning as CallWarning
from .calls import (
    MEDIA_RULES as MEDIA_RULES,
    FileStorePolicy as FileStorePolicy,
    MediaHistory as MediaHistory,
    MediaPolicy as MediaPolicy,
    Modality as Modality,
    ModelCall as ModelCall,
    OutputMode as OutputMode,
    OutputSchema as OutputSchema,
    Sampling as Sampling,
    ThinkingLevel as ThinkingLevel,
    ToolSearch as ToolSearch,
)
from .codec import (
    canonical_json as canonical_json,
    digest as digest,
    to_data as to_data,
)
from .replies import CostSource as CostSource
from .responses import EvidenceMap as EvidenceMap
from .json_values import (
    EMPTY as EMPTY,
    FrozenDict as FrozenDict,
    FrozenList as FrozenList,
    freeze as freeze,
    freeze_object as freeze_object,
)
from .json_values import (
    JSONObject as JSONObject,
    JSONValue as JSONValue,
)
from .parts import MEDIA_PART_BY_KIND as MEDIA_PART_BY_KIND, media_kind_of as media_kind_of
from .calls import Message as Message, Role as Role
from .parts import (
    MEDIA_PARTS as MEDIA_PARTS,
    AudioPart as AudioPart,
    Citation as Citation,
    ContentPart as ContentPart,
    DocumentPart as DocumentPart,
    HostedToolCall as HostedToolCall,
    HostedToolResult as HostedToolResult,
    ImagePart as ImagePart,
    MediaKind as MediaKind,
    MediaPart as MediaPart,
    OpaquePart as OpaquePart,
    Part as Part,
    ReasoningPart as ReasoningPart,
    TextPart as TextPart,
    ToolCall as ToolCall,
    ToolResult as ToolResult,
    VideoPart as VideoPart,
    canonical_content as canonical_content,
)
from .json_values import NO_OPTIONS as NO_OPTIONS, ProviderOptions as ProviderOptions
from .replies import (
    FINISH_REASONS as FINISH_REASONS,
    FinishReason as FinishReason,
    ModelReply as ModelReply,
)
from .responses import (
    AttemptRecord as AttemptRecord,
    GenerateResponse as GenerateResponse,
)
from .tools import (
    HostedTool as HostedTool,
    HostedToolKind as HostedToolKind,
    ToolChoice as ToolChoice,
    ToolLabel as ToolLabel,
    ToolSpec as ToolSpec,
    check_labels as check_labels,
)
from .replies import (
    METERS as METERS,
    TOKEN_COUNTS as TOKEN_COUNTS,
    Billing as Billing,
    MeterUnit as MeterUnit,
    SeparateUsage as SeparateUsage,
    Usage as Usage,
)
from .wire import (
    Encoded as Encoded,
    Lowered as Lowered,
    WireRequest as WireRequest,
    WireResponse as WireResponse,
)

with _LazyImports(globals()):
    from .deltas import accumulate as accumulate, deltas_of as deltas_of
    from .wire import whole_base_url as whole_base_url
    from .provider_resources import CachedContent as CachedContent
    from .tool_steps import CallProgress as CallProgress
    from .deltas import (
        Delta as Delta,
        PartDelta as PartDelta,
        ReasoningDelta as ReasoningDelta,
        ReasoningEnd as ReasoningEnd,
        ReasoningStart as ReasoningStart,
        ReplyEnd as ReplyEnd,
        ReplyStart as ReplyStart,
        TextDelta as TextDelta,
        TextEnd as TextEnd,
        TextStart as TextStart,
        ToolCallDelta as ToolCallDelta,
        ToolCallEnd as ToolCallEnd,
        ToolCallStart as ToolCallStart,
        UsageDelta as UsageDelta,
    )
    from .documents import (
        SCHEMA_VERSION as SCHEMA_VERSION,
        from_json as from_json,
        to_json as to_json,
    )
    from .media_decisions import DrawnText as DrawnText
    from .wire import response_message as response_message
    from .tool_steps import ErrorRecord as ErrorRecord
    from .evidence import (
        Evidence as Evidence,
        EvidenceMatch as EvidenceMatch,
        EvidenceSource as EvidenceSource,
    )
    from .tool_loops import InputRequest as InputRequest, InputResponse as InputResponse, Question as Question
    from .base_error import install_hint as install_hint
    from .tool_loops import JournalEntry as JournalEntry, JournalKind as JournalKind
    from .media_decisions import MediaAnchor as MediaAnchor
    from .media_controls import (
        FetchedBy as FetchedBy,
        MediaControls as MediaControls,
        MediaResolution as MediaResolution,
    )
    from .media_decisions import (
        MediaDecision as MediaDecision,
        MediaLoss as MediaLoss,
        MediaRoute as MediaRoute,
        MediaSent as MediaSent,
    )
    from .media_controls import MediaFacts as MediaFacts
    from .media_controls import MediaProgress as MediaProgress
    from .media_results import (
        BackendFacts as BackendFacts,
        MediaResult as MediaResult,
        TranscriptResult as TranscriptResult,
    )
    from .media_decisions import MediaText as MediaText
    from .media_results import MediaVerification as MediaVerification, WordDifference as WordDifference
    from .provider_resources import ModelList as ModelList
    from .operation_inputs import (
        CallInput as CallInput,
        ModelListInput as ModelListInput,
        OperationInput as OperationInput,
        StoredReplyInput as StoredReplyInput,
    )
    from .tool_loops import OutputAttempt as OutputAttempt
    from .deltas import partial_reply as partial_reply, usage_so_far as usage_so_far
    from .tool_loops import (
        added_messages as added_messages,
        AllowedCall as AllowedCall,
        AnswerKind as AnswerKind,
        PendingCall as PendingCall,
        PendingReason as PendingReason,
        ToolAnswer as ToolAnswer,
        call_digest as call_digest,
    )
    from .records import CostRange as CostRange, Plan as Plan
    from .base_error import one_line as one_line, shown as shown, shown_address as shown_address
    from .documents import from_data as from_data
    from .records import (
        CallRecord as CallRecord,
        Capture as Capture,
        Outcome as Outcome,
    )
    from .records import (
        redacted_call as redacted_call,
        redacted_data as redacted_data,
        redacted_reply as redacted_reply,
    )
    from .sent_names import ReplyReading as ReplyReading
    from .sent_names import SentNames as SentNames
    from .wire import Parsed as Parsed, Rendered as Rendered
    from .token_counts import content_size as content_size, size_of as size_of
    from .evidence import Source as Source, SourceKind as SourceKind, SourceMatch as SourceMatch
    from .media_results import (
        HeardMeans as HeardMeans,
        HeardReply as HeardReply,
        SpokenPiece as SpokenPiece,
        SpokenWord as SpokenWord,
    )
    from .provider_resources import StoredFile as StoredFile
    from .token_counts import (
        TokenCount as TokenCount,
        text_tokens as text_tokens,
    )
    from .tool_steps import (
        StreamEvent as StreamEvent,
        ToolEnded as ToolEnded,
        ToolEvent as ToolEvent,
        ToolProgress as ToolProgress,
        ToolStarted as ToolStarted,
    )
    from .tool_loops import (
        LoopStatus as LoopStatus,
        ToolLoop as ToolLoop,
    )
    from .tool_steps import (
        TOOL_OUTCOMES as TOOL_OUTCOMES,
        ToolOutcome as ToolOutcome,
        ToolStep as ToolStep,
    )
    from .transcripts import (
        DroppedSpan as DroppedSpan,
        DropReason as DropReason,
        Transcript as Transcript,
        TranscriptSegment as TranscriptSegment,
        TranscriptWord as TranscriptWord,
    )
    from .evidence import Check as Check, CheckKind as CheckKind, Verdict as Verdict, Verification as Verification
