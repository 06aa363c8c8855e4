"""The engine: takes a held run from item to item, executes its effects, and gives it back.

It is written once, for sync and async workers: what blocks goes through the `Runtime` of the SDK.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from inspect import iscoroutinefunction
from typing import Any, Final, cast, get_args

from abstractcore.concurrency import SyncRuntime
from abstractcore.errors import InvalidInputError
from abstractcore.ports import Runtime

from . import stepping
from .effects import EffectContext, EffectKind, EffectResult, after_crash
from .errors import LeaseLostError, LedgerError, RunExistsError
from .json_documents import JSON, canonical, copied, digest, member, parsed
from .kinds import found_kind
from .limits import exceeded
from .programs import INTERRUPTED, AfterCrash, HasEffects, Item, Program, RetryPolicy, Wait, check_name
from .records import LONGEST_KIND, Limits, RecordKind, Spent
from .scrubbing import secrets
from .store import PUT_OFF_SECONDS, Change, Lease, NewItem, Store

_log = logging.getLogger("abstractruntime")
_OF_RUNS: Final = frozenset(get_args(RecordKind)) - {"journal"}
"""Kinds of records that no effect may note: they say what became of a run."""
_LONGEST_PAUSE: Final = 30 * 86_400.0
"""The longest pause before a retry that an error may ask for, in seconds."""
_DECISIONS: Final = ("repeat", "skip", "result")


class Engine:
    """Advances runs of `programs`, given by `name@version`, with `kinds` of effects by their name.

    While `is_stopping` is True, no effect is begun: runs are given back before their next one. `call` awaits functions
    that wait for the database; by default the runtime does.
    """

    def __init__(
        self,
        store: Store,
        programs: Mapping[str, Program],
        kinds: Mapping[str, EffectKind],
        *,
        call: Callable[..., Awaitable[Any]] | None = None,
    ) -> None:
        self.store = store
        self.call = call
        self.programs = programs
        self.kinds = kinds
        self.is_stopping = False

    async def advance(self, lease: Lease, runtime: Runtime, *, max_steps: int | None = None) -> None:
        """Takes a held run on until it waits, has ended or is held by another worker, for `max_steps` steps at most;
        then it is given back.

        Raises `DatabaseError` if the database fails for longer than is retried. A failure of the program or of an
        effect is that of the run, and raises nothing. An effect that was cut short is found by the next worker. A run
        whose rows were damaged is put off: nothing of it is executed or guessed.
        """
        advance = _Advance(self, lease, runtime, max_steps)
        try:
            await advance.run()
        except LeaseLostError:
            _log.warning("the run %r was taken over by another worker", lease.run)
        except LedgerError as error:
            _log.error("the run %r is put off: %s", lease.run, error)
            await advance.put_off()

    def kind(self, own: Mapping[str, object], name: str) -> EffectKind | None:
        """Returns a kind of effects, of those of a program or of all."""
        kind = own.get(name)
        if kind is not None and isinstance(kind, EffectKind):
            return kind
        return self.kinds.get(name) or found_kind(name)


class _Advance:
    """One stretch of a run. `_is_begun` is True once this worker has recorded that the effect in flight begins."""

    def __init__(self, engine: Engine, lease: Lease, runtime: Runtime, max_steps: int | None) -> None:
        self._engine = engine
        self._store = engine.store
        self._lease = lease
        self._runtime = runtime
        self._program = engine.programs[lease.program]
        # Once for all effects: it takes as long as a commit's statements.
        self._own_kinds: Mapping[str, object] = {}
        if isinstance(self._program, HasEffects):
            self._own_kinds = self._program.effects
        self._is_begun = False
        self._steps_left = max_steps

    async def run(self) -> None:
        lease = self._lease
        self._state()
        while not lease.released:
            if lease.outbox and not lease.delivered:
                await self._call(self._store.deliver_sent, lease)
            if lease.ended or lease.paused_at is not None:
                if not await self._take_item():
                    await self._commit(Change(release=True))
            elif self._steps_left == 0:
                await self._give_back()
            elif (passed := self._passed_limit()) is not None:
                await self._commit(stepping.ended_by_limit(lease, passed))
            elif lease.inflight is None or lease.inflight["state"] == "interrupted" or lease.has_commands:
                if not await self._take_item() and not self._has_work():
                    await self._commit(Change(release=True))
            elif self._engine.is_stopping and (self._is_begun or lease.inflight["state"] == "waiting"):
                await self._give_back()
            elif lease.inflight["state"] == "waiting" and lease.inflight.get("due_at", 0.0) > self._now():
                await self._commit(Change(release=True, due_at=lease.inflight["due_at"]))
            elif lease.inflight["state"] == "waiting":
                await self._begin_again("waited")
            elif self._is_begun:
                await self._execute()
            else:
                await self._recover()

    async def put_off(self) -> None:
        """Gives the run back as it is, so that nobody takes it for a while."""
        await self._call(self._store.release, self._lease, self._now() + PUT_OFF_SECONDS)

    async def _give_back(self) -> None:
        """Gives the run back before its next effect or item, so that any worker goes on."""
        await self._commit(Change(inflight=self._not_begun()))
        await self._call(self._store.release, self._lease, member(self._lease.inflight, "due_at"))

    def _passed_limit(self) -> str | None:
        """Returns the limit of time that a run has reached between two effects."""
        lease = self._lease
        if lease.limits.seconds is None or self._is_begun:
            return None
        return exceeded(Limits(steps=None, seconds=lease.limits.seconds), Spent(), self._now() - lease.created)

    def _not_begun(self) -> JSON:
        """Returns the effect in flight as one that is still to begin, if this worker has not begun it."""
        inflight = self._lease.inflight
        if inflight is None or inflight["state"] != "started" or not self._is_begun:
            return inflight
        return {**inflight, "state": "waiting", "attempt": inflight["attempt"] - 1}

    def _has_work(self) -> bool:
        inflight = self._lease.inflight
        return inflight is not None and inflight["state"] != "interrupted"

    async def _take_item(self) -> bool:
        """Applies the next item that the run may take; False without one."""
        lease = self._lease
        if lease.ended:
            return False
        lease.has_commands = False
        found = await self._call(self._store.next_item, lease)
        if found is None:
            return False
        item, number, spent = found
        if item.kind == "command":
            lease.has_commands = True  # others may follow
            await self._command(item, number)
        elif lease.inflight is not None:
            await self._decide(item, number)
        else:
            await self._step(item, number, EffectResult(None, spent.tokens, spent.dollars))
        return True

    # Steps

    async def _step(self, item: Item, number: int, used: EffectResult, *records: tuple[str, dict[str, JSON]]) -> None:
        """Applies an item: one step of the program, and its transaction. `records` come before that of the step."""
        lease = self._lease
        if self._steps_left is not None:
            self._steps_left -= 1
        state = self._state()
        try:
            made = stepping.checked(self._program.step(state, stepping.given(item)), item)
            if made.refused is not None:
                change = Change(refused=(number, made.refused))
            else:
                change = stepping.change(lease, item, made, used, self._engine.programs, lease.seq + len(records) + 1)
        except (Exception, SystemExit) as error:
            self._check_exit(error)
            _log.warning("a step of the run %r failed", lease.run, exc_info=secrets().cleaned(error))
            change = stepping.ended_by_error(lease, item, error, used)
        else:
            if made.effect is not None:
                limit = exceeded(lease.limits, change.spent, self._now() - lease.created)
                change = change if limit is None else stepping.ended_by_limit(lease, limit, item, used)
        change.records = [*records, *change.records]
        if number and change.refused is None:
            change.applied = (number, f"record {lease.seq + len(change.records)}")
        try:
            await self._commit(change)
        except (InvalidInputError, RunExistsError) as error:
            _log.warning("a step of the run %r cannot be written", lease.run, exc_info=error)
            failed = stepping.ended_by_error(lease, item, error, used)
            failed.records, failed.applied = [*records, *failed.records], change.applied
            await self._commit(failed)
        self._is_begun = lease.inflight is not None

    # Effects

    async def _execute(self) -> None:
        """Executes the effect in flight, and applies its result, or plans its next attempt."""
        lease, inflight = self._lease, self._lease.inflight
        effect, attempt = inflight["effect"], inflight["attempt"]
        result, error = EffectResult(), None
        try:
            result = await self._result(inflight)
            value = parsed(canonical(result.value, "result"))  # as a replay reads it
            result = EffectResult(value, result.tokens, result.dollars)
        except Exception as caught:
            is_of_run = isinstance(caught, LeaseLostError | LedgerError) and caught.run == lease.run
            if is_of_run:
                raise
            result, error = EffectResult(), caught
        except SystemExit as caught:
            self._check_exit(caught)
            error = stepping.exited(caught, lease.run)
        if lease.lost:
            raise lease.lost_error()
        while error is not None and lease.interruption.is_set and not lease.ended and await self._take_item():
            continue  # until the run is cancelled
        if lease.ended:
            return
        if error is not None and "retry" in effect:
            retry = stepping.retry_of(effect["retry"])
            if attempt < retry.attempts and stepping.is_retried(error, retry):
                await self._retry_later(retry, error)
                return
        item = Item(
            f"result:{lease.run}:{inflight['seq']}:{attempt}", "result", result.value, effect["key"], self._now(),
            error=None if error is None else stepping.error_data(error),
        )  # fmt: skip
        await self._step(item, 0, result)

    def _check_exit(self, error: BaseException) -> None:
        """Raises a `SystemExit` in this thread's own code: perhaps a signal handler has called it."""
        if isinstance(error, SystemExit) and isinstance(self._runtime, SyncRuntime):
            raise error

    async def _result(self, inflight: JSON) -> EffectResult:
        lease, effect = self._lease, inflight["effect"]
        kind = self._kind(effect)
        if kind is None:
            raise stepping.unknown_kind(effect["kind"], lease.run)
        context = EffectContext(
            run=lease.run,
            program=lease.program,
            session=lease.session,
            key=effect["key"],
            attempt=inflight["attempt"],
            resumed=inflight["attempt"] > 1,
            idempotency_key=digest(f"{lease.run}/{inflight['seq']}".encode()),
            interruption=lease.interruption,
            runtime=self._runtime,
            note=lambda kind, entry: self._note(kind, effect["key"], entry),
            notes=lambda kind: self._notes(kind, effect["key"]),
        )
        payload = copied(effect["payload"])  # which it may change
        value = await self._runtime.interruptible(
            lease.interruption, lambda: self._runtime.invoke(_guarded(kind), context, payload)
        )
        return value if isinstance(value, EffectResult) else EffectResult(value)

    def _note(self, kind: str, key: str, entry: JSON) -> int:
        """Appends what an effect of a key notes; returns the number of the record."""
        if kind in _OF_RUNS:
            raise InvalidInputError(f"{kind!r} is a kind of the runtime's own records", path="kind")
        name = check_name(kind, "kind", longest=LONGEST_KIND)
        return self._store.note(self._lease, name, {"key": key, "entry": entry})

    def _notes(self, kind: str, key: str) -> Iterator[JSON]:
        """Yields what effects of a key have noted in this run, the newest first."""
        bodies = (record.body for record in self._store.latest(self._lease.run, kind))
        return (body["entry"] for body in bodies if member(body, "key") == key)

    def _kind(self, effect: JSON) -> EffectKind | None:
        return self._engine.kind(self._own_kinds, effect["kind"])

    async def _retry_later(self, retry: RetryPolicy, error: Exception) -> None:
        inflight = self._lease.inflight
        asked = getattr(error, "retry_after", None)  # of any library, which may have a text there
        least = min(asked, _LONGEST_PAUSE) if isinstance(asked, int | float) and asked > 0 else 0.0
        pause = max(retry.pause(inflight["attempt"]), least)
        due_at = self._now() + pause
        body = {"attempt": inflight["attempt"], "error": stepping.error_data(error), "due_at": due_at}
        change = Change(
            records=[("retry", body)],
            inflight={**inflight, "state": "waiting", "due_at": due_at},
            status="running",
            release=True,
            due_at=due_at,
        )
        await self._commit(change)

    # After a crash

    async def _recover(self) -> None:
        """Repeats or resumes an effect that another worker had begun, or asks what became of it."""
        inflight = self._lease.inflight
        effect = inflight["effect"]
        after = effect.get("after_crash") or self._after_crash(effect)
        if after != "ask":
            await self._begin_again(after)
            return
        asked = {"effect": effect, "attempt": inflight["attempt"], "decisions": [*_DECISIONS]}
        change = Change(
            records=[("interrupted", {"effect_seq": inflight["seq"], "attempt": inflight["attempt"]})],
            status="waiting",
            inflight={**inflight, "state": "interrupted"},
            waits=[*self._waits(), Wait(INTERRUPTED, "interrupted", asked=asked)],
            release=True,
        )
        await self._commit(change)

    def _after_crash(self, effect: JSON) -> AfterCrash:
        """Returns what the kind of an effect says; what is not known, is asked."""
        try:
            kind = self._kind(effect)
            after = "ask" if kind is None else after_crash(kind, effect["payload"])
        except Exception as error:
            _log.warning("after_crash of the effects %r failed", effect["kind"], exc_info=secrets().cleaned(error))
            return "ask"
        return after if after in ("repeat", "resume") else "ask"

    async def _begin_again(self, why: str, *, applied: tuple[int, str] | None = None, decided: JSON = None) -> None:
        inflight = self._lease.inflight
        attempt = inflight["attempt"] + 1
        records: list[tuple[str, dict[str, JSON]]] = [] if decided is None else [("decided", decided)]
        records.append(("started", {"effect_seq": inflight["seq"], "attempt": attempt, "why": why}))
        begun = {name: value for name, value in inflight.items() if name != "due_at"}
        change = Change(
            records=records,
            status="running",
            inflight={**begun, "state": "started", "attempt": attempt},
            waits=self._waits(),
            applied=applied,
        )
        await self._commit(change)
        self._is_begun = True

    async def _decide(self, item: Item, number: int) -> None:
        """Applies an answer about an interrupted effect."""
        inflight, answer = self._lease.inflight, item.payload
        decision = member(answer, "decision")
        if decision not in _DECISIONS:
            refused = (number, f"expected a decision, one of {', '.join(_DECISIONS)}")
            await self._commit(Change(refused=refused))
            return
        decided = {"effect_seq": inflight["seq"], "item": {"id": item.id, "payload": answer, "sender": item.sender}}
        if decision == "repeat":
            await self._begin_again("repeat", applied=(number, "repeat"), decided=decided)
            return
        error = None
        if decision == "skip":
            error = {
                "message": str(member(answer, "reason") or "the interrupted effect was skipped"),
                "type": "Skipped",
            }
        result = Item(
            f"result:{self._lease.run}:{inflight['seq']}:{decision}", "result", member(answer, "value"),
            inflight["effect"]["key"], self._now(), item.sender, error,
        )  # fmt: skip
        await self._step(result, number, EffectResult(), ("decided", decided))

    def _waits(self) -> list[Wait]:
        """Returns the waits of the program that are open."""
        found = self._lease.waits.values()
        return [Wait(each.key, each.reason, each.deadline, each.asked) for each in found if each.key != INTERRUPTED]

    # Commands

    async def _command(self, item: Item, number: int) -> None:
        lease = self._lease
        body = {"item": {"id": item.id, "payload": item.payload, "sender": item.sender}}
        if item.key == "pause":
            change = Change(records=[("paused", body)], paused_at=self._now(), inflight=self._not_begun())
        elif item.key == "resume":
            change = Change(records=[("resumed", body)], paused_at=None)
        elif item.key == "cancel":
            children = await self._call(self._store.children, lease.run)
            cancels = [
                NewItem(f"cancel:{child}", "command", canonical(item.payload, "cancel"), child, "cancel",
                        lease.run)
                for child in children
            ]  # fmt: skip
            change = stepping.cancelled(lease, body, item.payload, cancels)
        else:
            await self._commit(Change(refused=(number, f"there is no command {item.key!r}")))
            return
        change.applied = (number, f"record {lease.seq + 1}")
        await self._commit(change)

    # Helpers

    def _state(self) -> JSON:
        """Returns the state; raises `LedgerError` if it was damaged."""
        try:
            return None if self._lease.state is None else parsed(self._lease.state)
        except (ValueError, TypeError, RecursionError) as error:
            hint = f"See what is wrong: abstractcore runs verify {self._lease.run}"
            problem = f"the state of the run {self._lease.run!r} cannot be read: {error}"
            raise LedgerError(problem, run=self._lease.run, hint=hint) from error

    def _now(self) -> float:
        return self._store.time_of(self._lease)

    async def _commit(self, change: Change) -> None:
        await self._call(self._store.commit, self._lease, change)

    async def _call(self, function: Any, *arguments: Any) -> Any:
        call = self._engine.call
        if call is not None:
            return await call(function, *arguments)
        return await self._runtime.call(function, *arguments, kind="files")


def _guarded(kind: EffectKind) -> Callable[[EffectContext, JSON], Any]:
    """Returns the function of a kind. An async one that exits would end the event loop of all runs."""
    if not iscoroutinefunction(kind.execute):
        return kind.execute

    async def execute(context: EffectContext, payload: JSON) -> Any:
        try:
            return await cast("Awaitable[Any]", kind.execute(context, payload))
        except SystemExit as error:
            raise stepping.exited(error, context.run) from error

    return execute
