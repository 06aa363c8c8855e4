"""The interfaces between the kernel and everything that plugs into it. No behaviour, no imports but the data."""

from .media import Conversion, ListsEndings, MediaContext, MediaHandler
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
from .plugins import Capability, CapabilityServices, ToolSource, TraceSubscriber
from .profiles import ModelProfile, Price, Thinking
from .providers import NamesModels, Provider, ProviderConfig, ProviderServices, ProviderSession
from .runtimes import Clock, Runtime, TimeLimit
from .scripts import Piece, Reply, Script, ScriptedAnswer, ScriptFunction
from .stores import ArtifactStore, ModelStore, StoredModel
from .transpilers import (
    ContentKeeper,
    Framer,
    MessageRead,
    MessageReader,
    StreamDecoder,
    StreamRenderer,
    TokenCounter,
    Transpiler,
    WireFormat,
)
from .transports import Address, Auth, Body, Endpoint, Transport

__all__ = [
    "Address",
    "Answer",
    "ArtifactStore",
    "Attempt",
    "AttemptMiddleware",
    "AttemptNext",
    "Auth",
    "Body",
    "CallContext",
    "CallEnd",
    "CallMiddleware",
    "CallNext",
    "Capability",
    "CapabilityServices",
    "Clock",
    "ContentKeeper",
    "Conversion",
    "DeltaStream",
    "Endpoint",
    "Framer",
    "ListsEndings",
    "MediaContext",
    "MediaHandler",
    "MessageRead",
    "MessageReader",
    "MeteredStream",
    "Middleware",
    "ModelProfile",
    "ModelStore",
    "NamesModels",
    "Piece",
    "Price",
    "Provider",
    "ProviderConfig",
    "ProviderServices",
    "ProviderSession",
    "Reply",
    "Runtime",
    "Script",
    "ScriptFunction",
    "ScriptedAnswer",
    "StoredModel",
    "StreamDecoder",
    "StreamRenderer",
    "Thinking",
    "TimeLimit",
    "TokenCounter",
    "ToolSource",
    "TraceSubscriber",
    "Transpiler",
    "Transport",
    "WireFormat",
]
