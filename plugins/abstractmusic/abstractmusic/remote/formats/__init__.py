"""The wire formats of vendors. Pure: no network, no clock, no environment."""
