"""`abstractcore mcp serve`: offers a model and tools as an MCP server, on stdio or over HTTP."""

from __future__ import annotations

import asyncio
import importlib.util
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import abstractcore

from ..client.prepared_requests import DEFAULT_TIMEOUT_SECONDS
from ..concurrency.functions import spare_cores
from ..ports import MediaContext
from ..schema.base_error import install_hint
from ..scrubbing import Secrets, credentials_of
from .log_lines import logged, with_credentials
from .plugins import ConnectionArguments, connected, model_store, registry
from .reporting import reported
from .screen import note

if TYPE_CHECKING:
    from ..mcp.server import Model, OfferedTool, ProtocolDescriptors, SpeechToText, ToolRunner
    from ..registry import Registry

KEY_VARIABLE = "ABSTRACTCORE_SERVER_KEY"


@dataclass(frozen=True, slots=True)
class MCPServeArguments:
    """What `mcp serve` offers: `model_tools` of ask, transcribe, describe and extract, and the tools of `--tool`."""

    model_tools: tuple[str, ...]
    tools: tuple[str, ...]
    folders: tuple[str, ...]
    running: int


@dataclass(frozen=True, slots=True)
class ListenArguments:
    """Where `mcp serve` listens: an address as HOST:PORT, or stdio if there is none.

    `key_variables` are the environment variables of the keys, `hosts` further names of the server.
    """

    address: str | None
    key_variables: tuple[str, ...]
    hosts: tuple[str, ...]


def serve(offer: MCPServeArguments, listening: ListenArguments, connection: ConnectionArguments) -> None:
    """Serves until the client closes stdin, or until Ctrl-C."""
    with reported():
        _check_installed()
        keys = _keys(listening)
        if listening.address is None:
            wire = _wire(listening)
            with _runner(offer, connection, keys) as runner:
                _serve_stdio(runner, wire)
        else:
            with _runner(offer, connection, keys) as runner:
                _serve_http(runner, listening.address, keys, listening.hosts, quiet=connection.quiet)


def _serve_stdio(runner: ToolRunner, wire: ProtocolDescriptors) -> None:
    from ..mcp.server import MCPServerLimits, mcp_server, serve_stdio

    if os.isatty(wire.incoming):
        note("reading MCP messages from stdin: this command is for MCP clients to start. Ctrl-C ends it.")
    asyncio.run(serve_stdio(mcp_server(runner), wire, MCPServerLimits().request_bytes))


def _serve_http(
    runner: ToolRunner, address: str, keys: tuple[str, ...], hosts: tuple[str, ...], *, quiet: bool
) -> None:
    from ..mcp.server import MCPAccess, MCPServerLimits, listening_socket, mcp_server, serve_http, url_of

    host, port = _address(address)
    access = MCPAccess(keys, hosts)
    with listening_socket(host, port, access) as listening:
        if not quiet:
            who = "clients with a key" if keys else "every program on this machine"
            note(f"listening at {url_of(listening)} for {who}; Ctrl-C ends it")
        asyncio.run(serve_http(mcp_server(runner), listening, host, access, MCPServerLimits()))


@contextmanager
def _runner(offer: MCPServeArguments, connection: ConnectionArguments, keys: tuple[str, ...]) -> Generator[ToolRunner]:
    from ..mcp.server import FileAccess, MCPServerLimits, ModelTools, OfferedTool, ToolRunner, offered
    from ..tools.toolset import tool_set
    from .tool_modules import load_tools

    secrets = Secrets((*credentials_of(with_credentials(os.environ)), *keys))
    plugins = registry()
    timeout = DEFAULT_TIMEOUT_SECONDS if connection.timeout is None else connection.timeout
    limits = MCPServerLimits(running=offer.running, timeout=timeout)
    named: list[OfferedTool] = []
    if offer.tools:
        tools = tool_set(load_tools(offer.tools, plugins), plugins).tools.values()
        named = [OfferedTool.of(tool) for tool in tools]
    if not named and not offer.model_tools:
        raise abstractcore.InvalidInputError(
            "nothing is offered", hint="Add --tool MODULE:FUNCTION, or leave out --no-ask."
        )
    access = FileAccess(offer.folders, limits.file_bytes)
    with connected(connection, plugins) as llm, logged(secrets, quiet=connection.quiet):
        model_tools = ModelTools(cast("Model", llm), access, _speech_to_text(llm, plugins))
        tools = offered([*model_tools.offered(offer.model_tools), *named])
        yield ToolRunner(tools, limits, secrets, llm)


def _speech_to_text(llm: abstractcore.LLM, plugins: Registry) -> SpeechToText:
    """Returns a function that transcribes on this machine."""

    def transcript(item: Any) -> str:
        from ..client.services import default_services
        from ..files.extraction import extract_text

        part = cast(Any, llm.build("transcribe", media=[item]).messages[-1].parts[0])
        context = MediaContext(model_store(), {}, spare_cores(), isolation=default_services().isolation)
        return extract_text(part, plugins.media_handlers, context, _stored).text

    return transcript


def _stored(sha256: str) -> bytes:
    raise abstractcore.ArtifactError(f"{sha256} is not stored here")


def _check_installed() -> None:
    if importlib.util.find_spec("mcp") is None:
        raise abstractcore.MissingExtraError(
            "`abstractcore mcp serve` requires mcp, which is not installed.",
            hint=install_hint("mcp", extra="mcp"),
        )


def _wire(listening: ListenArguments) -> ProtocolDescriptors:
    from ..mcp.server import claim_standard_streams

    if listening.hosts or listening.key_variables:
        option = "--allow-host" if listening.hosts else "--key-env"
        raise abstractcore.InvalidInputError("it is for HTTP only", path=option, hint="Add --http HOST:PORT.")
    try:
        return claim_standard_streams()
    except OSError as error:
        raise abstractcore.ConfigurationError(
            f"stdin and stdout cannot be used: {error.strerror}", hint="Use --http HOST:PORT without them."
        ) from None


def _keys(listening: ListenArguments) -> tuple[str, ...]:
    """Returns the keys in the environment; raises `ConfigurationError` for a named variable that is not set."""
    if listening.address is None:
        return ()
    names = listening.key_variables or ((KEY_VARIABLE,) if os.environ.get(KEY_VARIABLE) else ())
    for name in names:
        if not os.environ.get(name, "").strip():
            raise abstractcore.ConfigurationError(
                f"--key-env: the environment variable {name} is not set", hint=f"Set it: export {name}=..."
            )
    return tuple(os.environ[name].strip() for name in names)


def _address(given: str) -> tuple[str, int]:
    host, colon, port = given.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isdecimal() and port.isascii() and int(port) < 1 << 16):
        raise abstractcore.InvalidInputError(
            f"{given!r} is not an address", path="--http", hint="Write HOST:PORT, as in --http 127.0.0.1:8000."
        )
    return host, int(port)
