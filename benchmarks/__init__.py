"""Programs that measure, each against a peer in the same run: README.md."""
