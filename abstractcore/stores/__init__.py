"""What is kept on this machine: model weights and artifacts."""
