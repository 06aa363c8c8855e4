"""The data model: messages, calls, replies, deltas and records. Imports only the standard library.

What only some calls need (streams, tool loops, evidence, records, documents) is imported on first access.
"""

from ..lazy_modules import LazyImports as _LazyImports
from .base_error import AbstractCoreError as AbstractCoreError, SchemaError as SchemaError
from .blobs import Blob as Blob, BlobForm as BlobForm, ending_of as ending_of, write_whole as write_whole
from .calls import (
    EMBED_PURPOSES as EMBED_PURPOSES,
    MEDIA_RULES as MEDIA_RULES,
    EmbedPurpose as EmbedPurpose,
    FileStorePolicy as FileStorePolicy,
    MediaHistory as MediaHistory,
    MediaPolicy as MediaPolicy,
    Message as Message,
    Modality as Modality,
    ModelCall as ModelCall,
    OutputMode as OutputMode,
    OutputSchema as OutputSchema,
    Role as Role,
    Sampling as Sampling,
    ThinkingLevel as ThinkingLevel,
    ToolSearch as ToolSearch,
)
from .codec import canonical_json as canonical_json, digest as digest, to_data as to_data
from .json_values import (
    EMPTY as EMPTY,
    NO_OPTIONS as NO_OPTIONS,
    FrozenDict as FrozenDict,
    FrozenList as FrozenList,
    JSONObject as JSONObject,
    JSONValue as JSONValue,
    ProviderOptions as ProviderOptions,
    freeze as freeze,
    freeze_object as freeze_object,
)
from .parts import (
    MEDIA_PARTS as MEDIA_PARTS,
    MEDIA_PART_BY_KIND as MEDIA_PART_BY_KIND,
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
    media_kind_of as media_kind_of,
)
from .costs import CostSource as CostSource, CostSums as CostSums
from .replies import (
    FINISH_REASONS as FINISH_REASONS,
    METERS as METERS,
    TOKEN_COUNTS as TOKEN_COUNTS,
    Billing as Billing,
    CallWarning as CallWarning,
    FinishReason as FinishReason,
    MeterUnit as MeterUnit,
    ModelReply as ModelReply,
    SeparateUsage as SeparateUsage,
    Usage as Usage,
)
from .responses import AttemptRecord as AttemptRecord, EvidenceMap as EvidenceMap, GenerateResponse as GenerateResponse
from .tools import (
    CachePoint as CachePoint,
    HostedTool as HostedTool,
    HostedToolKind as HostedToolKind,
    ToolChoice as ToolChoice,
    ToolLabel as ToolLabel,
    ToolSpec as ToolSpec,
    check_labels as check_labels,
)
from .wire import Encoded as Encoded, Lowered as Lowered, WireRequest as WireRequest, WireResponse as WireResponse

with _LazyImports(globals()):
    from .base_error import (
        checkout_hint as checkout_hint,
        install_hint as install_hint,
        one_line as one_line,
        shown as shown,
        shown_address as shown_address,
    )
    from .conversation_texts import conversation_text as conversation_text
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
        accumulate as accumulate,
        deltas_of as deltas_of,
        partial_reply as partial_reply,
        usage_so_far as usage_so_far,
    )
    from .displays import (
        DisplayTable as DisplayTable,
        FoldedBlocks as FoldedBlocks,
        SmallPrint as SmallPrint,
        TableList as TableList,
        shown_json as shown_json,
    )
    from .documents import (
        SCHEMA_VERSION as SCHEMA_VERSION,
        from_data as from_data,
        from_json as from_json,
        to_json as to_json,
    )
    from .embeddings import (
        EmbedInput as EmbedInput,
        EmbedItem as EmbedItem,
        EmbedPart as EmbedPart,
        EmbedReply as EmbedReply,
        PartialVectors as PartialVectors,
        RankedIndex as RankedIndex,
        RerankInput as RerankInput,
        RerankReply as RerankReply,
        Vectors as Vectors,
    )
    from .evidence import (
        Check as Check,
        CheckKind as CheckKind,
        Evidence as Evidence,
        EvidenceMatch as EvidenceMatch,
        EvidenceSource as EvidenceSource,
        Source as Source,
        SourceKind as SourceKind,
        SourceMatch as SourceMatch,
        Verdict as Verdict,
        Verification as Verification,
    )
    from .media_controls import (
        FetchedBy as FetchedBy,
        MediaControls as MediaControls,
        MediaResolution as MediaResolution,
    )
    from .media_decisions import (
        DrawnText as DrawnText,
        MediaAnchor as MediaAnchor,
        MediaDecision as MediaDecision,
        MediaLoss as MediaLoss,
        MediaRoute as MediaRoute,
        MediaSent as MediaSent,
        MediaText as MediaText,
    )
    from .media_facts import MediaFacts as MediaFacts, MediaProgress as MediaProgress
    from .media_results import (
        BackendFacts as BackendFacts,
        HeardMeans as HeardMeans,
        HeardReply as HeardReply,
        MediaResult as MediaResult,
        MediaVerification as MediaVerification,
        SpokenPiece as SpokenPiece,
        SpokenWord as SpokenWord,
        TranscriptResult as TranscriptResult,
        WordDifference as WordDifference,
    )
    from .operation_inputs import (
        CallInput as CallInput,
        ModelListInput as ModelListInput,
        OperationInput as OperationInput,
        StoredReplyInput as StoredReplyInput,
    )
    from .pairs import (
        PairFault as PairFault,
        check_pairs as check_pairs,
        repair_pairs as repair_pairs,
    )
    from .provider_resources import CachedContent as CachedContent, ModelList as ModelList, StoredFile as StoredFile
    from .records import (
        ApprovalDecision as ApprovalDecision,
        ApprovalSource as ApprovalSource,
        CallRecord as CallRecord,
        Capture as Capture,
        CostRange as CostRange,
        InteractionKind as InteractionKind,
        InteractionRecord as InteractionRecord,
        Outcome as Outcome,
        Plan as Plan,
        ToolApproval as ToolApproval,
        ToolRecord as ToolRecord,
        ToolSource as ToolSource,
        TraceRecord as TraceRecord,
    )
    from .redaction import (
        redacted_call as redacted_call,
        redacted_data as redacted_data,
        redacted_reply as redacted_reply,
        redacted_result as redacted_result,
    )
    from .reprs import RichDisplay as RichDisplay
    from .server_side import Parsed as Parsed, ParsedInput as ParsedInput, Rendered as Rendered
    from .sent_names import ReplyReading as ReplyReading, SentNames as SentNames
    from .token_counts import (
        TokenCount as TokenCount,
        content_size as content_size,
        size_of as size_of,
        text_tokens as text_tokens,
    )
    from .tool_loops import (
        AllowedCall as AllowedCall,
        AnswerKind as AnswerKind,
        InputRequest as InputRequest,
        InputResponse as InputResponse,
        JournalEntry as JournalEntry,
        JournalKind as JournalKind,
        LoopStatus as LoopStatus,
        OutputAttempt as OutputAttempt,
        PendingCall as PendingCall,
        PendingReason as PendingReason,
        Question as Question,
        ToolAnswer as ToolAnswer,
        ToolLoop as ToolLoop,
        added_messages as added_messages,
        call_digest as call_digest,
    )
    from .tool_steps import (
        TOOL_OUTCOMES as TOOL_OUTCOMES,
        CallProgress as CallProgress,
        ErrorRecord as ErrorRecord,
        StreamEvent as StreamEvent,
        ToolEnded as ToolEnded,
        ToolEvent as ToolEvent,
        ToolOutcome as ToolOutcome,
        ToolProgress as ToolProgress,
        ToolStarted as ToolStarted,
        ToolStep as ToolStep,
    )
    from .transcripts import (
        DropReason as DropReason,
        DroppedSpan as DroppedSpan,
        Transcript as Transcript,
        TranscriptSegment as TranscriptSegment,
        TranscriptWord as TranscriptWord,
    )
    from .visible_text import visible as visible, visible_json as visible_json
    from .wire import (
        response_message as response_message,
        whole_base_url as whole_base_url,
    )
