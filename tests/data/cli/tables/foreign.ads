ClusterId=1
ProcId=0
Owner="ünï"
JobStatus=2
QDate=1
Cmd="/bin/s"
JobUniverse=5

ClusterId=2
ProcId=0
Owner="ünïünïünïünïünïünïünï"
JobStatus=2
QDate=1
Cmd="/bin/ü"
JobBatchName="ßßßß"
JobUniverse=5
