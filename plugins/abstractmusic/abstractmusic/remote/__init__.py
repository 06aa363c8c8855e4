"""Music of remote models: wire formats as pure functions. Their jobs run by `abstractcore.mediajobs`."""
