"""Steps: where a job of the grid universe goes, and what an instance in a cloud is told.

What depends on nothing but its own command is in the tables; here are the commands that must be
there, those that exclude each other, and the families whose names the user chooses (tags, labels,
parameters). Source: vectors, submit commands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.attributes.codes import JobUniverse
from kettle.errors import SubmitError
from kettle.named_tuples import NamedTuple
from kettle.octets import BLANKS
from kettle.submit.arguments import split_list
from kettle.submit.job import JobBuilder, strip_quotes
from kettle.submit.notices import ERROR_MARK

if TYPE_CHECKING:
    from kettle.submit.macros import Variable

GRID_TYPES = (
    "condor", "batch", "arc", "ec2", "gce", "azure", "pbs", "lsf", "nqs", "sge", "blah", "naregi"
)  # fmt: skip
ROLE = "FROM INSTANCE"
# Commands that name files: the name is made absolute. Compat: the reference opens them first, but
# not in a dry run; here whoever starts the instance says what it could not read
# (test_a_cloud_jobs_files_are_named_and_not_opened).
FILES = (
    ("ec2_user_data_file", "EC2UserDataFile"),
    ("gce_auth_file", "GceAuthFile"),
    ("gce_metadata_file", "GceMetadataFile"),
    ("gce_json_file", "GceJsonFile"),
    ("azure_auth_file", "AzureAuthFile"),
)
# What each cloud must be told, and how the reference calls for it.
NEEDED = {
    "ec2": ("EC2 jobs require a", ("ec2_ami_id",)),
    "gce": ("GCE jobs require a", ("gce_image", "gce_machine_type")),
    "azure": (
        "Azure jobs require an",
        (
            "azure_image",
            "azure_location",
            "azure_size",
            "azure_admin_username",
            "azure_admin_key",
        ),
    ),
}


class Family(NamedTuple):
    """Commands whose names the user chooses, and the attributes they set."""

    names: str
    names_attribute: str
    prefix: str
    attribute_prefix: str


TAGS = Family("ec2_tag_names", "EC2TagNames", "ec2_tag_", "EC2Tag")
LABELS = Family("cloud_label_names", "CloudLabelNames", "cloud_label_", "CloudLabel")
PARAMETERS = Family("ec2_parameter_names", "EC2ParamNames", "ec2_parameter_", "EC2Param_")


def read_grid_type(job: JobBuilder) -> None:
    """Find out where a grid job goes; raise SubmitError for nowhere and for what is unknown."""
    if job.universe is not JobUniverse.GRID:
        return
    text = job.said("grid_resource", "GridResource")
    if text is None:
        raise SubmitError("grid_resource attribute not defined for grid universe job")
    # A blank is what ends it, and no tabulator.
    word = text.partition(" ")[0]
    if word.lower() not in GRID_TYPES:
        raise SubmitError(
            f"Invalid value '{word}' for grid type\n"
            "Must be one of: condor, batch, arc, ec2, gce, or azure"
        )
    job.grid_type = word.lower()


def set_grid(job: JobBuilder) -> None:
    """Decide the attributes of grid jobs that do not come out of their text alone."""
    if job.universe is not JobUniverse.GRID:
        return
    text = job.said("grid_resource", "GridResource") or ""
    job.set_string("GridResource", text)
    if text.lower() == "ec2":
        raise SubmitError("EC2 grid jobs require a service URL")
    _set_keys(job)
    for command, attribute in FILES:
        value = job.param(command)
        if value is not None:
            job.set_string(attribute, job.path(value))
    said, needed = NEEDED.get(job.grid_type, ("", ()))
    for command in needed:
        if job.param(command) is None:
            said += f' "{command}" parameter'
            # The reference marks one of them twice.
            again = f"\n{ERROR_MARK}" if job.grid_type == "azure" else ""
            raise SubmitError(f"{again}{said}", command=command, complaint=said)
    _set_key_pair(job)
    _set_volumes(job)
    _set_profile(job)
    _set_parameters(job)
    _set_family(job, TAGS)
    _set_family(job, LABELS)


def _set_keys(job: JobBuilder) -> None:
    for command, attribute in (
        ("ec2_access_key_id", "EC2AccessKeyId"),
        ("ec2_secret_access_key", "EC2SecretAccessKey"),
    ):
        value = job.param(command)
        if value is not None and value.upper() == ROLE:
            job.set_string("EC2AccessKeyId", ROLE)
            job.set_string("EC2SecretAccessKey", ROLE)
        elif value is not None:
            job.set_string(attribute, job.path(value))
    if job.grid_type != "ec2":
        return
    for attribute, own, other in (
        ("EC2AccessKeyId", "ec2_access_key_id", "aws_access_key_id_file"),
        ("EC2SecretAccessKey", "ec2_secret_access_key", "aws_secret_access_key_file"),
    ):
        if attribute not in job.attributes and job.param(other) is None:
            said = f"EC2 jobs require a '{own}' or '{other}' parameter"
            raise SubmitError(said, command=own)


def _set_key_pair(job: JobBuilder) -> None:
    name = job.param("ec2_keypair_file")
    if name is None:
        return
    if job.param("ec2_keypair") is not None:
        job.warn(
            "ec2_keypair_file",
            "EC2 job(s) contain both ec2_keypair && ec2_keypair_file, ignoring ec2_keypair_file",
        )
        return
    job.set_string("EC2KeyPairFile", job.path(name))


def _set_volumes(job: JobBuilder) -> None:
    text = job.param("ec2_ebs_volumes")
    if text is None:
        return
    if not has_fields(text, 2, 2):
        raise SubmitError(
            "'ec2_ebs_volumes' has incorrect format.\n"
            'The format shoud be like "<instance_id>:<devicename>"\n'
            "e.g.> For single volume: ec2_ebs_volumes = vol-35bcc15e:hda1\n"
            "      For multiple disks: ec2_ebs_volumes = vol-35bcc15e:hda1,vol-35bcc16f:hda2"
        )
    if job.param("ec2_availability_zone") is None:
        raise SubmitError("'ec2_ebs_volumes' requires 'ec2_availability_zone'")
    job.set_string("EC2ElasticBlockStorageVolumes", text)


def has_fields(text: str, least: int, most: int) -> bool:
    """Tell whether each of a list's parts has so many fields between colons."""
    parts = [part for part in text.split(",") if part.strip(BLANKS)]
    return bool(parts) and all(least <= part.count(":") + 1 <= most for part in parts)


def _set_profile(job: JobBuilder) -> None:
    name = job.param("ec2_iam_profile_name")
    if name is None:
        return
    if job.param("ec2_iam_profile_arn") is None:
        # Compat: the reference has the condition the wrong way round, and what it does with the
        # name is what jobs see (submit/commands.json, ec2_iam_profile_name).
        job.warn(
            "ec2_iam_profile_name",
            "EC2 job(s) contain both ec2_iam_profile_arn and ec2_iam_profile_name; "
            "ignoring ec2_iam_profile_name.",
        )
        return
    job.set_string("EC2IamProfileName", name)


def _set_parameters(job: JobBuilder) -> None:
    """Take the parameters that the request gets as they stand; dots in names become `_`."""
    names = _words(job.param(PARAMETERS.names))
    known = {name.replace(".", "_").lower() for name in names}
    for variable in _named(job, PARAMETERS.prefix):
        variable.used = True
        name = variable.name[len(PARAMETERS.prefix) :]
        job.set_string(f"{PARAMETERS.attribute_prefix}{name}", variable.text)
        if name.lower() not in known:
            names.append(name)
    if names:
        job.set_string(PARAMETERS.names_attribute, ", ".join(names))


def _set_family(job: JobBuilder, family: Family) -> None:
    names = _words(job.param(family.names))
    known = _lower(names)
    for prefix in (family.prefix, family.attribute_prefix):
        for variable in _named(job, prefix):
            name = variable.name[len(prefix) :]
            if not name.lower().startswith("names") and name.lower() not in known:
                names.append(name)
                known.add(name.lower())
    for name in names:
        for given in (f"{family.prefix}{name}", f"{family.attribute_prefix}{name}"):
            value = job.text_of(given)
            if value:
                job.set_string(f"{family.attribute_prefix}{name}", value)
                break
    if job.grid_type == "ec2" and "name" not in known:
        wanted = job.boolean("WantNameTag")
        if wanted is not False:
            job.set_string(f"{family.attribute_prefix}Name", job.param("executable") or "")
    if names:
        job.set_string(family.names_attribute, ",".join(names))


def _words(text: str | None) -> list[str]:
    return split_list(strip_quotes(text or ""))


def _lower(names: list[str]) -> set[str]:
    return {name.lower() for name in names}


def _named(job: JobBuilder, prefix: str) -> list[Variable]:
    """Return the description's variables whose names go on after a prefix, but `names`."""
    return [
        variable
        for key, variable in sorted(job.macros.variables.items())
        if key.startswith(prefix.upper()) and key not in (prefix.upper(), f"{prefix.upper()}NAMES")
    ]
