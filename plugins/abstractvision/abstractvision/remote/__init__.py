"""Pictures and videos of remote models: wire formats as pure functions, and the jobs that drive them."""
