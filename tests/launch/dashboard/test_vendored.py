"""What is vendored is what `versions.json` says, with its licence beside it."""

import hashlib
import json
import re

from launch.dashboard.site import STATIC

VENDOR = STATIC / "vendor"
VERSIONS = json.loads((VENDOR / "versions.json").read_text())


def test_every_file_has_its_hash_and_its_licence():
    listed = {"versions.json"}
    for package in VERSIONS:
        listed |= set(package["licences"])
        for one in package["files"]:
            listed.add(one["file"])
            assert hashlib.sha256((VENDOR / one["file"]).read_bytes()).hexdigest() == one["sha256"], one["file"]
    assert {path.name for path in VENDOR.iterdir()} == listed


def test_all_of_it_is_small():
    code = sum((VENDOR / one["file"]).stat().st_size for package in VERSIONS for one in package["files"])
    assert code < 100_000


def test_the_first_page_names_all_modules_so_that_none_waits_for_another():
    modules = {path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*.js") if ".min." not in path.name}
    named = set(re.findall(r'rel="modulepreload" href="/static/([^"]+)"', (STATIC / "index.html").read_text()))
    assert named == modules - {"app.js", "play.js"}
