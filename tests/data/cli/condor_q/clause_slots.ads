Name = "slot1@vm"
Machine = "vm"
SlotID = 1
Arch = "X86_64"
PartitionableSlot = true
SlotType = "Partitionable"
MachineResources = "Cpus Memory"
Cpus = 5
Memory = 16000
TotalSlotCpus = 8
TotalSlotMemory = 20000
OpSys = "LINUX"
State = "Unclaimed"
Start = true
WithinResourceLimits = TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory
Requirements = Start && WithinResourceLimits

Name = "slot1_1@vm"
Machine = "vm"
SlotID = 1
DSlotID = 1
DynamicSlot = true
SlotType = "Dynamic"
Arch = "X86_64"
Cpus = 3
Memory = 4000
OpSys = "LINUX"
State = "Claimed"
RemoteUser = "ann@vm"
Rank = 0
CurrentRank = 0
Start = true
WithinResourceLimits = TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory
Requirements = Start && WithinResourceLimits

Name = "slot2@vm"
Machine = "vm"
SlotID = 2
Arch = "X86_64"
SlotType = "Static"
Cpus = 5
Memory = 50
OpSys = "LINUX"
State = "Claimed"
RemoteUser = "bob@vm"
Rank = 0
CurrentRank = 0
Start = TARGET.Owner != "bob"
Requirements = Start && (TARGET.RequestCpus - 1) < MY.Cpus

Name = "slot3@vm"
Machine = "vm"
SlotID = 3
Arch = "ARM"
SlotType = "Static"
Cpus = 8
Memory = 500
OpSys = "LINUX"
State = "Claimed"
RemoteUser = "eve@vm"
Rank = 0
CurrentRank = 0
Start = true
Requirements = Start

Name = "slot1@far.example.org"
Machine = "far.example.org"
SlotID = 1
Arch = "ARM"
SlotType = "Static"
Offline = true
Cpus = 8
Memory = 500
OpSys = "LINUX"
State = "Unclaimed"
Start = true
Requirements = Start
