"""A W&B server on loopback, as far as wandb's own client needs one: it keeps runs and their history."""

import gzip
import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FakeWandb:
    """What the server knows. `fault` makes it behave badly: hang, key, rights, deleted."""

    def __init__(self, fault=None):
        self.fault = fault
        self.history = {}  # run id -> rows as they were sent
        self.configs = {}
        self.refused = 0
        self.url = ""
        self.let_go = threading.Event()

    def rows(self, run_id):
        return [json.loads(line) for line in self.history.get(run_id, [])]

    def answer(self, operation, values):
        if operation == "Viewer":
            flags = {"id": "u", "entity": "local", "username": "local", "flags": "{}", "teams": {"edges": []}}
            return {"viewer": flags}
        if operation == "RunResumeStatus":
            project = {"id": "p", "name": "p", "entity": {"id": "e", "name": "local"}}
            return {"model": project | {"bucket": self.bucket(values["name"])}}
        if operation == "UpsertBucket":
            return self.upsert(values)
        if operation == "CreateRunFiles":
            files = [{"name": name, "uploadUrl": f"{self.url}/up/{name}"} for name in values["files"]]
            return {"createRunFiles": {"runID": "r", "uploadHeaders": [], "files": files}}
        if "ArtifactType" in operation:
            return {"project": {"artifactType": {"name": "run_table"}}}
        return {}

    def bucket(self, run_id):
        lines = self.history.get(run_id)
        if lines is None:
            return None
        return {
            "name": run_id, "displayName": run_id, "summaryMetrics": "{}", "config": "{}", "tags": [], "notes": "",
            "historyLineCount": len(lines), "historyTail": json.dumps(lines[-1:]), "wandbConfig": '{"t": 1}',
            "eventsLineCount": 0, "eventsTail": "[]", "logLineCount": 0,
        }  # fmt: skip

    def upsert(self, values):
        new = values["name"] not in self.history
        self.history.setdefault(values["name"], [])
        if values.get("config"):
            self.configs[values["name"]] = json.loads(values["config"])
        project = {"id": "p", "name": values.get("project"), "entity": {"id": "e", "name": "local"}}
        bucket = {"id": "b", "name": values["name"], "displayName": values["name"], "config": "{}"}
        more = {"sweepName": None, "historyLineCount": len(self.history[values["name"]]), "project": project}
        return {"upsertBucket": {"inserted": new, "bucket": bucket | more}}

    def stream(self, run_id, files):
        sent = files.get("wandb-history.jsonl")
        if sent:
            rows = self.history[run_id]
            del rows[sent.get("offset", len(rows)) :]  # the client says where its lines belong
            rows.extend(sent["content"])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, plain, status=200):
        body = json.dumps(plain).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        return gzip.decompress(data) if self.headers.get("content-encoding") == "gzip" else data

    def do_GET(self):
        self.reply({})

    def do_PUT(self):
        self.body()
        self.reply({})

    def do_POST(self):
        sent = json.loads(self.body() or b"{}")
        if self.server.fake.fault == "hang":
            self.server.fake.let_go.wait(60)
            return
        if "file_stream" in self.path:
            self.server.fake.stream(self.path.split("/")[-2], sent.get("files") or {})
            self.reply({"limits": {}})
            return
        operation = (re.search(r"(?:query|mutation)\s+(\w+)", sent.get("query", "")) or [0, ""])[1]
        self.graphql(operation, sent.get("variables") or {})

    def graphql(self, operation, values):
        if self.server.fake.fault == "key":
            self.reply({"errors": [{"message": "user is not logged in"}]}, 401)
        elif self.server.fake.fault == "rights" and operation == "UpsertBucket":
            self.reply({"errors": [{"message": "permission denied"}]}, 403)
        elif self.server.fake.fault == "deleted" and operation == "UpsertBucket" and values["name"] == "old":
            self.server.fake.refused += 1
            text = "run old was previously created and deleted; try a new run name"
            self.reply({"errors": [{"message": text}]}, 409)
        else:
            self.reply({"data": self.server.fake.answer(operation, values)})


@contextmanager
def served(fault=None):
    """Serve until the block ends."""
    fake = FakeWandb(fault)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.fake = fake
    server.daemon_threads = True
    fake.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        fake.let_go.set()
        server.shutdown()
        server.server_close()
        thread.join()
