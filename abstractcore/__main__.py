"""`python -m abstractcore` is the command `abstractcore`."""

from .cli import main

main()
