#!/usr/bin/env python3
"""A small random site and an hour of work for the rig that records real Slurm (../shared/oracle, rig.py). Standard library only.

  record_cases.py SEED FOLDER        writes slurm.conf, accounts.txt, gres.conf, jobs.csv and events.csv to FOLDER
  rig.py run FOLDER --rate 25 --offset 0 --out OUT --debugflags ,TraceJobs,Route
  replay.py FOLDER OUT FORESITE      is the schedule the same, job by job?

The seed decides everything. What is drawn is plain: what many sites set, alone and together; from seed 1000 on what fewer set, too.
"""
import csv, pathlib, random, sys

COLUMNS = ("id submit_s user account partition qos nodes ntasks cpus_per_task mem_mb time_limit_s runtime_s features gres exclusive "
           "nice dependency array reservation begin exit_code extra").split()
USERS = {"user1": "phys", "user2": "phys", "user3": "opt", "user4": "chem", "user5": "bio"}


class Site:
    def __init__(self, draw):
        self.draw = draw
        self.linear = draw.random() < 0.12
        self.consumable = "" if self.linear else draw.choice(["CR_Core", "CR_Core_Memory", "CR_Core_Memory", "CR_CPU", "CR_Socket", "CR_Socket_Memory"])
        self.memory = "Memory" in self.consumable
        self.gpus = not self.linear and draw.random() < 0.35
        self.threads = draw.choice([1, 1, 1, 2])
        self.sockets, self.cores = draw.choice([(1, 8), (2, 4), (2, 8), (2, 6)])
        self.n_nodes = draw.randint(6, 12)
        self.n_big = draw.choice([0, 0, 2, 3])
        # Nodes of one socket and two threads a core, beside the others.
        self.n_odd = draw.choice([0, 0, 1, 2])
        self.partitions = draw.choice([["batch"], ["batch", "fast"], ["batch", "fast", "small"]])
        self.qos = ["normal"] + [q for q in ("high", "low", "wide") if draw.random() < 0.5]
        self.licences = draw.random() < 0.2
        self.limits = draw.random() < 0.6
        self.switches = draw.random() < 0.2
        self.special = draw.choice(["", "", "", "", "", "", " CoreSpecCount=1", " MemSpecLimit=2000" if self.memory else ""])
        # Its name and users.
        self.reservation = ("kept", draw.choice([["user1"], ["user1", "user3", "user4"]])) if draw.random() < 0.25 else None

    def node_cpus(self):
        return self.sockets * self.cores * self.threads

    def conf(self):
        draw = self.draw
        params = [f"bf_interval={draw.choice([10, 30, 30, 60])}"]
        for name, values in [("bf_max_job_test", [10, 30, 100]), ("bf_max_job_user", [3, 8]), ("bf_max_job_part", [10, 20]), ("bf_resolution", [60, 300]),
                             ("bf_window", [60, 240, 1440]), ("default_queue_depth", [5, 20]), ("partition_job_depth", [5, 15]),
                             ("sched_interval", [20, 60]), ("max_rpc_cnt", [0]), ("bf_max_job_start", [3]), ("sched_min_interval", [2000000]),
                             ("bf_min_prio_reserve", [3000]), ("bf_max_job_assoc", [4]), ("bf_max_job_user_part", [3]), ("bf_min_age_reserve", [120]),
                             ("bf_job_part_count_reserve", [3]), ("bf_max_job_array_resv", [2, 5]), ("sched_max_job_start", [3])]:
            if draw.random() < 0.18:
                params.append(f"{name}={draw.choice(values)}")
        params += [flag for flag in ("bf_continue", "bf_busy_nodes", "assoc_limit_stop", "pack_serial_at_end", "defer", "preempt_youngest_first", "bf_one_resv_per_job",
                                   "bf_running_job_reserve", "bf_licenses") if draw.random() < 0.12]
        select = "select/linear" if self.linear else "select/cons_tres"
        lines = ["ClusterName=drawn", "SchedulerType=" + draw.choice(["sched/backfill"] * 9 + ["sched/builtin"]),
                 "SchedulerParameters=" + ",".join(params), f"SelectType={select}"]
        words = [self.consumable] + (["CR_LLN"] if draw.random() < 0.08 and not self.linear else []) + (["CR_ONE_TASK_PER_CORE"] if self.threads > 1 and not self.linear and self.consumable != "CR_CPU" and draw.random() < 0.15 else [])
        words += [flag for flag in ("CR_Pack_Nodes", "CR_CORE_DEFAULT_DIST_BLOCK") if draw.random() < 0.08]
        if not self.linear:
            lines.append("SelectTypeParameters=" + ",".join(words))
        lines += ["AccountingStorageEnforce=" + ("associations,limits,qos" if self.limits else draw.choice(["associations", "associations,qos"])),
                  f"KillWait={draw.choice([30, 30, 60])}", "PriorityType=" + draw.choice(["priority/multifactor"] * 9 + ["priority/basic"]),
                  f"PriorityDecayHalfLife={draw.choice(['0-01:00:00', '0-06:00:00', '7-0'])}", f"PriorityCalcPeriod={draw.choice([1, 5, 5])}", "PriorityMaxAge=0-04:00:00",
                  f"PriorityFavorSmall={draw.choice(['NO', 'NO', 'YES'])}"]
        for weight, most in [("Age", 10000), ("Fairshare", 20000), ("JobSize", 5000), ("Partition", 8000), ("QOS", 15000)]:
            lines.append(f"PriorityWeight{weight}={draw.choice([0, most // 2, most])}")
        if draw.random() < 0.2:
            lines.append("PriorityWeightTRES=CPU=2000" + (",Mem=1000" if self.memory else ""))
        flags = [flag for flag in ("NO_FAIR_TREE", "SMALL_RELATIVE_TO_TIME", "ACCRUE_ALWAYS", "CALCULATE_RUNNING", "INCR_ONLY") if draw.random() < 0.12]
        if flags:
            lines.append("PriorityFlags=" + ",".join(flags))
        if "high" in self.qos and draw.random() < 0.3:
            lines += ["PreemptType=preempt/qos", "PreemptMode=" + draw.choice(["REQUEUE", "CANCEL"])]
            self.preempt = "high"
        else:
            self.preempt = None
            if len(self.partitions) > 1 and draw.random() < 0.15:
                lines += ["PreemptType=preempt/partition_prio", "PreemptMode=" + draw.choice(["REQUEUE", "CANCEL"])]
        if draw.random() < 0.2:
            lines.append("OverTimeLimit=2")
        if self.gpus:
            lines += ["GresTypes=gpu", "AccountingStorageTRES=gres/gpu"]
        if self.switches:
            lines += ["TopologyPlugin=topology/tree"] + (["TopologyParam=" + draw.choice(["TopoOptional", "dragonfly"])] if draw.random() < 0.3 else [])
        if self.limits and draw.random() < 0.2:
            lines.append("EnforcePartLimits=" + draw.choice(["ALL", "ANY"]))
        if self.licences:
            lines.append("Licenses=matlab:4")
        memory = self.node_cpus() * draw.choice([2000, 4000])
        self.node_memory = memory
        shape = f"Sockets={self.sockets} CoresPerSocket={self.cores} ThreadsPerCore={self.threads}"
        lines.append(f"NodeName=n[1-{self.n_nodes}] {shape} RealMemory={memory} Feature=std Weight={draw.choice([1, 1, 10])}{self.special} State=UNKNOWN")
        if self.n_big:
            gres = " Gres=gpu:2" if self.gpus else ""
            lines.append(f"NodeName=g[1-{self.n_big}] {shape} RealMemory={2 * memory} Feature=big{gres} Weight={draw.choice([1, 20])} State=UNKNOWN")
        if self.n_odd:
            lines.append(f"NodeName=c[1-{self.n_odd}] Sockets=1 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=24000 Feature=std,odd Weight={draw.choice([1, 20])} State=UNKNOWN")
        self.gpus = self.gpus and self.n_big > 0
        for index, name in enumerate(self.partitions):
            nodes = ["ALL", f"n[1-{max(2, self.n_nodes // 2)}]", f"n[{self.n_nodes // 2}-{self.n_nodes}]"][index]
            words = [f"PartitionName={name} Nodes={nodes} State=UP MaxTime={['4:00:00', '1:00:00', '2:00:00'][index]}" + (" Default=YES" if index == 0 else "")]
            for key, values in [("PriorityTier", [1, 2, 5]), ("PriorityJobFactor", [1, 10]), ("OverSubscribe", ["EXCLUSIVE", "NO", "FORCE:2", "YES:2"]), ("DefaultTime", ["0:20:00"]), ("MaxNodes", [2, 4]),
                                ("DefMemPerCPU", [1000]), ("LLN", ["YES"]), ("MaxMemPerCPU", [3000]), ("MaxCPUsPerNode", [4]), ("QOS", ["ofpart"]),
                                ("MinNodes", [2]), ("ExclusiveUser", ["YES"]), ("DenyAccounts", ["bio"]), ("GraceTime", [60]), ("OverTimeLimit", [1]), ("DefMemPerNode", [3000])]:
                if draw.random() < (0.35 if key.startswith("Priority") or key == "OverSubscribe" else 0.1) and (self.memory or "Mem" not in key):
                    words.append(f"{key}={draw.choice(values)}")
            lines.append(" ".join(words))
        return "\n".join(line for line in lines if not line.endswith("=")) + "\n"

    def gres(self):
        return f"NodeName=g[1-{self.n_big}] Name=gpu File=/dev/tty[1-2]\n" if self.gpus else ""

    def topology(self):
        nodes = [f"n{number}" for number in range(1, self.n_nodes + 1)] + [f"g{number}" for number in range(1, self.n_big + 1)] + [f"c{number}" for number in range(1, self.n_odd + 1)]
        leaf = self.draw.choice([3, 4, 5])
        leaves = [nodes[at:at + leaf] for at in range(0, len(nodes), leaf)]
        lines = [f"SwitchName=s{index} Nodes={','.join(names)}" for index, names in enumerate(leaves)]
        return "\n".join([*lines, f"SwitchName=top Switches=s[0-{len(leaves) - 1}]"]) + "\n"

    def accounts(self):
        draw = self.draw
        def limit(*kinds):
            return " " + draw.choice(kinds) if self.limits and draw.random() < 0.4 else ""
        cpus = self.n_nodes * self.node_cpus()
        lines = []
        for name in self.qos[1:]:
            priority = {"high": 100, "low": 1, "wide": 20}[name]
            text = f"add qos {name} priority={priority}" + limit(f"GrpTRES=cpu={cpus // 3}", "MaxJobsPerUser=3", f"MaxTRESPerUser=cpu={cpus // 4}", "GrpJobs=6", "MaxTRESPerJob=node=2", "MaxJobsPerAccount=4",
                                                                        "MaxWall=20", "MinTRESPerJob=cpu=2", f"GrpTRESMins=cpu={cpus * 25}", f"GrpTRESRunMins=cpu={cpus * 10}", "MaxTRESMinsPerJob=cpu=150", "Flags=DenyOnLimit MaxWall=20",
                                                                        "Flags=NoReserve", "Flags=OverPartQOS GrpJobs=6", "GraceTime=60", f"MaxTRESPerNode=cpu=4", "UsageThreshold=0.2", "MaxSubmitJobsPerUser=6", "GrpSubmitJobs=12")
            lines.append(text + (" UsageFactor=2" if draw.random() < 0.2 else "") + (" preempt=normal" if name == self.preempt else ""))
        lines.append("modify qos normal set priority=10")
        lines.append("add qos ofpart" + limit("MaxTRESPerUser=node=3", "MaxJobsPerUser=4", f"GrpTRES=cpu={cpus // 3}"))
        lines += [f"add account science fairshare={draw.choice([10, 40])}", "add account life fairshare=30"]
        for name, parent in [("phys", "science"), ("opt", "science"), ("chem", "science"), ("bio", "life")]:
            lines.append(f"add account {name} parent={parent} fairshare={draw.randint(1, 50)}" + limit(f"GrpTRES=cpu={cpus // 2}", "GrpJobs=10", "MaxJobs=5", f"GrpTRESRunMins=cpu={cpus * 20}",
                                                                                                                          f"GrpTRESMins=cpu={cpus * 15}", "GrpWall=200", "MaxWall=30", "GrpSubmitJobs=15", f"MaxTRESMinsPerJob=cpu=200", "GrpTRES=node=4", "MaxSubmitJobs=8"))
        for user, account in USERS.items():
            lines.append(f"add user {user} account={account} fairshare={draw.choice([1, 10, 'parent'])}" + limit("MaxJobs=4", f"GrpTRES=cpu={cpus // 3}", f"MaxTRESPerJob=cpu={cpus // 4}"))
        if len(self.qos) > 1:
            lines += [f"modify account {name} set qos={','.join(self.qos)}" for name in ("science", "life", "phys", "opt", "chem", "bio")]
            lines += [f"modify user {user} set qos={','.join(self.qos)}" for user in USERS]
        return "\n".join(lines) + "\n"

    def sizes(self, capacity):
        return [1, 2, 4, 8, 16, capacity // 4]

    def events(self, last):
        """What operators do meanwhile: seconds and commands of scontrol."""
        draw, events = self.draw, []
        def span():
            first = draw.randint(1, self.n_nodes)
            return f"n[{first}-{min(self.n_nodes, first + draw.choice([0, 1, 3]))}]"
        if self.reservation:
            name, users = self.reservation
            flags = draw.choice(["", "", " flags=IGNORE_JOBS", " flags=FLEX,IGNORE_JOBS", " flags=DAILY"])
            events.append((1, f"create reservation reservationname={name} starttime=@T+{draw.randint(5, 25) * 60} duration={draw.choice([10, 25])} nodes={span()} users=root,{','.join(users)}{flags}"))
        if draw.random() < 0.15:
            nodes = draw.choice([span(), "ALL"])
            events.append((2, f"create reservation reservationname=maint starttime=@T+{draw.randint(15, 40) * 60} duration=10 nodes={nodes} users=root flags=MAINT,IGNORE_JOBS"))
        if events:
            events.append((3, "show reservation -o"))
        if draw.random() < 0.25:
            at, nodes = draw.randint(200, last), span()
            events.append((at, f"update nodename={nodes} state={draw.choice(['drain', 'drain', 'down'])} reason=drawn"))
            events.append((at + draw.choice([300, 900]), f"update nodename={nodes} state=resume"))
        return sorted(events)

    def jobs(self, n_jobs=170):
        draw, jobs, at = self.draw, [], 0
        capacity = self.n_nodes * self.node_cpus()
        # As much work as fills the machine for fifty minutes: with its tail some seventy, three minutes at rate 25.
        left = 3000 * capacity
        while len(jobs) < n_jobs and left > 0:
            at += int(draw.expovariate(1 / 25)) if draw.random() < 0.6 else 0
            job = dict.fromkeys(COLUMNS, "")
            user = draw.choice(list(USERS))
            limit = draw.choice([300, 600, 900, 1800, 2700])
            run = limit + 120 if draw.random() < 0.1 else max(20, int(limit * draw.random()))
            job.update(id=len(jobs) + 1, submit_s=at, user=user, account=USERS[user], ntasks=1, cpus_per_task=1, time_limit_s=limit, runtime_s=run, exclusive=0, nice=0)
            if draw.random() < 0.5:
                job["ntasks"] = draw.choice(self.sizes(capacity))
            if draw.random() < 0.25:
                job["nodes"] = draw.choice([1, 2, 2, 3, 4, "1-3"])
                least = int(str(job["nodes"]).split("-")[0])
                job["ntasks"] = max(least, job["ntasks"])
            if draw.random() < 0.15:
                job["cpus_per_task"] = draw.choice([2, 3, 4])
            if len(self.partitions) > 1 and draw.random() < 0.5:
                job["partition"] = draw.choice(self.partitions + ["batch,fast", "fast,batch", ",".join(reversed(self.partitions))])
            if len(self.qos) > 1 and draw.random() < 0.5:
                job["qos"] = draw.choice(self.qos)
            if self.memory and draw.random() < 0.5:
                job["mem_mb"] = draw.choice([500, 4000, self.node_memory // 2])
            extra = []
            if self.memory and not job["mem_mb"] and draw.random() < 0.3:
                extra.append(f"--mem-per-cpu={draw.choice([500, 2000, 5000])}")
            if self.n_big and draw.random() < 0.1:
                job["features"] = draw.choice(["big", "std", "std|big", "[std|big]", "[big|std]"])
            if self.gpus and draw.random() < 0.15:
                if draw.random() < 0.5:
                    job["gres"] = draw.choice(["gpu:1", "gpu:2"])
                else:
                    extra.append(f"--gpus={draw.choice([1, 2, 3])}" + draw.choice(["", " --cpus-per-gpu=2"]))
            if draw.random() < 0.06:
                job["exclusive"] = 1
            if draw.random() < 0.05:
                job["nice"] = draw.choice([50, 2000])
            if draw.random() < 0.07:
                job["array"] = draw.choice(["1-5", "1-8%2", "1-4%1"])
            elif jobs and draw.random() < 0.07:
                job["dependency"] = draw.choice(["afterany", "afterok", "afternotok"]) + f":{draw.randint(max(1, len(jobs) - 15), len(jobs))}"
            if draw.random() < 0.03:
                job["begin"] = draw.choice([120, 600])
            if draw.random() < 0.05:
                job["exit_code"] = 1
            if draw.random() < 0.06 and not job["nodes"]:
                extra.append("--ntasks-per-node=2")
            if self.licences and draw.random() < 0.15:
                extra.append(f"-L matlab:{draw.choice([1, 2])}")
            if draw.random() < 0.03:
                extra.append(draw.choice([f"-w n{draw.randint(1, self.n_nodes)}", f"-x n{draw.randint(1, self.n_nodes)}"]))
            if draw.random() < 0.15 and not self.linear:
                extra.append(draw.choice(["--contiguous", "-m cyclic", "-m block:cyclic", "-m *:block", "--hint=nomultithread", "--mincpus=2", "--ntasks-per-socket=2", "--ntasks-per-core=1", "-B 1:2", "--spread-job",
                                          "--use-min-nodes", "--oversubscribe", "--exclusive=user", "--core-spec=1", "--prefer=big" if self.n_big else "-B 2", "--overcommit", "--sockets-per-node=1", "--threads-per-core=1"]))
            if self.switches and draw.random() < 0.1:
                extra.append(draw.choice(["--switches=1", "--switches=1@5"]))
            if draw.random() < 0.08:
                extra.append(f"--time-min={max(1, limit // 180)}")
            if draw.random() < 0.03:
                extra.append("--deadline=now+40minutes")
            if self.reservation and user in self.reservation[1] and draw.random() < 0.2:
                job["reservation"] = self.reservation[0]
            if draw.random() < 0.02 and not job["array"]:
                extra.append(f": -n {draw.choice([1, 2, 4])} -c {draw.choice([1, 2])} -t {limit // 60} -A {USERS[user]}")
            job["extra"] = " ".join(extra)
            tasks = {"1-5": 5, "1-8%2": 8, "1-4%1": 4}.get(job["array"], 1)
            nodes = int(str(job["nodes"] or 1).split("-")[0])
            whole = nodes * self.node_cpus() if job["exclusive"] or self.linear else 0
            left -= min(run, limit + 60) * tasks * max(job["ntasks"] * job["cpus_per_task"], whole)
            jobs.append(job)
        return jobs


class RareSite(Site):
    """What fewer sites set, beside the rest. cons_res is for 22.05 alone."""

    def maybe(self, share=0.2):
        return self.draw.random() < share

    def conf(self):
        draw, conf = self.draw, super().conf()
        self.typed, self.twice, self.classes = self.gpus and self.maybe(0.5), self.maybe(0.3), self.maybe(0.3)
        def add(line):
            nonlocal conf
            key = line.split("=")[0]
            if f"\n{key}=" not in conf:
                conf = line + "\n" + conf
        def edit(before, after):
            nonlocal conf
            conf = conf.replace(before, after)
        for option in ("bf_hetjob_prio=avg", "bf_node_space_size=20", "max_switch_wait=60", "sched_interval=120", "default_queue_depth=2", "bf_window=30,bf_resolution=180", "preempt_strict_order", "preempt_reorder_count=3",
                       "reduce_completing_frag", "bf_hetjob_immediate", "bf_min_age_reserve=600", "nohold_on_prolog_fail", "bf_max_job_user=1", "time_min_as_soft_limit", "bf_max_job_part=3", "bf_job_part_count_reserve=1"):
            if self.maybe(0.1):
                edit("SchedulerParameters=", f"SchedulerParameters={option},")
        if self.maybe(0.15):
            add(f"CompleteWait={draw.choice([2, 8, 20])}")
        if not self.linear and not self.gpus and self.maybe(0.15):
            edit("select/cons_tres", "select/cons_res")
        flags = [flag for flag in ("MAX_TRES", "DEPTH_OBLIVIOUS", "NO_NORMAL_ALL", "SMALL_RELATIVE_TO_TIME") if self.maybe(0.12)]
        if flags:
            add("PriorityFlags=" + ",".join(flags))
        if self.maybe():
            add(f"FairShareDampeningFactor={draw.choice([2, 5])}")
        if self.maybe(0.15):
            add("PriorityWeightTRES=" + ",".join(["CPU=1000", "Mem=3000" if self.memory else "Node=500"] + (["GRES/gpu=4000"] if self.gpus else [])))
        if "PreemptType" not in conf and self.qos[1:] and self.maybe(0.3):
            conf = f"PreemptType=preempt/qos\nPreemptMode={draw.choice(['REQUEUE', 'CANCEL'])}\n" + conf
            self.preempt = self.qos[1]
        if "PreemptType" in conf and self.maybe(0.5):
            add(f"PreemptExemptTime={draw.choice(['00:02:00', '00:05:00'])}")
        lines = []
        for line in conf.splitlines():
            if line.startswith("NodeName=n[1-") and self.classes and self.n_nodes > 4:
                half = self.n_nodes // 2
                lines.append(line.replace(f"n[1-{self.n_nodes}]", f"n[1-{half}]"))
                weight = draw.choice([3, 30])
                lines.append(" ".join(f"Weight={weight}" if word.startswith("Weight=") else word for word in line.replace(f"n[1-{self.n_nodes}]", f"n[{half + 1}-{self.n_nodes}]").replace("Feature=std", "Feature=std,new").split()))
                continue
            if line.startswith("NodeName=") and "ThreadsPerCore=2" in line and self.maybe(0.3):
                cores = self.sockets * self.cores if "=c[" not in line else 4
                line = line.replace(" Sockets", f" CPUs={cores} Sockets")
            if self.typed:
                line = line.replace("Gres=gpu:2", "Gres=gpu:a100:1,gpu:v100:2")
            if line.startswith("PartitionName="):
                for word in ("OverSubscribe=FORCE", "OverSubscribe=YES:4", "MaxMemPerNode=6000" if self.memory else "", "TRESBillingWeights=CPU=1.0,Mem=0.25G", "AllowAccounts=phys,opt,chem", "AllowQos=normal,high", "PreemptMode=OFF", "MaxCPUsPerNode=6",
                             "DefCpuPerGPU=2" if self.gpus and "cons_tres" in conf else "", "DefMemPerGPU=3000" if self.gpus and self.memory else ""):
                    key = word.split("=")[0]
                    if word and f" {key}=" not in line and self.maybe(0.1) and (key != "PreemptMode" or "PreemptType" in conf):
                        line += " " + word
            lines.append(line)
        return "\n".join(lines) + "\n"

    def sizes(self, capacity):
        return [1, 2, 2, 3, 4, 8, 12, capacity // 10]

    def gres(self):
        if not self.gpus:
            return ""
        cores = f"0-{self.cores - 1}"
        if not self.typed:
            bound = f" Cores={cores}" if self.maybe(0.5) and self.sockets > 1 else ""
            return f"NodeName=g[1-{self.n_big}] Name=gpu File=/dev/tty[1-2]{bound}\n"
        other = f" Cores={self.cores}-{2 * self.cores - 1}" if self.sockets > 1 else ""
        bound = f" Cores={cores}" if other else ""
        return (f"NodeName=g[1-{self.n_big}] Name=gpu Type=a100 File=/dev/tty1{bound}\n"
                f"NodeName=g[1-{self.n_big}] Name=gpu Type=v100 File=/dev/tty[2-3]{other}\n")

    def accounts(self):
        text = super().accounts()
        if self.twice:
            text += "add user user1 account=opt fairshare=5\nadd user user3 account=chem fairshare=20\n"
            if len(self.qos) > 1:
                text += f"modify user user1 account=opt set qos={','.join(self.qos)}\nmodify user user3 account=chem set qos={','.join(self.qos)}\n"
        return text

    def jobs(self, n_jobs=200):
        draw, jobs = self.draw, super().jobs(n_jobs)
        for index, job in enumerate(jobs):
            extra = [job["extra"]] if job["extra"] else []
            het = ": " in job["extra"]
            if self.twice and job["user"] in ("user1", "user3") and self.maybe(0.4) and not het:
                job["account"] = {"user1": "opt", "user3": "chem"}[job["user"]]
            if index > 3 and not job["dependency"] and not job["array"] and self.maybe(0.06):
                earlier = [draw.randint(max(1, index - 8), index) for _ in range(2)]
                job["dependency"] = draw.choice([f"after:{earlier[0]}", f"after:{earlier[0]}+2", f"afterok:{earlier[0]}:{earlier[1]}", f"afterany:{earlier[0]}?afterok:{earlier[1]}", f"afterany:{earlier[0]},afternotok:{earlier[1]}", "singleton"])
                if job["dependency"] == "singleton":
                    extra.append(f"-J s{draw.randint(1, 2)}")
            elif job["array"] and not job["dependency"]:
                arrays = [other["id"] for other in jobs[:index] if other["array"]]
                if arrays and self.maybe(0.3):
                    job["dependency"] = f"aftercorr:{arrays[-1]}"
            if self.n_big and not job["features"] and self.maybe(0.05):
                job["features"] = draw.choice(["std&new", "big&std", "[std*1&big*1]", "new", "std|odd"] if self.classes else ["std&odd", "[std*1&big*1]", "std|odd"])
                if "*" in job["features"]:
                    job["nodes"], job["ntasks"] = 2, max(2, job["ntasks"])
            if self.gpus and not job["gres"] and "--gpus" not in job["extra"] and not het and self.maybe(0.08):
                kind = draw.choice(["a100:", "v100:", ""]) if self.typed else ""
                extra.append(draw.choice([f"--gpus-per-node={kind}1", f"--gpus-per-task={kind}1", f"--gres=gpu:{kind}1", f"--gpus={kind}2", f"--gpus-per-socket={kind}1 --sockets-per-node=1", f"--gpus={kind}1 --ntasks-per-gpu=2"]
                                         + ([f"--gpus={kind}1 --mem-per-gpu=3000"] if self.memory and not job["mem_mb"] and "--mem" not in job["extra"] else [])))
            if not het and self.maybe(0.05):
                extra.append(draw.choice(["--requeue", "--no-requeue", "--mem=0" if self.memory and not job["mem_mb"] and "--mem" not in job["extra"] else "--requeue", "--nice=300", "--kill-on-invalid-dep=yes"]))
            if het and extra[0] is job["extra"]:
                extra = [*extra[1:], extra[0]]
            job["extra"] = " ".join(extra)
        return jobs


def write(site, folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "slurm.conf").write_text(site.conf())
    (folder / "accounts.txt").write_text(site.accounts())
    gres = site.gres()
    if gres:
        (folder / "gres.conf").write_text(gres)
    if site.switches:
        (folder / "topology.conf").write_text(site.topology())
    with open(folder / "jobs.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        jobs = site.jobs()
        writer.writerows(jobs)
    # The rig waits until nothing is left, and some can never start.
    last = jobs[-1]["submit_s"]
    with open(folder / "events.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("t_s", "command"), *site.events(max(last, 300)), (last + 2400, "scancel --state=PENDING")])


if __name__ == "__main__":
    seed = int(sys.argv[1])
    write((RareSite if seed >= 1000 else Site)(random.Random(seed)), pathlib.Path(sys.argv[2]))
