MyType = "StartD"
Name = "a"
Machine = "a"
Arch = "X86_64"
OpSysAndVer = "Debian13"
Healthy = false
HealthFactor = 0.25
HealthExprs = { "disk", "gpu" }

MyType = "StartD"
Name = "b"
Machine = "b"
Arch = "X86_64"
OpSysAndVer = "Debian13"
Healthy = true
HealthExprs = "disk"

MyType = "StartD"
Name = "c"
Machine = "c"
Arch = "X86_64"
OpSysAndVer = "Debian13"
HealthFactor = 0.5

MyType = "StartD"
Name = "d"
Machine = "d"
OpSysAndVer = "Debian13"
Healthy = false
HealthExprs = [ disk = false; gpu = true ]

MyType = "StartD"
Name = "e"
Machine = "e"
Arch = "X86_64"
OpSysAndVer = "Debian13"
HealthFactor = 1.0
BrokenReasons = { "lost", "found" }
DetectedGPUs = { "a", "b" }

MyType = "StartD"
Name = "f"
Machine = "f"
Healthy = undefined
HealthFactor = 0
HealthExprs = "Disk > 5"
Disk = 3
DetectedGPUs = "a, b,c"

MyType = "StartD"
Name = "g"
Machine = "g"
Healthy = false
HealthExprs = { Disk > 5, Disk < 1 }
Disk = 3
