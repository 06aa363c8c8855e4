"""The pages for users of other libraries: both halves of each pair of blocks run, against one server."""
