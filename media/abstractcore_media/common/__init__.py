"""What all handlers share: telling a file's media type, reading it, and the error for a missing library."""
