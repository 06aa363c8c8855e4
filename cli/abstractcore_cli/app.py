"""The commands of `abstractcore` and their arguments, such as those of `abstractcore ask`.

Their code is in modules of their own, imported when called.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from abstractcore import __version__

from . import parameters as given
from .configuration_commands import config
from .exit_codes import EPILOG
from .mcp_commands import mcp
from .media_commands import compose, draw, speak, talk, transcribe
from .model_commands import catalogue, models
from .plugin_commands import check_installed, command_of, found_commands
from .reporting import interruption_reported, reported, usage_reported
from .search_commands import embed, index, search
from .sessions import sessions
from .tracing import costs, logs, traces


class Commands(TyperGroup):
    """All commands. With `--json`, usage errors are printed as JSON too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses the arguments before the command's name."""
        ctx.obj = "--json" in args
        with interruption_reported(as_json=ctx.obj), usage_reported(as_json=ctx.obj):
            return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """Returns the names of all commands: those of other packages are imported now."""
        self.add_found()
        return super().list_commands(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Returns the command that the first argument names; one that is not our own is found in other packages."""
        if args and args[0] not in self.commands:
            self.add_found()
        if args and args[0] not in self.commands and not ctx.resilient_parsing:
            with reported(as_json=ctx.obj):
                check_installed(args[0])
        return super().resolve_command(ctx, args)

    def add_found(self) -> None:
        """Adds the commands of other packages; our own ones have precedence."""
        for name, target in found_commands().items():
            if name not in self.commands:
                self.commands[name] = command_of(name, target)

    def invoke(self, ctx: Any) -> Any:
        """Finds the command, parses its arguments, and runs it."""
        with interruption_reported(as_json=ctx.obj), usage_reported(as_json=ctx.obj):
            return super().invoke(ctx)


app = typer.Typer(
    name="abstractcore",
    cls=Commands,
    help="Ask any language model, with any file.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(models, name="models")
app.add_typer(catalogue, name="catalogue")
app.add_typer(mcp, name="mcp")
app.add_typer(traces, name="traces")
app.add_typer(logs, name="logs")
app.add_typer(config, name="config")
app.add_typer(costs, name="costs")
app.add_typer(index, name="index")
app.add_typer(sessions, name="sessions")


for command in (draw, compose, speak, transcribe, talk, embed, search):
    app.command(epilog=EPILOG)(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"abstractcore {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Ask any language model, with any file."""


@app.command(epilog=EPILOG)
def ask(
    question: Annotated[str | None, typer.Argument(help="The question.", show_default=False)] = None,
    media: given.Media = None,
    provider: given.Provider = None,
    model: given.Model = None,
    system: given.System = None,
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--no-stream", help="Print the answer as it is generated; the default if stdout is a terminal."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, also for an error, and nothing else.")
    ] = False,
    temperature: given.Temperature = None,
    max_tokens: given.MaxTokens = None,
    timeout: given.Timeout = None,
    context_size: given.ContextSize = None,
    base_url: given.BaseUrl = None,
    tool: given.Tool = None,
    yes: given.Yes = False,
    max_rounds: given.MaxRounds = None,
    schema: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|MODULE:TYPE",
            help="Print the answer as JSON of this type: a JSON Schema, a dataclass, a pydantic model, a TypedDict. "
            "The exit code is 1 if the answer is not of it.",
        ),
    ] = None,
    continues: given.Continues = False,
    session: given.Session = None,
    tag: given.Tag = None,
    quiet: given.Quiet = False,
) -> None:
    """Ask one question and print the answer.

    Text on stdin is the question if none is given; otherwise it is appended to the question after an empty line.
    Anything else on stdin, such as a picture, is a file to ask about:

        git diff | abstractcore ask "Write a commit message for this."

        abstractcore ask -f receipt.jpg --schema shop:Receipt "What was bought?"

        abstractcore ask -c "And in euros?"

    The answer is printed to stdout; how each file was sent, tool calls, warnings, tokens, seconds and cost to stderr.
    Before a tool runs that is not declared as read-only, you are asked.
    """
    from .asking import AskArguments, answer
    from .plugins import ConnectionArguments
    from .toolbox import ToolArguments

    answer(
        AskArguments(question, tuple(media or ()), system, schema, session, continues),
        ConnectionArguments(
            provider, model, base_url, temperature, max_tokens, timeout, context_size, quiet, tuple(tag or ())
        ),
        ToolArguments(tuple(tool or ()), yes, max_rounds),
        stream=stream,
        as_json=as_json,
    )


@app.command(epilog=EPILOG)
def chat(
    media: given.Media = None,
    provider: given.Provider = None,
    model: given.Model = None,
    system: given.System = None,
    temperature: given.Temperature = None,
    max_tokens: given.MaxTokens = None,
    timeout: given.Timeout = None,
    context_size: given.ContextSize = None,
    base_url: given.BaseUrl = None,
    tool: given.Tool = None,
    yes: given.Yes = False,
    max_rounds: given.MaxRounds = None,
    session: given.Session = None,
    continues: given.Continues = False,
    tag: given.Tag = None,
    quiet: given.Quiet = False,
) -> None:
    """Chat with a model, one line at a time.

    /exit or Ctrl-D ends the chat; other commands are /undo, /fork NAME, /model NAME, /compact, /cost, /file PATH,
    /tools, /resume and /help. Ctrl-C stops an answer or a tool; at the prompt it ends the chat. Files of --media go
    with the first question.

    Without a terminal, each line of stdin is a question; a failed one ends the chat.

        abstractcore chat --session trip -p openai/gpt-5.4-mini

        abstractcore chat --session trip  # goes on where it ended

        abstractcore sessions list
    """
    from .chatting.chat import ChatArguments, converse
    from .plugins import ConnectionArguments
    from .toolbox import ToolArguments

    connection = ConnectionArguments(
        provider, model, base_url, temperature, max_tokens, timeout, context_size, quiet, tuple(tag or ())
    )
    converse(
        ChatArguments(
            connection,
            ToolArguments(tuple(tool or ()), yes, max_rounds),
            system,
            session,
            tuple(media or ()),
            continues,
        )
    )


@app.command(epilog=EPILOG)
def media(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Files and URLs.", show_default=False)],
    question: Annotated[str | None, typer.Option("--question", help="The question about them.")] = None,
    provider: given.Provider = None,
    model: given.Model = None,
    base_url: given.BaseUrl = None,
    as_json: given.Json = False,
) -> None:
    """Show how files would be sent to a model, why, and what is lost of them: nothing is sent, and no key is needed.

    Each line has the file, its type, its size, how it is sent, its tokens, which are an estimate, what the model would
    not get of it, and the reason. Files are converted to find that out, except by a model, such as for a transcript.

    A file that cannot be used does not end the list: its error follows, or stands in "errors" with --json. The exit
    code is 2 then, since the call would be refused.

        abstractcore media report.pdf photo.jpg -p openai/gpt-5.4-mini

        abstractcore media talk.mp3 --json
    """
    from .media_plans import show_plan

    show_plan(files, question, provider, model, base_url, as_json=as_json)


@app.command(epilog=EPILOG)
def doctor(as_json: given.Json = False) -> None:
    """Check this machine: Python, extras, plugins, the configuration, weights and disks, with commands that mend them.

    The exit code is 2 if something is wrong. What is only missing, such as an extra, is needed for some features.

        abstractcore doctor

        abstractcore doctor --json | jq '.findings[] | select(.state == "wrong")'
    """
    from .doctor import examine

    examine(as_json=as_json)


@app.command(epilog=EPILOG)
def plugins(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else.")] = False,
) -> None:
    """List plugins: what they register, errors, and slow ones. The exit code is 2 if a plugin is broken.

    Examples:

        abstractcore plugins

        abstractcore plugins --json | jq .backends
    """
    from .plugins import show_plugins

    show_plugins(as_json=as_json)


@app.command(epilog=EPILOG)
def providers(as_json: given.Json = False) -> None:
    """List the providers: whether the environment has a key, the address, and what the servers of this machine have.

    Only servers on this machine are asked. A mark stands before the one that `create_llm("auto")` chooses.

        abstractcore providers

        abstractcore providers --json | jq .auto
    """
    from .provider_list import show_providers

    show_providers(as_json=as_json)
