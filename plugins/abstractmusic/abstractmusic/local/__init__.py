"""Neural models of music on this machine, by the library transformers, where it is installed."""
