#!/usr/bin/env python3
"""Cases as record_cases.py writes them, with what it never draws: `safe`, more flags and limits of QOS, deeper accounts, partitions' associations, GRES other than GPUs, nodes told by CPUs alone.

  record_wider.py SEED FOLDER        the same files; SEED 2000 and above, so that no case has the name of one of record_cases.py
"""
import pathlib, random, re, sys

from record_cases import USERS, RareSite, write


class WiderSite(RareSite):
    def conf(self):
        draw = self.draw
        # Asked for while the lines of the site are made, so drawn before them.
        self.disks, self.flat, self.debug = self.maybe(0.25) and not self.linear, self.maybe(0.2), self.maybe(0.3)
        conf = super().conf()

        def put(key, value):
            nonlocal conf
            conf = re.sub(rf"(?m)^{key}=.*$", f"{key}={value}", conf) if f"\n{key}=" in "\n" + conf else f"{key}={value}\n" + conf
        if self.limits and self.maybe(0.4):
            put("AccountingStorageEnforce", "associations,limits,qos,safe")
        if self.maybe(0.2):
            put("PriorityWeightAssoc", 5000)
        if self.maybe(0.1):
            put("PriorityDecayHalfLife", "0")
            put("PriorityUsageResetPeriod", "DAILY")
        if self.maybe(0.15):
            put("PriorityMaxAge", "0-00:20:00")
        if self.maybe(0.1):
            put("DependencyParameters", "kill_invalid_depend")
        if self.maybe(0.1):
            put("JobRequeue", "0")
        if self.maybe(0.15):
            put("MinJobAge", draw.choice([10, 60]))
        if self.memory and self.maybe(0.15):
            put(*draw.choice([("DefMemPerCPU", 1500), ("DefMemPerNode", 5000), ("MaxMemPerCPU", 2500), ("MaxMemPerNode", self.node_memory // 2)]))
        for option in ("bf_window_linear=60", "bf_window_linear=300", "batch_sched_delay=10", "spec_cores_first", "Ignore_NUMA", "sched_min_interval=10000000", "bf_max_job_test=1", "partition_job_depth=1", "bf_hetjob_prio=max",
                       "default_queue_depth=1", "max_array_tasks=6", "bf_interval=120", "whole_hetjob", "bf_resolution=600"):
            key = option.split("=")[0]
            if key in ("bf_interval",) and self.maybe(0.1):
                conf = re.sub(r"bf_interval=\d+", option, conf)
            elif f"{key}=" not in conf and self.maybe(0.08):
                conf = conf.replace("SchedulerParameters=", f"SchedulerParameters={option},")
        if self.disks:
            conf = conf.replace("GresTypes=gpu\n", "GresTypes=gpu,nvme\n") if "GresTypes=gpu\n" in conf else "GresTypes=nvme\n" + conf
            if self.maybe(0.5):
                conf = conf.replace("AccountingStorageTRES=gres/gpu\n", "AccountingStorageTRES=gres/gpu,gres/nvme\n") if "AccountingStorageTRES=" in conf else "AccountingStorageTRES=gres/nvme\n" + conf
        lines = []
        for line in conf.splitlines():
            if line.startswith("NodeName=n["):
                if self.flat:
                    line = re.sub(r"( CPUs=\d+)? Sockets=\S+ CoresPerSocket=\S+ ThreadsPerCore=\S+", f" CPUs={self.node_cpus()}", line)
                if self.disks:
                    line += " Gres=nvme:4"
            if line.startswith("NodeName=g[") and self.gpus and not self.typed and self.fours:
                line = line.replace("gpu:2", "gpu:4")
            if line.startswith("PartitionName="):
                for word in ("DenyQos=low", "MaxMemPerCPU=2500" if self.memory else "", "State=DRAIN", "PreemptMode=CANCEL", "MaxTime=0:30:00"):
                    key = word.split("=")[0]
                    if word and (key != "PreemptMode" or "PreemptType" in conf) and (key != "State" or "Default=YES" not in line) and self.maybe(0.07):
                        line = re.sub(rf" {key}=\S+", "", line) + " " + word
            lines.append(line)
        if self.debug:
            self.partitions = [*self.partitions, "debug", "night"]
            lines += ["PartitionName=debug Nodes=n[1-2] State=UP MaxTime=0:30:00 PriorityTier=10 PriorityJobFactor=20" + draw.choice(["", " MaxNodes=1", " QOS=ofpart"]),
                      f"PartitionName=night Nodes=n[2-{self.n_nodes - 1}] State=UP MaxTime=8:00:00 PriorityTier={draw.choice([0, 3])}" + draw.choice(["", " OverSubscribe=EXCLUSIVE"])]
        return "\n".join(lines) + "\n"

    @property
    def fours(self):
        return self.n_big == 2

    def gres(self):
        text = super().gres()
        if self.gpus and not self.typed and self.fours:
            text = (f"NodeName=g[1-2] Name=gpu File=/dev/tty[1-2] Cores=0-{self.cores - 1}\nNodeName=g[1-2] Name=gpu File=/dev/tty[3-4] Cores={self.cores}-{2 * self.cores - 1}\n" if self.sockets > 1
                    else "NodeName=g[1-2] Name=gpu File=/dev/tty[1-4]\n")
        return text + (f"NodeName=n[1-{self.n_nodes}] Name=nvme Count=4\n" if self.disks else "")

    def accounts(self):
        draw, text = self.draw, super().accounts()
        cpus = self.n_nodes * self.node_cpus()
        lines = []
        if self.maybe(0.4):
            # Labs below phys and opt, and users in both.
            lines += [f"add account lab{number} parent={parent} fairshare={draw.randint(1, 20)}" + (f" GrpTRES=cpu={cpus // 4}" if self.limits and self.maybe(0.3) else "") for number, parent in [(1, "phys"), (2, "phys"), (3, "opt")]]
            lines += [f"add user {user} account=lab{number} fairshare={draw.choice([1, 5, 'parent'])}" for number, user in [(1, "user1"), (2, "user2"), (2, "user4"), (3, "user3"), (1, "user5")]]
            if len(self.qos) > 1:
                lines += [f"modify account lab{number} set qos={','.join(self.qos)}" for number in (1, 2, 3)]
                lines += [f"modify user {user} account=lab{number} set qos={','.join(self.qos)}" for number, user in [(1, "user1"), (2, "user2"), (2, "user4"), (3, "user3"), (1, "user5")]]
            self.labs = {"user1": "lab1", "user2": "lab2", "user4": "lab2", "user3": "lab3", "user5": "lab1"}
        else:
            self.labs = {}
        if len(self.partitions) > 1 and self.maybe(0.25):
            lines.append(f"add user user2 account=phys partition=fast fairshare={draw.choice([3, 30])}" + (" MaxJobs=2" if self.limits else ""))
            if len(self.qos) > 1:
                lines.append(f"modify user user2 account=phys partition=fast set qos={','.join(self.qos)}")
        if self.maybe(0.3):
            lines += [f"modify account {name} set priority={draw.choice([1, 50, 100])}" for name in ("phys", "chem")]
        if self.limits:
            for name in self.qos[1:]:
                kinds = ["LimitFactor=0.5", "Flags=NoDecay", "Flags=UsageFactorSafe UsageFactor=3", "Flags=PartitionTimeLimit", "Flags=PartitionMaxNodes", "Flags=PartitionMinNodes", "UsageThreshold=0.5 Flags=EnforceUsageThreshold",
                         "MinPrioThresh=4000", "GrpJobsAccrue=3", "MaxJobsAccruePerUser=2", f"MaxTRESPerAccount=cpu={cpus // 4}", "MaxSubmitJobsPerAccount=9", "GrpWall=60", f"MaxTRESPerJob=cpu={cpus // 6}", "Priority=500",
                         f"GrpTRES=node={self.n_nodes // 2}", "MaxTRESPerUser=node=2", "GrpTRESMins=cpu=400", "MaxTRESMinsPerJob=cpu=90"]
                kinds += ["GrpTRES=gres/gpu=2", "MaxTRESPerUser=gres/gpu=1", "MinTRESPerJob=gres/gpu=1"] if self.gpus else []
                kinds += [f"GrpTRES=mem={3 * self.node_memory}", f"MaxTRESPerUser=mem={2 * self.node_memory}"] if self.memory else []
                kinds += ["PreemptMode=cancel", "PreemptMode=requeue"] if self.preempt else []
                if self.maybe(0.5):
                    lines.append(f"modify qos {name} set {draw.choice(kinds)}")
            if self.maybe(0.2):
                lines.append(draw.choice([f"modify account science set GrpTRES=cpu={cpus // 2}", "modify account science set GrpJobs=9", "modify account life set MaxWall=25", f"modify account science set GrpTRESRunMins=cpu={cpus * 12}",
                                          "modify account life set GrpTRES=node=3", "modify account science set GrpJobsAccrue=4", "modify account phys set MaxJobsAccrue=2"]))
        return text + "".join(line + "\n" for line in lines)

    def sizes(self, capacity):
        return [1, 2, 3, 5, 7, 8, 12, capacity // 8]

    def events(self, last):
        events = super().events(last)
        if self.maybe(0.4):
            events += [(self.draw.randint(300, last), f"scancel JOB:{self.draw.randint(2, 60)}") for _ in range(self.draw.randint(1, 5))]
        return sorted(events)

    def jobs(self, n_jobs=200):
        draw, jobs = self.draw, super().jobs(n_jobs)
        for job in jobs:
            extra, het = [job["extra"]] if job["extra"] else [], ": " in job["extra"]
            if self.labs and not het and self.maybe(0.5):
                job["account"] = self.labs[job["user"]]
            if self.disks and not job["gres"] and not het and "--g" not in job["extra"] and self.maybe(0.12):
                job["gres"] = draw.choice(["nvme:1", "nvme:2", "nvme:3"])
            if not het and self.maybe(0.08):
                extra.append(draw.choice(["-m plane=2", "-m cyclic:cyclic", "-m block:block", "-m cyclic:fcyclic", "--cores-per-socket=4", "--thread-spec=1", "--signal=B:TERM@60", "--comment=x"]))
            if self.gpus and ("gpu" in job["gres"] or "--gpus" in job["extra"]) and not het and self.maybe(0.2):
                extra.append(draw.choice(["--gres-flags=enforce-binding", "--gres-flags=disable-binding"]))
            if job["array"] and self.maybe(0.4):
                job["array"] = draw.choice(["0-3", "1,3,5-9:2", "1-6%3", "2-7"])
            if not job["nodes"] and not het and self.maybe(0.06):
                job["nodes"] = draw.choice(["2-4", "1-2", "3-6"])
                job["ntasks"] = max(int(job["nodes"][0]), job["ntasks"])
            if "-w " not in job["extra"] and "-x " not in job["extra"] and not het and self.maybe(0.04):
                first = draw.randint(1, self.n_nodes - 1)
                extra.append(draw.choice([f"-x n[{first}-{first + 1}]", f"-w n[{first}-{first + 1}]"]))
            job["extra"] = " ".join(reversed(extra)) if het else " ".join(extra)
        return jobs


if __name__ == "__main__":
    seed = int(sys.argv[1])
    write(WiderSite(random.Random(seed)), pathlib.Path(sys.argv[2]))
