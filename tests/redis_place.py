"""A Redis database of one's own for a test: bells of other tests, in other processes, must not ring in it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

import redis

RESERVED = "stepmark-test"


def take(server: str) -> str:
    """Reserve an empty database of the server at this address. Raises RuntimeError when none is left."""
    for number in range(15, -1, -1):
        url = urlunsplit(urlsplit(server)._replace(path=f"/{number}"))
        with redis.Redis.from_url(url) as client:
            # Empty first, so that nobody's data is ever flushed; then only one of several takers wins.
            # A killed test leaves no lasting mark.
            if client.dbsize() == 0 and client.set(RESERVED, os.getpid(), nx=True, ex=7200):
                return url
    raise RuntimeError(f"no Redis database is empty at {server}: each test with a worker takes one")


def give_back(url: str) -> None:
    with redis.Redis.from_url(url) as client:
        client.flushdb()


@contextmanager
def own_redis(server: str) -> Iterator[str]:
    """The address of a database for the time of a test; "" where the test run has no Redis."""
    if not server:
        yield ""
        return
    url = take(server)
    try:
        yield url
    finally:
        give_back(url)
