"""The commands of the server, which `abstractcore` finds by entry points."""
