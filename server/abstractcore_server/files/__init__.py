"""Files of clients: stored whole and in parts, and named by id in messages."""
