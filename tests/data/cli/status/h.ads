MyType = "Machine"
Name = "slot1@a"
Machine = "a"
Arch = "X86_64"
OpSysAndVer = "Debian13"
Healthy = true
HealthFactor = 1.0
MachineHealth = 0.9
State="Unclaimed"
Activity="Idle"

MyType = "StartD"
Name = "b"
Machine = "b"
Arch = "X86_64"
OpSysAndVer = "Debian13"
HealthFactor = 0.5
Health = 0.5
FailedHealthChecks = "disk,gpu"
BrokenSlots = { [ SlotId = 1; BrokenReason = "lost"; BrokenCode = 3 ] }
BrokenReasons = "x"

MyType = "Machine"
Name = "slot1@c"
Machine = "c"
Arch = "X86_64"
OpSysAndVer = "Debian13"
SlotBrokenReason = "lost it"
SlotBrokenCode = 4
BrokenReason = "foo"
BrokenCode = 4
BrokenSlots = 1
