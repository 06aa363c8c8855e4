"""The wire formats, one folder each: pure functions, for clients and servers."""
