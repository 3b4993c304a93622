//! CPUs and memory that come with GPUs (slurm-semantics 6.4, 6.5; slurm.conf(5) `DefCpuPerGPU`, `DefMemPerGPU`).

use crate::schedule::expect;

/// Two jobs of two GPUs on eight cores: with four CPUs a GPU they do not share the node.
fn two_jobs(settings: &str, options: &str) -> String {
    format!(
        "node n1 cores=8 memory=8000 gres=gpu:4
         {settings}
         job 1 gres=gpu:2 run=100 t=10 {options}
         job 2 n=1 run=100 t=10"
    )
}

const TOGETHER: &str = "1  0  0..4  +100  COMPLETED  n1  *
                        2  0  0..4  +100  COMPLETED  n1  *";
const APART: &str = "1  0  0..4        +100  COMPLETED  n1  *
                     2  0  1.end+0..4  +100  COMPLETED  n1  *";

#[test]
fn gpus_bring_cpus_by_default() {
    expect(&two_jobs("", ""), TOGETHER);
    expect(&two_jobs("set cpus_per_gpu=3", ""), TOGETHER);
    expect(&two_jobs("set cpus_per_gpu=4", ""), APART);
    // The partition's default goes first.
    expect(&two_jobs("partition p cpus_per_gpu=4\nset cpus_per_gpu=3", ""), APART);
    expect(&two_jobs("partition p cpus_per_gpu=3\nset cpus_per_gpu=4", ""), TOGETHER);
}

#[test]
fn who_asks_for_cpus_gets_those() {
    expect(&two_jobs("set cpus_per_gpu=4", "c=2"), TOGETHER);
    expect(&two_jobs("set cpus_per_gpu=4", "cpus_per_gpu=1"), TOGETHER);
    expect(&two_jobs("", "cpus_per_gpu=4"), APART);
}

#[test]
fn gpus_bring_memory_by_default() {
    let jobs = |settings: &str, mem: &str| two_jobs(&format!("set memory mem_per_cpu=100 {settings}"), mem);
    expect(&jobs("", ""), TOGETHER);
    expect(&jobs("mem_per_gpu=3950", ""), TOGETHER);
    expect(&jobs("mem_per_gpu=4000", ""), APART);
    expect(&jobs("mem_per_gpu=4000", "mem=100"), TOGETHER);
}

#[test]
fn select_linear_knows_no_defaults_of_gpus() {
    expect(&two_jobs("set select=linear cpus_per_gpu=9", ""), APART);
}
