#![allow(clippy::unwrap_used)]

use foresite_engine::job::{DependencyKind, GresScope, Memory, Sharing};

use super::*;

fn options(line: &str) -> Options<'_> {
    parse(line.as_bytes(), 0, |_, _| {}).unwrap()
}

fn remarks(line: &str) -> Vec<(String, OptionRemark)> {
    let mut found = Vec::new();
    parse(line.as_bytes(), 0, |word, remark| found.push((String::from_utf8_lossy(word).into_owned(), remark)));
    found
}

#[test]
fn every_spelling_of_an_option_is_read() {
    for line in [
        "sbatch --nodes=4 job.sh",
        "sbatch --nodes 4 job.sh",
        "sbatch -N4 job.sh",
        "sbatch -N 4 job.sh",
        "sbatch -N=4 job.sh",
        "/usr/bin/salloc -N4 -I",
        "srun  -N  4 hostname",
    ] {
        assert_eq!(options(line).nodes, Some((4, 4)), "{line}");
    }
    assert_eq!(options("sbatch --ntasks-per-n=3").ntasks_per_node, Some(3));
    assert_eq!(options("sbatch --nod=3").nodes, None, "nodes, nodelist or nodefile");
    assert_eq!(options("sbatch -N 2-8").nodes, Some((2, 8)));
}

#[test]
fn lists_and_steps_of_nodes_give_the_least_and_the_most_and_are_named() {
    let some = |value: &str| vec![(format!("--nodes={value}"), OptionRemark::SomeNodes)];
    for (value, range) in
        [("1-15:4", (1, 13)), ("8-16:4", (8, 16)), ("1,5,9", (1, 9)), ("9,2-8:3,4", (2, 9)), ("3-3:2", (3, 3))]
    {
        let line = format!("sbatch --nodes={value} job.sh");
        assert_eq!((options(&line).nodes, remarks(&line)), (Some(range), some(value)), "{value}");
    }
    for value in ["8-4", "1-15:0", "1-15:", "1,,3", "1-2-3", "4,8-6:1"] {
        let line = format!("sbatch --nodes={value} job.sh");
        assert_eq!(options(&line).nodes, None, "{value}");
        assert_eq!(remarks(&line), [(format!("--nodes={value}"), OptionRemark::BadValue)]);
    }
}

#[test]
fn reading_stops_at_the_script_and_at_wrap() {
    assert_eq!(options("sbatch -n 2 job.sh -n 9").tasks, Some(2));
    assert_eq!(options("sbatch -n 2 --wrap=srun -n 9 | x").tasks, Some(2));
    assert_eq!(options("srun -n2 -- -n 9").tasks, Some(2));
}

#[test]
fn a_whole_command_line_is_understood() {
    let line = "/usr/bin/sbatch --parsable -J j112 -o /dev/null -D / -A acct2 -t 0:05:00 --qos=low -N 1 -n 1 -c 2 --mem=1000 \
                --array=0-9%3 -C CPU-M --gres=gpu:2 --exclusive=user --dependency=after:132,afterany:129 --begin=now+600 --nice=500 \
                -w n[1-2] -x n3 -p a,b --switches=2@10:00 -m block:block -L matlab:2 --reservation=r1 -B 2:8:1 --contiguous";
    assert!(remarks(line).is_empty());
    let options = options(line);
    assert_eq!((options.tasks, options.cpus_per_task, options.memory), (Some(1), Some(2), Some(Memory::PerNode(1000))));
    assert_eq!((options.array, options.array_limit), (&b"0-9%3"[..], Some(3)));
    assert_eq!((options.constraint, options.partition, options.begin), (&b"CPU-M"[..], &b"a,b"[..], &b"now+600"[..]));
    assert_eq!((options.node_list, options.exclude, options.job_name), (&b"n[1-2]"[..], &b"n3"[..], &b"j112"[..]));
    assert_eq!((options.gres, options.gpus.len()), (&b"gpu:2"[..], 0));
    assert_eq!((options.sharing, options.nice), (Some(Sharing::ExclusiveUser), 500));
    assert_eq!((options.switches, options.block_cores), (Some((2, Some(600))), Some(true)));
    assert_eq!((options.plane, self::options("sbatch -m plane=2 x").plane), (None, Some(2)));
    assert_eq!(
        (options.sockets_per_node, options.cores_per_socket, options.threads_per_core),
        (Some(2), Some(8), Some(1))
    );
    assert_eq!(options.time.unwrap().minutes(), Some(foresite_engine::job::TimeLimit::Minutes(5)));
    let on: Vec<_> = options.dependencies.unwrap().on.iter().map(|on| (on.kind, on.id)).collect();
    assert_eq!(on, [(DependencyKind::After(0), 132), (DependencyKind::AfterAny, 129)]);
    assert!(options.contiguous);
}

/// Recorded (ax-arr): `--hint=nomultithread --sockets-per-node=2` starts with one socket free.
#[test]
fn a_hint_takes_back_sockets_and_cores() {
    let of = |line: &str| {
        let options = options(line);
        (options.sockets_per_node, options.cores_per_socket, options.threads_per_core)
    };
    assert_eq!(of("sbatch -n 3 --hint=nomultithread --sockets-per-node=2 x"), (None, None, Some(1)));
    assert_eq!(of("sbatch -n 3 --cores-per-socket=2 --hint=multithread x"), (None, None, None));
    assert_eq!(of("sbatch -n 3 --hint=nomultithread -B 2:4 x"), (Some(2), Some(4), None));
    assert_eq!(of("sbatch -n 3 --hint=nomultithread --threads-per-core=2 x"), (None, None, Some(2)));
}

#[test]
fn what_tasks_and_gpus_bring_is_read() {
    let line = "sbatch -n 4 --tres-per-task=cpu:2,gres/gpu:a100:1,license/x:1 --gres-flags=enforce-binding --tmp=2G \
                --kill-on-invalid-dep=no x";
    assert!(remarks(line).is_empty());
    let of = options(line);
    assert_eq!((of.cpus_per_task, of.gpus), (Some(2), vec![(GresScope::PerTask, &b"a100:1"[..])]));
    assert_eq!((of.enforces_binding, of.tmp_disk_mb, of.kill_on_invalid_dep), (true, 2048, Some(false)));
    // 24.11 writes the count behind an equals sign.
    let of = options("sbatch --tres-per-task=cpu=3,gres/gpu=2 --ntasks-per-gpu=2 --kill-on-invalid-dep=yes x");
    assert_eq!((of.cpus_per_task, of.gpus), (Some(3), vec![(GresScope::PerTask, &b"2"[..])]));
    assert_eq!((of.ntasks_per_gpu, of.kill_on_invalid_dep), (Some(2), Some(true)));
    for bad in
        ["--tres-per-task=mem:2", "--gres-flags=bind", "--kill-on-invalid-dep=1", "--tmp=x", "--ntasks-per-gpu=0"]
    {
        assert_eq!(remarks(&format!("sbatch {bad} x")), [(bad.to_owned(), OptionRemark::BadValue)]);
    }
}

#[test]
fn aliases_and_options_of_newer_releases_take_their_values() {
    let line = "sbatch --environment vasp --resources power:2 --runtime x --pack-group 0 --treewidth 8 --bcast-exclude / --context c --cpu_bind no \
                --cluster a --external --oom-kill-step=1 --consolidate-segments --tasks-per-node=4 --ntasks-per-tres 2 --exclusive -n4 x.sh";
    let of = options(line);
    assert_eq!((of.tasks, of.ntasks_per_node, of.ntasks_per_gpu), (Some(4), Some(4), Some(2)));
    assert_eq!(of.sharing, Some(Sharing::Exclusive));
    let named: Vec<String> = remarks(line).into_iter().map(|(name, _)| name).collect();
    assert_eq!(named, ["--resources", "--external", "--consolidate-segments"]);
    // Starts of names mean what they meant before there were these.
    assert!(options("sbatch --spread x.sh").spread);
    assert_eq!(options("srun --wait 30 -n4 a.out").tasks, Some(4));
    assert_eq!(options("sbatch --wait -n4 x.sh").tasks, Some(4));
}

#[test]
fn flags_may_stand_before_an_option_with_a_value_in_one_word() {
    for line in ["sbatch -Hn7 x.sh", "sbatch -vHvn 7 x.sh", "sbatch -QHn=7 x.sh"] {
        let of = options(line);
        assert_eq!((of.hold, of.tasks, remarks(line).len()), (true, Some(7), 0), "{line}");
        let names = rewrite(line.as_bytes(), |_, name| name.to_owned());
        assert!(names.contains("--hold") && names.contains("--ntasks=7"), "{names}");
    }
    assert_eq!(options("sbatch -vvn7 x.sh").tasks, Some(7));
    assert_eq!(options("srun -QW30 -n7 x.sh").tasks, Some(7));
    assert_eq!(remarks("sbatch -Hy7 x.sh"), [("-Hy7".to_owned(), OptionRemark::NoEffect)]);
}

#[test]
fn optional_values_stand_in_the_same_word_only() {
    let options = options("sbatch --exclusive --nice -s -k -N 2 job.sh");
    assert_eq!((options.nice, options.nodes), (100, Some((2, 2))));
    assert_eq!(options.sharing, Some(Sharing::OverSubscribe));
}

#[test]
fn unknown_options_and_bad_values_are_named() {
    assert_eq!(
        remarks("sbatch --frobnicate=3 --bb=x -N many -n 4 -Hs job.sh"),
        [
            ("--frobnicate".to_owned(), OptionRemark::NoEffect),
            ("--bb".to_owned(), OptionRemark::NoEffect),
            ("-N".to_owned(), OptionRemark::BadValue),
        ]
    );
    assert_eq!(parse(b"/opt/portal/submit.py -N 3", 0, |_, _| {}), None);
    assert_eq!(parse(b"", 0, |_, _| {}), None);
}

/// What says how many of what holds for its component alone; memory by the node, nodes to keep off, times and names go on.
#[test]
fn components_have_options_of_their_own() {
    let line =
        b"sbatch -t 16 -N 1 -n 4 -c 2 --mem=3000 -x n1 : -n 2 --mem=4000 -p gpu : -n 1 --gres=gpu:1 job.sh : -n 9";
    let of = |component| parse(line, component, |_, _| {}).unwrap();
    let counts = |component| {
        let it = of(component);
        (it.nodes, it.tasks, it.cpus_per_task, it.memory)
    };
    assert_eq!(counts(0), (Some((1, 1)), Some(4), Some(2), Some(Memory::PerNode(3000))));
    assert_eq!(counts(1), (None, Some(2), None, Some(Memory::PerNode(4000))));
    assert_eq!(counts(2), (None, Some(1), None, Some(Memory::PerNode(4000))));
    assert_eq!((of(0).partition, of(1).partition, of(2).partition), (&b""[..], &b"gpu"[..], &b""[..]));
    assert_eq!((of(0).gres, of(2).gres, of(2).exclude), (&b""[..], &b"gpu:1"[..], &b"n1"[..]));
    assert_eq!((of(2).time, of(0).time.is_some()), (of(0).time, true));
    // srun's components have programs of their own: of the second one nothing is known.
    let behind = parse(b"srun -n 4 a.out : -n 2 b.out", 1, |_, _| {}).unwrap();
    assert_eq!(behind.tasks, None);
    assert_eq!(rewrite(line, |_, name| name.to_owned()).matches(" : ").count(), 2);
}

#[test]
fn nodes_that_a_component_names_are_kept_from_the_others() {
    let line = b"sbatch -n 1 -w n3 : -n 2 -w n1 -w n[4-5] : -n 2 job.sh -w n9";
    assert_eq!(named_by_others(line, 0), [b"n[4-5]"]);
    assert_eq!(named_by_others(line, 1), [b"n3"]);
    assert_eq!(named_by_others(line, 2), [&b"n3"[..], &b"n[4-5]"[..]]);
}

/// What the last component says of times, dependencies and the like holds for those before that say nothing of it; salloc and srun have no such pass.
#[test]
fn components_have_what_a_later_one_says_of_times_and_dependencies() {
    let line = b"sbatch -n 16 : -n 1 -p gpu --mem=10 --dependency=afterok:4 : -n 2 --begin=16:30 --dependency=afternotok:7 job.sh";
    let of = |component| parse(line, component, |_, _| {}).unwrap();
    let last = of(2);
    assert_eq!((of(0).dependencies.clone(), of(0).begin), (last.dependencies.clone(), &b"16:30"[..]));
    assert_ne!(of(1).dependencies, last.dependencies);
    assert_eq!((of(0).partition, of(0).memory, of(0).tasks), (&b""[..], Some(Memory::PerNode(10)), Some(16)));
    let of_srun = parse(b"srun -n 16 : -n 1 --begin=16:30 job.sh", 0, |_, _| {}).unwrap();
    assert_eq!(of_srun.begin, b"");
}

/// `--begin="4:30 PM"` is recorded without its quotes.
#[test]
fn the_half_of_the_day_belongs_to_the_time_before_it() {
    for line in ["--begin 4:30 PM -N 2 x.sh", "--begin=4:30 PM -N 2 x.sh", "-b4:30 PM -N 2 x.sh", "-b 4:30 PM -N 2"] {
        let line = format!("sbatch {line}");
        let options = options(&line);
        assert_eq!((options.begin, options.nodes), (&b"4:30 PM"[..], Some((2, 2))), "{line}");
        assert!(rewrite(line.as_bytes(), |_, name| name.to_owned()).contains("--begin=4:30 PM --nodes=2"));
    }
    assert_eq!(options("sbatch -J night PM -N 2").nodes, None);
    assert_eq!(options("sbatch -b 16:30 -N 2").begin, b"16:30");
}
