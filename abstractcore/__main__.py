"""`python -m abstractcore` is the command `abstractcore`."""

from abstractcore_cli import main

main()
