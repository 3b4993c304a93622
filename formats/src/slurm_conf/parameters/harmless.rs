//! Parameters without effect on when and where jobs start, today's and those of old releases.

use super::{Parameter, Scope};

macro_rules! groups {
    ($($meaning:literal: $($name:ident)+;)+) => {
        /// One group for each reason.
        pub(super) static GROUPS: &[&[Parameter]] = &[
            $(&[$(Parameter::harmless(Scope::Global, stringify!($name), $meaning)),+]),+
        ];
    };
}

groups! {
    "logs and debugging": DebugFlags LogTimeFormat SlurmSchedLogFile SlurmSchedLogLevel SlurmctldDebug SlurmctldLogFile
        SlurmctldSyslogDebug SlurmdDebug SlurmdLogFile SlurmdSyslogDebug;
    "hosts, ports and communication": BackupAddr BackupController BcastExclude BcastParameters CommunicationParameters
        ControlAddr ControlMachine GetEnvTimeout HashPlugin KeepAliveTime MsgAggregationParams RoutePlugin SbcastParameters
        SchedulerPort SlurmctldAddr SlurmctldHost SlurmctldPort SlurmdPort SrunPortRange TCPTimeout TreeWidth EioTimeout
        SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg SlurmctldTimeout;
    "daemons, users and paths": BatchStartTimeout CliFilterParameters CliFilterPlugins DataParserParameters JobFileAppend
        MailDomain MailProg PlugStackConfig PluginDir PowerAction ReconfigFlags SlurmUser SlurmctldParameters
        SlurmctldPidFile SlurmctldPlugstack SlurmdParameters SlurmdPidFile SlurmdSpoolDir SlurmdUser SlurmrestdParameters
        SlurmstepdParameters StateSaveLocation TmpFS UnkillableStepProgram UnkillableStepTimeout;
    "authentication and certificates": AuthAltParameters AuthAltTypes AuthInfo AuthType CertgenParameters CertgenType
        CertmgrParameters CertmgrType CredType CryptoType JobCredentialPrivateKey JobCredentialPublicCertificate
        SchedulerAuth SlurmctldHttpAuthParameters SlurmdHttpAuthParameters SlurmrestdHttpAuthParameters TLSParameters TLSType
        UsePAM HttpParserType UrlParserType SerializerParameters SerializerPlugins MetricsAuthUsers MetricsParameters MetricsType;
    "accounting records": AccountingStorageBackupHost AccountingStorageExternalHost AccountingStorageHost
        AccountingStorageLoc AccountingStorageParameters AccountingStoragePass AccountingStoragePort AccountingStorageTRES
        AccountingStorageUser AccountingStoreFlags AccountingStoreJobComment AcctGatherEnergyType AcctGatherFilesystemType
        AcctGatherInfinibandType AcctGatherInterconnectType AcctGatherNodeFreq AcctGatherProfileType DefaultStorageHost
        DefaultStorageLoc DefaultStoragePass DefaultStoragePort DefaultStorageType DefaultStorageUser ExtSensorsFreq
        ExtSensorsType JobAcctGatherFrequency JobAcctGatherParams JobAcctGatherType JobCompHost JobCompLoc JobCompParams
        JobCompPass JobCompPassScript JobCompPort JobCompType JobCompUser MaxDBDMsgs PrivateData TrackWCKey;
    "launching and confining tasks": AllowSpecResourcesUsage CheckpointType ChosLoc CoreSpecPlugin CpuFreqDef
        CpuFreqGovernors DefRuntimePlugin GpuFreqDef InteractiveStepOptions JobCheckpointDir JobContainerType KillOnBadExit
        LaunchParameters LaunchType MaxStepCount MaxTasksPerNode MemLimitEnforce MpiDefault MpiParams NamespaceType PrEpParameters
        PrEpPlugins ProctrackType Prolog PrologEpilogTimeout PrologFlags PrologTimeout EpilogTimeout PropagatePrioProcess
        PropagateResourceLimits PropagateResourceLimitsExcept ResvEpilog ResvProlog SallocDefaultCommand ScronParameters
        SrunEpilog SrunProlog SwitchParameters SwitchType TaskEpilog TaskPlugin TaskPluginParam TaskProlog VSizeFactor WaitTime
        X11Parameters InactiveLimit;
    "health and power of nodes: outages are given as events": HealthCheckInterval HealthCheckNodeState HealthCheckProgram
        HealthCheckTimeout RebootProgram ResumeFailProgram ResumeRate ResumeTimeout ReturnToService SlurmdTimeout
        SuspendExcNodes SuspendExcParts SuspendExcStates SuspendRate SuspendTimeout;
    "identity and numbering": DisableRootJobs FirstJobId GroupUpdateForce GroupUpdateTime CacheGroups MaxJobId MaxNodeCount
        LicenseParameters PriorityParameters;
    "options of old releases": FastSchedule JobAcctFrequency JobAcctLogFile JobAcctType SrunIOTimeout HashBase HeartbeatInterval KillTree Layouts MpichGmDirectSupport SchedulerRootFilter;
}
