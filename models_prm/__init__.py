"""The machine side of Stepmark: text and numbers in, numbers out; no Django, no database.

Importing this package loads nothing heavy: torch, transformers and sympy are imported by the modules
that need them. On the command line: `python -m models_prm --help`.
"""
