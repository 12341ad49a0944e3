MyType = "StartD"
Name = "execute-point-with-a-long-name.example.org"
Machine = "execute-point-with-a-long-name.example.org"
IsEnforcingDiskUsage = true
LvmBackingStore = "condor_vg/condor_pool"
LvmIsThinProvisioning = true
LvmDetectedDisk = 53687091200
LvmNonCondorDiskUsage = 1073741824
LvmUsingLoopback = false
OpSys = "LINUX"
Arch = "X86_64"
OpSysAndVer = "Debian13"
CondorVersion = "$CondorVersion: 25.14.1 2026-10-16 BuildID: 123 PackageID: 25.14.1-1 $"
DetectedCpus = 64
DetectedMemory = 515000
TotalGPUs = 2
DetectedGPUs = { GPU_a1, GPU_b2 }
GPU_a1 = [ Id = "GPU-a1"; DeviceName = "NVIDIA H200"; GlobalMemoryMB = 143000 ]
GPU_b2 = [ Id = "GPU-b2"; DeviceName = "NVIDIA A2"; GlobalMemoryMB = 15000 ]
OfflineGPUs = "GPU-b2"
DaemonStartTime = 1799000000
LastHeardFrom = 1800000000
BrokenReasons = {"GPU-b2 fell off the bus","slot 3 kept its disk"}
HealthFactor = 0.5
HealthExprs = { "disk > 3", Foo > 4 }
TotalSlots = 2
TotalCpus = 64.0
TotalInUseCpus = 2.0
TotalMemory = 515000
TotalInUseMemory = 100
TotalInUseGPUs = 1
NumDynamicSlots = 1

MyType = "StartD"
Name = "b"
Machine = "b"
IsEnforcingDiskUsage = true
LvmDetectedDisk = 100
LvmNonCondorDiskUsage = 200
LvmUsingLoopback = true
OpSys = "WINDOWS"
Arch = "INTEL"
OpSysAndVer = "WINDOWS1000"
OpSysShortName = "Win10"
DetectedCpus = 2
DetectedMemory = 1000
TotalGPUs = 0
LastHeardFrom = 1800000000
BrokenSlots = { 3, 4 }

MyType = "StartD"
Name = "c"
Machine = "c"
DetectedCpus = 2
TotalGPUs = 1
DetectedGPUs = "CUDA0, CUDA1"
LastHeardFrom = 1800000000
HealthFactor = 1.0

MyType = "StartD"
Name = "e"
Machine = "e"
DetectedCpus = 2
TotalGPUs = 1
DetectedMemory = 1024.5
DetectedGPUs = { [ DeviceName = "A"; GlobalMemoryMB = 100 ], [ DeviceName = "B"; GlobalMemoryMB = 90 ], [DeviceName = "A"; GlobalMemoryMB = 100 ] }
LastHeardFrom = 1800000000
BrokenReasons = { slot1_1BrokenReason, "x" }
slot1_1BrokenReason = "could not clean up"
slot1_1BrokenContext = [ Id = "slot1_1#4"; Time = 1799999000; JobId = "3.0"; RemoteUser = "u@d"; RemoteScheddName = "s"; Cpus = 1; GPUs = 0; Memory = 128; Disk = 20480; AssignedGPUs = "GPU-1" ]
