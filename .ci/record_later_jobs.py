#!/usr/bin/env python3
"""Record what the real `condor_submit -dry-run` gives the later jobs of a cluster.

    record_later_jobs.py    writes tests/data/later_jobs.json

Of each command of `COMMANDS` there are four descriptions of two jobs: the first job has it and the
second has it empty, the other way round, both have it with other values, and the first one has it
and the second says false. Those of `TEXTS` are whole descriptions. The tools are those of
`.ci/peer-condor` ($KETTLE_PEER_ROOT); no daemon is there. Of a description that is refused only
that is recorded. One that the reference crashes over is left out.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(os.environ.get("KETTLE_PEER_ROOT", "/var/cache/kettle-peer"))
HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "tests/data/later_jobs.json"
FILES = {"job.sh": "#!/bin/sh\n", "a": "a\n", "b": "b\n", "a.sif": "a\n", "b.sif": "b\n"}
QUEUE = re.compile(r"^queue\b", re.MULTILINE)
NAMED = re.compile(r"^executable =", re.MULTILINE)
SETTINGS = "SUBMIT_PREVENT_MULTI_QUEUE = false\nSCHEDD_INTERVAL = 300\n"
# A command, a value of it, and another one.
COMMANDS = """\
arguments|x|y z
environment|"A=1"|"B=2"
env|A=1|B=2
getenv|LANG|NONE
output|o|p
error|e|f
input|a|b
log|l|m
dagman_log|l|m
initialdir|/|/tmp
executable|job.sh|a
transfer_executable|false|true
should_transfer_files|YES|NO
should_transfer_files|NO|YES
should_transfer_files|IF_NEEDED|YES
when_to_transfer_output|ON_EXIT|ON_SUCCESS
when_to_transfer_output|ON_EXIT_OR_EVICT|ON_EXIT
transfer_input_files|a|b
transfer_input_files|a|http://h/a
transfer_input_files|http://h/a|ftp://h/a
transfer_output_files|f|g
transfer_output_remaps|"a=b"|"c=d"
request_memory|5|200
request_memory|5 GB|6 GB
request_cpus|3|1
request_cpus|1|2
request_disk|500|600
request_gpus|1|2
request_memory|undefined|5
request_cpus|undefined|2
require_gpus|Capability > 3|Capability > 4
gpus_minimum_memory|50|60
requirements|Memory > 5|Memory > 6
rank|Mips|KFlops
universe|local|vanilla
universe|scheduler|local
universe|vanilla|local
universe|container|docker
priority|4|5
hold|true|1
notification|Error|Always
notify_user|u@x|v@x
periodic_hold|NumJobStarts > 3|NumJobStarts > 4
periodic_remove|NumJobStarts > 3|NumJobStarts > 4
periodic_release|NumJobStarts > 3|NumJobStarts > 4
periodic_vacate|NumJobStarts > 3|NumJobStarts > 4
on_exit_hold|ExitCode > 3|ExitCode > 4
on_exit_remove|ExitCode > 3|ExitCode > 4
on_exit_hold_reason|"x"|"y"
max_retries|2|3
retry_until|5|6
success_exit_code|2|3
concurrency_limits|a|b
concurrency_limits_expr|"a"|"b"
accounting_group|g|h
accounting_group_user|u|v
nice_user|true|1
deferral_time|5|6
deferral_window|7|8
deferral_prep_time|8|9
cron_minute|5|6
cron_hour|5|6
stream_output|true|1
stream_error|true|1
stream_input|true|1
transfer_output|true|1
transfer_error|true|1
transfer_input|true|1
kill_sig|SIGUSR1|SIGUSR2
remove_kill_sig|SIGUSR1|SIGUSR2
hold_kill_sig|SIGUSR1|SIGUSR2
kill_sig_timeout|7|8
leave_in_queue|true|1
job_lease_duration|100|200
keep_claim_idle|5|6
coresize|5|6
description|d|e
batch_name|b|c
job_max_vacate_time|6|7
allowed_execute_duration|60|70
allowed_job_duration|60|70
checkpoint_exit_code|85|86
transfer_checkpoint_files|c|d
want_graceful_removal|true|1
erase_output_and_error_on_restart|true|1
skip_if_dataflow|true|1
preserve_relative_paths|true|1
encrypt_input_files|a|b
dont_encrypt_input_files|a|b
encrypt_execute_directory|true|1
transfer_plugins|a=a|b=b
append_files|x|y
output_destination|file:///tmp|http://h/a
email_attributes|Owner|Cmd
job_ad_information_attrs|Owner|Cmd
run_as_owner|true|1
load_profile|true|1
copy_to_spool|true|1
max_transfer_input_mb|5|6
max_transfer_output_mb|5|6
remote_initialdir|/r|/s
next_job_start_delay|4|5
tool_daemon_cmd|job.sh|a
tool_daemon_args|a|b
tool_daemon_input|a|b
cuda_version|5|6
retry_request_memory|500|600
retry_request_memory_increase|500|600
retry_request_disk|500|600
container_image|a.sif|b.sif
container_image|docker://a|docker://b
docker_image|d|e
starter_log|l|m
starter_debug|D_FULLDEBUG|D_ALL
ulog_execute_attrs|A|B
log_xml|true|1
manifest|true|1
on_evict_checks|x|y
+Foo|1|2
+JobPrio|7|8
+RequestMemory|8|9
+RequestGPUs|1|2
+Requirements|Memory > 5|Memory > 6
+DeferralTime|5|6
+JobStatus|5|1
+TransferInput|"a"|"http://h/a"
+ShouldTransferFiles|"YES"|"NO"
MY.Bar|"x"|"y"
machine_count|2|3
jobset.name|n|m
want_io_proxy|true|1
image_size|500|600
disk_usage|500|600
primary_unix_group|g|h
match_list_length|3|4
last_match_list_length|3|4
job_machine_attrs|A|B
job_machine_attrs_history_length|3|4
noop_job|true|1
noop_job_exit_code|3|4
shell|echo a|echo b
dag_node_name|a|b
use_x509userproxy|false|0
max_job_retirement_time|5|6
vm_memory|5|6
java_vm_args|a|b
suspend_job_at_exec|true|1
success_exit_signal|5|6
delegate_job_gsi_credentials_lifetime|5|6
stack_size|5|6
core_size|1|2
compress_files|a|b
fetch_files|a|b
hookkeyword|a|b
container_target_dir|/a|/b
remote_universe|vanilla|local
use_scitokens|false|0
allow_startup_script|true|1
transfer_container|false|true
allow_arguments_v1|true|1
"""
# Whole descriptions, of two jobs where they do not say it.
TEXTS = """\
nice_user = $CHOICE(Process,true,false)
log = $CHOICE(Process,a,)

nice_user = $CHOICE(Process,true,false)
log = $CHOICE(Process,a,)
request_memory = 1$(Process)

nice_user = $CHOICE(Process,true,false)
log = $CHOICE(Process,a,)
input = $CHOICE(Process,a,b)

log = a
nice_user = true
queue
log =
nice_user = false
queue

arguments = x
input = a
queue
arguments =
input =
queue

request_gpus = 1
output = o
queue
request_gpus =
output = p
queue

universe = vanilla
queue
universe = local
queue

executable = job.sh
queue
executable = a
queue

log = $(item)
request_cpus = $(item)
queue item in (3,4)

deferral_time = 5
deferral_window = $CHOICE(Process,7,)

cron_minute = 5
cron_hour = $CHOICE(Process,7,)

cron_minute = $CHOICE(Process,7,)
deferral_time = $CHOICE(Process,,5)

deferral_time = 5
deferral_prep_time = $CHOICE(Process,7,)

request_gpus = 1
require_gpus = $CHOICE(Process,Capability > 3,)

request_gpus = 1
gpus_minimum_memory = $CHOICE(Process,50,)

request_gpus = 1
gpus_minimum_memory = $CHOICE(Process,,50)

request_gpus = 1
gpus_minimum_memory = $CHOICE(Process,50,60)

request_gpus = 1
gpus_minimum_memory = 50
gpus_minimum_capability = $CHOICE(Process,5,)

request_gpus = 1
require_gpus = $CHOICE(Process,Capability > 3,Capability > 4)

request_gpus = 1
require_gpus = $CHOICE(Process,A > 3,)
gpus_minimum_memory = 50

request_gpus = $CHOICE(Process,1,)
require_gpus = Capability > 3

request_gpus = $CHOICE(Process,,1)
require_gpus = Capability > 3

accounting_group = $CHOICE(Process,g,)
accounting_group_user = u

accounting_group = $CHOICE(Process,,g)
accounting_group_user = u

accounting_group = g
accounting_group_user = $CHOICE(Process,u,)

accounting_group = g
nice_user = $CHOICE(Process,true,false)

nice_user = true
max_job_retirement_time = $CHOICE(Process,5,)

nice_user = true
max_job_retirement_time = $CHOICE(Process,5,6)

nice_user = $CHOICE(Process,,true)
max_job_retirement_time = 5

max_retries = 2
on_exit_hold = $CHOICE(Process,ExitCode > 3,ExitCode > 4)

max_retries = 2
retry_until = 5
on_exit_remove = $CHOICE(Process,ExitCode > 3,ExitCode > 4)

max_retries = 2
retry_until = 5
on_exit_remove = $CHOICE(Process,ExitCode > 3,)

success_exit_code = 3
retry_until = $CHOICE(Process,5,)

success_exit_code = $CHOICE(Process,3,)
retry_until = 5

retry_until = 5
max_retries = $CHOICE(Process,3,)

on_evict_checks = $CHOICE(Process,x,y)
transform_body_x = SET A 1
transform_body_y = SET B 1
request_memory = 5
retry_request_memory = 10

on_evict_checks = $CHOICE(Process,x,)
transform_body_x = SET A 1
request_memory = 5
retry_request_memory = 10

container_image = $CHOICE(Process,a.sif,d)

environment = "A=1 B=2"
queue
environment = "A=2 C=3"
queue

environment = "A=$(Process)"
getenv = LANG

max_retries = 2
retry_until = $CHOICE(Process,5,)

max_retries = 2
on_exit_remove = $CHOICE(Process,ExitCode > 3,)

max_retries = 2
on_exit_hold = $CHOICE(Process,ExitCode > 3,)

max_retries = $CHOICE(Process,2,)
on_exit_remove = ExitCode > 3

max_retries = $CHOICE(Process,,2)
on_exit_remove = ExitCode > 3

max_retries = 2
success_exit_code = $CHOICE(Process,3,)

max_retries = 2
success_exit_code = $CHOICE(Process,,3)

should_transfer_files = YES
when_to_transfer_output = $CHOICE(Process,ON_SUCCESS,)

should_transfer_files = $CHOICE(Process,YES,)
when_to_transfer_output = ON_EXIT

should_transfer_files = $CHOICE(Process,NO,)
transfer_input_files = $CHOICE(Process,,a)

should_transfer_files = YES
when_to_transfer_output = ON_EXIT_OR_EVICT
transfer_input_files = $CHOICE(Process,a,)

transfer_input_files = a
input = $CHOICE(Process,b,)

input = a
stream_input = $CHOICE(Process,true,)

input = a
stream_input = $CHOICE(Process,true,false)

input = a
transfer_input = $CHOICE(Process,false,)

input = a
transfer_input = $CHOICE(Process,,false)

input = a
transfer_input = $CHOICE(Process,false,true)

output = o
stream_output = $CHOICE(Process,true,)

output = o
stream_output = $CHOICE(Process,true,false)

output = o
stream_output = $CHOICE(Process,,true)

output = o
transfer_output = $CHOICE(Process,false,)

output = o
transfer_output = $CHOICE(Process,,false)

output = o
transfer_output = $CHOICE(Process,false,true)

output = $CHOICE(Process,o,/dev/null)

output = $CHOICE(Process,/dev/null,o)

output = $CHOICE(Process,o,p)
stream_output = $CHOICE(Process,true,)

output = o
error = $CHOICE(Process,o,)

tool_daemon_cmd = a
tool_daemon_input = $CHOICE(Process,b,)

tool_daemon_cmd = a
tool_daemon_args = $CHOICE(Process,x,)

tool_daemon_cmd = $CHOICE(Process,a,)
transfer_input_files = b

suspend_job_at_exec = $CHOICE(Process,true,)
tool_daemon_cmd = a

container_image = $CHOICE(Process,a.sif,b.sif)
universe = container

container_image = $CHOICE(Process,a.sif,b.sif)
transfer_input_files = a

container_image = $CHOICE(Process,a.sif,)
universe = container

container_image = a.sif
transfer_input_files = $CHOICE(Process,a,)

container_image = a.sif
transfer_input_files = $CHOICE(Process,,a)

container_image = $CHOICE(Process,a.sif,docker://a)

container_image = $CHOICE(Process,docker://a,a.sif)

container_image = $CHOICE(Process,a.sif,)
docker_image = $CHOICE(Process,,d)

universe = docker
docker_image = $CHOICE(Process,d,e)

universe = docker
docker_image = $CHOICE(Process,d,)

universe = $CHOICE(Process,docker,vanilla)
docker_image = d

universe = $CHOICE(Process,vanilla,docker)
docker_image = $CHOICE(Process,,d)

universe = docker
docker_image = d
container_service_names = $CHOICE(Process,a,)
a_container_port = 5

universe = docker
docker_image = d
docker_network_type = $CHOICE(Process,x,)

universe = docker
docker_image = d
docker_network_type = $CHOICE(Process,,x)

universe = local
kill_sig = $CHOICE(Process,SIGUSR1,)

universe = local
kill_sig = $CHOICE(Process,,SIGUSR1)

universe = local
job_lease_duration = $CHOICE(Process,,100)

universe = parallel
machine_count = $CHOICE(Process,2,3)

universe = parallel
machine_count = $CHOICE(Process,2,)

universe = java
arguments = A
jar_files = $CHOICE(Process,a,b)

universe = java
arguments = A
jar_files = $CHOICE(Process,a,)

universe = java
arguments = A
jar_files = $CHOICE(Process,a,)
transfer_input_files = b

universe = java
arguments = A
java_vm_args = $CHOICE(Process,x,)

universe = vm
vm_type = kvm
vm_memory = $CHOICE(Process,5,6)
vm_disk = a:b:w

universe = vm
vm_type = kvm
vm_memory = 5
vm_disk = a:b:w
vm_networking = $CHOICE(Process,true,)

universe = grid
grid_resource = $CHOICE(Process,batch pbs,batch slurm)

universe = grid
grid_resource = $CHOICE(Process,batch pbs,)

universe = grid
grid_resource = batch pbs
request_memory = $CHOICE(Process,5,)

universe = grid
grid_resource = batch pbs
batch_queue = $CHOICE(Process,q,)

request_memory = $CHOICE(Process,1,0)

request_cpus = $CHOICE(Process,0,2)

request_disk = $CHOICE(Process,0,2)

request_memory = $CHOICE(Process,RequestCpus * 5,)

request_memory = 5
retry_request_memory = $CHOICE(Process,500,)

request_memory = 5
retry_request_memory = $CHOICE(Process,,500)

request_memory = 5
retry_request_memory = $CHOICE(Process,500,600)

request_memory = 5
retry_request_memory = $CHOICE(Process,500,600)
request_disk = 5
retry_request_disk = $CHOICE(Process,500,)

request_memory = $CHOICE(Process,5,6)
retry_request_memory = 500

request_memory = $CHOICE(Process,5,)
retry_request_memory = 500

request_memory = $CHOICE(Process,,5)
retry_request_memory = 500

request_memory = $CHOICE(Process,5,6)
retry_request_memory_increase = 10

request_memory = $CHOICE(Process,5,)
retry_request_memory_increase = 10

request_memory = 5
on_evict_checks = $CHOICE(Process,x,)
transform_body_x = SET A 1

request_memory = 5
on_evict_checks = x
transform_body_x = $CHOICE(Process,SET A 1,)

request_memory = 5
on_evict_checks = x
transform_body_x = SET A $(Process)

requirements = $CHOICE(Process,Memory > 5,)
request_memory = $CHOICE(Process,5,)

requirements = $CHOICE(Process,OpSys == "X",)

requirements = Arch == "X"
request_cpus = $CHOICE(Process,2,)

+RequestMemory = 5
request_memory = $CHOICE(Process,5,6)

+RequestGPUs = $CHOICE(Process,0,1)

+RequestFoo = $CHOICE(Process,,1)

+RequestFoo = $CHOICE(Process,1,)

+Requirements = true
request_cpus = $CHOICE(Process,2,)

+JobStatus = $CHOICE(Process,5,1)
hold = $CHOICE(Process,false,true)

+JobStatus = $CHOICE(Process,1,5)

+JobStatus = $CHOICE(Process,5,)

+JobStatus = $CHOICE(Process,,5)

+WantFTOnCheckpoint = $CHOICE(Process,true,false)

+EncryptInputFiles = $CHOICE(Process,"a",)

+OCUWanted = $CHOICE(Process,true,false)

+ToolDaemonCmd = $CHOICE(Process,"a",)

+CUDAVersion = $CHOICE(Process,5000,)
cuda_version = 6

checkpoint_exit_code = $CHOICE(Process,85,)
request_cpus = $CHOICE(Process,2,3)

preserve_relative_paths = $CHOICE(Process,true,)
request_cpus = $CHOICE(Process,2,3)

preserve_relative_paths = $CHOICE(Process,true,false)

encrypt_execute_directory = $CHOICE(Process,true,)
request_cpus = $CHOICE(Process,2,3)

transfer_plugins = $CHOICE(Process,a=a,)
transfer_input_files = a://b

transfer_plugins = $CHOICE(Process,,a=a)
transfer_input_files = a://b

output_destination = $CHOICE(Process,http://h/a,)
transfer_input_files = ftp://b

transfer_input_files = $CHOICE(Process,http://h/a,a)

transfer_input_files = $CHOICE(Process,http://h/a,)
request_cpus = $CHOICE(Process,2,3)

transfer_output_remaps = $CHOICE(Process,"a=http://h/a",)

environment = "A=1"
getenv = $CHOICE(Process,LANG,)

environment = "A=1"
getenv = $CHOICE(Process,,LANG)

environment = $CHOICE(Process,A=1,"A=1")

environment = $CHOICE(Process,"A=1","")

arguments = $CHOICE(Process,x,"x")

arguments = $CHOICE(Process,"x",x)

arguments = $CHOICE(Process,"x","")

arguments = $CHOICE(Process,x,)
arguments2 = $CHOICE(Process,,"y")

initialdir = $CHOICE(Process,/tmp,)
log = l
output = o

initialdir = $CHOICE(Process,,/tmp)
log = l
output = o

initialdir = $CHOICE(Process,,/tmp)
log = l
transfer_input_files = a

initialdir = $CHOICE(Process,/tmp,)
log = $CHOICE(Process,l,)

executable = $CHOICE(Process,job.sh,a)
transfer_executable = $CHOICE(Process,false,)

executable = $CHOICE(Process,job.sh,/nowhere)
transfer_executable = $CHOICE(Process,true,false)

image_size = $CHOICE(Process,500,)
executable = $CHOICE(Process,job.sh,a)

starter_log = $CHOICE(Process,l,)
starter_debug = $CHOICE(Process,,D_ALL)

starter_log = l
starter_debug = $CHOICE(Process,D_ALL,)

leave_in_queue = $CHOICE(Process,,true)

hold = $CHOICE(Process,false,true)

hold = $CHOICE(Process,true,false)
request_memory = 1$(Process)

notify_user = $CHOICE(Process,u,)
notification = $CHOICE(Process,Error,Never)

arguments = $(item)
output = $(item).o
queue item in (a,b)

arguments = $(Step)
"""
# Runs inside, with a folder of descriptions: prints what the tool says to each.
RUNS = """
import json, os, subprocess, sys
said = {}
for name in sorted(os.listdir(".")):
    if name.endswith(".sub"):
        words = ["condor_submit", "-dry-run", "-", name]
        run = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        said[name] = [run.returncode, run.stdout, run.stderr]
print(json.dumps(said))
"""


def descriptions() -> list[str]:
    """Return all descriptions; those that do not name an executable have one."""
    made = []
    for line in COMMANDS.splitlines():
        command, value, other = line.split("|")
        pairs = [(value, ""), ("", value), (value, other)]
        if value in ("true", "1"):
            pairs += [(value, "false"), ("false", value), ("", "false")]
        for first, second in pairs:
            lines = f"l0 = {first}\nl1 = {second}\n{command} = $(l$(Process))\n"
            made.append(f"{lines}queue 2\n")
    for text in TEXTS.rstrip("\n").split("\n\n"):
        made += [f"{text}\n" if QUEUE.search(text) else f"{text}\nqueue 2\n"]
    return [text if NAMED.search(text) else f"executable = job.sh\n{text}" for text in made]


def jobs_of(said: str, folder: str) -> list[dict[str, str]]:
    """Return the jobs' ads of a dry run: the first one's is the cluster's too."""
    jobs: list[dict[str, str]] = []
    job: dict[str, str] = {}
    for line in said.split("\n"):
        found = re.match(r"([A-Za-z_]\w*)=(.*)", line)
        if line == ".":
            jobs.append(job)
            job = {}
        elif found is not None:
            job[found[1]] = found[2].replace(folder, "/work").replace("tester", "me")
    return jobs


def record(texts: list[str]) -> list[list[object]]:
    """Return each description with what its second job has otherwise, None for a refusal."""
    with tempfile.TemporaryDirectory(dir=ROOT / "tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        inside = f"/tmp/{folder.name}"
        for file, content in FILES.items():
            (folder / file).write_text(content, encoding="ascii")
        (folder / "config").write_text(SETTINGS, encoding="ascii")
        for number, text in enumerate(texts):
            (folder / f"{number:04}.sub").write_text(text, encoding="ascii")
        script = (
            f"cd {inside} && exec env -i PATH=/usr/bin:/bin HOME=/home/me LANG=C "
            f"CONDOR_CONFIG={inside}/config python3 -c '{RUNS}'"
        )
        words = [str(HERE / "peer-condor"), "in", "su", "tester", "-s", "/bin/sh", "-c", script]
        out = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    said = json.loads(out)
    made: list[list[object]] = []
    for number, text in enumerate(texts):
        code, printed, errors = said[f"{number:04}.sub"]
        if code < 0 or code > 128:
            print("crashed over:", text)
            continue
        jobs = jobs_of(printed, inside)
        if code or len(jobs) < 2:
            print("refused:", repr(text), errors[-200:])
            made.append([text, None])
            continue
        made.append([text, {key: one for key, one in jobs[1].items() if key != "ProcId"}])
    return made


def main() -> None:
    """Record all of them."""
    rows = ",\n".join(f"  {json.dumps(row)}" for row in record(descriptions()))
    TARGET.write_text(f"[\n{rows}\n]\n", encoding="ascii")


if __name__ == "__main__":
    main()
