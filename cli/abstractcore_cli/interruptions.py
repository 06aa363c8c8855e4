"""What a command says after Ctrl-C. It imports nothing: Ctrl-C may come while the command line is imported."""

INTERRUPTED = 130
"""The exit code after Ctrl-C: 128 and the number of the signal, as of shells."""
INTERRUPTION = "stopped by Ctrl-C"
AGAIN = "Run the same command again to begin anew."
"""What is said after Ctrl-C, unless a command says how it goes on."""
