"""The log of `abstractcore mcp serve`."""

from __future__ import annotations

import logging

import pytest

from abstractcore.scrubbing import Secrets
from abstractcore_cli.log_lines import logged

KEY = "the-key-of-the-server"


@pytest.mark.parametrize("quiet", [False, True])
def test_records_of_all_libraries_are_lines_without_credentials(quiet: bool, capsys: pytest.CaptureFixture[str]):
    library = logging.getLogger("a.library")
    with logged(Secrets([KEY]), quiet=quiet):
        library.warning("header %s\nforged: line \x1b[31m", KEY)
        try:
            raise ValueError(f"two\nlines with {KEY}")
        except ValueError:
            library.exception("failed\n")
        library.info("not shown")
    lines = capsys.readouterr().err.splitlines()
    expected = [
        r"'header [scrubbed]\nforged: line \x1b[31m'",
        r"'failed: ValueError: two\nlines with [scrubbed]'",
    ]
    assert lines == expected[quiet:]
