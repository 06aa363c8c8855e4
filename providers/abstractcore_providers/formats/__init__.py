"""The wire formats, a folder each: pure, both sides."""
