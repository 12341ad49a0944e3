ClusterId = 5
ProcId = 0
AutoClusterId = 1
Owner = "ann"
User = "ann@x"
JobStatus = 2
JobUniverse = 5
JobPrio = 0
QDate = 1795300000
Cmd = "/bin/sleep"
RequestCpus = 1
RequestMemory = 100
Requirements = (TARGET.Memory >= RequestMemory) && (TARGET.OpSys == "LINUX")
LastMatchTime = 1795300010

ClusterId = 5
ProcId = 1
AutoClusterId = 1
Owner = "ann"
User = "ann@x"
JobStatus = 1
JobUniverse = 5
JobPrio = 0
QDate = 1795300000
Cmd = "/bin/sleep"
RequestCpus = 1
RequestMemory = 100
Requirements = (TARGET.Memory >= RequestMemory) && (TARGET.OpSys == "LINUX")

ClusterId = 6
ProcId = 0
AutoClusterId = 2
Owner = "ann"
User = "ann@x"
JobStatus = 1
JobUniverse = 5
JobPrio = 0
QDate = 1795300001
Cmd = "/bin/sleep"
RequestCpus = 1
RequestMemory = 999999
Requirements = (TARGET.Memory >= RequestMemory) && (TARGET.OpSys == "LINUX")

ClusterId = 7
ProcId = 0
AutoClusterId = 3
Owner = "bob"
User = "bob@x"
JobStatus = 1
JobUniverse = 5
JobPrio = 0
QDate = 1795300002
Cmd = "/bin/sleep"
RequestCpus = 4
RequestMemory = 100
Requirements = TARGET.OpSys == "WINDOWS"

ClusterId = 8
ProcId = 0
AutoClusterId = 4
Owner = "bob"
User = "bob@x"
JobStatus = 1
JobUniverse = 5
JobPrio = 0
QDate = 1795300003
Cmd = "/bin/sleep"
RequestCpus = 4
RequestMemory = 100
Requirements = TARGET.OpSys == "LINUX"

ClusterId = 9
ProcId = 0
AutoClusterId = 5
Owner = "bob"
User = "bob@x"
JobStatus = 5
HoldReason = "because"
JobUniverse = 5
JobPrio = 0
QDate = 1795300004
Cmd = "/bin/sleep"
RequestCpus = 4
RequestMemory = 9999
Requirements = TARGET.OpSys == "LINUX" && TARGET.Memory >= RequestMemory
