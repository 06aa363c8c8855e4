"""What the process has loaded of which those of workers are forked: a run of each program has passed by."""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path

import pg8000.dbapi

from tests.runtime.crashes.processes import open_runtime, tell
from tests.runtime.crashes.programs import Outside
from tests.runtime.crashes.treasurers import PAYS

__all__ = ["pg8000"]

with (
    tempfile.TemporaryDirectory() as _folder,
    open_runtime(f"sqlite:///{_folder}/db", Outside(Path(_folder, "o"))) as _r,
):
    for _program in ("order", *PAYS):
        tell(_r, _program, _program)
gc.collect()
gc.freeze()  # a collection in a forked process would copy all of this one
