"""AbstractCore: one Python SDK for every language model and any file.

`create_llm(...)` creates an `LLM`; `llm.generate(prompt, media=[...])` calls it. All public names are exported here.
HTTP and event loops are imported when the first LLM is created.
"""

from .lazy_modules import LazyImports as _LazyImports
from .errors import (
    AbstractCoreError as AbstractCoreError,
    AccessDeniedError as AccessDeniedError,
    ArtifactError as ArtifactError,
    AuthenticationError as AuthenticationError,
    BackendError as BackendError,
    BadRequestError as BadRequestError,
    BudgetExceededError as BudgetExceededError,
    CallInterruptedError as CallInterruptedError,
    CapabilityUnavailableError as CapabilityUnavailableError,
    CassetteError as CassetteError,
    ConfigurationError as ConfigurationError,
    ConnectionFailedError as ConnectionFailedError,
    ContentFilterError as ContentFilterError,
    ContextOverflowError as ContextOverflowError,
    CorruptFileError as CorruptFileError,
    EmbeddingCacheError as EmbeddingCacheError,
    EncryptedFileError as EncryptedFileError,
    FallbackExhaustedError as FallbackExhaustedError,
    IndexMismatchError as IndexMismatchError,
    InputRequired as InputRequired,
    InvalidInputError as InvalidInputError,
    JournalError as JournalError,
    JournalLost as JournalLost,
    LimitExceededError as LimitExceededError,
    MediaError as MediaError,
    MemberFailure as MemberFailure,
    MissingExtraError as MissingExtraError,
    ModelCrashedError as ModelCrashedError,
    ModelNotFoundError as ModelNotFoundError,
    ModelStoreError as ModelStoreError,
    NotFoundError as NotFoundError,
    OutputValidationError as OutputValidationError,
    OverloadedError as OverloadedError,
    PluginError as PluginError,
    PriceUnknownError as PriceUnknownError,
    ProviderError as ProviderError,
    QuotaError as QuotaError,
    RateLimitError as RateLimitError,
    ReplayMismatchError as ReplayMismatchError,
    RequestTimeoutError as RequestTimeoutError,
    ScriptExhaustedError as ScriptExhaustedError,
    ServerError as ServerError,
    SearchIndexError as SearchIndexError,
    SessionBusyError as SessionBusyError,
    SessionError as SessionError,
    StorageFullError as StorageFullError,
    StreamInterruptedError as StreamInterruptedError,
    ToolError as ToolError,
    ToolFailed as ToolFailed,
    ToolRetry as ToolRetry,
    ToolServerError as ToolServerError,
    UnexpectedResponseError as UnexpectedResponseError,
    UnknownCapabilityError as UnknownCapabilityError,
    UnknownOptionError as UnknownOptionError,
    UnknownProviderError as UnknownProviderError,
    UnsupportedContentError as UnsupportedContentError,
    UnsupportedOptionError as UnsupportedOptionError,
    WrongPasswordError as WrongPasswordError,
)
from .schema import (
    AttemptRecord as AttemptRecord,
    AudioPart as AudioPart,
    Billing as Billing,
    Blob as Blob,
    CachePoint as CachePoint,
    CallWarning as CallWarning,
    Citation as Citation,
    ContentPart as ContentPart,
    CostSums as CostSums,
    DocumentPart as DocumentPart,
    EvidenceMap as EvidenceMap,
    FinishReason as FinishReason,
    GenerateResponse as GenerateResponse,
    HostedTool as HostedTool,
    HostedToolCall as HostedToolCall,
    HostedToolResult as HostedToolResult,
    ImagePart as ImagePart,
    MediaHistory as MediaHistory,
    MediaKind as MediaKind,
    MediaPart as MediaPart,
    MediaPolicy as MediaPolicy,
    Message as Message,
    Modality as Modality,
    ModelCall as ModelCall,
    ModelReply as ModelReply,
    OpaquePart as OpaquePart,
    OutputSchema as OutputSchema,
    Part as Part,
    ReasoningPart as ReasoningPart,
    Role as Role,
    Sampling as Sampling,
    SchemaError as SchemaError,
    TextPart as TextPart,
    ThinkingLevel as ThinkingLevel,
    ToolCall as ToolCall,
    ToolChoice as ToolChoice,
    ToolLabel as ToolLabel,
    ToolResult as ToolResult,
    ToolSpec as ToolSpec,
    Usage as Usage,
    VideoPart as VideoPart,
)
from .version import __version__ as __version__

with _LazyImports(globals()):
    from .budgets import Budget as Budget
    from .capabilities import (
        AsyncSpeechStream as AsyncSpeechStream,
        Audio as Audio,
        Music as Music,
        SpeechStream as SpeechStream,
        Vision as Vision,
    )
    from .client.option_values import context as context
    from .client.automatic import ProviderState as ProviderState, provider_states as provider_states
    from .client.create_options import LLMOptions as LLMOptions
    from .client.factory import create_llm as create_llm
    from .client.item_runs import MapItem as MapItem, MapResults as MapResults
    from .client.llm import LLM as LLM
    from .client.message_inputs import MessageInput as MessageInput
    from .client.options import (
        CallOptions as CallOptions,
        CallRequest as CallRequest,
    )
    from .client.services import (
        Services as Services,
        subscribe as subscribe,
    )
    from .client.streams import (
        AsyncStream as AsyncStream,
        Stream as Stream,
    )
    from .client.voice import (
        AsyncSpokenReply as AsyncSpokenReply,
        SpokenReply as SpokenReply,
        Voice as Voice,
    )
    from .embeddings import (
        EmbeddingCache as EmbeddingCache,
        EmbeddingManager as EmbeddingManager,
        Embeddings as Embeddings,
        NearVector as NearVector,
        Ranked as Ranked,
        RankedDocument as RankedDocument,
        SimilarPair as SimilarPair,
    )
    from .files.loading import (
        File as File,
        MediaInput as MediaInput,
    )
    from .limits import Limits as Limits
    from .mcp.tools import MCPTools as MCPTools
    from .middleware.cassettes import (
        record as record,
        replay as replay,
    )
    from .middleware.response_cache import ResponseCache as ResponseCache
    from .outputs import (
        canonical_json as canonical_json,
        digest as digest,
        to_json as to_json,
    )
    from .outputs.decisions import (
        Decision as Decision,
        Score as Score,
    )
    from .ports import (
        Interruption as Interruption,
        Price as Price,
        ToolContext as ToolContext,
    )
    from .routing import (
        Member as Member,
        Routing as Routing,
    )
    from .schema import (
        CachedContent as CachedContent,
        CallProgress as CallProgress,
        CallRecord as CallRecord,
        Capture as Capture,
        Check as Check,
        CostRange as CostRange,
        Delta as Delta,
        DrawnText as DrawnText,
        DroppedSpan as DroppedSpan,
        Evidence as Evidence,
        HeardReply as HeardReply,
        InputRequest as InputRequest,
        InputResponse as InputResponse,
        InteractionRecord as InteractionRecord,
        MediaAnchor as MediaAnchor,
        MediaControls as MediaControls,
        MediaDecision as MediaDecision,
        MediaFacts as MediaFacts,
        MediaLoss as MediaLoss,
        MediaProgress as MediaProgress,
        MediaResult as MediaResult,
        MediaRoute as MediaRoute,
        MediaSent as MediaSent,
        MediaText as MediaText,
        MediaVerification as MediaVerification,
        Outcome as Outcome,
        OutputAttempt as OutputAttempt,
        PartDelta as PartDelta,
        PendingCall as PendingCall,
        Plan as Plan,
        Question as Question,
        ReasoningDelta as ReasoningDelta,
        ReasoningEnd as ReasoningEnd,
        ReasoningStart as ReasoningStart,
        ReplyEnd as ReplyEnd,
        ReplyStart as ReplyStart,
        Source as Source,
        SpokenPiece as SpokenPiece,
        SpokenWord as SpokenWord,
        StoredFile as StoredFile,
        StreamEvent as StreamEvent,
        TextDelta as TextDelta,
        TextEnd as TextEnd,
        TextStart as TextStart,
        TokenCount as TokenCount,
        ToolAnswer as ToolAnswer,
        ToolApproval as ToolApproval,
        ToolCallDelta as ToolCallDelta,
        ToolCallEnd as ToolCallEnd,
        ToolCallStart as ToolCallStart,
        ToolEnded as ToolEnded,
        ToolEvent as ToolEvent,
        ToolLoop as ToolLoop,
        ToolProgress as ToolProgress,
        ToolRecord as ToolRecord,
        ToolStarted as ToolStarted,
        ToolStep as ToolStep,
        TraceRecord as TraceRecord,
        Transcript as Transcript,
        TranscriptResult as TranscriptResult,
        TranscriptSegment as TranscriptSegment,
        TranscriptWord as TranscriptWord,
        UsageDelta as UsageDelta,
        Verification as Verification,
        accumulate as accumulate,
        from_json as from_json,
    )
    from .search import Index as Index
    from .sessions import Session as Session
    from .telemetry import Subscription as Subscription
    from .tools.policy import Allow as Allow, Deny as Deny, Edit as Edit, Respond as Respond, Suspend as Suspend
    from .tools.tool import tool as tool
    from .tools.file_journal import FileJournal as FileJournal, loop_of as loop_of
    from .tools.policy import ToolPolicy as ToolPolicy
    from .tools.results import ToolOutput as ToolOutput
    from .tools.policy import ApprovalRule as ApprovalRule, ApprovalRules as ApprovalRules
    from .tools.tool import Tool as Tool
