"""The machine side of Stepmark: text and numbers in, numbers out; no Django, no database.

Importing this package loads nothing heavy: torch, transformers and sympy are imported by the modules
that need them. On the command line: `python -m models_prm --help`.
"""

import os

# Read once, when torch loads its thread pool: waiting threads sleep instead of spinning. On a machine that
# others use too, spinning makes training several times slower; on an idle one it saves nothing measurable.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
