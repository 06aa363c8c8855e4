"""What durable runtimes make of an agent that asks, pays and is killed: `python -m benchmarks.durability`."""
