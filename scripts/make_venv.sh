#!/usr/bin/env bash
# Makes the virtual environment named by the first argument with the first Python that is new enough.
set -euo pipefail
target=$1

new_enough() {
  "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

if [ -x "$target/bin/python" ] && new_enough "$target/bin/python" \
  && "$target/bin/python" -m pip --version >/dev/null 2>&1; then
  exit 0
fi

for python in ${PYTHON:-} python3.11 python3.12 python3.13 python3.14 python3; do
  if command -v "$python" >/dev/null && new_enough "$python"; then
    echo "Making $target with $("$python" --version) ..."
    exec "$python" -m venv --clear "$target"
  fi
done

echo "Stepmark needs Python 3.11 or newer with the modules venv and ensurepip, and found none." >&2
echo "Cure: install it (Debian and Ubuntu: apt install python3 python3-venv; macOS: brew install python@3.11)," >&2
echo "or name one: make setup PYTHON=/path/to/python3.11" >&2
exit 1
