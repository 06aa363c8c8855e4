"""Ports: the interfaces between the kernel and everything that plugs into it. Imports only schema and errors."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .catalogues import CatalogueFile, Openable
from .interruptions import Interruption, current_interruption, interruptible
from .media_handlers import Fallback, HasExcerpts, HasExtensions, MediaHandler
from .middleware import (
    Answer,
    Attempt,
    AttemptMiddleware,
    AttemptNext,
    CallContext,
    CallEnd,
    CallMiddleware,
    CallNext,
    DeltaStream,
    MeteredStream,
    Middleware,
)
from .operations import (
    CHAT,
    TRANSCRIBE,
    HasOperations,
    Operation,
    OperationResult,
    Operations,
    Operator,
    ReportsAlternatives,
)
from .plugins import (
    CAPABILITIES,
    Capability,
    CapabilityName,
    CapabilityServices,
    ModelWeights,
    ToolSource,
    TraceSubscriber,
)
from .pricing import NO_TERMS, BilledResponse, Charge, Pricing, Terms
from .profiles import ModelCatalogue, ModelProfile, Thinking
from .providers import HasModelExamples, Provider, ProviderConfig, ProviderServices, ProviderSession
from .runtimes import Clock, Feed, Runtime, TimeLimit, WakeableClock, WorkKind
from .transcription_rules import TranscriptionRules
from .transpilers import (
    Framer,
    MessageRead,
    MessageReader,
    StreamDecoder,
    StreamRenderer,
    Transpiler,
    WireFormat,
)
from .transports import Address, Auth, Body, Endpoint, KnownAddress, KnownUrl, SecretHolder, Transport

if TYPE_CHECKING:
    from .capabilities import (
        BACKEND_METHODS,
        BackendEntry,
        BackendFactory,
        BackendHttp,
        BackendOwner,
        BackendRegistry,
        BackendResult,
        ErrorReader,
        Made,
        MediaBytes,
    )
    from .conversions import (
        Caption,
        Captioner,
        Conversion,
        ConversionKey,
        ConversionStore,
        ConvertedFile,
        ConvertedFiles,
        MediaContext,
        Recognised,
        total_usage,
    )
    from .excerpts import Excerpt, chosen_pages
    from .fetching import FetchedFile, Fetcher
    from .file_stores import FileStore, FileToUpload, FileUpload, HasFileStore, ProviderFile, StoredFileIndex
    from .isolation import Isolation
    from .media_fitting import FitsMedia, Fitted, MeasuresMedia
    from .native_calls import native_call
    from .prices import Price
    from .scripts import Piece, Script, ScriptedAnswer, ScriptedReply, ScriptFunction
    from .second_hearings import HearsAgain
    from .stores import ArtifactStore, ModelStore, StoredModel
    from .tools import ToolContext
    from .transcribers import RecordingLimits, Transcriber, Transcription, VoiceSample
    from .weights import FilePart, ModelFile, NpmFile, PackagedModel, WheelFile

_LATER = {
    "MediaBytes": "capabilities",
    "Made": "capabilities",
    "ErrorReader": "capabilities",
    "BackendResult": "capabilities",
    "BackendRegistry": "capabilities",
    "BackendOwner": "capabilities",
    "BackendHttp": "capabilities",
    "BackendFactory": "capabilities",
    "BackendEntry": "capabilities",
    "BACKEND_METHODS": "capabilities",
    "ArtifactStore": "stores",
    "Caption": "conversions",
    "Captioner": "conversions",
    "Conversion": "conversions",
    "ConversionKey": "conversions",
    "ConversionStore": "conversions",
    "ConvertedFile": "conversions",
    "ConvertedFiles": "conversions",
    "FetchedFile": "fetching",
    "Fetcher": "fetching",
    "FilePart": "weights",
    "FileStore": "file_stores",
    "FileToUpload": "file_stores",
    "FileUpload": "file_stores",
    "FitsMedia": "media_fitting",
    "Excerpt": "excerpts",
    "Fitted": "media_fitting",
    "HasFileStore": "file_stores",
    "HearsAgain": "second_hearings",
    "Isolation": "isolation",
    "MeasuresMedia": "media_fitting",
    "MediaContext": "conversions",
    "ModelFile": "weights",
    "ModelStore": "stores",
    "NpmFile": "weights",
    "PackagedModel": "weights",
    "Piece": "scripts",
    "Price": "prices",
    "ProviderFile": "file_stores",
    "Recognised": "conversions",
    "Script": "scripts",
    "ScriptFunction": "scripts",
    "ScriptedAnswer": "scripts",
    "ScriptedReply": "scripts",
    "StoredFileIndex": "file_stores",
    "StoredModel": "stores",
    "ToolContext": "tools",
    "WheelFile": "weights",
    "RecordingLimits": "transcribers",
    "Transcriber": "transcribers",
    "Transcription": "transcribers",
    "VoiceSample": "transcribers",
    "chosen_pages": "excerpts",
    "native_call": "native_calls",
    "total_usage": "conversions",
}
"""Names whose module is imported on first access: few programs need them."""

__all__ = [
    "BACKEND_METHODS",
    "CAPABILITIES",
    "CHAT",
    "NO_TERMS",
    "TRANSCRIBE",
    "Address",
    "Answer",
    "ArtifactStore",
    "Attempt",
    "AttemptMiddleware",
    "AttemptNext",
    "Auth",
    "BackendEntry",
    "BackendFactory",
    "BackendHttp",
    "BackendOwner",
    "BackendRegistry",
    "BackendResult",
    "BilledResponse",
    "Body",
    "CallContext",
    "CallEnd",
    "CallMiddleware",
    "CallNext",
    "Capability",
    "CapabilityName",
    "CapabilityServices",
    "Caption",
    "Captioner",
    "CatalogueFile",
    "Charge",
    "Clock",
    "Conversion",
    "ConversionKey",
    "ConversionStore",
    "ConvertedFile",
    "ConvertedFiles",
    "DeltaStream",
    "Endpoint",
    "ErrorReader",
    "Excerpt",
    "Fallback",
    "Feed",
    "FetchedFile",
    "Fetcher",
    "FilePart",
    "FileStore",
    "FileToUpload",
    "FileUpload",
    "FitsMedia",
    "Fitted",
    "Framer",
    "HasExcerpts",
    "HasExtensions",
    "HasFileStore",
    "HasModelExamples",
    "HasOperations",
    "HearsAgain",
    "Interruption",
    "Isolation",
    "KnownAddress",
    "KnownUrl",
    "Made",
    "MeasuresMedia",
    "MediaBytes",
    "MediaContext",
    "MediaHandler",
    "MessageRead",
    "MessageReader",
    "MeteredStream",
    "Middleware",
    "ModelCatalogue",
    "ModelFile",
    "ModelProfile",
    "ModelStore",
    "ModelWeights",
    "NpmFile",
    "Openable",
    "Operation",
    "OperationResult",
    "Operations",
    "Operator",
    "PackagedModel",
    "Piece",
    "Price",
    "Pricing",
    "Provider",
    "ProviderConfig",
    "ProviderFile",
    "ProviderServices",
    "ProviderSession",
    "Recognised",
    "RecordingLimits",
    "ReportsAlternatives",
    "Runtime",
    "Script",
    "ScriptFunction",
    "ScriptedAnswer",
    "ScriptedReply",
    "SecretHolder",
    "StoredFileIndex",
    "StoredModel",
    "StreamDecoder",
    "StreamRenderer",
    "Terms",
    "Thinking",
    "TimeLimit",
    "ToolContext",
    "ToolSource",
    "TraceSubscriber",
    "Transcriber",
    "Transcription",
    "TranscriptionRules",
    "Transpiler",
    "Transport",
    "VoiceSample",
    "WakeableClock",
    "WheelFile",
    "WireFormat",
    "WorkKind",
    "chosen_pages",
    "current_interruption",
    "interruptible",
    "native_call",
    "total_usage",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_LATER[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
