"""Labels out: PRM800K lines with a side file and a manifest, TRL, Math-Shepherd and ProcessBench rows."""

from labeling.exporting.checking import Check, validate_export
from labeling.exporting.formats import WRITERS, Exported
from labeling.exporting.writing import (
    FILES,
    ExportRefused,
    Manifest,
    iter_lines,
    new_name,
    places,
    write_export,
)

FORMATS = tuple(WRITERS)

__all__ = [
    "FILES",
    "FORMATS",
    "Check",
    "ExportRefused",
    "Exported",
    "Manifest",
    "iter_lines",
    "new_name",
    "places",
    "validate_export",
    "write_export",
]
