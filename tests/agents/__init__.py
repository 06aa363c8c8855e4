"""Real agent programs behind the server, with models that keep the rules of their vendors: `make agents`."""
