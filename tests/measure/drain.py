"""Drain: some thousand tasks are queued while nobody works, then two workers do them all. PostgreSQL and Redis. Prints figures for
docs/RELIABILITY.md; ends with 1 unless each task was done exactly once. Usage: drain.py FORESITE [STUDIES, default 100, of 100 tasks].
"""

import os
import sys
import time

from service import Service

STUDIES = int(sys.argv[2]) if len(sys.argv) > 2 else 100
TASKS = 100


def main(service):
    # One replication of the baseline and of 99 scenarios: a task each.
    document = service.example(1, TASKS - 1)
    begin = time.monotonic()
    studies = [service.json("POST", "/v1/studies", document)["id"] for _ in range(STUDIES)]
    seconds = time.monotonic() - begin
    queued = int(service.sql("SELECT count(*) FROM tasks WHERE state = 'queued'"))
    print(f"{STUDIES} studies accepted in {seconds:.0f} s, {1000 * seconds / STUDIES:.0f} ms each; {queued:,} tasks queued; "
          f"load average {os.getloadavg()[0]:.1f}", flush=True)
    last = service.json("GET", f"/v1/studies/{studies[-1]}")
    print(f"the last one's position is {last['queue_position']:,}", flush=True)
    workers = [service.start("work") for _ in range(2)]
    begin = time.monotonic()
    reads = []
    while any_left(service):
        one = time.monotonic()
        service.json("GET", f"/v1/studies/{studies[-1]}")
        reads.append(time.monotonic() - one)
        time.sleep(1)
    seconds = time.monotonic() - begin
    done = {state: int(count) for state, count in (row.split("|") for row in service.sql("SELECT state, count(*) FROM tasks GROUP BY 1").splitlines())}
    rows, distinct = service.sql("SELECT count(*), count(DISTINCT (study, scenario, replication)) FROM replications").split("|")
    attempts = service.sql("SELECT max(attempt) FROM tasks")
    succeeded = int(service.sql("SELECT count(*) FROM studies WHERE state = 'succeeded'"))
    reads.sort()
    peaks = [f"{service.memory('VmHWM', worker):.0f}" for worker in workers]
    print(f"{sum(done.values()):,} tasks (with one comparison a study) in {seconds:.0f} s: {sum(done.values()) / seconds:.1f}/s; "
          f"states {done}; {rows} results, {distinct} distinct; attempts at most {attempts}; {succeeded} studies succeeded; "
          f"a status read a second meanwhile: median {1000 * reads[len(reads) // 2]:.0f} ms, slowest {1000 * reads[-1]:.0f} ms; "
          f"peak memory [MB]: service {service.memory('VmHWM'):.0f}, workers {', '.join(peaks)}; "
          f"load average {os.getloadavg()[0]:.1f}")
    expected = STUDIES * TASKS
    return queued == expected and int(rows) == int(distinct) == expected and succeeded == STUDIES


def any_left(service):
    return service.sql("SELECT count(*) FROM studies WHERE state IN ('queued', 'running')") != "0"


with Service(sys.argv[1], servers=True, FORESITE_WORKER_TASKS="1", FORESITE_QUOTA_REQUESTS_PER_MINUTE="0") as service:
    sys.exit(not main(service))
