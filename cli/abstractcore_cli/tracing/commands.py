"""The arguments of `abstractcore traces ...` and `abstractcore costs`.

What a command does is imported when it is called.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .. import completing
from ..exit_codes import EPILOG
from ..parameters import BaseUrl, Json, Timeout

traces = typer.Typer(
    help="Traces of calls: listed, searched, shown as trees, watched, exported and removed.", no_args_is_help=True
)

_Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH|URL",
        envvar="ABSTRACTCORE_TRACES_STORE",
        help="Where traces are kept: a file, or postgresql://...; default: traces.db in your data folder.",
    ),
]
_Since = Annotated[
    str | None, typer.Option(metavar="TIME", help="Not before this: 7d or 12h ago, or 2026-11-01 in UTC.")
]
_Until = Annotated[str | None, typer.Option(metavar="TIME", help="Before this.")]
_Model = Annotated[
    str | None, typer.Option("--model", "-m", help="MODEL or PROVIDER/MODEL.", autocompletion=completing.models)
]
_Tag = Annotated[
    list[str] | None, typer.Option("--tag", metavar="NAME=VALUE", help="Calls with this tag; may be repeated.")
]
_Failed = Annotated[bool, typer.Option("--failed", help="Calls that ended without a result.")]
_Limit = Annotated[int, typer.Option(min=1, max=1_000_000, help="The most calls.")]
_Id = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="The id of a call, an interaction or a tool run, or its beginning.", show_default=False
    ),
]
_Text = Annotated[
    str,
    typer.Argument(
        metavar="TEXT",
        help="Words that one message has, or a call's input; words in quotes follow each other.",
        show_default=False,
    ),
]


@traces.command("list", epilog=EPILOG)
def list_traces(
    since: _Since = None,
    until: _Until = None,
    model: _Model = None,
    tag: _Tag = None,
    failed: _Failed = False,
    limit: _Limit = 20,
    store: _Store = None,
    as_json: Json = False,
) -> None:
    """List calls, the newest first, with their tokens and costs.

    A cost is what is known of it; "about" stands before what is estimated, and "unknown" is neither.

        abstractcore traces list --since 7d --failed

        abstractcore traces list -m openai/gpt-5.4-mini --tag team=office
    """
    from .lists import list_calls
    from .stores import CallChoice

    list_calls(CallChoice(since, until, model, tuple(tag or ()), failed, limit), store, as_json=as_json)


@traces.command("search", epilog=EPILOG)
def search(
    text: _Text,
    since: _Since = None,
    until: _Until = None,
    model: _Model = None,
    tag: _Tag = None,
    failed: _Failed = False,
    limit: _Limit = 20,
    store: _Store = None,
    as_json: Json = False,
) -> None:
    """List calls whose messages have these words, the newest first.

    Only content that is kept in full can be found: ABSTRACTCORE_TRACES=full.

        abstractcore traces search invoice

        abstractcore traces search '"late delivery"' --since 30d --json
    """
    from .lists import list_calls
    from .stores import CallChoice

    choice = CallChoice(since, until, model, tuple(tag or ()), failed, limit, text)
    list_calls(choice, store, as_json=as_json)


@traces.command("show", epilog=EPILOG)
def show(trace: _Id, store: _Store = None, as_json: Json = False) -> None:
    """Show the tree that a record is in: calls, tool runs, attempts and files, when each began and how long it took,
    what it cost, and the conversation.

    Examples:

        abstractcore traces show 4f1c

        abstractcore traces show 4f1c --json
    """
    from .trees import show_trace

    show_trace(trace, store, as_json=as_json)


@traces.command("tail", epilog=EPILOG)
def tail(
    model: _Model = None,
    tag: _Tag = None,
    failed: _Failed = False,
    last: Annotated[int, typer.Option(min=1, max=1_000_000, help="Begin with so many calls.")] = 10,
    follow: Annotated[bool, typer.Option(help="Go on until Ctrl-C.")] = True,
    store: _Store = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print each call as a line of JSON.")] = False,
) -> None:
    """Print calls as they end, one on each line.

    Examples:

        abstractcore traces tail --failed

        abstractcore traces tail --last 100 --no-follow --json
    """
    from .lists import tail_calls
    from .stores import CallChoice

    choice = CallChoice(model=model, tags=tuple(tag or ()), failed=failed, limit=last)
    tail_calls(choice, store, follow=follow, as_json=as_json)


@traces.command("export", epilog=EPILOG)
def export(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A file that does not exist yet.", show_default=False)],
    since: _Since = None,
    until: _Until = None,
    model: _Model = None,
    tag: _Tag = None,
    failed: _Failed = False,
    store: _Store = None,
    as_json: Json = False,
) -> None:
    """Write records to a file, oldest first: JSON lines, or a table if its name ends with .parquet.

    Interactions and tool runs are records too.

        abstractcore traces export traces.jsonl --since 7d

        abstractcore traces export november.parquet --since 2026-11-01
    """
    from .lists import export_records
    from .stores import CallChoice

    export_records(path, CallChoice(since, until, model, tuple(tag or ()), failed), store, as_json=as_json)


@traces.command("score", epilog=EPILOG)
def score(
    trace: _Id,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What is scored, such as good.", show_default=False)],
    value: Annotated[float, typer.Argument(metavar="NUMBER", help="How much of it.", show_default=False)],
    comment: Annotated[str | None, typer.Option(metavar="TEXT", help="Why.")] = None,
    store: _Store = None,
    as_json: Json = False,
) -> None:
    """Add a score to a record, or replace that of the same name.

    Examples:

        abstractcore traces score 4f1c good 1

        abstractcore traces score 4f1c good 0 --comment "The sum is wrong."
    """
    from .lists import score_record

    score_record(trace, name, value, comment, store, as_json=as_json)


@traces.command("prune", epilog=EPILOG)
def prune(
    keep_days: Annotated[
        float | None,
        typer.Option(metavar="DAYS", envvar="ABSTRACTCORE_TRACES_KEEP_DAYS", help="Remove records that are older."),
    ] = None,
    keep_bytes: Annotated[
        int | None,
        typer.Option(
            metavar="BYTES",
            envvar="ABSTRACTCORE_TRACES_KEEP_BYTES",
            help="Remove the oldest above this size; for SQLite.",
        ),
    ] = None,
    store: _Store = None,
    as_json: Json = False,
) -> None:
    """Remove old records, and the contents that only they have. Sums of costs stay.

    Examples:

        abstractcore traces prune --keep-days 30

        abstractcore traces prune --keep-bytes 1000000000
    """
    from .lists import prune_records

    prune_records(keep_days, keep_bytes, store, as_json=as_json)


@traces.command("rerun", epilog=EPILOG)
def rerun(
    query: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID | TEXT]", help="The id of a record, or words of questions; default: all that are chosen."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", "-m", help="The model to ask: NAME, or PROVIDER/MODEL.", autocompletion=completing.models
        ),
    ] = None,
    provider: Annotated[
        str | None,
        typer.Option("--provider", "-p", help="PROVIDER or PROVIDER/MODEL.", autocompletion=completing.providers),
    ] = None,
    base_url: BaseUrl = None,
    timeout: Timeout = None,
    of_model: Annotated[
        str | None, typer.Option("--of", metavar="MODEL", help="Questions that this model was asked.")
    ] = None,
    since: _Since = None,
    until: _Until = None,
    tag: _Tag = None,
    failed: _Failed = False,
    limit: _Limit = 20,
    max_usd: Annotated[str | None, typer.Option(metavar="DOLLARS", help="Stop before more than this is spent.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask whether to go on.")] = False,
    store: _Store = None,
    as_json: Json = False,
) -> None:
    """Ask stored questions again of another model, and compare: would a cheaper one do?

    Says first how many calls there will be, and about what they cost. Tools are not run: the same calls get the stored
    results. The new traces have the tag rerun_of. Only what was kept in full can be asked again.

        abstractcore traces rerun invoice -m openai/gpt-5.4-mini --max-usd 0.5

        abstractcore traces rerun --of openai/gpt-5.4 -m openai/gpt-5.4-mini
    """
    from ..plugins import ConnectionArguments
    from .rerunning import RerunOptions
    from .rerunning import rerun as run
    from .stores import CallChoice

    choice = CallChoice(since, until, of_model, tuple(tag or ()), failed, limit, query)
    connection = ConnectionArguments(provider, model, base_url, timeout=timeout)
    run(RerunOptions(choice, max_usd, yes), connection, store, as_json=as_json)


class LogCommands(TyperGroup):
    """The commands of `logs`: words that name none of them are searched for, and without any the last are listed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses the arguments, as those of `list` unless they begin with another command."""
        is_named = bool(args) and args[0] in (*self.commands, *self.get_help_option_names(ctx))
        return super().parse_args(ctx, args if is_named else ["list", *args])


logs = typer.Typer(cls=LogCommands, help="What was asked and answered, if traces are kept: listed, searched, shown.")


@logs.command("list", epilog=EPILOG)
def list_logs(
    text: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WORDS]", help="Words that a message has; words in quotes follow each other."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="The most questions.")] = 10,
    since: _Since = None,
    model: _Model = None,
    tag: _Tag = None,
    failed: _Failed = False,
    store: _Store = None,
    as_json: Json = False,
) -> None:
    """List what was asked and answered, the newest first; the name of this command may be left out.

    Questions are kept while ABSTRACTCORE_TRACES is set to "full".

        abstractcore logs list -n 20

        abstractcore logs list invoice --since 7d
    """
    from .logs import show_logs
    from .stores import CallChoice

    choice = CallChoice(since, None, model, tuple(tag or ()), failed, limit, " ".join(text or ()) or None)
    show_logs(choice, store, as_json=as_json)


@logs.command("show", epilog=EPILOG)
def show_log(trace: _Id, store: _Store = None, as_json: Json = False) -> None:
    """Show a question with all that was done for it, as `abstractcore traces show` does.

    The id is in the first column of `abstractcore logs`.

        abstractcore logs show call-1a2b

        abstractcore logs show call-1a2b --json
    """
    from .trees import show_trace

    show_trace(trace, store, as_json=as_json)


costs = typer.Typer()


@costs.callback(epilog=EPILOG, invoke_without_command=True)
def sum_costs(
    context: typer.Context,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="model, provider, operation, outcome, day, hour, tool or tag:NAME; may be repeated. Default: model.",
        ),
    ] = None,
    since: Annotated[
        str, typer.Option(metavar="TIME", help="Not before this: 7d or 12h ago, or 2026-11-01 in UTC.")
    ] = "7d",
    until: _Until = None,
    model: _Model = None,
    tag: _Tag = None,
    failed: _Failed = False,
    store: _Store = None,
    as_json: Json = False,
) -> None:
    """Show what calls cost, from kept traces: by model, day, tool or tag.

    Known costs, estimated ones and calls of unknown cost are never added up. A bar is drawn in full for what is known,
    and lighter for what is estimated.

        abstractcore costs

        abstractcore costs --by day --by tag:user --since 30d
    """
    command = context.invoked_subcommand
    if command is not None:
        _refuse_options(context, command)
        return
    from .spending import show_costs
    from .stores import CallChoice

    show_costs(by or ["model"], CallChoice(since, until, model, tuple(tag or ()), failed), store, as_json=as_json)


def _refuse_options(context: typer.Context, command: str) -> None:
    """Raises a usage error for options before the name of a command, which would be ignored."""
    for name in context.params:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"write options after `costs {command}`")


@costs.command("reconcile", epilog=EPILOG)
def reconcile(
    since: Annotated[
        str, typer.Option(metavar="TIME", help="From this day on, in UTC: 30d ago, or 2026-11-01.")
    ] = "30d",
    until: _Until = None,
    provider: Annotated[
        str | None,
        typer.Option(
            "--provider",
            "-p",
            help="Only this one; default: all with stored costs or a key for reports.",
            autocompletion=completing.providers,
        ),
    ] = None,
    base_url: BaseUrl = None,
    store: _Store = None,
    as_json: Json = False,
) -> None:
    """Compare stored costs with those that providers have billed, by day and model.

    Reads the reports of OpenAI, Anthropic and OpenRouter, with keys that may: OPENAI_ADMIN_KEY,
    ANTHROPIC_ADMIN_API_KEY, OPENROUTER_MANAGEMENT_KEY. What is billed is of all programs with keys of the account.

        abstractcore costs reconcile --since 30d

        abstractcore costs reconcile -p openai --since 2026-11-01
    """
    from .reconciling import ReconcileOptions, reconcile_costs

    reconcile_costs(ReconcileOptions(since, until, provider, base_url), store, as_json=as_json)
