"""The example of a payment that waits for its approval, with workers that are killed at either side of the payment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

EXAMPLE = Path(__file__).parents[2] / "examples" / "runs_approval.py"


@pytest.mark.parametrize(
    ("killed", "waits", "output"),
    [
        ((), "", "paid 80 euros to Ann"),
        (("--killed-before-paying",), "interrupted", "paid 80 euros to Ann"),
        (("--killed-after-paying",), "interrupted", "was paid"),
    ],
)
def test_payment_is_made_once(tmp_path: Path, killed: tuple[str, ...], waits: str, output: str) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        """Runs a command of the example; returns its exit code, and what it prints."""
        command = [sys.executable, "-W", "error", str(EXAMPLE), *arguments]
        environment = {**os.environ, "TREASURY": str(tmp_path)}
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
        return ended.returncode, ended.stdout

    for command in ("start", "start", "work"):
        assert run(command) == (0, "")
    assert run("show") == (0, 'waits: approval pay {"to": "Ann", "euros": 80}\n')
    assert run("answer") == (0, "")
    assert run("work", *killed)[0] == (-signal.SIGKILL if killed else 0)
    if killed:
        run("work")
        assert run("show") == (0, f'waits: {waits} pay {{"to": "Ann", "euros": 80}}\n')
        run("answer")
        run("work")
    assert run("show") == (0, f"completed: There were 250 euros. The payment: {output}.\n")
    assert (tmp_path / "payments.txt").read_text().splitlines() == ["80 euros to Ann"]
