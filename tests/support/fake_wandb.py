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
        self.announced, self.artifacts = {}, {}  # name -> metadata; the second has those that were committed
        self.files = {}  # what was uploaded, by path
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
        if "Artifact" in operation and operation != "ArtifactType":
            return self.artifact(operation, values)
        if operation == "ArtifactType":
            return {"project": {"artifact": None, "artifactType": {"name": "run_table"}}}
        return {}

    def artifact(self, operation, values):
        """Take in an artifact: it is announced, its files and a list of them are uploaded, it is committed."""
        if operation == "CreateArtifact":
            name = values["input"]["artifactCollectionName"]
            self.announced[name] = json.loads(values["input"]["metadata"] or "{}")
            sequence = {"id": "s", "name": name, "latestArtifact": None}
            return {"createArtifact": {"artifact": {"id": name, "state": "PENDING", "artifactSequence": sequence}}}
        if "Manifest" in operation:
            key = operation[0].lower() + operation[1:]
            return {key: {"artifactManifest": {"id": "m", "file": self.upload("manifest")}}}
        if operation == "CreateArtifactFiles":
            files = [self.upload(file["name"], file["artifactID"]) for file in values["input"]["artifactFiles"]]
            return {"createArtifactFiles": {"files": {"edges": [{"node": file} for file in files]}}}
        if operation == "CommitArtifact":
            name = values["input"]["artifactID"] if "input" in values else values["artifactID"]
            self.artifacts[name] = self.announced[name]
            return {"commitArtifact": {"artifact": {"id": name, "digest": "d"}}}
        return {}

    def upload(self, name, artifact=""):
        address = f"{self.url}/up/{artifact}/{name}"
        more = {"artifact": {"id": artifact}, "storagePath": name, "uploadMultipartUrls": None}
        return {"id": "f", "name": name, "displayName": name, "uploadUrl": address, "uploadHeaders": [], **more}

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
        self.server.fake.files[self.path] = self.body()
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


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Say nothing: clients are killed in these tests, and their connections break."""


@contextmanager
def served(fault=None):
    """Serve until the block ends."""
    fake = FakeWandb(fault)
    server = Server(("127.0.0.1", 0), Handler)
    server.fake = fake
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
