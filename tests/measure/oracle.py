#!/usr/bin/env python3
"""Foresite beside the recordings of real Slurm, as tables in Markdown. Standard library only.

  oracle.py ORACLE FORESITE [dist] [track] [change] [no-peeking] [xdmod] [--seeds 20] [--jobs 2]     all of them by default

ORACLE is the folder of the recordings and of their judge, score.py; FORESITE the program. Of each case with a sacct.txt:
  dist        twenty seeds as one more run of real Slurm
  track       each run again, with its own boot offset: the calm cases with every seed, the chaotic ones to see how far they go together
  change      what-ifs from micro-base's trace alone
  no-peeking  starts, nodes, priorities, reasons and flags blanked, ends moved: are the schedules the same bytes?
  xdmod       dist from the 26 columns of Open XDMoD alone
Ends with 1 when a verdict of dist or change is not empty, a calm run falls short, or a schedule differs without its answers.
"""
import argparse, collections, concurrent.futures, csv, datetime, json, pathlib, subprocess, sys, tempfile

CALM = ["micro-calm", "micro-split-n", "fifo-builtin"]
CHANGES = ["micro-exclusive", "micro-bfuser", "micro-bf300", "micro-fs20", "micro-fsx10"]
# What only a scheduler decides, and what a run has before it is decided.
DECIDED = ["Start", "NodeList", "Flags", "Priority", "Reason"]
UNKNOWN = ("", "Unknown", "None")


class Oracle:
    def __init__(self, root, program, scratch):
        self.root, self.program, self.scratch = root, program, scratch

    def runs(self, case):
        """Folders of a case's runs that have a trace, the one that score.py takes by default first."""
        return sorted(path.parent for path in (self.root / "results" / case).glob("*/sacct.txt"))

    def cases(self):
        return [case.name for case in sorted((self.root / "cases").iterdir()) if self.runs(case.name)]

    def simulate(self, name, run, *, conf=None, trace=None, seed=1, boot_offset=None):
        """Path of the schedule of `run`'s trace, under its own slurm.conf or that of the case `conf`."""
        schedule = self.scratch / f"{name}.{seed}.csv"
        command = [self.program, "simulate", "--slurm-conf", self.root / "cases" / (conf or run.parent.name) / "slurm.conf",
                   "--accounts", run / "sacctmgr.cfg", "--trace", trace or run / "sacct.txt", "--timezone", "UTC",
                   "--seed", str(seed), "--schedule", schedule]
        if boot_offset is not None:
            command += ["--boot-offset", str(round(boot_offset))]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{name}: foresite simulate ended with {done.returncode}\n{done.stderr}")
        return schedule

    def score(self, *arguments):
        judge = [sys.executable, self.root / "score.py", *arguments]
        return json.loads(subprocess.run(judge, capture_output=True, text=True, check=True).stdout)


def rows(path):
    with open(path, newline="") as file:
        reader = csv.DictReader(file, delimiter="|", quoting=csv.QUOTE_NONE)
        return reader.fieldnames, list(reader)


def moment(text):
    return datetime.datetime.fromisoformat(text)


def blanked(run, path):
    """`run`'s trace without anything that Slurm decided, written to `path`; rows of jobs that never started stay."""
    names, jobs = rows(run / "sacct.txt")
    opening = min(moment(job["Submit"]) for job in jobs)
    for job in jobs:
        started = job["Start"] not in UNKNOWN and job["End"] not in UNKNOWN
        pending = job["State"].startswith("CANCELLED") and job["Start"] == job["End"]
        if not started or pending or moment(job["Start"]) < opening:
            continue
        job["End"] = (moment(job["Submit"]) + (moment(job["End"]) - moment(job["Start"]))).isoformat()
        job.update({name: "" for name in DECIDED if name in names})
    path.write_text("\n".join("|".join(cells) for cells in [names, *([job[name] or "" for name in names] for job in jobs)]) + "\n")
    return path


def boot_offset(run):
    """Seconds from slurmctld's start to the first submission of the trace."""
    meta = json.loads((run / "meta.json").read_text())
    first = min(moment(job["Submit"]) for job in rows(run / "sacct.txt")[1]).replace(tzinfo=datetime.timezone.utc)
    # Where the trace leaves out a case's first jobs its first submission comes later than the case's.
    later = first.timestamp() - meta["t0_epoch"]
    return meta["boot_to_first_submit_s"] + (later if later > 60 else 0)


def table(title, header, lines):
    print(f"\n### {title}\n\n| " + " | ".join(header) + " |\n| " + " | ".join("---" for _ in header) + " |")
    for line in lines:
        print("| " + " | ".join(str(cell) for cell in line) + " |", flush=True)


def verdict(found):
    judged = "; ".join(found["verdict"]) or "none"
    return judged + (f" (not judged: {'; '.join(found['not_judged'])})" if found.get("not_judged") else "")


def distribution(oracle, pool, seeds, title, file):
    """One line a case; whether every verdict is empty."""
    lines, good = [], True
    for case in oracle.cases():
        run = oracle.runs(case)[0]
        made = list(pool.map(lambda seed: oracle.simulate(f"{case}.{file}", run, trace=run / file, seed=seed), seeds))
        found = oracle.score("dist", case, *made)
        pair = lambda key: tuple((found[of] or {}).get(key, "–") for of in ("simulated_vs_real", "real_vs_real"))
        lines.append([case, len(found["recorded"]), found["jobs"], " ".join(map(str, found["mean_wait"]["recorded"])), found["mean_wait"]["simulated"],
                      *("{} / {}".format(*pair(key)) for key in ("rms_sd", "within_60s", "same_nodes", "ks")), verdict(found)])
        good &= not found["verdict"]
    table(title, ["case", "runs", "jobs", "mean wait recorded [s]", "simulated", "spread / recorded", "within 60 s", "same nodes", "KS", "beyond tolerance"], lines)
    return good


def tracks(oracle, pool, seeds):
    """Calm runs with every seed, the others, which one second can turn, with the first; whether the calm ones always reach both bars."""
    lines, good = [], True
    for run in (run for case in oracle.cases() for run in oracle.runs(case)):
        calm, offset = run.parent.name in CALM, boot_offset(run)
        name = f"{run.parent.name}/{run.name}"
        tried = seeds if calm else seeds[:1]
        made = pool.map(lambda seed: oracle.simulate(name.replace("/", ".") + ".track", run, boot_offset=offset, seed=seed), tried)
        found = [oracle.score("track", name, schedule) for schedule in made]
        mean = lambda key: round(sum(one[key] for one in found) / len(found), 3)
        reach = sum(one["within_60s"] >= 0.95 and one["same_nodes"] >= 0.90 for one in found)
        parts = collections.Counter((one["first_divergence"] or {}).get("job", "none") for one in found)
        good &= reach == len(found) or not calm
        lines.append([name, found[0]["jobs"], mean("within_60s"), mean("same_nodes"), f"{reach} of {len(found)}" if calm else "",
                      mean("jobs_before_it"), ", ".join(f"{job} ({count})" for job, count in parts.most_common(3))])
    table("Runs again, each with its boot offset", ["run", "jobs", "within 60 s", "same nodes", "calm: seeds with 0.95 and 0.90", "jobs before the first that differs", "which (seeds)"], lines)
    return good


def changes(oracle, pool, seeds):
    run, lines, good = oracle.runs("micro-base")[0], [], True
    each = lambda conf: list(pool.map(lambda seed: oracle.simulate(f"from-base.{conf}", run, conf=conf, seed=seed), seeds))
    base = each("micro-base")
    for case in CHANGES:
        found = oracle.score("change", "micro-base", case, "--base-schedules", *base, "--schedules", *each(case))
        users = "; ".join(f"{name} {of['simulated']:+.0%} ({of['recorded']:+.0%} ± {of['tolerance']:.0%})" for name, of in found.items() if name.startswith("user"))
        lines.append([case, *(f"{found['all'][key]:+.1%}" for key in ("recorded", "simulated")), f"{found['all']['tolerance']:.1%}", users, verdict(found)])
        good &= not found["verdict"]
    table("What-ifs from micro-base's trace", ["case", "mean wait recorded", "simulated", "tolerance", "by user: simulated (recorded)", "beyond tolerance"], lines)
    return good


def no_peeking(oracle, pool):
    runs = [run for case in oracle.cases() for run in oracle.runs(case)]

    def same(run):
        name = f"{run.parent.name}.{run.name}"
        blind = oracle.simulate(f"{name}.blind", run, trace=blanked(run, oracle.scratch / f"{name}.txt"))
        return blind.read_bytes() == oracle.simulate(f"{name}.seen", run).read_bytes()

    differ = [str(run.relative_to(oracle.root / "results")) for run, equal in zip(runs, pool.map(same, runs)) if not equal]
    table("Without what Slurm decided", ["runs", "schedules that differ"], [[len(runs), " ".join(differ) or "none"]])
    return not differ


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("oracle", type=pathlib.Path)
    parser.add_argument("foresite", type=pathlib.Path)
    parser.add_argument("what", nargs="*", help="which tables (default: all)")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2, help="simulations at once")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        oracle = Oracle(given.oracle.resolve(), given.foresite.resolve(), pathlib.Path(scratch))
        of = {
            "dist": lambda: distribution(oracle, pool, seeds, f"As one more run of real Slurm, {given.seeds} seeds", "sacct.txt"),
            "track": lambda: tracks(oracle, pool, seeds),
            "change": lambda: changes(oracle, pool, seeds),
            "no-peeking": lambda: no_peeking(oracle, pool),
            # What these columns lose is reported, not judged.
            "xdmod": lambda: distribution(oracle, pool, seeds, f"From the 26 columns of Open XDMoD alone, {given.seeds} seeds", "sacct-xdmod.txt") or True,
        }
        unknown = set(given.what) - set(of)
        if unknown:
            parser.error(f"no such table: {' '.join(sorted(unknown))}; there are {', '.join(of)}")
        good = [of[name]() for name in given.what or of]
    sys.exit(0 if all(good) else 1)


main()
