ClusterId=1
ProcId=0
Owner="a"
JobUniverse=7
JobStatus=2
QDate=1700000000
ServerTime=1700004000
Cmd="/bin/a"
NumJobStarts=12345
TransferQueued=true


ClusterId=2
ProcId=0
Owner="a"
JobUniverse=5
JobStatus=1
QDate=1700000000
ServerTime=1700004000
Cmd="/bin/a"
NumJobStarts=12345
TransferQueued=true
DAGManJobId=1
DAGNodeName="A"

ClusterId=3
ProcId=0
Owner="a"
JobUniverse=5
JobStatus=5
QDate=1700000000
ServerTime=1700004000
Cmd="/bin/a"
NumJobStarts=12345
TransferQueued=true
DAGManJobId=1
DAGNodeName="B"
HoldReasonCode=1

ClusterId=4
ProcId=0
Owner="a"
JobUniverse=5
JobStatus=1
QDate=1700000000
ServerTime=1700004000
Cmd="/bin/a"
NumJobStarts=12345
TransferQueued=true

