"""Files in: problems, pools of solutions, judgements and gold questions. `import_file` is the way in."""

from labeling.importing.engine import import_file
from labeling.importing.options import ImportOptions
from labeling.importing.summary import OUTCOMES, ImportSummary

__all__ = ["OUTCOMES", "ImportOptions", "ImportSummary", "import_file"]
