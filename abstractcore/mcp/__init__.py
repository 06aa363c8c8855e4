"""The Model Context Protocol (MCP). The parts are imported by their users: `import abstractcore` loads none of them."""
