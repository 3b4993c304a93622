#!/usr/bin/env python3
"""A recording of real Slurm beside Foresite at its very moments, job by job. Standard library only.

  replay.py CASE OUT FORESITE [--show 8]

CASE is the folder of the configuration (slurm.conf, accounts.txt), OUT that of the recording (sacct.txt, sacctmgr.cfg, slurmctld.log.gz with DebugFlags
Backfill, TraceJobs and Route), FORESITE the program. Prints how many jobs start within two seconds of the recorded start and on the same
nodes of the same partition (and how many of these with other CPUs), and the first that do not, in the order of time: what comes later follows from
those. Ends with 1 if any differs.
"""
import argparse, csv, datetime, gzip, pathlib, re, shutil, subprocess, sys, tempfile

TOLERANCE = 2  # seconds


def names(hostlist):
    """The nodes of a hostlist."""
    found = set()
    for prefix, inner in re.findall(r"([^,\[\]]+)(?:\[([^\]]*)\])?", hostlist or ""):
        for part in inner.split(",") if inner else [""]:
            low, _, high = part.partition("-")
            found |= {prefix + str(number).zfill(len(low)) for number in range(int(low), int(high or low) + 1)} if part else {prefix}
    return found


def in_order_of_creation(dump, commands):
    """The dump with the accounts below each parent as they were made: it sorts them by name, and DEPTH_OBLIVIOUS goes by their age."""
    made = [line.split()[2] for line in commands if line.startswith("add account ")]
    lines, at = dump.splitlines(), 0
    while at < len(lines):
        end = at
        while end < len(lines) and lines[end].startswith("Account - "):
            end += 1
        name = lambda line: line.split("'")[1]
        lines[at:end] = sorted(lines[at:end], key=lambda line: made.index(name(line)) if name(line) in made else len(made))
        at = max(end, at + 1)
    return "".join(f"{line}\n" for line in lines)


def reservations(out):
    """What `scontrol show reservation -o` printed when the recording was asked for it."""
    text = gzip.open(out / "snapshots.txt.gz", "rt").read()
    return "".join(line + "\n" for line in text.splitlines() if line.startswith("ReservationName="))


def node_events(log):
    """What operators did to nodes, by the controller's log, as `sacctmgr show event -P` prints it: `show event` itself has a drain begin with the last job's end."""
    rows, since = [], {}
    for when, node, state in re.findall(r"^\[([^\].]*)[^\]]*\] (?:update_node|node_did_resp): node (\S+) (?:state set to (\w+)|returned to service)", log, re.M):
        for name in sorted(names(node)):
            # With ReturnToService=2 a node that is up comes back at once.
            if not state and since.get(name, ("", ""))[1] == "DOWN" or state in ("IDLE", "MIXED", "ALLOCATED") and name in since:
                begin, what = since.pop(name)
                rows.append((name, begin, when, what))
            elif state.startswith(("DRAIN", "DOWN")):
                since[name] = (when, "DOWN" if state.startswith("DOWN") else "DRAIN")
    rows += [(name, begin, "Unknown", what) for name, (begin, what) in since.items()]
    return "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n" + "".join(f"drawn|{name}|{begin}|{end}|{what}|drawn|root\n" for name, begin, end, what in rows)


def recorded(path):
    """Start [Unix s, None if none], nodes, state, partition and CPUs of each job of sacct's output, the last row of a job counting."""
    jobs = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file, delimiter="|", quoting=csv.QUOTE_NONE):
            if "." in row["JobID"]:
                continue
            start = None if row["Start"] in ("", "None", "Unknown") else datetime.datetime.fromisoformat(row["Start"] + "+00:00").timestamp()
            nodes = names(row["NodeList"]) if row["NodeList"] not in ("", "None assigned") else set()
            jobs[row["JobID"]] = (start if nodes else None, nodes, row["State"].split()[0], row["Partition"], int(row["AllocCPUS"] or 0))
    return jobs


def simulated(path):
    with open(path, newline="") as file:
        return {row["job_id"]: (float(row["start"]) if row["start"] else None, names(row["node_list"]), row["state"], row["partition"], int(row["cpus"])) for row in csv.DictReader(file)}


def shown(side):
    start, nodes, state, partition, cpus = side
    moment = datetime.datetime.fromtimestamp(start, datetime.timezone.utc).strftime("%T") if start else "never"
    return f"{moment} on {','.join(sorted(nodes)) or '-'} of {partition}, {cpus} CPUs, {state}"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("case", type=pathlib.Path)
    options.add_argument("out", type=pathlib.Path)
    options.add_argument("foresite")
    options.add_argument("--show", type=int, default=8)
    options.add_argument("--slurm-version", default="22.05", help="of the recorded Slurm")
    options = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for conf in options.case.glob("*.conf"):
            shutil.copy(conf, scratch)
        # As rig.py adds it.
        with open(scratch / "slurm.conf", "a") as file:
            file.write("MessageTimeout=100\n")
        # A dump holds no QOS.
        commands = (options.case / "accounts.txt").read_text().splitlines()
        dump = in_order_of_creation((options.out / "sacctmgr.cfg").read_text(), commands) + "".join(f"{line}\n" for line in commands if line.split()[1:2] == ["qos"])
        (scratch / "accounts.cfg").write_text(dump)
        log, schedule = scratch / "slurmctld.log", scratch / "schedule.csv"
        log.write_bytes(gzip.open(options.out / "slurmctld.log.gz").read())
        (scratch / "events.txt").write_text(node_events(log.read_text()))
        (scratch / "reservations.txt").write_text(reservations(options.out) or "No reservations in the system\n")
        done = subprocess.run([options.foresite, "simulate", "--slurm-conf", scratch / "slurm.conf", "--accounts", scratch / "accounts.cfg", "--trace", options.out / "sacct.txt",
                               "--timezone", "UTC", "--reservations", scratch / "reservations.txt", "--events", scratch / "events.txt",
                               "--controller-log", log, "--set", "SlurmVersion=" + options.slurm_version, "--schedule", schedule], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"foresite simulate ended with {done.returncode}\n{done.stderr}")
        real, ours = recorded(options.out / "sacct.txt"), simulated(schedule)
    pairs = [(name, real[name], ours[name]) for name in ours if name in real]
    off = lambda a, b: (a[0] is None) != (b[0] is None) or (a[0] is not None and abs(a[0] - b[0]) > TOLERANCE)
    starts = sum(not off(a, b) for _, a, b in pairs)
    elsewhere = lambda a, b: a[1] != b[1] or (bool(a[1]) and a[3] != b[3])
    nodes = sum(not elsewhere(a, b) for _, a, b in pairs)
    # A job's size is that of its last run, if it had any.
    unlike = lambda a, b: bool(a[1]) and a[1] == b[1] and a[4] != b[4]
    cpus = sum(unlike(a, b) for _, a, b in pairs)
    charged = f", {cpus} with other CPUs" if cpus else ""
    print(f"{options.out.name}: {starts} of {len(pairs)} starts, {nodes} of {len(pairs)} on the same nodes{charged}")
    differing = [(min(side[0] for side in (a, b) if side[0]) if a[0] or b[0] else 0, name, a, b) for name, a, b in pairs if off(a, b) or elsewhere(a, b) or unlike(a, b)]
    for _, name, a, b in sorted(differing)[: options.show]:
        print(f"  job {name}: recorded {shown(a)}; simulated {shown(b)}")
    sys.exit(bool(differing))


main()
