"""Checks that backends of `llm.voice`, `llm.audio`, `llm.vision` and `llm.music` keep their contract.

For authors, in a test:

    def test_backends_keep_the_contract():
        check_backends(mypackage.plugin.register)

or for an installed package on the command line: `python -m abstractcore.testing.plugin mypackage`. Each backend is
called with valid and bad input, sync and async. What cannot run here, for want of a key, a package or weights, is
skipped and listed.
"""

from .checks import Check, Outcome, backend_checks, check_backends
from .calls import Inputs

__all__ = ["Check", "Inputs", "Outcome", "backend_checks", "check_backends"]
