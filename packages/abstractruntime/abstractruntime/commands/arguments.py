"""The arguments of `abstractcore runs ...`. What a command does is imported when it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from abstractcore_cli.toolkit import EPILOG, Json, Quiet

runs = typer.Typer(
    help="Durable runs of programs and agents: start them, work on them, answer what they wait for.",
    no_args_is_help=True,
)

_Id = Annotated[str, typer.Argument(metavar="RUN", help="The id of the run.", show_default=False)]
_Store = Annotated[
    str,
    typer.Option(
        "--store",
        metavar="URL",
        envvar="ABSTRACTRUNTIME_STORE",
        help="The database: sqlite:///PATH, postgresql://..., or the path of a file.",
    ),
]
_Programs = Annotated[
    list[str] | None,
    typer.Option(
        "--programs",
        metavar="MODULE:ATTRIBUTE",
        envvar="ABSTRACTRUNTIME_PROGRAMS",
        help="A program, a list of programs, or a dict of kinds of effects; of a module alone, all its programs and "
        "its dict `effects`. Looked up in the current folder first. May be repeated.",
    ),
]
_By = Annotated[str | None, typer.Option(metavar="NAME", help="Who does this, for the ledger.")]
_STORE = "sqlite:///runs.db"


@runs.command("start", epilog=EPILOG)
def start(
    program: Annotated[str, typer.Argument(metavar="PROGRAM", help="NAME@VERSION; a NAME with --programs.")],
    payload: Annotated[
        str | None, typer.Argument(metavar="INPUT", help="The input, JSON; @FILE for that of a file, - for stdin.")
    ] = None,
    text: Annotated[str | None, typer.Option(metavar="TEXT", help="The input as text, such as a prompt.")] = None,
    id: Annotated[str | None, typer.Option(metavar="ID", help="The id: the same one twice is one run.")] = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="The session that the run belongs to.")] = None,
    steps: Annotated[int | None, typer.Option("--max-steps", min=1, help="The most steps.")] = None,
    tokens: Annotated[int | None, typer.Option("--max-tokens", min=1, help="The most tokens of models.")] = None,
    dollars: Annotated[str | None, typer.Option("--max-dollars", metavar="DOLLARS", help="The most dollars.")] = None,
    seconds: Annotated[float | None, typer.Option("--max-seconds", help="The longest time until its end.")] = None,
    delay: Annotated[str | None, typer.Option(metavar="TIME", help="When it begins, such as 30m from now.")] = None,
    programs: _Programs = None,
    store: _Store = _STORE,
    as_json: Json = False,
) -> None:
    """Start a run: a row, which a worker takes on. Print its id.

    Examples:

        abstractcore runs start treasurer --text 'Pay Ann.' --programs treasury

        abstractcore runs start treasurer@1 @input.json --id invoice-17
    """
    from .changing import NewRunOptions
    from .changing import start as run

    options = NewRunOptions(payload, text, id, session, steps, tokens, dollars, seconds, delay)
    run(program, options, programs, store, as_json=as_json)


@runs.command("work", epilog=EPILOG)
def work(
    programs: _Programs = None,
    concurrency: Annotated[int, typer.Option(min=1, max=1000, help="The most runs at once.")] = 16,
    until_idle: Annotated[bool, typer.Option("--until-idle", help="End when no run is due.")] = False,
    poll: Annotated[float, typer.Option(help="Seconds between two looks at the database.")] = 0.05,
    grace: Annotated[float, typer.Option(help="Seconds that running effects have when the worker is stopped.")] = 20.0,
    lease: Annotated[float, typer.Option(min=1.0, help="Seconds after which a dead worker's runs are taken.")] = 30.0,
    metrics: Annotated[float, typer.Option(help="Seconds between two lines of metrics.")] = 60.0,
    store: _Store = _STORE,
    quiet: Quiet = False,
) -> None:
    """Work on runs of the given programs, in any number of processes, until SIGTERM or Ctrl-C.

    Then no effect is begun any more; those that run have --grace seconds to end. A second signal interrupts them at
    once, and a third one ends the process. Runs that did not end are taken on by another worker. The line `ready: ...`
    and lines of metrics, each one JSON object, go to stderr.

        abstractcore runs work --programs treasury:treasurer

        abstractcore runs work --programs treasury --until-idle
    """
    from .working import WorkOptions
    from .working import work as run

    run(WorkOptions(concurrency, until_idle, poll, grace, lease, metrics, quiet), programs, store)


@runs.command("list", epilog=EPILOG)
def list_runs(
    status: Annotated[
        str | None, typer.Option(metavar="STATUS", help="running, waiting, completed, failed or cancelled.")
    ] = None,
    program: Annotated[str | None, typer.Option(metavar="NAME", help="NAME or NAME@VERSION.")] = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="Runs of a session.")] = None,
    parent: Annotated[str | None, typer.Option(metavar="RUN", help="Runs that a run has started.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="The most runs.")] = 100,
    store: _Store = _STORE,
    as_json: Json = False,
) -> None:
    """List runs, the newest first, with what they wait for.

    Examples:

        abstractcore runs list --status waiting

        abstractcore runs list --program treasurer@1 --json
    """
    from .showing import RunFilter, list_all

    list_all(RunFilter(status, program, session, parent, limit), store, as_json=as_json)


@runs.command("show", epilog=EPILOG)
def show(run: _Id, store: _Store = _STORE, as_json: Json = False) -> None:
    """Show a run: its steps and effects with their times and costs, what it waits for, and the runs it has started.

    Examples:

        abstractcore runs show invoice-17

        abstractcore runs show invoice-17 --json
    """
    from .showing import show_run

    show_run(run, store, as_json=as_json)


@runs.command("tail", epilog=EPILOG)
def tail(
    run: _Id,
    after: Annotated[int, typer.Option(min=0, metavar="NUMBER", help="Begin after this record.")] = 0,
    follow: Annotated[bool, typer.Option(help="Go on until the run has ended, or Ctrl-C.")] = True,
    store: _Store = _STORE,
    as_json: Annotated[bool, typer.Option("--json", help="Print each record as a line of JSON.")] = False,
) -> None:
    """Print the records of a run as they are written, each as one line.

    Examples:

        abstractcore runs tail invoice-17

        abstractcore runs tail invoice-17 --after 20 --no-follow --json
    """
    from .showing import tail_run

    tail_run(run, after, store, follow=follow, as_json=as_json)


@runs.command("answer", epilog=EPILOG)
def answer(
    run: _Id,
    key: Annotated[
        str | None, typer.Argument(metavar="KEY", help="The key of the wait; not needed if there is only one.")
    ] = None,
    allow: Annotated[bool, typer.Option("--allow", help="Let the tool call run.")] = False,
    deny: Annotated[bool, typer.Option("--deny", help="Refuse the tool call.")] = False,
    edit: Annotated[str | None, typer.Option(metavar="JSON", help="Let it run with these arguments.")] = None,
    result: Annotated[str | None, typer.Option(metavar="JSON", help="Its result: it was done elsewhere.")] = None,
    repeat: Annotated[bool, typer.Option("--repeat", help="Begin an interrupted effect again.")] = False,
    skip: Annotated[bool, typer.Option("--skip", help="Go on without an interrupted effect.")] = False,
    payload: Annotated[str | None, typer.Option(metavar="JSON", help="Any answer, to a program's question.")] = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why, with --deny and --skip.")] = "",
    by: _By = None,
    store: _Store = _STORE,
    as_json: Json = False,
) -> None:
    """Answer what a run waits for. The first answer counts, later ones are refused.

    A JSON value may be @FILE or -, for stdin.

        abstractcore runs answer invoice-17 --allow --by ann

        abstractcore runs answer invoice-17 --deny --reason "Already paid."
    """
    from .changing import Answer
    from .changing import answer as run_answer

    given = Answer(allow, deny, edit, result, repeat, skip, payload, reason)
    run_answer(run, key, given, by, store, as_json=as_json)


@runs.command("pause", epilog=EPILOG)
def pause(run: _Id, by: _By = None, store: _Store = _STORE, as_json: Json = False) -> None:
    """Take nothing on for a run until it is resumed. An effect that runs is finished.

    Examples:

        abstractcore runs pause invoice-17

        abstractcore runs pause invoice-17 --by ann
    """
    from .changing import command

    command("pause", run, by, None, store, as_json=as_json)


@runs.command("resume", epilog=EPILOG)
def resume(run: _Id, by: _By = None, store: _Store = _STORE, as_json: Json = False) -> None:
    """Let a paused run go on.

    Examples:

        abstractcore runs resume invoice-17

        abstractcore runs resume invoice-17 --by ann
    """
    from .changing import command

    command("resume", run, by, None, store, as_json=as_json)


@runs.command("cancel", epilog=EPILOG)
def cancel(
    run: _Id,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="Why, for the ledger.")] = None,
    by: _By = None,
    store: _Store = _STORE,
    as_json: Json = False,
) -> None:
    """End a run and the runs that it has started; interrupt the effect that runs.

    Examples:

        abstractcore runs cancel invoice-17

        abstractcore runs cancel invoice-17 --reason "Paid in cash."
    """
    from .changing import command

    command("cancel", run, by, reason, store, as_json=as_json)


@runs.command("verify", epilog=EPILOG)
def verify(
    what: Annotated[
        list[str] | None, typer.Argument(metavar="[RUN | FILE.zip] ...", help="Runs, or exports; default: all runs.")
    ] = None,
    store: _Store = _STORE,
    as_json: Json = False,
) -> None:
    """Check ledgers: each record, their chain, their number and head. Exit code 1 if any is wrong.

    Examples:

        abstractcore runs verify

        abstractcore runs verify invoice-17.zip --json
    """
    from .checking import verify as run

    run(what or [], store, as_json=as_json)


@runs.command("export", epilog=EPILOG)
def export(
    run: _Id,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The file; default: RUN.zip.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="An Ed25519 private key (PEM), to sign the head.")
    ] = None,
    store: _Store = _STORE,
    as_json: Json = False,
) -> None:
    """Write a run as a file that can be verified offline, by the script that lies inside.

    Examples:

        abstractcore runs export invoice-17

        abstractcore runs export invoice-17 -o audit.zip --key signing.pem
    """
    from .checking import export as export_run

    export_run(run, output, key, store, as_json=as_json)


@runs.command("prune", epilog=EPILOG)
def prune(
    older_than: Annotated[str, typer.Option(metavar="TIME", help="How long ago they ended: 90d, 12h, 30m, 10s.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Delete nothing, only list them.")] = False,
    store: _Store = _STORE,
    as_json: Json = False,
) -> None:
    """Delete runs that have ended, with their ledgers, and events of that age that no run has waited for. Print the ids
    of the runs.

    Examples:

        abstractcore runs prune --older-than 90d --dry-run

        abstractcore runs prune --older-than 90d
    """
    from .checking import prune as run

    run(older_than, store, dry_run=dry_run, as_json=as_json)
