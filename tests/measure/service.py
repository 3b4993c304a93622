"""A service of its own for measurements: PostgreSQL, Redis, `foresite serve` and workers in a temporary folder, or the embedded defaults."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

MICRO = Path(__file__).resolve().parents[2] / "examples" / "micro"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def as_postgres():
    """PostgreSQL refuses root."""
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.getuid() == 0 else []


class Service:
    """Use as a context manager; everything is stopped and removed at the end."""

    def __init__(self, program, workers=0, servers=False, **settings):
        self.program, self.workers, self.settings = str(Path(program).resolve()), workers, settings
        self.servers = servers or workers > 0
        self.processes = []

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="foresite-measure-"))
        self.folder.chmod(0o755)
        self.port = free_port()
        self.env = {
            "PATH": os.environ["PATH"],
            "FORESITE_DATA_DIR": str(self.folder / "data"),
            "FORESITE_HTTP_LISTEN": f"127.0.0.1:{self.port}",
            "FORESITE_GRPC_LISTEN": "127.0.0.1:0",
            "FORESITE_METRICS_LISTEN": "127.0.0.1:0",
            "FORESITE_LOG": "warn",
            **self.settings,
        }
        if self.servers:
            self.start_servers()
        self.token = self.run("token", "create", "--role", "admin").strip()
        self.serve = self.start("serve")
        for _ in range(self.workers):
            self.start("work")
        self.wait_ready()
        return self

    def start_servers(self):
        pg_bin = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        data, pg_port, redis_port = self.folder / "pg", free_port(), free_port()
        data.mkdir()
        if os.getuid() == 0:
            shutil.chown(data, "postgres", "postgres")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([*as_postgres(), pg_bin / "initdb", "-D", data, "-U", "foresite", "-A", "trust"], check=True, **quiet)
        command = [*as_postgres(), pg_bin / "postgres", "-D", data, "-p", str(pg_port), "-k", str(data), "-c", "max_connections=200"]
        self.processes.append(subprocess.Popen(command, **quiet))
        redis = ["redis-server", "--port", str(redis_port), "--save", "", "--dir", str(self.folder)]
        self.processes.append(subprocess.Popen(redis, **quiet))
        create = [pg_bin / "createdb", "-h", "127.0.0.1", "-p", str(pg_port), "-U", "foresite", "foresite"]
        for _ in range(100):
            if subprocess.run(create, **quiet).returncode == 0:
                break
            time.sleep(0.1)
        self.env["FORESITE_DATABASE_URL"] = f"postgres://foresite@127.0.0.1:{pg_port}/foresite"
        self.env["FORESITE_REDIS_URL"] = f"redis://127.0.0.1:{redis_port}"
        self.run("migrate", "up")

    def run(self, *arguments):
        done = subprocess.run([self.program, *arguments], env=self.env, cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout

    def start(self, *arguments):
        log = open(self.folder / "log", "ab")
        process = subprocess.Popen([self.program, *arguments], env=self.env, cwd=self.folder, stdout=log, stderr=log)
        self.processes.append(process)
        return process

    def wait_ready(self):
        for _ in range(300):
            try:
                if self.call("GET", "/readyz")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.1)
        raise RuntimeError("not ready:\n" + (self.folder / "log").read_text())

    def connection(self, timeout=600):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def call(self, method, path, body=None, token=True, **headers):
        """Status and body of one request; a server that answers before it has read everything is heard, too."""
        connection = self.connection()
        if token:
            headers["Authorization"] = f"Bearer {self.token}"
        try:
            connection.request(method, path, body=body, headers=headers, encode_chunked=body is not None and not isinstance(body, bytes))
        except (BrokenPipeError, ConnectionResetError):
            pass
        try:
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (ConnectionResetError, http.client.RemoteDisconnected):
            return "closed", b""
        finally:
            connection.close()

    def json(self, method, path, value=None, **headers):
        body = None if value is None else json.dumps(value).encode()
        status, text = self.call(method, path, body, **{"Content-Type": "application/json"}, **headers)
        if not 200 <= status < 300:
            raise RuntimeError(f"{method} {path}: {status} {text[:500]}")
        return json.loads(text)

    def site(self):
        return self.json("POST", "/v1/sites", {"name": f"s{time.monotonic_ns()}"})["id"]

    def upload_config(self, site, files):
        boundary = "xxFORESITExx"
        parts = []
        for name, data in files.items():
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
            parts.append(head.encode() + data + b"\r\n")
        body = b"".join(parts) + f"--{boundary}--\r\n".encode()
        kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        return self.call("POST", f"/v1/sites/{site}/configs", body, **kind)

    def example(self, replications, scenarios=1):
        """Uploads the example; gives a study document on it."""
        site = self.site()
        files = {name: (MICRO / name).read_bytes() for name in ("slurm.conf", "gres.conf", "sacctmgr.cfg")}
        config = json.loads(self.upload_config(site, files)[1])["id"]
        trace = self.call("POST", f"/v1/sites/{site}/traces?name=sacct.txt&timezone=UTC", (MICRO / "sacct.txt").read_bytes())
        changes = [{"node_sharing": {"partition": "normal", "mode": "exclusive"}}]
        return {
            "name": "measure", "site": {"site": site, "config": config},
            "trace": {"trace": json.loads(trace[1])["id"], "timezone": "UTC"},
            "replications": replications, "seed": 1, "scenarios": [{"name": f"exclusive {n}", "changes": changes} for n in range(scenarios)],
        }

    def memory(self, field, process=None):
        """`VmHWM` or `VmRSS` of a process [MB], the service's by default."""
        for line in Path(f"/proc/{(process or self.serve).pid}/status").read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) / 1024
        return 0.0

    def sql(self, query):
        """The answer of PostgreSQL, one field."""
        psql = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1] / "psql"
        return subprocess.run([psql, self.env["FORESITE_DATABASE_URL"], "-Atc", query], check=True, capture_output=True, text=True).stdout.strip()

    def reset_peak(self):
        Path(f"/proc/{self.serve.pid}/clear_refs").write_text("5")

    def __exit__(self, *_):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in reversed(self.processes):
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
