MyType = "Machine"
Name = "slot1@m"
Machine = "m"
Arch = "X86_64"
OpSys = "LINUX"
OpSysAndVer = "Debian13"
State = "Unclaimed"
Activity = "Idle"
Cpus = 1
Memory = 1024
Disk = 10
Mips = 1
KFlops = 1
LoadAvg = 1.0
CondorLoadAvg = 1.0
SlotType = "Partitionable"
PartitionableSlot = true
NumDynamicSlots = 1
AssignedGPUs = "GPU-aa,GPU-bb"
GPU_a = [Capability=7.5;DeviceName="NVIDIA A100";GlobalMemoryMb=16000]
GPU_b = [Capability=8.0;DeviceName="Tesla T4";GlobalMemoryMb=500]
GPU_c = [DeviceName="AMD"]
GPUs = 1
AvailableGPUs = {GPU_b}

MyType = "Machine"
Name = "slot1_1@m"
Machine = "m"
Arch = "X86_64"
OpSys = "LINUX"
OpSysAndVer = "Debian13"
State = "Claimed"
Activity = "Busy"
Cpus = 1
Memory = 1024
Disk = 10
Mips = 1
KFlops = 1
LoadAvg = 1.0
CondorLoadAvg = 1.0
AssignedGPUs = "GPU-aa"
GPU_a = [Capability=7.5;DeviceName="NVIDIA A100";GlobalMemoryMb=16000]
GPU_b = [Capability=8.0;DeviceName="Tesla T4";GlobalMemoryMb=500]
GPU_c = [DeviceName="AMD"]
SlotType = "Dynamic"
DynamicSlot = true
GPUs = 1
AvailableGPUs = {GPU_a}

MyType = "Machine"
Name = "slot1@n"
Machine = "n"
Arch = "X86_64"
OpSys = "LINUX"
OpSysAndVer = "Debian13"
State = "Owner"
Activity = "Idle"
Cpus = 1
Memory = 1024
Disk = 10
Mips = 1
KFlops = 1
LoadAvg = 1.0
CondorLoadAvg = 1.0
AssignedGPUs = "GPU-aa,GPU-bb"
GPU_a = [Capability=7.5;DeviceName="NVIDIA A100";GlobalMemoryMb=16000]
GPU_b = [Capability=8.0;DeviceName="Tesla T4";GlobalMemoryMb=500]
GPU_c = [DeviceName="AMD"]
GPUs = 2
AvailableGPUs = {GPU_a,GPU_b,GPU_c}
OfflineGPUs = "GPU-bb"

MyType = "Machine"
Name = "slot1@o"
Machine = "o"
Arch = "X86_64"
OpSys = "LINUX"
OpSysAndVer = "Debian13"
State = "Claimed"
Activity = "Busy"
Cpus = 1
Memory = 1024
Disk = 10
Mips = 1
KFlops = 1
LoadAvg = 1.0
CondorLoadAvg = 1.0
GPU_a = [Capability=7.5;DeviceName="NVIDIA A100";GlobalMemoryMb=16000]
GPU_b = [Capability=8.0;DeviceName="Tesla T4";GlobalMemoryMb=500]
GPU_c = [DeviceName="AMD"]
GPUs = 1
AvailableGPUs = {GPU_a}
