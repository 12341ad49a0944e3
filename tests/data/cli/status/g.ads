MyType = "Machine"
Name = "slot1@a"
Machine = "a"
Arch = "X86_64"
OpSysAndVer = "Debian13"
OpSys = "LINUX"
State = "Unclaimed"
Activity = "Idle"
PartitionableSlot = true
SlotType = "Partitionable"
NumDynamicSlots = 1
GPUs = 1
TotalSlotGPUs = 3
AssignedGPUs = "GPU-a,GPU-b,GPU-c"
AvailableGPUs = { GPUs_GPU_a }
GPUs_GPU_a = [ Id = "GPU-a"; DeviceName = "A100"; Capability = 8.0; GlobalMemoryMb = 40000 ]
GPUs_GPU_b = [ Id = "GPU-b"; DeviceName = "A100"; Capability = 8.0; GlobalMemoryMb = 40000 ]
GPUs_GPU_c = [ Id = "GPU-c"; DeviceName = "H100"; Capability = 9.0; GlobalMemoryMb = 80000 ]

MyType = "Machine"
Name = "slot1_1@a"
Machine = "a"
Arch = "X86_64"
OpSysAndVer = "Debian13"
OpSys = "LINUX"
State = "Claimed"
Activity = "Busy"
DynamicSlot = true
SlotType = "Dynamic"
GPUs = 2
AssignedGPUs = "GPU-b,GPU-c"
AvailableGPUs = { GPUs_GPU_b, GPUs_GPU_c }
GPUs_DeviceName = "A100"
GPUs_Capability = 8.0
GPUs_GlobalMemoryMb = 40000
RemoteUser = "alice@x"
