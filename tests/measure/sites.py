#!/usr/bin/env python3
"""How fast configurations of real sites are simulated under a full queue. Standard library only.

  sites.py CONFIGURATIONS FORESITE [FORESITE …] [--only REGEX] [--jobs 3000] [--load 1.0] [--days 3] [--seed 1] [--seconds 100]

CONFIGURATIONS has a folder with slurm.conf for each site (../shared/data/slurm_conf). A workload is drawn for each: users submit batches of like jobs, small
ones mostly, to each partition as much as its nodes can do in so many days, times the load. Each program simulates it, and says how long
that took; of several the schedules are compared. Ends with 1 if any differs.
"""
import argparse, datetime, hashlib, pathlib, random, re, subprocess, sys, tempfile, time

HEADER = "JobID|User|Account|Partition|QOS|Submit|Start|End|ElapsedRaw|State|TimelimitRaw|ReqNodes|ReqCPUS|ReqTRES|NodeList"


def lines(path):
    """Lines of slurm.conf and what it includes, as dictionaries by lower-case key."""
    text = path.read_text(errors="replace").replace("\\\n", " ")
    for line in (line.split("#")[0].strip() for line in text.splitlines()):
        included = re.match(r"(?i)include\s+(\S+)", line)
        if included and (path.parent / included[1]).is_file():
            yield from lines(path.parent / included[1])
        yield {key.lower(): value for key, value in re.findall(r'(\w+)\s*=\s*("[^"]*"|\S+)', line)}


def names(hostlist):
    for prefix, inner, suffix in re.findall(r"([^,\[\]]+)(?:\[([^\]]*)\]([^,\[\]]*))?", hostlist):
        for part in inner.split(",") if inner else [""]:
            low, _, high = part.partition("-")
            yield from (f"{prefix}{str(number).zfill(len(low))}{suffix}" for number in range(int(low), int(high or low) + 1)) if part else [prefix]


def minutes(limit):
    if not limit or limit.upper() in ("UNLIMITED", "INFINITE", "NONE", "-1"):
        return 10**7
    days, dash, rest = limit.rpartition("-")
    parts = [int(part) for part in rest.split(":")]
    hours_first = bool(dash) or len(parts) == 3
    hours, mins = (parts + [0, 0])[:2] if hours_first else (0, parts[0])
    return int(days or 0) * 1440 + hours * 60 + mins


def site(conf):
    """CPUs, memory [MB] and GPUs by node; nodes and MaxTime [min] by partition."""
    nodes, partitions, of_nodes, of_partitions = {}, {}, {}, {}
    for values in lines(conf):
        if values.get("nodename", "").upper() == "DEFAULT":
            of_nodes.update(values)
        elif "nodename" in values:
            values = {**of_nodes, **values}
            count = lambda *keys: next((int(values[key]) for key in keys if key in values), 1)
            cpus = count("cpus", "procs") if {"cpus", "procs"} & set(values) else count("boards") * count("sockets", "socketsperboard") * count("corespersocket") * count("threadspercore")
            gpus = re.search(r"gpu(?::[A-Za-z][^:,\s]*)?:(\d+)", values.get("gres", ""))
            nodes.update((name, (cpus, int(values.get("realmemory", 0)), int(gpus[1]) if gpus else 0)) for name in names(values["nodename"]))
        elif values.get("partitionname", "").upper() == "DEFAULT":
            of_partitions.update(values)
        elif "partitionname" in values:
            values = {**of_partitions, **values}
            listed = values.get("nodes", "").strip('"')
            own = list(nodes) if listed.upper() == "ALL" else [name for name in names(listed) if name in nodes]
            if own and values.get("state", "UP").upper() == "UP":
                partitions[values["partitionname"]] = (own, minutes(values.get("maxtime")))
    return nodes, partitions


def workload(conf, draw, jobs, days, load):
    nodes, partitions = site(conf)
    share = {node: sum(node in own for own, _ in partitions.values()) for node in nodes}
    weights = [sum(nodes[node][0] / share[node] for node in own) for own, _ in partitions.values()]
    work = sum(cpus for cpus, _, _ in nodes.values()) * days * 86400 * load / jobs
    submits, rows = sorted(draw.random() * days * 77760 for _ in range(jobs)), [HEADER]
    while len(rows) <= jobs:
        partition, (own, most) = draw.choices(list(partitions.items()), weights)[0]
        cpus, memory, gpus = nodes[draw.choice(own)]
        kind, wanted = draw.random(), 1
        asked = min(cpus, draw.choice([1, 1, 1, 2, 4, 8])) if kind < 0.7 else cpus
        if kind > 0.92:
            wanted = min(len(own), draw.choice([2, 2, 3, 4, 8, 16]))
        run = max(5, min(draw.lognormvariate(0, 1.2) / 2.05 * work / (asked * wanted), most * 57, 432000))
        limit = min(most, int(run * draw.choice([1.05, 1.5, 2, 4, 10]) / 60) + 1)
        tres = f"cpu={asked * wanted},node={wanted}"
        tres += f",mem={max(1, memory * asked // cpus * draw.choice([3, 6, 9]) // 10) * wanted}M" if memory > 100 else ""
        tres += f",gres/gpu={min(gpus, draw.choice([1, 1, 2])) * wanted}" if gpus and draw.random() < 0.6 else ""
        user, at = int(draw.paretovariate(0.7)) % 40, datetime.datetime(2024, 3, 4) + datetime.timedelta(seconds=int(submits[len(rows) - 1]))
        for _ in range(min(jobs + 1 - len(rows), len(own) * 2, draw.choice([1, 1, 1, 2, 5, 20, 60]))):
            ran = max(1, int(run * draw.uniform(0.6, 1)))
            rows.append(f"{len(rows)}|u{user}|a{user % 7}|{partition}|normal|{at.isoformat()}|{at.isoformat()}|{(at + datetime.timedelta(seconds=ran)).isoformat()}|{ran}|COMPLETED|{limit}|{wanted}|{asked * wanted}|{tres}|{own[0]}")
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("configurations", type=pathlib.Path)
    parser.add_argument("programs", nargs="+")
    for name, kind, default in [("only", str, ""), ("jobs", int, 3000), ("load", float, 1.0), ("days", float, 3), ("seed", int, 1), ("seconds", int, 100)]:
        parser.add_argument(f"--{name}", type=kind, default=default)
    args, differs = parser.parse_args(), False
    for conf in sorted(args.configurations.glob("*/slurm.conf")):
        name = conf.parent.name
        if not re.search(args.only, name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            trace, schedules = pathlib.Path(folder) / "sacct.txt", set()
            try:
                trace.write_text(workload(conf, random.Random(args.seed), args.jobs, args.days, args.load))
            except (ValueError, IndexError, ZeroDivisionError) as error:
                print(f"{name:28} no workload: {error}")
                continue
            for program in args.programs:
                schedule = pathlib.Path(folder) / "schedule.csv"
                command = [program, "simulate", "--slurm-conf", conf, "--trace", trace, "--timezone", "UTC", "--seed", "1", "--schedule", schedule]
                began = time.monotonic()
                try:
                    done = subprocess.run(command, capture_output=True, text=True, timeout=args.seconds)
                except subprocess.TimeoutExpired:
                    print(f"{name:28} not done after {args.seconds} s")
                    continue
                said = dict(re.findall(r"(?m)^(wait|utilisation|engine) +(.*)$", done.stdout))
                print(f"{name:28} {time.monotonic() - began:7.2f} s  " + (f"{said.get('engine', '')}; utilisation {said.get('utilisation', '')}" if not done.returncode else done.stderr.strip().splitlines()[-1][:120]), flush=True)
                if not done.returncode:
                    schedules.add(hashlib.sha256(schedule.read_bytes()).hexdigest())
            if len(schedules) > 1:
                differs = True
                print(f"{name:28} the schedules differ")
    sys.exit(differs)


if __name__ == "__main__":
    main()
