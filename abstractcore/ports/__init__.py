"""Ports: the interfaces between the kernel and everything that plugs into it. Imports only schema, errors,
`copying` and `proxies`.
"""

from ..lazy_modules import LazyImports as _LazyImports
from ..proxies import environment_proxy as environment_proxy
from .providers import CatalogueFile as CatalogueFile, Openable as Openable
from .runtimes import (
    Interruption as Interruption,
    current_interruption as current_interruption,
    interruptible as interruptible,
)
from .media_handlers import (
    Fallback as Fallback,
    HasExcerpts as HasExcerpts,
    HasExtensions as HasExtensions,
    MediaHandler as MediaHandler,
)
from .middleware import (
    Answer as Answer,
    Attempt as Attempt,
    AttemptMiddleware as AttemptMiddleware,
    AttemptNext as AttemptNext,
    CacheHit as CacheHit,
    CallContext as CallContext,
    CallEnd as CallEnd,
    CallMiddleware as CallMiddleware,
    CallNext as CallNext,
    DeltaStream as DeltaStream,
    DependsOnSettings as DependsOnSettings,
    MeteredStream as MeteredStream,
    Middleware as Middleware,
)
from .middleware import (
    CHAT as CHAT,
    EMBED as EMBED,
    RERANK as RERANK,
    TRANSCRIBE as TRANSCRIBE,
    AnyInput as AnyInput,
    HasOperations as HasOperations,
    Operation as Operation,
    OperationResult as OperationResult,
    Operations as Operations,
    Operator as Operator,
    ReportsAlternatives as ReportsAlternatives,
)
from .operation_rules import (
    EmbeddingRules as EmbeddingRules,
    RerankRules as RerankRules,
    TranscriptionRules as TranscriptionRules,
)
from .plugins import (
    CAPABILITIES as CAPABILITIES,
    Capability as Capability,
    CapabilityName as CapabilityName,
    CapabilityServices as CapabilityServices,
    Guard as Guard,
    GuardServices as GuardServices,
    ModelWeights as ModelWeights,
    ToolSource as ToolSource,
    TraceSubscriber as TraceSubscriber,
)
from .pricing import (
    NO_TERMS as NO_TERMS,
    BilledResponse as BilledResponse,
    Charge as Charge,
    Pricing as Pricing,
    Terms as Terms,
)
from .profiles import (
    ModelCatalogue as ModelCatalogue,
    ModelProfile as ModelProfile,
    Thinking as Thinking,
)
from .providers import (
    HasModelExamples as HasModelExamples,
    Provider as Provider,
    ProviderConfig as ProviderConfig,
    ProviderServices as ProviderServices,
    ProviderSession as ProviderSession,
)
from .runtimes import (
    Clock as Clock,
    Feed as Feed,
    Runtime as Runtime,
    TimeLimit as TimeLimit,
    WakeableClock as WakeableClock,
    WorkKind as WorkKind,
)
from .transpilers import (
    ChecksOutputSchemas as ChecksOutputSchemas,
    Framer as Framer,
    MessageRead as MessageRead,
    MessageReader as MessageReader,
    StreamDecoder as StreamDecoder,
    StreamRenderer as StreamRenderer,
    Transpiler as Transpiler,
    WireFormat as WireFormat,
)
from .transports import (
    Address as Address,
    Auth as Auth,
    Body as Body,
    Endpoint as Endpoint,
    KnownAddress as KnownAddress,
    KnownUrl as KnownUrl,
    OperationsEndpoint as OperationsEndpoint,
    RenewableEndpoint as RenewableEndpoint,
    SecretHolder as SecretHolder,
    Transport as Transport,
)

with _LazyImports(globals()):
    from .budgets import BudgetAccount as BudgetAccount, Balance as Balance, BudgetLedger as BudgetLedger
    from .capabilities import (
        BACKEND_METHODS as BACKEND_METHODS,
        BackendEntry as BackendEntry,
        BackendFactory as BackendFactory,
        BackendHttp as BackendHttp,
        BackendOwner as BackendOwner,
        BackendRegistry as BackendRegistry,
        BackendResult as BackendResult,
        ErrorReader as ErrorReader,
        Made as Made,
        MediaBytes as MediaBytes,
    )
    from .conversions import (
        Caption as Caption,
        Captioner as Captioner,
        Conversion as Conversion,
        ConversionKey as ConversionKey,
        ConversionStore as ConversionStore,
        ConvertedFile as ConvertedFile,
        ConvertedFiles as ConvertedFiles,
        MediaContext as MediaContext,
        Recognised as Recognised,
        total_usage as total_usage,
    )
    from .media_handlers import Excerpt as Excerpt, chosen_pages as chosen_pages
    from .cost_reports import (
        CostReport as CostReport,
        CostReportLine as CostReportLine,
        CostReportPage as CostReportPage,
        HasCostReport as HasCostReport,
    )
    from .transports import FetchedFile as FetchedFile, Fetcher as Fetcher
    from .file_stores import (
        FileChunk as FileChunk,
        FileId as FileId,
        FileStore as FileStore,
        FileToUpload as FileToUpload,
        FileUpload as FileUpload,
        HasFileStore as HasFileStore,
        ProviderFile as ProviderFile,
        StoredFileIndex as StoredFileIndex,
    )
    from .guards import json_text as json_text, part_with_texts as part_with_texts, with_texts as with_texts
    from .guards import (
        CallVerdict as CallVerdict,
        ChecksCalls as ChecksCalls,
        ChecksReplies as ChecksReplies,
        ChecksTexts as ChecksTexts,
        Edit as Edit,
        GuardContext as GuardContext,
        Refusal as Refusal,
        ReplyVerdict as ReplyVerdict,
        TextKind as TextKind,
        TextPiece as TextPiece,
        TextVerdict as TextVerdict,
    )
    from .runtimes import Isolation as Isolation
    from .media_handlers import FitsMedia as FitsMedia, Fitted as Fitted, MeasuresMedia as MeasuresMedia
    from .transpilers import native_call as native_call
    from .served_operations import (
        ServedOperation as ServedOperation,
        ServesOperations as ServesOperations,
    )
    from .pricing import Price as Price
    from .conversions import Retranscribes as Retranscribes
    from .scripts import (
        Piece as Piece,
        Script as Script,
        ScriptedAnswer as ScriptedAnswer,
        ScriptedReply as ScriptedReply,
        ScriptFunction as ScriptFunction,
    )
    from .stores import (
        ArtifactStore as ArtifactStore,
        ModelStore as ModelStore,
        StoredArtifact as StoredArtifact,
        StoredModel as StoredModel,
    )
    from .tools import Journal as Journal, ToolContext as ToolContext
    from .conversions import (
        RecordingLimits as RecordingLimits,
        Transcriber as Transcriber,
        Transcription as Transcription,
        TranscriptionInput as TranscriptionInput,
        VoiceSample as VoiceSample,
    )
    from .stores import (
        FilePart as FilePart,
        ModelFile as ModelFile,
        NpmFile as NpmFile,
        PackagedModel as PackagedModel,
        WheelFile as WheelFile,
    )
