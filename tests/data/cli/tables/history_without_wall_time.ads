ClusterId = 1
ProcId = 0
Owner = "a"
QDate = 1700000000
RemoteUserCpu = 3.0
Cmd = "/bin/a"
JobStatus = 4
*** Offset = 0 ClusterId = 1 ProcId = 0 Owner = "a" CompletionDate = 0
