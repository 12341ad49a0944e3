"""Submit commands: instances in clouds, which the grid universe starts. A pure table."""

from kettle.submit.commands.command import Command

COMMANDS = (
    Command(
        "ec2_access_key_id",
        "EC2AccessKeyId",
        "special",
        "File with the cloud's access key.",
        universes="grid",
    ),
    Command(
        "ec2_secret_access_key",
        "EC2SecretAccessKey",
        "special",
        "File with the cloud's secret key.",
        universes="grid",
    ),
    Command("ec2_ami_id", "EC2AmiID", "plain", "Image of the cloud instance.", universes="grid"),
    Command(
        "ec2_instance_type",
        "EC2InstanceType",
        "plain",
        "Type of the cloud instance.",
        universes="grid",
    ),
    Command(
        "ec2_user_data", "EC2UserData", "plain", "Data for the cloud instance.", universes="grid"
    ),
    Command(
        "ec2_user_data_file", "EC2UserDataFile", "special", "File with such data.", universes="grid"
    ),
    Command(
        "ec2_keypair",
        "EC2KeyPair",
        "plain",
        "Key pair of the cloud instance.",
        ("ec2_keyp_air",),
        universes="grid",
    ),
    Command(
        "ec2_keypair_file",
        "EC2KeyPairFile",
        "special",
        "File that the private half of a new key pair is written to.",
        ("ec2_key_pair_file",),
        universes="grid",
    ),
    Command(
        "ec2_security_groups",
        "EC2SecurityGroups",
        "plain",
        "Security groups of the cloud instance.",
        universes="grid",
    ),
    Command(
        "ec2_security_ids",
        "EC2SecurityIDs",
        "plain",
        "Identities of security groups of the cloud instance.",
        universes="grid",
    ),
    Command(
        "ec2_elastic_ip",
        "EC2ElasticIp",
        "plain",
        "Elastic address for the cloud instance.",
        universes="grid",
    ),
    Command(
        "ec2_ebs_volumes",
        "EC2ElasticBlockStorageVolumes",
        "special",
        "Volumes that are attached to it, each as volume:device.",
        universes="grid",
    ),
    Command(
        "ec2_availability_zone",
        "EC2AvailabilityZone",
        "plain",
        "Availability zone of the cloud instance.",
        universes="grid",
    ),
    Command(
        "ec2_vpc_subnet", "EC2VpcSubnet", "plain", "Subnet of the cloud instance.", universes="grid"
    ),
    Command("ec2_vpc_ip", "EC2VpcIp", "plain", "Its address in that subnet.", universes="grid"),
    Command(
        "ec2_spot_price", "EC2SpotPrice", "plain", "Price for a spot instance.", universes="grid"
    ),
    Command(
        "ec2_block_device_mapping",
        "EC2BlockDeviceMapping",
        "plain",
        "Storage devices of the cloud instance.",
        universes="grid",
    ),
    Command(
        "ec2_iam_profile_arn",
        "EC2IamProfileArn",
        "plain",
        "Resource name of its identity profile.",
        universes="grid",
    ),
    Command(
        "ec2_iam_profile_name",
        "EC2IamProfileName",
        "special",
        "Name of its identity profile.",
        universes="grid",
    ),
    Command(
        "ec2_parameter_names",
        "EC2ParamNames",
        "special",
        "Names of further parameters of the request, ec2_parameter_NAME each.",
        universes="grid",
    ),
    Command(
        "ec2_tag_names",
        "EC2TagNames",
        "special",
        "Names of the tags of a cloud instance, ec2_tag_NAME each.",
        universes="grid",
    ),
    Command(
        "wantnametag",
        "",
        "special",
        "Whether an instance without a tag Name is tagged with the executable's.",
        universes="grid",
    ),
    Command("gce_image", "GceImage", "plain", "Image of the Google instance.", universes="grid"),
    Command(
        "gce_machine_type",
        "GceMachineType",
        "plain",
        "Type of the Google instance.",
        universes="grid",
    ),
    Command(
        "gce_auth_file",
        "GceAuthFile",
        "special",
        "File with the credentials of Google.",
        universes="grid",
    ),
    Command(
        "gce_account",
        "GceAccount",
        "plain",
        "Account that the Google instance runs under.",
        universes="grid",
    ),
    Command(
        "gce_metadata",
        "GceMetadata",
        "comma list",
        "Data for the Google instance, as NAME=VALUE.",
        universes="grid",
    ),
    Command(
        "gce_metadata_file", "GceMetadataFile", "special", "File with such data.", universes="grid"
    ),
    Command(
        "gce_preemptible",
        "GcePreemptible",
        "boolean",
        "Whether the Google instance may be taken away.",
        universes="grid",
    ),
    Command(
        "gce_json_file",
        "GceJsonFile",
        "special",
        "File whose JSON goes into the request.",
        universes="grid",
    ),
    Command(
        "azure_auth_file",
        "AzureAuthFile",
        "special",
        "File with the credentials of Azure.",
        universes="grid",
    ),
    Command("azure_image", "AzureImage", "plain", "Image of the Azure instance.", universes="grid"),
    Command(
        "azure_location",
        "AzureLocation",
        "plain",
        "Location of the Azure instance.",
        universes="grid",
    ),
    Command("azure_size", "AzureSize", "plain", "Size of the Azure instance.", universes="grid"),
    Command(
        "azure_admin_username",
        "AzureAdminUsername",
        "plain",
        "User of the Azure instance.",
        universes="grid",
    ),
    Command(
        "azure_admin_key",
        "AzureAdminKey",
        "plain",
        "File with the key of that user.",
        universes="grid",
    ),
    Command(
        "cloud_label_names",
        "CloudLabelNames",
        "special",
        "Names of the labels of a cloud instance, cloud_label_NAME each.",
        universes="grid",
    ),
)
