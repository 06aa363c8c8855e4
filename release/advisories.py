"""Looks up known vulnerabilities of the locked packages, at osv.dev: `python -m release.advisories`.

Without a network nothing is looked up, which is printed, and is not a failure unless `--required` is given.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable

from release.projects import ROOT

_AUDIT = (sys.executable, "-m", "uv", "audit", "--frozen", "--preview-features", "audit-command")
_VULNERABLE = 1
"""The exit code of uv with findings; other ones are of failures."""


def main(arguments: Iterable[str]) -> int:
    """Prints what was found, or why nothing was looked up; returns 1 if there are vulnerabilities. Arguments other than
    `--required` are those of `uv audit`.
    """
    given = list(arguments)
    options = [each for each in given if each != "--required"]
    environment = {"UV_HTTP_RETRIES": "0", "UV_HTTP_TIMEOUT": "10", **os.environ}
    audit = subprocess.run([*_AUDIT, *options], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if audit.returncode in (0, _VULNERABLE):
        print(f"Advisories: {(audit.stdout or audit.stderr).strip()}")
        return audit.returncode
    causes = [line.split(":", 1)[1].strip() for line in audit.stderr.splitlines() if line.strip().startswith("cause:")]
    print(f"Advisories: NOT CHECKED: {causes[-1] if causes else audit.stderr.strip()}", file=sys.stderr)
    return int("--required" in given)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
