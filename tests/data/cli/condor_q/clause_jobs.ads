ClusterId = 9
ProcId = 0
Owner = "ann"
User = "ann@vm"
JobStatus = 1
AutoClusterId = 4
ServerTime = 1795418000
Want = false
Requirements = (Want || TARGET.Arch == "ARM") && (1 < 2) && (time() > -1) && Want

ClusterId = 10
ProcId = 0
Owner = "ann"
User = "ann@vm"
JobStatus = 1
AutoClusterId = 3
ServerTime = 1795418000
Requirements = Alpha == 1 && Alpha == 1 && Alpha == 1 && Alpha == 1 && Alpha == 1 && Alpha == 1 && Alpha == 1
JobUniverse = 5

ClusterId = 11
ProcId = 0
Owner = "ann"
User = "ann@vm"
JobStatus = 1
AutoClusterId = 2
ServerTime = 1795418000
Yes = true
Requirements = !(TARGET.Arch == "ARM") && !(TARGET.A && TARGET.B) && !isUndefined(TARGET.Memory) && Yes && (TARGET.Memory > 5 ? TARGET.Memory > 6 : false) && (Yes || time() > -7) && -TARGET.Memory < 3
JobUniverse = 5

ClusterId = 12
ProcId = 0
Owner = "ann"
User = "ann@vm"
JobStatus = 1
AutoClusterId = 1
ServerTime = 1795418000
No = false
Requirements = (No || TARGET.Memory > 5) && (time() < -7 || TARGET.Arch == "X86_64") && (TARGET.Arch == "ARM" || TARGET.Memory > 100) && !(No) && (1 > 2 || No)
JobUniverse = 5

ClusterId = 13
ProcId = 0
Owner = "ann"
User = "ann@vm"
JobStatus = 1
JobUniverse = 5
RequestCpus = 8
RequestMemory = 10
Requirements = TARGET.Cpus >= RequestCpus && TARGET.Memory >= RequestMemory

ClusterId = 13
ProcId = 1
Owner = "ann"
User = "ann@vm"
JobStatus = 2
LastMatchTime = 1795418000
JobUniverse = 5
RequestCpus = 1
RequestMemory = 10
AutoClusterId = 9
Requirements = TARGET.Cpus >= RequestCpus && TARGET.Memory >= RequestMemory
