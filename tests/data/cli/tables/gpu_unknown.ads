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
AvailableGPUs = {GPU_c}
