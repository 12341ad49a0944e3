"""Jobs for clouds, and attributes that a description has no say in."""

from __future__ import annotations

from unit.submit.submitting import jobs_of, values

CLOUD = """universe = grid
grid_resource = ec2 https://cloud.example.org/
ec2_access_key_id = key
ec2_secret_access_key = secret
ec2_ami_id = ami
"""


def test_a_cloud_jobs_files_are_named_and_not_opened() -> None:
    made, _ = jobs_of(CLOUD + "ec2_user_data_file = missing\nqueue\n")
    assert made.cluster.get("EC2AccessKeyId") == '"/work/key"'
    assert made.cluster.get("EC2UserDataFile") == '"/work/missing"'


def test_tags_are_found_by_their_names() -> None:
    made, _ = jobs_of(CLOUD + "ec2_tag_names = a\nec2_tag_a = 1\nec2_tag_b = 2\nqueue\n")
    assert made.cluster.get("EC2TagNames") == '"a,b"'
    assert made.cluster.get("EC2Taga") == '"1"'
    assert made.warnings == []


def test_own_numbers_of_the_job_count_for_nothing() -> None:
    assert values("+ClusterId = 99\n+ProcId = 7\nqueue\n", "ClusterId") == ["1"]


def test_the_first_node_of_a_parallel_job_has_its_place_too() -> None:
    text = "universe = parallel\nmachine_count = 2\noutput = o.$(Node)\nqueue\n"
    assert values(text, "Out") == ['"o.#pArAlLeLnOdE#"']


def test_data_of_a_google_instance_is_divided_at_commas_alone() -> None:
    text = (
        "universe = grid\ngrid_resource = gce https://g p z\ngce_image = i\n"
        "gce_machine_type = m\ngce_metadata = one=1,  two='a b' ,,three=3\nqueue\n"
    )
    assert values(text, "GceMetadata") == ["\"one=1,two='a b',three=3\""]
