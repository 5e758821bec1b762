"""A running demo, as tests meet it."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.flows.installation import Installation
from tests.rules.source import ROOT


@dataclass(frozen=True)
class Demo:
    """`links` by role sign a person in with one visit."""

    home: Path
    env: dict[str, str]
    links: dict[str, str]

    @property
    def base_url(self) -> str:
        parts = urlsplit(self.links["labeler"])
        return f"{parts.scheme}://{parts.netloc}"

    def run(self, code: str) -> Any:
        """Run code beside the demo; what it leaves in `result` comes back through JSON."""
        return Installation(self.home, self.env).run(code)

    def manage(self, *arguments: str) -> None:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def errors_in_logs(self) -> list[str]:
        lines = [
            f"{log.name}: {line}"
            for log in sorted((self.home / "logs").glob("*.log"))
            for line in log.read_text(errors="replace").splitlines()
        ]
        return [
            line for line in lines if any(word in line for word in ("Traceback", " ERROR ", " CRITICAL "))
        ]
