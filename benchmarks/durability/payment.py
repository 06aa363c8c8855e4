"""The systems around the agent: a model provider, a bank and a person who approves. They write down what reaches them.

The programs of this folder run in environments of their own, so this module uses the standard library only.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

RUN_ID = "invoice-17"
PROMPT = "Pay Ann 80 euros."
ARGUMENTS = {"to": "Ann", "euros": 80}
CALL_ID = "call-1"
ANSWER = "Ann has her 80 euros."

KILL_POINTS = {
    "request": "before the model request",
    "reply": "after the model's reply",
    "waiting": "while it waits for approval",
    "approved": "after the approval, before the tool",
    "paying": "in the tool, before the payment",
    "paid": "in the tool, after the payment",
    "request-2": "after the tool's result",
    "reply-2": "after the last reply, before the end",
}
"""Each point of a run at which its process is killed, in order."""

_FOLDER = "DURABILITY_FOLDER"
_KILL_AT = "DURABILITY_KILL_AT"
_PAUSE = "DURABILITY_PAUSE"


class ExternalSystems:
    """What lies outside of the process and its store: every line of its files is something that really happened."""

    def __init__(self, folder: Path, kill_at: str = "", pause: float = 0.0) -> None:
        self.folder = folder
        self._kill_at = kill_at
        self._pause = pause

    @classmethod
    def from_environment(cls) -> ExternalSystems:
        """Returns the systems that the benchmark has prepared for this process."""
        return cls(Path(os.environ[_FOLDER]), os.environ.get(_KILL_AT, ""), float(os.environ.get(_PAUSE, "0")))

    def environment(self) -> dict[str, str]:
        """Returns the variables that hand these systems to a process."""
        return {_FOLDER: str(self.folder), _KILL_AT: self._kill_at, _PAUSE: str(self._pause)}

    def reached(self, point: str) -> None:
        """Kills this process if it is to die here: by SIGKILL, which no handler sees and no thread outlives.

        During the pause before it, the code here does not continue, but what a library writes in threads does.
        """
        if point == self._kill_at:
            time.sleep(self._pause)
            os.kill(os.getpid(), signal.SIGKILL)

    def request_model(self, *, has_result: bool) -> None:
        """Stands for a paid request to a model, with or without a tool's result in its conversation."""
        suffix = "-2" if has_result else ""
        self.reached(f"request{suffix}")
        self._record("requests", f"request{suffix}")
        self.reached(f"reply{suffix}")

    def pay(self, to: str, euros: int) -> str:
        """Pays, durably and each time that it is called: this bank does not recognize a repeated payment."""
        self.reached("paying")
        self._record("payments", f"{to} {euros}")
        self.reached("paid")
        return f"{to} has {euros} euros"

    def record_approval(self) -> None:
        """Records that a person has approved the payment."""
        self._record("approvals", "approved")

    def count(self, name: str) -> int:
        """Returns how many `requests`, `payments` or `approvals` there were."""
        path = self.folder / name
        return len(path.read_text().splitlines()) if path.exists() else 0

    def _record(self, name: str, line: str) -> None:
        with (self.folder / name).open("a") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())


def report(status: str, **details: object) -> None:
    """Prints a process's last line: `completed`, `waiting`, `interrupted` or `failed`, and details of it."""
    print(json.dumps({"status": status, **details}))
    sys.stdout.flush()
