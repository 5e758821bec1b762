"""The commands of `python -m models_prm`: one module each, with `configure(parser)` and `run(arguments)`."""
