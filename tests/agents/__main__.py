"""Runs agent programs behind the server, each with a model of every wire format: `python -m tests.agents [NAME ...]`.

A program reads two files, and writes one for each of two prompts: the second one continues the conversation of the
first. Programs are installed into the folder of ABSTRACTCORE_CACHE, by default `.cache/agents`, with their versions.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.agents.model import PROMPTS, SECRETS, WRITTEN, StrictModel
from tests.agents.programs import PROGRAMS, Program, Run, environment
from tests.node_packages import ROOT
from tests.server.conversations.upstreams import UPSTREAMS, Upstream
from tests.server.serving import Served, serving

LONGEST_SECONDS = 300


@dataclass(frozen=True)
class Outcome:
    """What came of a program with a model: requests to the model, what was wrong, and which files it has written."""

    program: str
    upstream: str
    requests: int
    problems: Sequence[str]
    written: int

    def __str__(self) -> str:
        verdict = "ok" if not self.problems and self.written == len(WRITTEN) else "FAILED"
        return f"{self.program:22} {self.upstream:20} {self.requests:3} requests, {self.written} files  {verdict}"


def main() -> None:
    """Runs the programs, and prints a line for each with each model."""
    parser = argparse.ArgumentParser(prog="python -m tests.agents", description="Runs agent programs.")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(each.name for each in PROGRAMS)}")
    parser.add_argument("--upstream", action="append", choices=[each.format for each in UPSTREAMS])
    parser.add_argument("--verbose", action="store_true", help="print what the programs print")
    given = parser.parse_args()
    chosen = [each for each in PROGRAMS if not given.names or {each.name, each.folder} & {*given.names}]
    upstreams = [each for each in UPSTREAMS if not given.upstream or each.format in given.upstream]
    failed = 0
    for outcome in outcomes(chosen, upstreams, verbose=given.verbose):
        print(outcome, flush=True)
        for problem in [*dict.fromkeys(outcome.problems)][:5]:
            print(f"    {problem[:500]}", flush=True)
        failed += str(outcome).endswith("FAILED")
    raise SystemExit(bool(failed))


def outcomes(programs: Sequence[Program], upstreams: Sequence[Upstream], *, verbose: bool) -> Iterator[Outcome]:
    """Yields the result of each program with each model."""
    cache = Path(os.environ.get("ABSTRACTCORE_CACHE") or ROOT / ".cache") / "agents"
    with serving() as served:
        for program in programs:
            installed = cache / (program.folder or program.name)
            program.install(installed)
            for upstream in upstreams:
                with tempfile.TemporaryDirectory() as folder:
                    yield outcome(served, program, upstream, installed, Path(folder), verbose=verbose)


def outcome(
    served: Served, program: Program, upstream: Upstream, installed: Path, folder: Path, *, verbose: bool
) -> Outcome:
    """Runs a program in a folder."""
    work, home = folder / "work", folder / "home"
    work.mkdir()
    home.mkdir()
    for name, secret in SECRETS.items():
        (work / name).write_text(f"{secret}\n")
    for name, text in program.settings.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    has_ids = program.format == upstream.format
    model = StrictModel(upstream, program.tools(f"{work}/"), has_ids)
    served.vendor.always_by(model)
    problems: list[str] = []
    for turn, prompt in enumerate(PROMPTS):
        run = Run(served.url, upstream.model, work, home, installed, prompt, turn)
        problems += ran(program, run, verbose=verbose)
        if program.does_all:
            break
    texts = {path.name: path.read_text().strip() for path in work.glob("*.txt")}
    written = sum(texts.get(name) == text for name, text in WRITTEN.items())
    return Outcome(program.name, upstream.format, model.requests, [*model.problems, *problems], written)


def ran(program: Program, run: Run, *, verbose: bool) -> Iterator[str]:
    """Runs a program for one prompt; yields what was wrong."""
    try:
        done = subprocess.run(
            program.command(run),
            cwd=run.work,
            env=environment(run, program.variables(run)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LONGEST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        yield f"it ran longer than {LONGEST_SECONDS} seconds"
        return
    if verbose:
        print(done.stdout + done.stderr, flush=True)
    if done.returncode:
        yield f"it ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-400:]}"


if __name__ == "__main__":
    main()
