//! What Slurm would heed and the simulation does not is named, and no what-if may rest on it.

use super::*;

fn fault(result: Result<(), Diagnostic>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn values_that_would_matter_are_named() {
    let field = |line: &str| {
        let said = remarks(line);
        let (_, rest) = said.split_once("not modelled: ").unwrap_or_else(|| panic!("{line}: {said:?}"));
        rest.split(": ").next().unwrap().to_owned()
    };
    for line in
        ["PriorityFlags=LEVEL_BASED", "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core,LL_SHARED_GRES"]
    {
        let name = line.rsplit('\n').next().unwrap().split('=').next().unwrap();
        assert_eq!(field(line), name);
    }
    for option in ["bf_continue", "bf_max_time=10", "bf_yield_interval=1000", "bf_yield_sleep=1000", "max_sched_time=4"]
    {
        assert_eq!(remarks(&format!("SchedulerParameters={option}")), "", "cycles take time");
    }
}

#[test]
fn values_without_effect_in_slurm_either_are_not_named() {
    let said = remarks(
        "CompleteWait=0\nEnforcePartLimits=FALSE\nJobRequeue=1\nMaxMemPerNode=0\nMessageTimeout=10\nMinJobAge=300\n\
         PreemptType=preempt/none\nPreemptMode=OFF\nPreemptExemptTime=00:00:00\nPreemptParameters=youngest_first\n\
         SchedulerParameters=bf_max_time=30,bf_interval=30,sched_min_interval=2,preempt_strict_order,bf_yield_sleep=500000\n\
         PartitionName=s Nodes=n1 GraceTime=60 PreemptMode=OFF OverSubscribe=FORCE:1",
    );
    assert_eq!(said, "");
}

#[test]
fn suspending_is_named() {
    let said = remarks("PreemptType=preempt/partition_prio\nPreemptMode=SUSPEND,GANG\nPartitionName=s Nodes=n1");
    assert!(said.contains("not modelled: PreemptMode: SUSPEND: jobs are not suspended"), "{said}");
}

#[test]
fn a_value_left_out_must_still_be_a_value() {
    assert!(remarks("CompleteWait=soon").contains("error: CompleteWait: 'soon' is not a whole number"));
    assert!(
        remarks("SchedulerParameters=bf_max_time=0")
            .contains("warning: SchedulerParameters.bf_max_time: 0 is not between 1 and 3600")
    );
}

#[test]
fn what_ifs_that_the_engine_would_not_see_are_refused() {
    let mut conf = read(&small(
        "SchedulerParameters=bf_continue,bf_interval=30\nPriorityFlags=LEVEL_BASED\nPartitionName=s Nodes=n1 OverSubscribe=YES:4",
    ));
    assert_eq!(
        fault(conf.set("MaxJobCount", "30")),
        "slurm.conf: error: MaxJobCount: 'MaxJobCount' is not modelled: submissions to a full queue are not refused; leave it out: it would change nothing"
    );
    for (key, value) in [
        ("SchedulerParameters.delay_boot", "5"),
        ("SchedulerParameters", "bf_continue,delay_boot=5"),
        ("PriorityFlags", ""),
        ("PriorityFlags", "LEVEL_BASED,TICKET_BASED"),
        ("SelectTypeParameters", "CR_Core,LL_SHARED_GRES"),
        ("TopologyParam", "SwitchAsNodeRank"),
    ] {
        let said = fault(conf.set(key, value));
        assert!(said.contains("is not modelled: "), "{key}={value}: {said}");
    }
    for (key, value) in [
        ("SchedulerParameters", "bf_continue=true,bf_interval=60"),
        ("PriorityFlags", "LEVEL_BASED,ACCRUE_ALWAYS"),
        ("partition.s.OverSubscribe", "FORCE:4"),
        ("partition.s.OverSubscribe", "NO"),
    ] {
        conf.set(key, value).unwrap();
    }
}

#[test]
fn wrong_values_of_what_is_modelled_are_refused_by_name() {
    let mut conf = read(&small("PartitionName=s Nodes=n1"));
    for (key, value, said) in [
        ("CompleteWait", "soon", "'soon' is not a whole number"),
        ("EpilogSeconds", "-1", "-1 is not between 0 and 86400"),
        ("DefCpuPerGPU", "many", "'many' is not a whole number"),
        ("DefMemPerGPU", "lots", "'lots' is not a memory size"),
        ("partition.s.DefCpuPerGPU", "-2", "-2 is not between"),
        ("partition.s.DefMemPerGPU", "big", "'big' is not a memory size"),
        ("partition.s.OverSubscribe", "SOMETIMES", "'SOMETIMES' is unknown"),
        ("PriorityFlags", "CALCULATE_WALKING", "'CALCULATE_WALKING' is unknown"),
        ("SchedulerParameters.max_switch_wait", "-5", "-5 is not between"),
        ("SchedulerParameters.reduce_completing_frag", "maybe", "'maybe' is not true or false"),
        ("SchedulerParameters.kill_invalid_depend", "true", "it has moved to DependencyParameters"),
        ("DependencyParameters", "disable_remote_singleton", "is not modelled"),
        ("Plain.overrun", "forgive", "'forgive' is unknown"),
    ] {
        let fault = fault(conf.set(key, value));
        assert!(fault.contains(said) && fault.contains("; "), "{key}={value}: {fault}");
    }
    conf.set("partition.s.OverSubscribe", "FORCE:0").unwrap();
    assert!(conf.lower(None).1.iter().any(|it| it.is_error() && it.message.contains("between 1 and 32768")));
    let said = remarks("SchedulerParameters=kill_invalid_depend");
    assert!(said.contains("warning: SchedulerParameters: slurmctld ignores kill_invalid_depend"), "{said}");
}

#[test]
fn what_a_cycles_time_decides_can_be_set_where_cycles_take_time() {
    let mut conf = read(&small("SchedulerParameters=bf_max_time=20\nPartitionName=s Nodes=n1"));
    conf.set("CostModel", "ideal").unwrap();
    for setting in
        [conf.set("SchedulerParameters.bf_max_time", "10"), conf.scale("SchedulerParameters.bf_max_time", 2.0)]
    {
        let said = fault(setting);
        assert!(
            said.contains("'bf_max_time' is not modelled") && said.contains("set CostModel=default before"),
            "{said}"
        );
    }
    conf.set("CostModel", "default").unwrap();
    for (key, value) in
        [("bf_max_time", "10"), ("bf_continue", "true"), ("bf_yield_interval", "9"), ("bf_yield_sleep", "8")]
    {
        conf.set(&format!("SchedulerParameters.{key}"), value).unwrap();
    }
    conf.scale("SchedulerParameters.bf_max_time", 3.0).unwrap();
    let (site, diagnostics) = conf.lower(None);
    let backfill = site.unwrap().policy.backfill;
    assert_eq!((backfill.max_time, backfill.continue_after_yield), (Some(30), true));
    assert_eq!((backfill.yield_interval_us, backfill.yield_sleep_us), (9, 8));
    assert!(!said(&diagnostics).contains("bf_max_time"), "{}", said(&diagnostics));
    conf.set("SchedulerParameters.max_sched_time", "3").unwrap();
    conf.set("CostModel.main_start_us", "0").unwrap();
    assert!(fault(conf.set("SchedulerParameters.max_sched_time", "3")).contains("is not modelled"));
}

#[test]
fn words_of_select_type_parameters_that_slurmctld_does_not_start_with_are_named() {
    let said = remarks("SelectType=select/cons_tres\nSelectTypeParameters=CR_Core,CR_Memory");
    assert!(said.contains("slurmctld does not start with CR_CORE and CR_MEMORY together; name one"), "{said}");
    let said = remarks("SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU_Memory,CR_ONE_TASK_PER_CORE");
    assert!(said.contains("slurmctld does not start with CR_ONE_TASK_PER_CORE beside CR_CPU; use CR_Core"), "{said}");
    assert_eq!(remarks("SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory,CR_ONE_TASK_PER_CORE"), "");
}
