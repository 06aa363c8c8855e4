"""The dashboard: what calls cost, how long they took, and their traces, in a browser. It reads a `TraceStore` only."""
