"""The configuration: a TOML file and the environment, read and checked."""
