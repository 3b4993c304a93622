//! Keys of a `NodeName` line.

use super::Scope::Node;
use super::{Kind, Parameter};

const fn modelled(
    name: &'static str,
    kind: Kind,
    unit: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> Parameter {
    Parameter::modelled(Node, name, kind, unit, default, meaning)
}

const fn harmless(name: &'static str, meaning: &'static str) -> Parameter {
    Parameter::harmless(Node, name, meaning)
}

const U16: Kind = Kind::Integer { min: 0, max: 65_533 };

/// Every key known.
pub(super) static PARAMETERS: &[Parameter] = &[
    modelled("Boards", U16, "boards", "1", "boards with sockets"),
    modelled("CoresPerSocket", U16, "cores", "1", "cores in each socket"),
    modelled("CoreSpecCount", U16, "cores", "0", "cores kept for the system, those of the last sockets first"),
    modelled("CpuSpecList", Kind::Text, "", "", "CPUs kept for the system, by number; goes before CoreSpecCount"),
    modelled("CPUs", U16, "CPUs", "", "logical CPUs; default is sockets × cores × threads"),
    modelled("Feature", Kind::Text, "", "", "features jobs may ask for"),
    Parameter::alias(Node, "Features", "Feature", Kind::Text),
    modelled("Gres", Kind::Text, "", "", "generic resources: name[:type]:count"),
    modelled("MemSpecLimit", Kind::Megabytes, "MB", "0", "memory kept for the system"),
    Parameter::alias(Node, "Procs", "CPUs", U16),
    modelled("RealMemory", Kind::Megabytes, "MB", "1", "memory of the node"),
    modelled("Sockets", U16, "sockets", "", "sockets; default follows from CPUs"),
    modelled("SocketsPerBoard", U16, "sockets", "", "sockets on each board"),
    modelled("State", Kind::Text, "", "UNKNOWN", "DOWN, DRAIN, FAIL and FUTURE nodes are not scheduled"),
    modelled(
        "TmpDisk",
        Kind::Megabytes,
        "MB",
        "",
        "local disk that jobs may ask for with --tmp; enough for all where it is not given",
    ),
    modelled("ThreadsPerCore", U16, "threads", "1", "hardware threads in each core"),
    modelled("Weight", Kind::NATURAL, "", "1", "lighter nodes are filled first"),
    Parameter::not_modelled(Node, "RestrictedCoresPerGPU", "0", "cores are not kept for GPU jobs"),
    Parameter::not_modelled(Node, "Topology", "", "the topology comes from topology.conf"),
    harmless("BcastAddr", "network address"),
    harmless("CpuBind", "binding of tasks"),
    harmless("GresConf", "devices of generic resources"),
    harmless("NodeAddr", "network address"),
    harmless("NodeHostname", "network address"),
    harmless("Parameters", "options of the node daemon"),
    harmless("Port", "network address"),
    harmless("Reason", "text"),
    harmless("TRESWeights", "unused by slurmctld"),
];
