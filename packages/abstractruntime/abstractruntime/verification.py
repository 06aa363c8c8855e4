"""Finds what was changed in ledgers: edited, swapped and missing records, and values that do not fit their hash.

Whoever can write a run's row as well as its ledger can forge both: only a head that is kept elsewhere finds that, and a
run that was deleted as a whole (`signatures.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

from .errors import RunNotFoundError
from .ledger_checks import LedgerCheck, LedgerReport, Problem
from .store import Store
from .store.history import StoredRun, stored_artifact, stored_artifacts, stored_ids, stored_records, stored_run
from .store.reading import not_found

_READS: Final = 3
"""How often a run is read that is written meanwhile."""


def verify_run(store: Store, id: str) -> LedgerReport:
    """Reads a run and its ledger, and returns what is wrong with them.

    The ledger is compared with the row: the number of records, the head, the program, the limits, what was spent, the
    state, the output and the error. Raises `RunNotFoundError` for a run without a row and records.
    """
    run = _present(store, id)
    for _ in range(_READS):
        found = _verified(store, run)
        if found.ok or (again := _present(store, id)) == run:
            return found
        run = again  # which a worker has written meanwhile
    return _verified(store, run)


def _present(store: Store, id: str) -> StoredRun:
    run = stored_run(store, id)
    if run.row is None and not run.records:
        raise not_found(id)
    return run


def verify_all(store: Store) -> Iterator[LedgerReport]:
    """Yields the verification of every run, in the order of their ids, and of every ledger whose run is gone."""
    for id in stored_ids(store):
        if not isinstance(id, str):
            name = repr(id)[:80]
            yield LedgerReport(name, 0, None, (Problem(name, 0, "its id is no text"),))
            continue
        try:
            report = verify_run(store, id)
        except RunNotFoundError:
            continue  # it was deleted since it was listed
        yield report


def _verified(store: Store, run: StoredRun) -> LedgerReport:
    check = LedgerCheck(run.id, lambda sha256: stored_artifact(store, run.id, sha256))
    for record in stored_records(store, run.id, run.records):
        at: Any = record.at
        microseconds = round(at * 1e6) if type(at) in (int, float) and math.isfinite(at) else None
        if not check.add(record.seq, record.kind, microseconds, record.body, record.redacted, record.hash):
            break
    row = run.row
    if row is None:
        check.problem(0, "the run's row is gone, and its records are there")
    else:
        check.end(row.seq, row.head)
        if check.result().ok:
            check.row(row)
    check.others(stored_artifacts(store, run.id))
    return check.result()
