"""`Settings`: what the server is told at its start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from abstractcore.catalogue import Document
from abstractcore.errors import ConfigurationError
from abstractcore.schema import EMPTY

from .limits import Limits
from .toml_places import place_of
from .tools.settings import MCPSettings

OnDisconnect = Literal["cancel", "drain"]
"""What happens to a call whose client has left: it is cancelled, or goes on to its end."""
DatabaseDown = Literal["closed", "open"]
"""What happens while the database of keys is down: requests are refused, or keys that are known stay valid."""
OnFailure = Literal["closed", "open"]
"""What happens if a guard fails, or takes too long: the call is refused, or goes on without it."""
_NOTHING: Any = EMPTY


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """The table `[providers.NAME]`: how a provider is reached, and what clients may use of it."""

    enabled: bool = True
    """Whether clients may use it."""
    base_url: str | None = None
    """The address of its API, if not the default."""
    api_key_env: str | None = None
    """The environment variable with its key, if not the usual one."""
    models: tuple[str, ...] = ()
    """The only models that clients may call; empty for all."""
    on_disconnect: OnDisconnect = "cancel"
    """What happens to a call whose client has left."""
    options: Mapping[str, Any] = field(default=_NOTHING, repr=False)
    """Options of `create_llm`, as in `options.max_retries = 3`."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The table `[models.NAME]`: a name of the server's own for one model or several."""

    models: tuple[str, ...]
    """The models, as in "openai/gpt-5.4". If one fails, the next is called."""


@dataclass(frozen=True, slots=True)
class GuardSettings:
    """The table `[guards.NAME]`: a guard of a plugin, which looks at calls and answers. Guards are asked in the order
    of the file.
    """

    guard: str
    """The guard, by the name that its plugin gives it."""
    on_failure: OnFailure = "closed"
    """What happens if the guard fails, or takes too long: "closed" refuses the call with status 503; with "open" it
    goes on, with a warning."""
    timeout_seconds: float = field(default=10.0, metadata={"least": 0.001})
    """The time for one check, in seconds."""
    models: tuple[str, ...] | None = None
    """Patterns of the models whose calls it checks, as in "openai/*": of the name that the client used, or that of the
    model that answers. Without it, it checks those of all models."""
    keys: tuple[str, ...] | None = None
    """Patterns of the names of the keys whose calls it checks; without it, it checks those of all clients."""
    options: Mapping[str, Any] = field(default=_NOTHING, repr=False)
    """Options of the guard, as in `options.replacement = "[e-mail]"`."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The table `[server]`: where the server listens, and for whom."""

    host: str = "127.0.0.1"
    """The address to listen at."""
    port: int = field(default=8000, metadata={"least": 0, "most": 65535})
    """The port; 0 is any free one."""
    workers: int = field(default=1, metadata={"least": 1, "most": 256})
    """How many processes answer. Of `[limits]`, `connections`, `websockets`, `requests`, `backgrounds` and `drains`
    hold for each of them."""
    hosts: tuple[str, ...] = ()
    """Names by which clients reach the server, beside its address and those of this machine."""
    origins: tuple[str, ...] = ()
    """Web pages of other addresses that may use the server, as in "https://app.example.com", beside the server's own.
    Programs that are no browsers need none."""
    keys_env: tuple[str, ...] = ("ABSTRACTCORE_SERVER_KEY",)
    """Environment variables with keys, one of which each request must have. If the configuration names them, at least
    one has to be set."""
    database: str | None = field(default=None, repr=False)
    """The database of keys and limits, as in "sqlite:////folder/server.db"; without it, a file in the user's data
    folder, if it has keys."""
    database_down: DatabaseDown = "closed"
    """What happens while the database is down: "closed" refuses requests with status 503; with "open", keys that the
    process has seen stay valid, without limits."""
    audit_log: str | None = None
    """The path of a file for a line of JSON about each request; without it, there is none."""
    receipts: str | None = None
    """The path of a folder for the receipt of each answer, with the bodies that were received and sent, for
    `abstractcore verify`; without it, receipts are in headers and in the audit log only."""
    default: str | None = None
    """The model that the name "default" stands for; without it, the embedded one."""
    fetch_urls: bool = False
    """Whether files that clients name by URL are downloaded, from public addresses only, for providers that do not read
    URLs themselves."""
    tls_certificate: str | None = None
    """The path of a certificate with its chain, as PEM. With it, the server speaks HTTPS."""
    tls_key: str | None = None
    """The path of the key of the certificate."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The configuration of a server. `keys` are those that clients send: the values of `server.keys_env`. `document` is
    the file that it was read from.
    """

    server: ServerSettings = field(default_factory=ServerSettings)
    limits: Limits = field(default_factory=Limits)
    providers: Mapping[str, ProviderSettings] = _NOTHING
    models: Mapping[str, ModelSettings] = _NOTHING
    guards: Mapping[str, GuardSettings] = _NOTHING
    mcp: Mapping[str, MCPSettings] = _NOTHING
    keys: tuple[str, ...] = field(default=(), repr=False)
    document: Document | None = field(default=None, repr=False, compare=False)

    def error(self, problem: str, *path: str, hint: str | None = None) -> ConfigurationError:
        """Returns an error about the value at `path`, with its line in the file."""
        where = ".".join(path)
        if self.document is None:
            return ConfigurationError(f"{where}: {problem}", hint=hint)
        return self.document.error(f"{where}: {problem}", *place_of(self.document.text, path), hint)
