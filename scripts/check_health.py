"""Exit code 0 when the web server on this machine answers /health/: the check of the container.

`python scripts/check_health.py [ADDRESS]`, by default http://127.0.0.1:8000/health/.
"""

import sys
import urllib.error
import urllib.request

DEFAULT = "http://127.0.0.1:8000/health/"


def main() -> int:
    address = sys.argv[1] if len(sys.argv) > 1 else DEFAULT
    # As a proxy would say it, so that an installation that insists on https does not send us away.
    request = urllib.request.Request(address, headers={"X-Forwarded-Proto": "https"})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=4) as answer:  # noqa: S310
            return 0 if answer.status == 200 else 1
    except (urllib.error.URLError, OSError) as error:
        print(f"{address}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
