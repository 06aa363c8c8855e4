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
    HasOperations,
    Operation,
    OperationResult,
    Operations,
    Operator,
    ReportsAlternatives,
)
from .plugins import Capability, CapabilityServices, ToolSource, TraceSubscriber
from .pricing import NO_TERMS, BilledResponse, Charge, Pricing, Terms
from .profiles import ModelCatalogue, ModelProfile, Thinking
from .providers import HasModelExamples, Provider, ProviderConfig, ProviderServices, ProviderSession
from .runtimes import Clock, Feed, Runtime, TimeLimit, WakeableClock, WorkKind
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
    )
    from .excerpts import Excerpt, chosen_pages
    from .fetching import FetchedFile, Fetcher
    from .file_stores import FileStore, FileToUpload, FileUpload, HasFileStore, ProviderFile, StoredFileIndex
    from .isolation import Isolation
    from .media_fitting import FitsMedia, Fitted, MeasuresMedia
    from .prices import Price
    from .scripts import Piece, Script, ScriptedAnswer, ScriptedReply, ScriptFunction
    from .stores import ArtifactStore, ModelStore, StoredModel
    from .tools import ToolContext

_LATER = {
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
    "FileStore": "file_stores",
    "FileToUpload": "file_stores",
    "FileUpload": "file_stores",
    "FitsMedia": "media_fitting",
    "Excerpt": "excerpts",
    "Fitted": "media_fitting",
    "HasFileStore": "file_stores",
    "Isolation": "isolation",
    "MeasuresMedia": "media_fitting",
    "MediaContext": "conversions",
    "ModelStore": "stores",
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
    "chosen_pages": "excerpts",
}
"""Names whose module is imported on first access: few programs need them."""

__all__ = [
    "CHAT",
    "NO_TERMS",
    "Address",
    "Answer",
    "ArtifactStore",
    "Attempt",
    "AttemptMiddleware",
    "AttemptNext",
    "Auth",
    "BilledResponse",
    "Body",
    "CallContext",
    "CallEnd",
    "CallMiddleware",
    "CallNext",
    "Capability",
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
    "Excerpt",
    "Fallback",
    "Feed",
    "FetchedFile",
    "Fetcher",
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
    "Interruption",
    "Isolation",
    "KnownAddress",
    "KnownUrl",
    "MeasuresMedia",
    "MediaContext",
    "MediaHandler",
    "MessageRead",
    "MessageReader",
    "MeteredStream",
    "Middleware",
    "ModelCatalogue",
    "ModelProfile",
    "ModelStore",
    "Openable",
    "Operation",
    "OperationResult",
    "Operations",
    "Operator",
    "Piece",
    "Price",
    "Pricing",
    "Provider",
    "ProviderConfig",
    "ProviderFile",
    "ProviderServices",
    "ProviderSession",
    "Recognised",
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
    "Transpiler",
    "Transport",
    "WakeableClock",
    "WireFormat",
    "WorkKind",
    "chosen_pages",
    "current_interruption",
    "interruptible",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_LATER[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
