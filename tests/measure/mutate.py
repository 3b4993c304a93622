#!/usr/bin/env python3
"""Configurations and histories with random damage, simulated from end to end: none may panic, hang or take all memory. Standard library only.

  mutate.py FORESITE KEEP CASES... [--rounds 1000] [--seed 1] [--seconds 60] [--megabytes 4000]

Each of CASES holds slurm.conf (and its neighbours), sacct.txt and, if it likes, accounts.cfg. FORESITE should be a development build, whose arithmetic
is checked. Of each round that panics, is killed or does not end in time the inputs are kept in KEEP/ROUND. Ends with 1 if any is.
"""
import argparse, collections, pathlib, random, re, resource, shutil, subprocess, sys, tempfile

NUMBERS = ["0", "1", "2", "3", "7", "64", "1000", "65533", "65534", "65535", "100000", "4294967294", "4294967295", "18446744073709551615", "-1", "0.5", "1e30", ""]
VERSIONS = ["22.05", "23.02", "23.11", "24.05", "24.11", "25.05", "25.11", "26.05"]


def number(draw, text):
    """The text with one of its numbers changed: mostly a little, at times to an extreme."""
    found = list(re.finditer(r"\d+", text))
    if not found:
        return text
    at = draw.choice(found)
    near = str(max(0, int(at[0]) + draw.choice([-2, -1, 1, 2]))) if draw.random() < 0.3 else str(int(at[0]) * draw.choice([2, 3, 10, 1000]))
    return text[: at.start()] + (draw.choice(NUMBERS) if draw.random() < 0.5 else near) + text[at.end():]


def rows(draw, text, others):
    """A history in which cells are changed, exchanged with another's, or emptied, and rows are lost, repeated or moved."""
    lines = text.splitlines()
    for _ in range(draw.choice([1, 3, 10, 40]) if len(lines) > 1 else 0):
        at = draw.randrange(1, len(lines))
        cells, giver = lines[at].split("|"), lines[draw.randrange(1, len(lines))].split("|")
        if len(giver) != len(cells):
            continue
        cell, way = draw.randrange(len(cells)), draw.random()
        if way < 0.5:
            cells[cell] = number(draw, cells[cell])
        elif way < 0.8:
            cells[cell] = giver[cell]
        elif way < 0.9:
            cells[cell] = ""
        elif way < 0.95 and len(lines) > 3:
            del lines[at]
            continue
        else:
            lines.insert(draw.randrange(1, len(lines)), lines[at])
            continue
        lines[at] = "|".join(cells)
    return "\n".join(lines) + "\n"


def options(draw, text, others):
    """A configuration in which numbers are changed, lines lost or repeated, and lines and words taken from another site's."""
    lines, given = text.splitlines(), [line for other in others for line in other.splitlines() if "=" in line and not line.startswith("#")]
    for _ in range(draw.choice([1, 2, 5]) if lines else 0):
        at, way = draw.randrange(len(lines)), draw.random()
        if way < 0.4:
            lines[at] = number(draw, lines[at])
        elif way < 0.5 and len(lines) > 3:
            del lines[at]
        elif way < 0.8 and given:
            # Not its machine, or most would be refused.
            giver = draw.choice(given)
            if not re.match(r"\s*(NodeName|PartitionName|ClusterName|SlurmctldHost)", giver):
                key = giver.split("=")[0].strip().lower()
                lines = [line for line in lines if line.split("=")[0].strip().lower() != key] + [giver]
        elif given:
            words = re.findall(r"\S+=\S+", draw.choice(given))
            if words:
                lines[at] += " " + draw.choice(words)
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("foresite")
    parser.add_argument("keep", type=pathlib.Path)
    parser.add_argument("cases", type=pathlib.Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--megabytes", type=int, default=4000)
    given = parser.parse_args()
    ceiling = given.megabytes << 20
    confs = [(case / "slurm.conf").read_text() for case in given.cases]
    ends, kept = collections.Counter(), 0
    for round in range(given.rounds):
        draw = random.Random(f"{given.seed} {round}")
        case = draw.choice(given.cases)
        with tempfile.TemporaryDirectory() as scratch:
            scratch = pathlib.Path(scratch)
            for path in case.iterdir():
                if path.suffix in (".conf", ".cfg") or path.name == "sacct.txt":
                    text = path.read_text()
                    damage = rows if path.name == "sacct.txt" else options
                    if draw.random() < 0.6:
                        text = damage(draw, text, confs)
                    (scratch / path.name).write_text(text)
            command = [given.foresite, "simulate", "--slurm-conf", "slurm.conf", "--trace", "sacct.txt", "--schedule", "out.csv", "--set", "SlurmVersion=" + draw.choice(VERSIONS)]
            command += ["--accounts", "accounts.cfg"] if (scratch / "accounts.cfg").exists() else []
            (scratch / "command.txt").write_text(" ".join(map(str, command)) + "\n")
            try:
                done = subprocess.run(command, cwd=scratch, capture_output=True, timeout=given.seconds, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ceiling, ceiling)))
                end = {0: "simulated", 1: "refused", 2: "refused"}.get(done.returncode, "panicked" if done.returncode == 101 else f"ended with {done.returncode}")
                if b"panicked at" in done.stderr:
                    end = "panicked"
                (scratch / "stderr.txt").write_bytes(done.stderr)
            except subprocess.TimeoutExpired:
                end = "not ended in time"
            ends[end] += 1
            if end not in ("simulated", "refused"):
                kept += 1
                shutil.copytree(scratch, given.keep / str(round), dirs_exist_ok=True)
                print(f"{round}: {end} ({case.name})", flush=True)
    print(", ".join(f"{count} {end}" for end, count in sorted(ends.items())))
    sys.exit(bool(kept))


main()
