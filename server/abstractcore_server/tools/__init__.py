"""Tools of MCP servers that the server runs: who may use them, which calls need approval, and the rounds of calls."""
