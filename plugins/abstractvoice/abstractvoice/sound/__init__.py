"""Sound as samples and as files."""
