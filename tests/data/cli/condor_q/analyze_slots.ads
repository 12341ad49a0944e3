MyType = "Machine"
TargetType = "Job"
Name = "slot1@vm"
Machine = "vm"
OpSys = "LINUX"
Cpus = 2
Memory = 2000
State = "Unclaimed"
Activity = "Idle"
SlotType = "Static"
Start = true
WithinResourceLimits = (MY.Cpus > 0 && TARGET.RequestCpus <= MY.Cpus)
Requirements = Start && WithinResourceLimits

MyType = "Machine"
TargetType = "Job"
Name = "slot2@vm"
Machine = "vm"
OpSys = "LINUX"
Cpus = 8
Memory = 4000
State = "Claimed"
Activity = "Busy"
SlotType = "Static"
RemoteUser = "ann@x"
RemoteOwner = "ann@x"
Start = TARGET.Owner != "bob"
Requirements = Start && TARGET.RequestCpus <= MY.Cpus
