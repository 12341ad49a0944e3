"""Submit commands: containers, virtual machines, Java, parallel jobs and the grid. A pure table."""

from kettle.submit.commands.command import Command

COMMANDS = (
    Command("docker_image", "DockerImage", "special", "Image of a docker job."),
    Command(
        "docker_send_credentials",
        "DockerSendCredentials",
        "boolean",
        "Whether the submitter's registry credentials are used for the image.",
    ),
    Command("docker_network_type", "DockerNetworkType", "plain", "Network of a docker job."),
    Command("docker_pull_policy", "DockerPullPolicy", "plain", "When the image is pulled."),
    Command(
        "docker_override_entrypoint",
        "DockerOverrideEntrypoint",
        "boolean",
        "Whether the executable replaces the image's entry point.",
    ),
    Command("container_image", "ContainerImage", "special", "Image of a container job."),
    Command(
        "container_service_names",
        "ContainerServiceNames",
        "special",
        "Names of the services that the container offers.",
    ),
    Command(
        "container_target_dir",
        "ContainerTargetDir",
        "string",
        "Where the scratch folder is in the container.",
    ),
    Command(
        "container_is_common",
        "ContainerIsCommon",
        "boolean",
        "Whether one copy of the image serves all jobs of the submission.",
    ),
    Command(
        "mount_under_scratch",
        "MountUnderScratch",
        "string",
        "Folders that the job sees as empty ones of its own.",
    ),
    Command(
        "machine_count",
        "MachineCount",
        "special",
        "How many machines a parallel job needs.",
        ("node_count", "NodeCount"),
    ),
    Command(
        "wantparallelscheduling",
        "WantParallelScheduling",
        "special",
        "Whether a job of another universe gets all its machines at once.",
    ),
    Command(
        "parallel_script_shadow",
        "ParallelScriptShadow",
        "plain",
        "Script that the shadow of a parallel job runs.",
    ),
    Command(
        "parallel_script_starter",
        "ParallelScriptStarter",
        "plain",
        "Script that each starter of a parallel job runs.",
    ),
    Command("jar_files", "JarFiles", "plain", "Archives of a Java job."),
    Command(
        "java_vm_arguments",
        "JavaVMArgs",
        "special",
        "Arguments of the Java machine, in the old or the new syntax.",
        ("java_vm_args",),
    ),
    Command(
        "java_vm_arguments2",
        "",
        "special",
        "The same in the new syntax, for a description that gives both.",
    ),
    Command("grid_resource", "GridResource", "special", "Where a grid job goes."),
    Command(
        "remote_universe",
        "Remote_JobUniverse",
        "special",
        "Universe of the job on the remote side.",
    ),
    Command(
        "remote_remote_universe",
        "Remote_Remote_JobUniverse",
        "special",
        "Universe of the job on the side that the remote side sends it on to.",
    ),
    Command("remote_initialdir", "RemoteIwd", "plain", "Folder of the job on the remote side."),
    Command(
        "remote_grid_resource",
        "Remote_GridResource",
        "plain",
        "Where the remote side sends the job on to.",
    ),
    Command(
        "remote_remote_grid_resource",
        "Remote_Remote_GridResource",
        "plain",
        "Where the side after that sends the job on to.",
    ),
    Command(
        "batch_queue", "BatchQueue", "plain", "Queue of the other batch system.", universes="grid"
    ),
    Command(
        "batch_project",
        "BatchProject",
        "plain",
        "Project of the other batch system.",
        universes="grid",
    ),
    Command(
        "batch_runtime",
        "BatchRuntime",
        "expression",
        "Run time that is asked of the other batch system, in seconds.",
        universes="grid",
    ),
    Command(
        "batch_extra_submit_args",
        "BatchExtraSubmitArgs",
        "plain",
        "Further arguments of the other system's submit command.",
        universes="grid",
    ),
    Command("arc_resources", "ArcResources", "plain", "Resources asked of ARC.", universes="grid"),
    Command("arc_rte", "ArcRte", "plain", "Runtime environments asked of ARC.", universes="grid"),
    Command(
        "arc_application",
        "ArcApplication",
        "plain",
        "Application elements for ARC.",
        universes="grid",
    ),
    Command(
        "arc_data_staging",
        "ArcDataStaging",
        "plain",
        "Data staging elements for ARC.",
        universes="grid",
    ),
    Command("vm_type", "JobVMType", "special", "Kind of virtual machine: xen or kvm."),
    Command("vm_memory", "JobVMMemory", "special", "Memory of the virtual machine in MiB."),
    Command("vm_vcpus", "JobVM_VCPUS", "special", "Processors of the virtual machine."),
    Command(
        "vm_disk",
        "VMPARAM_vm_Disk",
        "special",
        "Disks of the virtual machine, as file:device:permission.",
    ),
    Command(
        "vm_networking", "JobVMNetworking", "special", "Whether the virtual machine has a network."
    ),
    Command(
        "vm_networking_type",
        "JobVMNetworkingType",
        "special",
        "Kind of that network: nat or bridge.",
    ),
    Command(
        "vm_checkpoint",
        "JobVMCheckpoint",
        "special",
        "Whether the virtual machine is checkpointed.",
    ),
    Command(
        "vm_vnc", "JobVMVNCConsole", "special", "Whether the virtual machine has a VNC console."
    ),
    Command("vm_macaddr", "JobVM_MACADDR", "special", "Network address of the virtual machine."),
    Command("vm_no_output_vm", "VMPARAM_No_Output_VM", "special", "Whether its disks stay behind."),
    Command("xen_kernel", "VMPARAM_Xen_Kernel", "special", "Kernel of a Xen machine."),
    Command("xen_initrd", "VMPARAM_Xen_Initrd", "special", "Initial RAM disk of that kernel."),
    Command("xen_root", "VMPARAM_Xen_Root", "special", "Root device of that kernel."),
    Command(
        "xen_kernel_params", "VMPARAM_Xen_Kernel_Params", "special", "Parameters of that kernel."
    ),
)
