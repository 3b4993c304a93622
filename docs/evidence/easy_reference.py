#!/usr/bin/env python3
"""EASY on the logs of swf_reference, start for start, and why the tool behind them (pyss, 2015) starts some jobs at other times.

usage: easy_reference.py REFERENCE.swf.gz FORESITE   (FORESITE: the binary; its `simulate --scheduler easy` is compared)

Three schedules of the same jobs (those of the reference: run time, requested time and processors are its own):
  foresite     EASY by the definition: one pass a second, after its completions and submissions
  reference    the file's
  tool         EASY as that tool decides, written down here: one pass after *every* event, submissions before completions, and
               a processor counts as free from the second in which its job's REQUESTED time ends, completed or not
If `tool` equals `reference` in every start, the two choices explain every difference. They are then told apart by switching
each off (`per event only`, `requested ends only`).
"""
import csv, gzip, heapq, subprocess, sys, tempfile


def load(path):
    jobs, processors = [], 0
    for line in gzip.open(path, "rt"):
        if line.startswith(";"):
            processors = int(line.split(":")[1]) if "MaxProcs" in line else processors
            continue
        w = [int(float(x)) for x in line.split()]
        jobs.append((w[1], w[0], w[3], w[7], w[8], w[1] + w[2]))  # submit, id, run, processors, requested, start
    return sorted(jobs), processors


def easy(jobs, processors, per_event, by_request, submissions_first=True):
    """Starts by job id. `per_event`: a pass after every event; `by_request`: see the head of this file."""
    events = [(job[0], 0 if submissions_first else 1, n, 0) for n, job in enumerate(jobs)]
    heapq.heapify(events)
    running, queue, starts, sequence = {}, [], {}, len(jobs)
    while events:
        now = events[0][0]
        while True:
            _, kind, n, is_end = heapq.heappop(events)
            if is_end:
                running.pop(is_end - 1)
            else:
                queue.append(n)
            if per_event or not events or events[0][0] != now:
                break
        if not queue:
            continue
        ends = sorted((end, p) for end, p in running.values())
        busy = sum(p for end, p in ends if end > now or not by_request)
        free, shadow, extra, left = processors - busy, None, 0, []
        for n in queue:
            _, job, run, p, requested, _ = jobs[n]
            if shadow is None:
                fits = p <= free
            else:
                fits = p <= free and (now + requested <= shadow or p <= extra)
            if fits:
                starts[job] = now
                free -= p
                if shadow is None:
                    ends.append((now + requested, p))
                elif now + requested > shadow:
                    extra -= p
                running[n] = (now + requested, p)
                sequence += 1
                heapq.heappush(events, (now + run, 1 if submissions_first else 0, sequence, n + 1))
            else:
                if shadow is None:
                    free_then = free
                    ends.sort()
                    for at, (end, q) in enumerate(ends):
                        if by_request and end <= now:
                            continue
                        free_then += q
                        if free_then >= p and (at + 1 == len(ends) or ends[at + 1][0] != end):
                            shadow, extra = max(end, now), free_then - p
                            break
                left.append(n)
        queue = left
    return starts


def foresite(jobs, processors, binary):
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/t.swf", "w") as out:
            out.write(f"; MaxProcs: {processors}\n; MaxNodes: {processors}\n; UnixStartTime: 0\n")
            for submit, job, run, p, requested, _ in jobs:
                out.write(f"{job} {submit} -1 {run} {p} -1 -1 {p} {requested} -1 1 1 1 -1 1 -1 -1 -1\n")
        command = f"{binary} simulate --trace {folder}/t.swf --scheduler easy --nodes {processors} --cpus-per-node 1"
        subprocess.run(f"{command} --schedule {folder}/s.csv", shell=True, check=True, capture_output=True)
        return {int(row["job_id"]): int(row["start"]) for row in csv.DictReader(open(f"{folder}/s.csv"))}


def main():
    jobs, processors = load(sys.argv[1])
    reference = {job[1]: job[5] for job in jobs}
    submit = {job[1]: job[0] for job in jobs}
    mean = lambda starts: sum(starts[job] - submit[job] for job in starts) / len(starts)
    print(f"{sys.argv[1].rsplit('/', 1)[-1]}: {len(jobs)} jobs, {processors} processors, reference's mean wait {mean(reference):.1f} s")
    schedules = {"tool": easy(jobs, processors, True, True), "definition": easy(jobs, processors, False, False, False),
                 "per event only": easy(jobs, processors, True, False), "requested ends only": easy(jobs, processors, False, True, False)}
    if len(sys.argv) > 2:
        schedules["foresite"] = foresite(jobs, processors, sys.argv[2])
    for name, starts in schedules.items():
        other = [job for _, job, *_ in jobs if starts.get(job) != reference[job]]
        first = min(other, key=lambda job: min(starts.get(job, 1 << 60), reference[job]), default=None)
        print(f"  {name}: {len(other)} starts differ, mean wait {mean(starts):.1f} s" + (f", first job {first} at {starts.get(first)} instead of {reference[first]}" if first else ""))
    if len(sys.argv) > 2:
        same = sum(schedules["foresite"][job] == start for job, start in schedules["definition"].items())
        print(f"  foresite equals the definition in {same} of {len(jobs)} starts")


if __name__ == "__main__":
    main()
