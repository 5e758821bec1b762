"""Front-end packages: pinned exactly, no download addresses in the lock, nothing built twice."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import build_assets

ROOT = Path(__file__).resolve().parents[2]


def test_versions_are_exact() -> None:
    wanted = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert set(wanted) == {"katex", "htmx.org"}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in wanted.values())


def test_the_lock_pins_by_digest_and_names_no_server() -> None:
    text = (ROOT / "package-lock.json").read_text(encoding="utf-8")
    packages = json.loads(text)["packages"]
    assert all(entry["integrity"].startswith("sha512-") for name, entry in packages.items() if name)
    assert "resolved" not in text


def test_a_second_run_builds_nothing() -> None:
    assert build_assets.is_built(), "run scripts/build_assets.py (make setup does)"
    before = build_assets.STAMP.stat().st_mtime_ns
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "build_assets.py")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert build_assets.STAMP.stat().st_mtime_ns == before


def test_a_changed_lock_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "package-lock.json").write_text("{}", encoding="utf-8")
    monkeypatch.setattr(build_assets, "ROOT", tmp_path)
    monkeypatch.setattr(build_assets, "STAMP", tmp_path / "stamp")
    build_assets.STAMP.write_text(build_assets.wanted(), encoding="utf-8")
    assert build_assets.is_built()
    (tmp_path / "package-lock.json").write_text('{"changed": true}', encoding="utf-8")
    assert not build_assets.is_built()


def test_the_style_sheet_asks_only_for_fonts_that_are_shipped() -> None:
    css = (build_assets.VENDOR / "katex.min.css").read_text(encoding="utf-8")
    asked = set(re.findall(r"url\(fonts/([^)]+)\)", css))
    shipped = {path.name for path in (build_assets.VENDOR / "fonts").iterdir()}
    assert asked == shipped
    assert all(name.endswith(".woff2") for name in asked)


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        (
            'src:url(fonts/A.woff2) format("woff2"),url(fonts/A.woff) format("woff"),url(fonts/A.ttf) '
            'format("truetype")}',
            'src:url(fonts/A.woff2) format("woff2")}',
        ),
        ('src: url(fonts/A.woff2) format("woff2")', 'src: url(fonts/A.woff2) format("woff2")'),
    ],
)
def test_older_font_files_leave_the_style_sheet(css: str, expected: str) -> None:
    assert build_assets.OLD_FONTS.sub("", css) == expected
