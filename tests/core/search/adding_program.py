"""Adds a folder to an index, in a process that a test may kill: `adding_program.py INDEX FOLDER`."""

import sys
from pathlib import Path

from abstractcore import Services, create_llm
from abstractcore.search import Index
from tests.core.search.conftest import WordProvider

if __name__ == "__main__":
    services = Services(environment={})
    services.registry.add_provider(WordProvider())
    with Index(sys.argv[1], create_llm("words", services=services)) as index:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        report = index.add(Path(sys.argv[2]))
        sys.stdout.write(f"{len(report.added)}\n")
    services.close()
