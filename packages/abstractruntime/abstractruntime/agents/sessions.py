"""`Session`: a conversation with an agent. What is said waits in its inbox, and each wake is a run that answers it.

It has no state of its own: what was said before is read from the ledgers of its runs.
"""

from __future__ import annotations

from ..errors import RunExistsError
from ..handles import Run
from ..json_documents import JSON, canonical
from ..limits import limits_of
from ..programs import Program, check_name
from ..records import RunInfo
from ..runtime import Runtime
from ..store import Delivery, NewRun

_MOST_RUNS = 1000


class Session:
    """A conversation of the agent `program` with the id `session`, in any process: `Session(runtime, agent, "ann")`."""

    def __init__(self, runtime: Runtime, program: Program, session: str) -> None:
        self.id = check_name(session, "session", longest=100)
        self._runtime = runtime
        self._program = program
        self._name = runtime.add(program)
        self._key = f"session:{session}"

    def __repr__(self) -> str:
        return f"Session({self.id!r})"

    def send(self, text: str, *, id: str | None = None, sender: str | None = None) -> Delivery:
        """Puts a message into the inbox of the session, where it is kept until a wake takes it. The same id twice is
        one message.
        """
        return self._runtime.emit(self._key, text, id=id, sender=sender)

    def wake(self) -> Run | None:
        """Begins a run that answers the first message in the inbox, and returns it; a worker takes it.

        Returns the current run if it has not ended: there is one at a time. Returns None if no message waits.
        """
        while True:
            runs = self._runs()
            if runs and not runs[-1].ended:
                return Run(self._runtime.store, runs[-1].id)
            id = f"{self._key}/{_number(runs[-1].id) + 1 if runs else 0}"
            before = self._messages(runs)

            def begun(prompt: JSON, id: str = id, before: list[JSON] = before) -> NewRun:
                given = canonical({"prompt": prompt, "messages": before}, "input")
                return NewRun(id, self._name, given, limits_of(self._program), session=self.id)

            try:
                created = self._runtime.store.create_of_event(self._key, begun)
            except RunExistsError:  # another process has woken it meanwhile
                continue
            return None if created is None else Run(self._runtime.store, created)

    @property
    def messages(self) -> list[JSON]:
        """What was said so far: objects with `role` and `content`. An exchange that failed is left out."""
        return self._messages(self._runs())

    def _runs(self) -> list[RunInfo]:
        """Returns the runs that wakes have begun, in order."""
        found = self._runtime.runs(session=self.id, limit=_MOST_RUNS)
        return sorted((each for each in found if _number(each.id, self._key) >= 0), key=lambda each: _number(each.id))

    def _messages(self, runs: list[RunInfo]) -> list[JSON]:
        """Returns the messages that the last run was given that has completed, and its own."""
        last = next((each for each in reversed(runs) if each.status == "completed"), None)
        if last is None:
            return []
        records = Run(self._runtime.store, last.id).ledger()
        given: JSON = next(record.body["item"]["payload"] for record in records if record.kind == "step")
        answer = last.output if isinstance(last.output, str) else canonical(last.output, "output").decode()
        said = {"role": "user", "content": given["prompt"]}
        return [*given["messages"], said, {"role": "assistant", "content": answer}]


def _number(run: str, key: str | None = None) -> int:
    """Returns which run of its session it is; -1 for one that is none of `key`."""
    before, _, number = run.rpartition("/")
    return int(number) if number.isdecimal() and key in (None, before) else -1
