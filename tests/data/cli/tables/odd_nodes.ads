ClusterId=1
ProcId=0
Owner="a"
QDate=1

ClusterId=102
ProcId=0
DAGManJobId=1
DAGNodeName="N"
Owner="w"

ClusterId=103
ProcId=0
DAGManJobId=1
DAGNodeName="N"

ClusterId=104
ProcId=0
DAGManJobId=1
DAGNodeName="N"
Owner=7

ClusterId=105
ProcId=0
DAGManJobId=1
DAGNodeName=""
Owner="w"

ClusterId=106
ProcId=0
DAGManJobId=1
DAGNodeName=""

ClusterId=107
ProcId=0
DAGManJobId=1
DAGNodeName=""
Owner=7

ClusterId=108
ProcId=0
DAGManJobId=1
Owner="w"

ClusterId=109
ProcId=0
DAGManJobId=1

ClusterId=110
ProcId=0
DAGManJobId=1
Owner=7

ClusterId=111
ProcId=0
DAGManJobId=1.5
DAGNodeName="N"
Owner="w"

ClusterId=112
ProcId=0
DAGManJobId=1.5
DAGNodeName="N"

ClusterId=113
ProcId=0
DAGManJobId=1.5
DAGNodeName=""
Owner="w"

ClusterId=114
ProcId=0
DAGManJobId=1.5
DAGNodeName=""

ClusterId=115
ProcId=0
DAGManJobId=1.5
Owner="w"

ClusterId=116
ProcId=0
DAGManJobId=1.5

ClusterId=117
ProcId=0
DAGManJobId=undefined
DAGNodeName="N"
Owner="w"

ClusterId=118
ProcId=0
DAGManJobId=undefined
DAGNodeName="N"

ClusterId=119
ProcId=0
DAGManJobId=undefined
DAGNodeName=""
Owner="w"

ClusterId=120
ProcId=0
DAGManJobId=undefined
DAGNodeName=""

ClusterId=121
ProcId=0
DAGManJobId=undefined
Owner="w"

ClusterId=122
ProcId=0
DAGManJobId=undefined

ClusterId=123
ProcId=0
DAGManJobId=true
DAGNodeName="N"
Owner="w"

ClusterId=124
ProcId=0
DAGManJobId=true
DAGNodeName="N"

ClusterId=125
ProcId=0
DAGManJobId=true
DAGNodeName=""
Owner="w"

ClusterId=126
ProcId=0
DAGManJobId=true
DAGNodeName=""

ClusterId=127
ProcId=0
DAGManJobId=true
Owner="w"

ClusterId=128
ProcId=0
DAGManJobId=true

ClusterId=129
ProcId=0
DAGManJobId="1"
DAGNodeName="N"
Owner="w"

ClusterId=130
ProcId=0
DAGManJobId="1"
DAGNodeName="N"

ClusterId=131
ProcId=0
DAGManJobId="1"
DAGNodeName=""
Owner="w"

ClusterId=132
ProcId=0
DAGManJobId="1"
DAGNodeName=""

ClusterId=133
ProcId=0
DAGManJobId="1"
Owner="w"

ClusterId=134
ProcId=0
DAGManJobId="1"

ClusterId=135
ProcId=0
DAGManJobId="1.0"
DAGNodeName="N"
Owner="w"

ClusterId=136
ProcId=0
DAGManJobId="1.0"
DAGNodeName="N"

ClusterId=137
ProcId=0
DAGManJobId="1.0"
DAGNodeName=""
Owner="w"

ClusterId=138
ProcId=0
DAGManJobId="1.0"
DAGNodeName=""

ClusterId=139
ProcId=0
DAGManJobId="1.0"
Owner="w"

ClusterId=140
ProcId=0
DAGManJobId="1.0"

ClusterId=141
ProcId=0
DAGManJobId=7
DAGNodeName="N"
Owner="w"

ClusterId=142
ProcId=0
DAGManJobId=7
DAGNodeName="N"

ClusterId=143
ProcId=0
DAGManJobId=7
DAGNodeName=""
Owner="w"

ClusterId=144
ProcId=0
DAGManJobId=7
DAGNodeName=""

ClusterId=145
ProcId=0
DAGManJobId=7
Owner="w"

ClusterId=146
ProcId=0
DAGManJobId=7

ClusterId=147
ProcId=0
DAGManJobId=-1
DAGNodeName="N"
Owner="w"

ClusterId=148
ProcId=0
DAGManJobId=-1
DAGNodeName="N"

ClusterId=149
ProcId=0
DAGManJobId=-1
DAGNodeName=""
Owner="w"

ClusterId=150
ProcId=0
DAGManJobId=-1
DAGNodeName=""

ClusterId=151
ProcId=0
DAGManJobId=-1
Owner="w"

ClusterId=152
ProcId=0
DAGManJobId=-1

ClusterId=153
ProcId=0
DAGNodeName="N"
Owner="w"

ClusterId=154
ProcId=0
DAGNodeName="N"

ClusterId=155
ProcId=0
DAGNodeName="N"
Owner=7

ClusterId=156
ProcId=0
DAGNodeName=""
Owner="w"

ClusterId=157
ProcId=0
DAGNodeName=""

ClusterId=158
ProcId=0
DAGNodeName=""
Owner=7

ClusterId=159
ProcId=0
Owner="w"

ClusterId=160
ProcId=0

ClusterId=161
ProcId=0
Owner=7
