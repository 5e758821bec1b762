"""The commands of `python -m models_prm`: one module each, with `main(argv) -> exit code`."""
