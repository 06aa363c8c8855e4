"""The settings of a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, NamedTuple, cast, get_args

from abstractcore.catalogue import Document
from abstractcore.configuration import place_of
from abstractcore.errors import ConfigurationError, InvalidInputError
from abstractcore.routing import Routing
from abstractcore.schema import EMPTY
from abstractcore.scrubbing import is_sensitive


def _least(least: float, default: float) -> Any:
    return field(default=default, metadata={"least": least})


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """The table `[limits]` of the configuration. Sizes are in bytes, times in seconds."""

    body_bytes: int = _least(1, 64 * 1024 * 1024)
    """The largest body of a request, also after it was unpacked; of a form the largest content."""
    body_seconds: float = _least(0.001, 60.0)
    """How long a body may take to arrive."""
    head_bytes: int = _least(1, 64 * 1024)
    """The largest head of a request: its line and its headers."""
    head_seconds: float = _least(0.001, 30.0)
    """How long the head of a request may take to arrive, and how long a client may read nothing of a response."""
    connections: int = _least(1, 4096)
    """How many connections may be open. Beyond, the one that has waited longest for a part of a request is closed."""
    websockets: int = _least(1, 256)
    """How many WebSocket connections may be open. Beyond, the one that has been idle longest is closed."""
    websocket_seconds: float = _least(0.001, 3600.0)
    """How long a WebSocket connection may be open; a response that is being made is sent to its end."""
    requests: int = _least(1, 1024)
    """How many requests are answered at once. Others get status 429."""
    choices: int = _least(1, 8)
    """The highest number of answers to one request (`n`)."""
    call_seconds: float = _least(0.001, 600.0)
    """How long a call of a model may take."""
    backgrounds: int = _least(0, 64)
    """How many responses are made in the background at once. Others get status 429."""
    background_seconds: float = _least(0.001, 3600.0)
    """How long a call of a model in the background may take."""
    heartbeat_seconds: float = _least(0.001, 15.0)
    """After how long without data a stream gets a heartbeat."""
    drain_seconds: float = _least(0.001, 60.0)
    """How long a call goes on without its client, at a provider with `on_disconnect = "drain"`; and how long streams
    have to end when the server is stopped."""
    stored_seconds: float = _least(1, 30 * 24 * 3600.0)
    """How long responses, conversations and files are stored."""
    stored_bytes: int = _least(0, 1024 * 1024 * 1024)
    """How many bytes the files of one key, or of all clients without keys, may have together, with pending uploads."""
    stored_files: int = _least(0, 10_000)
    """How many files a key may have."""
    uploads: int = _least(0, 1000)
    """How many uploads a key may have that are not completed. They expire after an hour."""
    drains: int = _least(1, 64)
    """How many calls may go on without their clients at once. Others are cancelled."""
    tools: int = _least(1, 128)
    """How many tools of MCP servers a model is offered at once."""
    tool_rounds: int = _least(1, 16)
    """How many replies of a model may call tools of MCP servers in one request."""
    tool_calls: int = _least(0, 64)
    """How many calls of tools of MCP servers run in one request."""
    tool_seconds: float = _least(0.001, 60.0)
    """How long a call of such a tool may take."""
    tool_result_chars: int = _least(200, 50_000)
    """How many characters of the text of such a tool a model gets: longer ones are shortened in the middle."""
    tool_message_bytes: int = _least(1024, 16 * 1024 * 1024)
    """The largest message of an MCP server. One that sends a larger one is ended."""


ApprovalRule = Literal["never", "always", "deny"]
"""What happens to a call of a tool: it runs, it waits until the client approves it, or there is no such tool."""
_NOTHING: Any = EMPTY


class SettingProblem(NamedTuple):
    """What is wrong with a server: the value at `names` in its table."""

    message: str
    names: tuple[str, ...] = ()
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class MCPSettings:
    """The table `[mcp.NAME]`: an MCP server that is started or connected here when its tools are first used.

    In the texts of `args`, `env`, `url` and `headers`, `${NAME}` is a variable of the environment.
    """

    command: str | None = None
    """The program of a server over standard input and output."""
    args: tuple[str, ...] = ()
    """The arguments of the program."""
    env: Mapping[str, Any] = field(default=_NOTHING, repr=False)
    """Variables for the program; of this process it gets `PATH`, `HOME` and a few more only."""
    cwd: str | None = None
    """The folder of the program."""
    url: str | None = field(default=None, repr=False)
    """The address of a server over HTTP."""
    headers: Mapping[str, Any] = field(default=_NOTHING, repr=False)
    """Headers of the requests to the address."""
    only: tuple[str, ...] = ()
    """Patterns of the names of its tools, as in "get_*": others are not offered; empty for all."""
    without: tuple[str, ...] = ()
    """Patterns of the names of tools that are not offered."""
    approval: ApprovalRule | Mapping[str, Any] = "always"
    """The rule for all tools, or rules by patterns of their names, of which the first that matches holds."""
    models: tuple[str, ...] = ()
    """Patterns of the models that may use it; empty for all."""
    keys: tuple[str, ...] = ()
    """Patterns of the names of the keys that may use it; empty for all."""
    attached: tuple[str, ...] = ()
    """Patterns of the models that get its tools in every API, without being asked for: those with the rule "never"."""
    required: bool = True
    """Whether a request fails that would have its tools while it cannot be reached."""
    connect_seconds: float = field(default=30.0, metadata={"least": 0.001})
    """How long it may take to connect, and to list its tools."""

    def rule(self, tool: str) -> ApprovalRule:
        """Returns the rule for a tool, by its name."""
        if isinstance(self.approval, str):
            return self.approval
        for pattern, rule in self.approval.items():
            if fnmatchcase(tool, pattern):
                return cast("ApprovalRule", rule)
        return "always"

    def is_for(self, key: str | None, models: Sequence[str]) -> bool:
        """Whether a client with a key, None without keys, may use it with a model, which has several names."""
        return matches(models, self.models or ("*",)) and (not self.keys or matches((key or "",), self.keys))

    def problem(self) -> SettingProblem | None:
        """Returns the problem of these settings, if there is one."""
        if (self.command is None) == (self.url is None):
            return SettingProblem(
                "expected either command or url", hint='For example: command = "uvx", args = ["mcp-server-time"].'
            )
        wrong = ("args", "env", "cwd") if self.command is None else ("headers",)
        for name in wrong:
            if getattr(self, name):
                return SettingProblem(
                    f"it is for servers with {'url' if name == 'headers' else 'command'} only", (name,)
                )
        for name in ("env", "headers"):
            for key, value in getattr(self, name).items():
                if not isinstance(value, str):
                    return SettingProblem("expected a string", (name, key))
                if is_sensitive(key) and "${" not in value:
                    hint = f'Name a variable of the environment: {key} = "${{NAME}}".'
                    return SettingProblem("secrets are not allowed in this file", (name, key), hint)
        if not isinstance(self.approval, str):
            for pattern, rule in self.approval.items():
                if rule not in get_args(ApprovalRule):
                    return SettingProblem("expected 'never', 'always' or 'deny'", ("approval", pattern))
        return None


def matches(names: Sequence[str], patterns: Sequence[str]) -> bool:
    """Whether one of the names matches one of the patterns, in which `*` is any text."""
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


OnDisconnect = Literal["cancel", "drain"]
"""What happens to a call whose client has left: it is cancelled, or goes on to its end."""
DatabaseDown = Literal["closed", "open"]
"""What happens while the database of keys is down: requests are refused, or keys that are known stay valid."""
OnFailure = Literal["closed", "open"]
"""What happens if a guard fails, or takes too long: the call is refused, or goes on without it."""


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
    routing: Routing | None = None
    """Which is called first, and when the next: `order`, `fall_back_on`, `cooldown`, `sticky` and `member_timeout`."""

    def __post_init__(self) -> None:
        if self.routing is not None and self.routing.hedge_after is not None:
            hint = "Set member_timeout: the next model is called when one has not begun to answer."
            message = "a server sends an answer while it is made: two models cannot make it at once"
            raise InvalidInputError(message, path="routing.hedge_after", hint=hint)


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


Period = Literal["hour", "day", "week", "month", "call"]
"""The window of a budget, in UTC; weeks begin on Mondays. "call" is each call with its retries."""
Unpriced = float | Literal["refuse", "allow"]
"""What a call whose price is unknown counts of a budget: so many dollars; or it is refused, or not counted."""
BY_KEY: Final = "key"


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """The table `[budgets.NAME]`: a limit in US dollars on what calls cost."""

    usd: float
    """The limit."""
    per: Period | None = None
    """The window of time, or each "call"; without it, the limit is for all time."""
    by: str | None = None
    """What has a budget of its own: each "key", "model" or "provider", or each value of a tag, as in "tag:team"."""
    keys: tuple[str, ...] | None = None
    """Patterns of the names of the keys whose calls count; without it, those of all clients do."""
    unpriced: Unpriced = "refuse"
    """The dollars that a call counts whose price is unknown; "refuse" refuses it, "allow" does not count it."""
    warn_at: float | None = None
    """The share of the limit at which the log gets a warning, once for each window, as in 0.8."""
    max_wait: float = 60.0
    """How many seconds a call waits at most that would fit if others were not running."""

    def is_for(self, key: str | None) -> bool:
        """Whether it holds for the calls of a client with a key, None without keys."""
        return self.keys is None or matches((key or "",), self.keys)


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
    admin_keys_env: tuple[str, ...] = ("ABSTRACTCORE_SERVER_ADMIN_KEY",)
    """Environment variables with keys for the dashboard, which shows the traces of all clients. Without one of them,
    nobody may read it."""
    database: str | None = field(default=None, repr=False)
    """The database of keys and limits, as in "sqlite:////folder/server.db"; without it, a file in the user's data
    folder, if it has keys."""
    database_down: DatabaseDown = "closed"
    """What happens while the database is down: "closed" refuses requests with status 503; with "open", keys that the
    process has seen stay valid, without limits."""
    unpriced: Unpriced = "refuse"
    """The dollars that a call whose price is unknown counts of a key that has a limit of dollars; "refuse" refuses it,
    "allow" does not count it."""
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
    otel: bool = False
    """Whether calls have spans and metrics of OpenTelemetry, by the providers of the process: those that a program has
    set, or `opentelemetry-instrument abstractcore serve`."""
    tls_certificate: str | None = None
    """The path of a certificate with its chain, as PEM. With it, the server speaks HTTPS."""
    tls_key: str | None = None
    """The path of the key of the certificate."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The configuration of a server. `keys` are those that clients send: the values of `server.keys_env`. `admin_keys`
    are for the dashboard: those of `server.admin_keys_env`. `document` is the file that it was read from.
    """

    server: ServerSettings = field(default_factory=ServerSettings)
    limits: ServerLimits = field(default_factory=ServerLimits)
    providers: Mapping[str, ProviderSettings] = _NOTHING
    models: Mapping[str, ModelSettings] = _NOTHING
    guards: Mapping[str, GuardSettings] = _NOTHING
    mcp: Mapping[str, MCPSettings] = _NOTHING
    budgets: Mapping[str, BudgetSettings] = _NOTHING
    keys: tuple[str, ...] = field(default=(), repr=False)
    document: Document | None = field(default=None, repr=False, compare=False)
    admin_keys: tuple[str, ...] = field(default=(), repr=False)

    def error(self, problem: str, *path: str, hint: str | None = None) -> ConfigurationError:
        """Returns an error about the value at `path`, with its line in the file."""
        where = ".".join(path)
        if self.document is None:
            return ConfigurationError(f"{where}: {problem}", hint=hint)
        return self.document.error(f"{where}: {problem}", *place_of(self.document.text, path), hint)
