"""`KeyCommand`: the command of `config.toml` that prints the API key of a provider. Nothing that it prints is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ..errors import AuthenticationError

_COMMAND_SECONDS: Final = 30.0


class KeyCommand:
    """Runs a command when a request needs the key, and once more for a key that was refused: for all LLMs of the
    provider together.
    """

    def __init__(self, provider: str, command: Sequence[str], seconds: float = _COMMAND_SECONDS) -> None:
        self._provider = provider
        self._command = [*command]
        self._seconds = seconds
        self._latest: str | None = None

    def for_llm(self) -> Callable[[], str]:
        """Returns the function of one LLM, which is called for its first key, and after a refusal."""
        given: str | None = None

        def key() -> str:
            nonlocal given
            if self._latest is None or self._latest == given:
                self._latest = self.printed()
            given = self._latest
            return given

        return key

    def printed(self) -> str:
        """Returns the key; blocks. Raises `AuthenticationError` if the command fails, or prints anything else."""
        import subprocess

        try:
            done = subprocess.run(
                self._command, stdin=subprocess.DEVNULL, capture_output=True, timeout=self._seconds, check=False
            )
        except subprocess.TimeoutExpired:
            raise self._error(f"did not end within {self._seconds:g} s") from None
        except (OSError, ValueError) as error:
            problem = error.strerror if isinstance(error, OSError) else None
            raise self._error(f"cannot be run: {problem or type(error).__name__}") from None
        if done.returncode:
            raise self._error(f"failed with exit status {done.returncode}")
        try:
            lines = done.stdout.decode().strip().splitlines()
        except UnicodeDecodeError:
            raise self._error("printed bytes that are not UTF-8") from None
        if len(lines) != 1:
            raise self._error(f"printed {len(lines)} lines, expected one" if lines else "printed nothing")
        return lines[0]

    def _error(self, problem: str) -> AuthenticationError:
        hint = (
            f"Run it in a terminal: api_key_command of [providers.{self._provider}] has to print the key, and nothing "
            "else."
        )
        return AuthenticationError(
            f"the command {self._command[0]!r}, which should print the key, {problem}",
            provider=self._provider,
            hint=hint,
        )
