"""Typed readers of the environment: a bad value stops the start and names the cure."""

import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, default).strip()


def flag(name: str, default: bool = False) -> bool:
    raw = os.environ.get(name)
    if raw is None:
        return default
    value = raw.strip().lower()
    if value in TRUE:
        return True
    if value in FALSE:
        return False
    raise ImproperlyConfigured(f"{name}={raw!r} is neither true nor false. Set it to true or false.")


def integer(name: str, default: int) -> int:
    raw = text(name)
    if not raw:
        return default
    try:
        return int(raw)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}={raw!r} is not a whole number.") from error


def words(name: str, default: str = "") -> list[str]:
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def secret(name: str, fallback_file: Path) -> str:
    """The variable, the file named by NAME_FILE, or a random one kept for this installation.

    The kept one is made once and readable by its owner only, so that no installation shares a
    default and a restart signs nobody out.
    """
    if text(name):
        return text(name)
    if text(f"{name}_FILE"):
        return Path(text(f"{name}_FILE")).read_text().strip()
    if not fallback_file.exists():
        fallback_file.parent.mkdir(parents=True, exist_ok=True)
        draft = fallback_file.with_suffix(f".{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(50))
        try:
            # Two processes may start at once: the first link wins, both read the same secret.
            os.link(draft, fallback_file)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return fallback_file.read_text().strip()
