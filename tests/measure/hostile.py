"""What hostile input costs the service: status, seconds, peak memory of the process. Prints the table of docs/RELIABILITY.md and ends with 1
if anything is not as it should be. Usage: hostile.py FORESITE [GIGABYTES of the large upload, default 2]
"""

import gzip
import io
import json
import os
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from pathlib import Path

from service import MICRO, Service

GIGABYTES = float(sys.argv[2]) if len(sys.argv) > 2 else 2.0
# The process may not take more than this above what it has when idle [MB].
CEILING_MB = 256
faults = 0


class Children:
    """The largest memory any child of the service has meanwhile [MB]: uploads are read in processes of their own."""

    def __init__(self, service):
        self.pid, self.peak, self.over = service.serve.pid, 0.0, threading.Event()
        self.watcher = threading.Thread(target=self.watch, daemon=True)

    def watch(self):
        while not self.over.wait(0.02):
            for task in Path(f"/proc/{self.pid}/task").glob("*/children"):
                try:
                    for child in task.read_text().split():
                        status = Path(f"/proc/{child}/status").read_text()
                        self.peak = max(self.peak, *(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")))
                except (OSError, TypeError):
                    pass

    def __enter__(self):
        self.watcher.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.watcher.join()


def row(service, what, expected, act):
    global faults
    service.reset_peak()
    before, begin = service.memory("VmRSS"), time.monotonic()
    with Children(service) as children:
        status, said = act()
    seconds, peak = time.monotonic() - begin, service.memory("VmHWM")
    alive = service.serve.poll() is None and service.call("GET", "/healthz")[0] == 200
    good = status in expected and peak - before <= CEILING_MB and alive
    faults += not good
    child = f"{children.peak:.0f}" if children.peak else "none"
    print(f"| {what} | {status} {said} | {seconds:.1f} | {before:.0f} | {peak:.0f} | {child} | {'yes' if good else '**no**'} |", flush=True)


def code(answer):
    status, body = answer
    try:
        problem = json.loads(body)
        first = (problem.get("errors") or problem.get("diagnostics") or [{}])[0]
        return status, f"`{problem.get('code', 'accepted')}` {first.get('message', problem.get('detail', ''))[:90]}"
    except (ValueError, AttributeError):
        return status, ""


def zstd(data_gb):
    """A frame of zeros, as small as the command line makes it."""
    zeros = subprocess.Popen(["head", "-c", str(int(data_gb * 2**30)), "/dev/zero"], stdout=subprocess.PIPE)
    packed = subprocess.run(["zstd", "-q", "-19", "--long=27", "-c"], stdin=zeros.stdout, capture_output=True, check=True).stdout
    zeros.wait()
    return packed


def blank_lines(data_gb):
    """A trace's header and then nothing but ends of lines, packed."""
    header = (MICRO / "sacct.txt").read_bytes().split(b"\n")[0] + b"\n"
    with tempfile.TemporaryFile() as text:
        text.write(header)
        for _ in range(int(data_gb * 2**10)):
            text.write(b"\n" * 2**20)
        text.seek(0)
        return subprocess.run(["zstd", "-q", "-19", "--long=27", "-c"], stdin=text, capture_output=True, check=True).stdout


def tar_bomb(data_gb):
    """A tar whose slurm.conf is zeros, packed."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/slurm.conf", "wb") as conf:
            conf.truncate(int(data_gb * 2**30))
        tar = subprocess.Popen(["tar", "-c", "-C", folder, "slurm.conf"], stdout=subprocess.PIPE)
        packed = subprocess.run(["zstd", "-q", "-19", "--long=27", "-c"], stdin=tar.stdout, capture_output=True, check=True).stdout
        tar.wait()
        return packed


def deep_tar():
    """A tar whose slurm.conf is in very many folders, packed."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        conf = tarfile.TarInfo("a/" * 2_000_000 + "slurm.conf")
        conf.size = 1
        tar.addfile(conf, io.BytesIO(b"#"))
    return packed.getvalue()


def chunks(size, block):
    sent = 0
    while sent < size:
        yield block
        sent += len(block)


def sacct_rows(size):
    """A valid trace of that size: the example's rows under new job ids."""
    header, *rows = (MICRO / "sacct.txt").read_text().splitlines()
    yield (header + "\n").encode()
    tails = [row.split("|", 2)[2] for row in rows]
    sent, job = 0, 0
    while sent < size:
        block = []
        for tail in tails * 20:
            job += 1
            block.append(f"{job}|{job}|{tail}\n")
        data = "".join(block).encode()
        sent += len(data)
        yield data


def idle(service, count):
    """Sockets that say nothing, or half a request; others must be served meanwhile."""
    sockets = []
    for number in range(count):
        sockets.append(socket.create_connection(("127.0.0.1", service.port), timeout=10))
        if number % 2:
            sockets[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
    worst = 0.0
    for _ in range(50):
        begin = time.monotonic()
        status = service.call("GET", "/v1/sites")[0]
        worst = max(worst, time.monotonic() - begin)
        if status != 200:
            break
    for one in sockets:
        one.close()
    return status, f"{count} sockets open, 50 reads meanwhile, the slowest {worst * 1000:.0f} ms"


def main():
    bomb = zstd(0.5)
    packed_tar = tar_bomb(0.5)
    blank = blank_lines(0.5)
    large = int(GIGABYTES * 2**30)
    torn = gzip.compress((MICRO / "sacct.txt").read_bytes())[:-200]
    print("| input | answer | seconds | memory before [MB] | peak [MB] | peak of the child that reads it [MB] | as it should be |\n|---|---|---:|---:|---:|---:|---|")
    with Service(sys.argv[1]) as service:
        site = service.site()
        trace = f"/v1/sites/{site}/traces?name=x&timezone=UTC"
        config = f"/v1/sites/{site}/configs"
        zst = {"Content-Type": "application/zstd"}
        row(service, f"zstd bomb as a trace, {len(bomb):,} bytes for 512 MB", {413, 422}, lambda: code(service.call("POST", trace, bomb, **zst)))
        row(service, f"zstd bomb of blank lines as a trace, {len(blank):,} bytes for 512 MB", {422}, lambda: code(service.call("POST", trace, blank, **zst)))
        row(service, f"zstd bomb as a configuration (tar), {len(packed_tar):,} bytes for 512 MB", {413}, lambda: code(service.call("POST", config, packed_tar, **zst)))
        folders = deep_tar()
        row(service, "a tar whose file is in 2,000,000 folders", {422}, lambda: code(service.call("POST", config, folders, **{"Content-Type": "application/gzip"})))
        row(service, "torn gzip as a trace", {422}, lambda: code(service.call("POST", trace, torn)))
        for conf in ("NodeName=n[0-999999999999] CPUs=1", "NodeName=a[0-9999]b[0-9999]c[0-9999] CPUs=1"):
            text = f"ClusterName=c\n{conf}\nPartitionName=p Nodes=ALL\n".encode()
            row(service, f"`{conf}`", {422}, lambda text=text: code(service.upload_config(site, {"slurm.conf": text})))
        many = "".join(f"NodeName=r{n}n[0-99999] CPUs=1\n" for n in range(1000))
        row(service, "1,000 lines of 100,000 nodes each", {413, 422}, lambda: code(service.upload_config(site, {"slurm.conf": b"ClusterName=c\n" + many.encode()})))
        wide = "NodeName=n[0-99999] CPUs=1\n" + "".join(f"PartitionName=p{n} Nodes=ALL\n" for n in range(100_000))
        row(service, "100,000 partitions of 100,000 nodes", {413, 422}, lambda: code(service.upload_config(site, {"slurm.conf": b"ClusterName=c\n" + wide.encode()})))
        row(service, f"{GIGABYTES:g} GB without a token", {401}, lambda: code(service.call("POST", trace, chunks(large, bytes(1 << 20)), token=False)))
        row(service, f"{GIGABYTES:g} GB of random bytes", {413, 422}, lambda: code(service.call("POST", trace, chunks(large, os.urandom(1 << 20)))))
        row(service, f"{GIGABYTES:g} GB of sacct rows", {201, 413, 422}, lambda: code(service.call("POST", trace, sacct_rows(large))))
        used = service.json("GET", "/v1/quotas")["used"]["stored_bytes"]
        service.json("PUT", "/v1/quotas", {"stored_bytes": used + (100 << 20)})
        row(service, f"{GIGABYTES:g} GB where 100 MB are left of the quota", {413}, lambda: code(service.call("POST", trace, sacct_rows(large))))
        service.json("PUT", "/v1/quotas", {})
        row(service, "a study of 100 MB", {413}, lambda: code(service.call("POST", "/v1/studies", chunks(100 << 20, b" " * (1 << 20)))))
        deep = b"[" * 500_000
        row(service, "a study of 500,000 open brackets", {422, 400}, lambda: code(service.call("POST", "/v1/studies", deep)))
        aliases = b"a: &a [" + b"1," * 250_000 + b"]\nb: [" + b"*a," * 150_000 + b"]\n"
        row(service, "a study of 150,000 aliases of 250,000 numbers", {422}, lambda: code(service.call("POST", "/v1/studies", aliases)))
        keys = b'{"' + b"k" * 500_000 + b'": [' + b"1," * 250_000 + b"1]}"
        row(service, "a study of 250,000 numbers under a key of 500 kB", {422}, lambda: code(service.call("POST", "/v1/studies", keys)))
        row(service, "1,000 idle sockets", {200}, lambda: idle(service, 1000))
    sys.exit(faults > 0)


main()
