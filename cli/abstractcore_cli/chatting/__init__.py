"""`abstractcore chat`: a conversation in the terminal, its questions, and its commands."""
