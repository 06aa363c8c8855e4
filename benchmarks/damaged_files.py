"""Every file of the bench of reading, cut at ten places and with 5 % of its bytes changed: what is wrong, a line each.

`python benchmarks/damaged_files.py [NAME ...]`; a name is part of a file's name.
"""

from __future__ import annotations

import argparse
import sys

import reading_files
from reading import make
from reading_files.corpus import CACHE
from reading_files.damage import DamagedFiles, DamageReport

from abstractcore.concurrency.process_pool import ProcessPool
from abstractcore.ports import MediaContext


def main() -> int:
    """Prints what is wrong; returns 1 if anything is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*", help="files whose name contains this")
    arguments = parser.parse_args()
    wanted = [
        file
        for file in reading_files.all_files()
        if not arguments.name or any(part in file.name for part in arguments.name)
    ]
    made, missing = make(wanted)
    for name, reason in missing.items():
        print(f"not made: {name}: {reason}")
    pool = ProcessPool()
    files = DamagedFiles(MediaContext(None, isolation=pool))
    total = DamageReport()
    try:
        for file in made:
            report = files.report((CACHE / "files" / file.name).read_bytes(), file.name)
            for fault in report.faults:
                print(fault, flush=True)
            total += report
    finally:
        pool.close()
    print(f"{len(made)} files: {total.read} copies read, {total.refused} refused, {len(total.faults)} faults")
    return bool(total.faults)


if __name__ == "__main__":
    sys.exit(main())
