ClusterId = 1
ProcId = 0
Owner = "ann"
JobStatus = 1
