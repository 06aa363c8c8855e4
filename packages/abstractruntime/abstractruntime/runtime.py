"""`Runtime`: the door to runs. It starts them, sends them items, reads them, and works on them."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from abstractcore.database import Database
from abstractcore.errors import InvalidInputError
from abstractcore.ports import Clock
from abstractcore.schema import TableList

from .effects import EffectKind, FunctionEffect
from .errors import UnknownProgramError
from .handles import Run, checked_sender, new_id
from .json_documents import JSON, canonical
from .ledger_checks import LedgerReport, Problem
from .limits import limits_of
from .programs import Program, WaitReason, check_name, check_program_id, check_seconds, check_time, program_id
from .records import ENDED, Limits, RunInfo
from .signatures import PrivateKey, PublicKey, sign_heads, verify_heads
from .store import Delivery, NewItem, NewRun, Store
from .store.pruning import prune
from .verification import verify_all
from .worker import Worker

_PROGRAMS = "Name it with its version, as in name@1, or pass it: programs=[...], or --programs MODULE in a command."


class Runtime:
    """Runs in a database: a path or a URL, as `abstractcore.database.Database` takes them.

    `programs` are those that this process can work on, `effects` its kinds of effects, or functions, by name. Raises
    `ConfigurationError` for an invalid URL or a database of a later version, and `DatabaseError`. `place` is that path
    or URL, or a `Database`. A run that a worker has taken is free for others after `lease_seconds`; `synchronous` is
    SQLite's: "full" survives a power cut with every record.
    """

    def __init__(
        self,
        place: str | Path | Database = "sqlite:///runs.db",
        *,
        programs: Sequence[Program] = (),
        effects: Mapping[str, EffectKind | Any] | None = None,
        lease_seconds: float = 30.0,
        synchronous: Literal["normal", "full"] = "normal",
        clock: Clock | None = None,
    ) -> None:
        check_seconds(lease_seconds, "lease_seconds")
        database = place if isinstance(place, Database) else Database(place, synchronous=synchronous)
        self._owned = None if isinstance(place, Database) else database
        self.database = database
        self.store = Store(database, seconds=lease_seconds, clock=clock)
        self.effects: dict[str, EffectKind] = {}
        self.programs: dict[str, Program] = {}
        for name, kind in (effects or {}).items():
            self.effects[name] = kind if isinstance(kind, EffectKind) else FunctionEffect(kind)
        for program in programs:
            self.add(program)

    def add(self, program: Program) -> str:
        """Adds a program; returns its `name@version`. Raises `InvalidInputError` if it has another one of that name."""
        id = program_id(program)
        if self.programs.setdefault(id, program) is not program:
            hint = "Give the changed program another version."
            raise InvalidInputError(f"two programs are named {id!r}", path="programs", hint=hint)
        return id

    def start(
        self,
        program: Program | str,
        input: JSON = None,
        *,
        id: str | None = None,
        session: str | None = None,
        limits: Limits | None = None,
        due_at: float | None = None,
    ) -> Run:
        """Creates a run, and returns it at once: a worker takes it. The same id, program and input are one run.

        `program` is one, `name@version`, or a name, of which the version added last is taken. `due_at` is when it
        begins, in seconds since the epoch; `limits` are by default those of the program. Raises `RunExistsError` for an
        id that another run has, `UnknownProgramError` for a name that is not known, and `InvalidInputError` for an
        input that is no JSON.
        """
        name = self._known(program if isinstance(program, str) else self.add(program))
        if due_at is not None:
            check_time(due_at, "due_at")
        if limits is not None and not isinstance(limits, Limits):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected Limits(...), got {type(limits).__name__}", path="limits")
        new = NewRun(
            id=uuid.uuid4().hex if id is None else check_name(id, "id"),
            program=name,
            input=canonical(input, "input"),
            limits=limits or limits_of(self.programs.get(name)),
            session=None if session is None else check_name(session, "session"),
            due_at=due_at,
        )
        self.store.create(new)
        return Run(self.store, new.id)

    def run(self, id: str) -> Run:
        """Returns a run; raises `RunNotFoundError`, and `InvalidInputError` for an invalid id."""
        self.store.run(check_name(id, "id"))
        return Run(self.store, id)

    def runs(
        self,
        *,
        status: str | None = None,
        program: str | None = None,
        session: str | None = None,
        parent: str | None = None,
        reason: WaitReason | None = None,
        limit: int = 100,
    ) -> list[RunInfo]:
        """Returns what is known of runs, the newest first; `reason` is that of an open wait."""
        found = self.store.runs(
            status=status, program=program, session=session, parent=parent, reason=reason, limit=limit
        )
        return TableList(found)

    def verify(self) -> Iterator[LedgerReport]:
        """Yields what is wrong with every run and its ledger, in the order of their ids."""
        return verify_all(self.store)

    def sign_heads(self, private_key: PrivateKey) -> list[str]:
        """Returns a signed line for each run, with its number of records and its head, to be kept elsewhere.

        `private_key` is an Ed25519 key: its PEM, its 32 bytes, or one of `cryptography`. Raises `MissingExtraError`
        without `cryptography`, and `InvalidInputError` for an invalid key.
        """
        return sign_heads(self.store, private_key)

    def verify_heads(self, lines: Iterable[str], public_key: PublicKey) -> list[Problem]:
        """Returns what is wrong with the runs of signed lines: ones that were rewritten as a whole, or deleted, too.

        Raises what `sign_heads` raises. `public_key` is that of the key they were signed with.
        """
        return verify_heads(self.store, lines, public_key)

    def prune(
        self,
        older_than_seconds: float,
        *,
        statuses: Collection[str] = ENDED,
        keep: Collection[str] = (),
        dry_run: bool = False,
    ) -> list[str]:
        """Deletes runs that ended longer ago than this, with all that belongs to them, and events that were kept for
        longer, as no run has waited for them; returns the ids of the runs.

        `keep` are ids of runs that stay. A run stays whose parent has not ended. With `dry_run` nothing is deleted.
        Raises `InvalidInputError` for statuses other than `completed`, `failed` and `cancelled`. `older_than_seconds`
        is how long ago, at least.
        """
        return prune(self.store, older_than_seconds, statuses=statuses, keep=keep, dry_run=dry_run)

    def emit(self, key: str, payload: JSON = None, *, id: str | None = None, sender: str | None = None) -> Delivery:
        """Sends an event to every run that waits for `key`; without one it is kept for the first that does.

        `id` is delivered once: an event with an id that was sent before is `repeated`, and not sent.
        """
        item = NewItem(
            new_id(id), "event", canonical(payload, "payload"), None, check_name(key, "key"), checked_sender(sender)
        )
        return self.store.deliver(item)

    def work(self, *, until: Literal["idle"] = "idle") -> int:
        """Works on runs in this thread until none is due; returns how many times a run was taken on."""
        return self.worker().work(until=until)

    def advance(self, run: str, *, max_steps: int | None = None) -> bool:
        """Takes one run on in this thread, for `max_steps` steps at most; False if another worker holds it.

        Raises `RunNotFoundError`, and `UnknownProgramError` for a program that this runtime does not have.
        """
        return self.worker().advance(run, max_steps=max_steps)

    def worker(self) -> Worker:
        """Returns a worker on the programs of this runtime."""
        return Worker(self.store, self.programs, self.effects)

    def close(self) -> None:
        """Closes the database, unless it was given."""
        if self._owned is not None:
            self._owned.close()

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _known(self, name: str) -> str:
        if "@" in name:
            return check_program_id(name, "program")
        versions = [each for each in self.programs if each.rpartition("@")[0] == name]
        if not versions:
            known = ", ".join(self.programs) or "none"
            raise UnknownProgramError(f"there is no program {name!r}; known: {known}", hint=_PROGRAMS)
        return versions[-1]
