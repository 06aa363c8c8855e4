"""The commands of `abstractcore mcp` and their arguments. Their code is imported when they are called."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from . import parameters as given
from .exit_codes import EPILOG

mcp = typer.Typer(help="The Model Context Protocol: serve tools, use those of servers.", no_args_is_help=True)

_Http = Annotated[
    str | None, typer.Option(metavar="HOST:PORT", help="Listen for HTTP; without it, stdin and stdout are used.")
]
_Tools = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MODULE:FUNCTION",
        help="A Python function to offer; a module, for all of its tools; or a tool source of a plugin. May be "
        "repeated. Clients decide about its calls: nobody is asked here.",
    ),
]
_Folders = Annotated[
    list[str] | None,
    typer.Option(metavar="FOLDER", help="A folder with files that clients may name; default: none. May be repeated."),
]
_Ask = Annotated[bool, typer.Option("--ask/--no-ask", help="Offer ask: a question to the model.")]
_Transcribe = Annotated[
    bool, typer.Option("--transcribe/--no-transcribe", help="Offer transcribe: recordings as text.")
]
_Describe = Annotated[bool, typer.Option("--describe/--no-describe", help="Offer describe: what a file shows or says.")]
_Extract = Annotated[bool, typer.Option("--extract/--no-extract", help="Offer extract: data by a JSON Schema.")]
_Keys = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="The environment variable with a key that HTTP clients must send as a bearer token; default: "
        "ABSTRACTCORE_SERVER_KEY, if it is set. May be repeated. An address that other machines reach needs a key.",
    ),
]
_Hosts = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="A name by which HTTP clients reach this server. May be repeated."),
]
_Concurrency = Annotated[int, typer.Option(min=1, help="The number of calls that run at once.")]
_Command = Annotated[
    list[str] | None, typer.Argument(metavar="-- COMMAND...", help="The program of a server, with its arguments.")
]
_Url = Annotated[str | None, typer.Option(metavar="URL", help="The address of a server over HTTP.")]
_Config = Annotated[str | None, typer.Option(metavar="FILE", help="A file with servers, as of desktop clients.")]
_Server = Annotated[str | None, typer.Option(metavar="NAME", help="One of the servers of --config.")]
_Header = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VARIABLE", help="A header for --url, from an environment variable. May be repeated."),
]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else.")]


@mcp.command("serve", epilog=EPILOG)
def serve_mcp(
    http: _Http = None,
    provider: given.Provider = None,
    model: given.Model = None,
    tool: _Tools = None,
    files: _Folders = None,
    ask: _Ask = True,
    transcribe: _Transcribe = True,
    describe: _Describe = True,
    extract: _Extract = True,
    key_env: _Keys = None,
    allow_host: _Hosts = None,
    concurrency: _Concurrency = 8,
    temperature: given.Temperature = None,
    max_tokens: given.MaxTokens = None,
    timeout: given.Timeout = None,
    context_size: given.ContextSize = None,
    base_url: given.BaseUrl = None,
    tag: given.Tag = None,
    quiet: given.Quiet = False,
) -> None:
    """Offer a model and Python functions to MCP clients.

    Clients such as editors and agents start this command and talk to it on stdin and stdout:

        abstractcore mcp serve --tool weather:forecast --files ~/Documents

        abstractcore mcp serve --http 127.0.0.1:8100 -p openai/gpt-5.4-mini

    What tools print goes to stderr. The server ends when the client closes stdin.
    """
    from .plugins import ConnectionArguments
    from .serving import ListenArguments, MCPServeArguments, serve

    offered = {"ask": ask, "transcribe": transcribe, "describe": describe, "extract": extract}
    serve(
        MCPServeArguments(
            tuple(name for name, wanted in offered.items() if wanted),
            tuple(tool or ()),
            tuple(files or ()),
            concurrency,
        ),
        ListenArguments(http, tuple(key_env or ()), tuple(allow_host or ())),
        ConnectionArguments(
            provider, model, base_url, temperature, max_tokens, timeout, context_size, quiet, tuple(tag or ())
        ),
    )


@mcp.command("list", epilog=EPILOG)
def list_mcp_tools(
    command: _Command = None,
    url: _Url = None,
    config: _Config = None,
    server: _Server = None,
    header: _Header = None,
    as_json: _Json = False,
) -> None:
    """List the tools of an MCP server.

    The server is a program after "--", an address, or all of a file:

        abstractcore mcp list -- python shop_server.py

        abstractcore mcp list --url http://localhost:8000/mcp

        abstractcore mcp list --config mcp.json

    Each line has the server, the tool, its hints and labels, and its description.
    """
    from .mcp_servers import ServerChoice, list_tools

    list_tools(ServerChoice(tuple(command or ()), url, config, server, tuple(header or ())), as_json=as_json)


class _ProgramAfterDashes(TyperCommand):
    """A command that notes what follows "--" in its context: a program, however many arguments are before it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            ctx.obj, args = args[at + 1 :], args[:at]
        return super().parse_args(ctx, args)


@mcp.command("call", epilog=EPILOG, cls=_ProgramAfterDashes)
def call_mcp_tool(
    context: typer.Context,
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="The name of the tool.")],
    arguments: Annotated[str, typer.Argument(metavar="JSON", help="Its arguments, a JSON object.")] = "{}",
    surplus: Annotated[
        list[str] | None, typer.Argument(metavar="-- COMMAND...", help="The program of a server, with its arguments.")
    ] = None,
    url: _Url = None,
    config: _Config = None,
    server: _Server = None,
    header: _Header = None,
    as_json: _Json = False,
) -> None:
    """Call a tool of an MCP server, without a model.

        abstractcore mcp call stock '{"item": "tea"}' -- python shop_server.py

        abstractcore mcp call stock '{}' --url http://localhost:8000/mcp --json

    The exit code is 1 for an error of the tool.
    """
    from .mcp_servers import ServerChoice, call_tool

    choice = ServerChoice(tuple(context.obj or ()), url, config, server, tuple(header or ()))
    call_tool(choice, tool, [arguments, *(surplus or ())], as_json=as_json)
