"""The wheel's `htcondor2.dags` by the same names: graphs of jobs, written as files for DAGMan.

dag = dags.DAG()
split = dag.layer(name="split", submit_description=htcondor2.Submit({"executable": "split"}))
split.child_layer(name="work", vars=[{"part": str(number)} for number in range(10)])
path = dags.write_dag(dag, "workflow")
"""

from __future__ import annotations

from kettle.compat.htcondor2.dags import exceptions
from kettle.compat.htcondor2.dags.dag import DAG, DotConfig, NodeStatusFile
from kettle.compat.htcondor2.dags.edges import (
    BaseEdge,
    Grouper,
    JoinFactory,
    JoinNode,
    ManyToMany,
    OneToOne,
    Slicer,
)
from kettle.compat.htcondor2.dags.formatter import (
    DEFAULT_SEPARATOR,
    NodeNameFormatter,
    SimpleFormatter,
)
from kettle.compat.htcondor2.dags.node import (
    BaseNode,
    DAGAbortCondition,
    FinalNode,
    NodeLayer,
    Nodes,
    Script,
    SubDAG,
)
from kettle.compat.htcondor2.dags.rescue import find_rescue_file, rescue
from kettle.compat.htcondor2.dags.walk_order import WalkOrder
from kettle.compat.htcondor2.dags.writer import (
    CONFIG_FILE_NAME,
    DEFAULT_DAG_FILE_NAME,
    write_dag,
)

__all__ = [
    "CONFIG_FILE_NAME",
    "DAG",
    "DEFAULT_DAG_FILE_NAME",
    "DEFAULT_SEPARATOR",
    "BaseEdge",
    "BaseNode",
    "DAGAbortCondition",
    "DotConfig",
    "FinalNode",
    "Grouper",
    "JoinFactory",
    "JoinNode",
    "ManyToMany",
    "NodeLayer",
    "NodeNameFormatter",
    "NodeStatusFile",
    "Nodes",
    "OneToOne",
    "Script",
    "SimpleFormatter",
    "Slicer",
    "SubDAG",
    "WalkOrder",
    "exceptions",
    "find_rescue_file",
    "rescue",
    "write_dag",
]
