"""Load: status reads and event streams while two workers simulate, on PostgreSQL and Redis. Prints figures for docs/RELIABILITY.md.
Usage: load.py FORESITE [SECONDS, default 30] [STREAMS, default 500]. The client shares the machine with what it measures.
"""

import asyncio
import sys
import time

from service import Service

SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 30.0
STREAMS = int(sys.argv[3]) if len(sys.argv) > 3 else 500
READERS = 16


async def reader(service, path, until, times, statuses):
    """One connection kept open, one request after the other."""
    request = f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.token}\r\n\r\n".encode()
    source, sink = await asyncio.open_connection("127.0.0.1", service.port)
    while time.monotonic() < until:
        begin = time.monotonic()
        sink.write(request)
        head = await source.readuntil(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
        await source.readexactly(length)
        times.append(time.monotonic() - begin)
        status = head[9:12].decode()
        statuses[status] = statuses.get(status, 0) + 1
    sink.close()


async def stream(service, path, opened, ended):
    """One event stream from its beginning to the study's end."""
    source, sink = await asyncio.open_connection("127.0.0.1", service.port)
    sink.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.token}\r\n\r\n".encode())
    head = await source.readuntil(b"\r\n\r\n")
    opened.append(head[9:12])
    text = await source.read(-1) if b"close" in head.lower() else await read_chunked(source)
    ended.append((b"succeeded" in text, text.count(b"\nid: ") + text.startswith(b"id: ")))
    sink.close()


async def read_chunked(source):
    text = b""
    while True:
        size = int((await source.readuntil(b"\r\n")).strip(), 16)
        text += await source.readexactly(size)
        await source.readexactly(2)
        if size == 0:
            return text


def shown(what, times, statuses, seconds):
    times.sort()
    at = lambda share: 1000 * times[min(len(times) - 1, int(share * len(times)))]
    print(f"{what}: {len(times) / seconds:,.0f}/s over {READERS} connections, p50 {at(0.5):.1f} ms, p99 {at(0.99):.1f} ms, "
          f"max {1000 * times[-1]:.0f} ms, statuses {statuses}", flush=True)


async def measure(service):
    study = service.json("POST", "/v1/studies", service.example(5))["id"]
    path = f"/v1/studies/{study}"
    while service.json("GET", path)["state"] != "succeeded":
        time.sleep(0.5)
    times, statuses = [], {}
    begin = time.monotonic()
    await asyncio.gather(*(reader(service, path, begin + SECONDS / 2, times, statuses) for _ in range(READERS)))
    shown("status reads, idle", times, statuses, time.monotonic() - begin)

    long = service.json("POST", "/v1/studies", service.example(1000, 9))["id"]
    path = f"/v1/studies/{long}"
    opened, ended = [], []
    streams = [asyncio.create_task(stream(service, f"{path}/events", opened, ended)) for _ in range(STREAMS)]
    begin = time.monotonic()
    while len(opened) < STREAMS and time.monotonic() - begin < 60:
        await asyncio.sleep(0.1)
    print(f"{len(opened)} of {STREAMS} event streams open after {time.monotonic() - begin:.1f} s; service {service.memory('VmRSS'):.0f} MB", flush=True)
    times, statuses = [], {}
    begin = time.monotonic()
    await asyncio.gather(*(reader(service, path, begin + SECONDS, times, statuses) for _ in range(READERS)))
    progress = service.json("GET", path)
    shown(f"status reads, two workers simulating, {STREAMS} streams", times, statuses, time.monotonic() - begin)
    print(f"meanwhile {progress['progress']['replications_done']} of {progress['progress']['replications_total']} replications, study {progress['state']}")
    if progress["state"] != "succeeded":
        service.call("POST", f"{path}/cancel", b"")
    await asyncio.wait(streams, timeout=60)
    counts = sorted(count for _, count in ended)
    print(f"{len(ended)} streams ended by the service, events each {counts[0] if counts else 0} to {counts[-1] if counts else 0}; "
          f"peak memory of the service {service.memory('VmHWM'):.0f} MB")


with Service(sys.argv[1], workers=2, FORESITE_WORKER_TASKS="1", FORESITE_QUOTA_REQUESTS_PER_MINUTE="0") as service:
    asyncio.run(measure(service))
