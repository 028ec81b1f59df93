"""Five visitors of a dashboard that ask for what its pages ask for, and draw nothing.

    with cheap_visitors(address): ...

They are threads of one process apart, so that their own work is not that of the one who measures.
"""

import http.client
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from launch.dashboard.entrance import Pass

PAGES = ("overview", "standings", "payoff", "machines", "curves")
ASKED = ("curves?name=elo/main", "standings?since=0", "payoff", "open", "curves")  # by the page of the same place
SECONDS = 2.0  # between two questions of one page


@contextmanager
def cheap_visitors(address: str) -> Iterator[None]:
    """Start them, wait until they have looked around, and end them."""
    visitors = subprocess.Popen([sys.executable, "-m", "benchmarks.visitors", address])
    try:
        time.sleep(2.0)
        yield
        assert visitors.poll() is None, "the visitors have left"
    finally:
        visitors.kill()
        visitors.wait()


def read_stream(host: str, cookie: str) -> None:
    """Read the stream of the run as long as there is one."""
    connection = http.client.HTTPConnection(host)
    connection.request("GET", "/api/runs/watched/stream", headers={"Cookie": cookie})
    answer = connection.getresponse()
    while answer.readline():
        pass


def ask(host: str, cookie: str, path: str) -> None:
    """Ask for one thing again and again, as a page does."""
    connection, tag = http.client.HTTPConnection(host), ""
    while True:
        headers = {"Cookie": cookie} | ({"If-None-Match": tag} if tag else {})
        connection.request("GET", f"/api/runs/watched/{path}", headers=headers)
        answer = connection.getresponse()
        answer.read()
        tag = answer.getheader("ETag") or ""
        time.sleep(SECONDS)


def main(address: str) -> None:
    """Visit until somebody ends this process."""
    host, token = address.split("/")[2], address.partition("token=")[2]
    cookie = f"{Pass(token).cookie}={token}"
    threads = [threading.Thread(target=read_stream, args=(host, cookie)) for _ in PAGES]
    threads += [threading.Thread(target=ask, args=(host, cookie, path)) for path in ASKED]
    for thread in threads:
        thread.start()


if __name__ == "__main__":
    main(sys.argv[1])
