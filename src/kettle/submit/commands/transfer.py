"""Submit commands: files that travel with the job. A pure table."""

from kettle.submit.commands.command import Command

COMMANDS = (
    Command(
        "should_transfer_files",
        "ShouldTransferFiles",
        "special",
        "Whether files travel: YES, NO or IF_NEEDED.",
    ),
    Command(
        "when_to_transfer_output",
        "WhenToTransferOutput",
        "special",
        "When output comes back: ON_EXIT, ON_EXIT_OR_EVICT or ON_SUCCESS.",
    ),
    Command(
        "transfer_input_files",
        "TransferInput",
        "special",
        "Files and URLs to send along.",
        ("transferinputfiles",),
    ),
    Command(
        "transfer_output_files",
        "TransferOutput",
        "special",
        "Files to bring back; all new ones by default.",
        ("transferoutputfiles",),
    ),
    Command(
        "transfer_output_remaps",
        "TransferOutputRemaps",
        "filled string",
        "Other names for files that come back.",
    ),
    Command(
        "transfer_checkpoint_files",
        "TransferCheckpoint",
        "plain",
        "Files that make up a checkpoint.",
    ),
    Command(
        "preserve_relative_paths",
        "PreserveRelativePaths",
        "boolean",
        "Whether files keep their folders in the sandbox.",
    ),
    Command(
        "transfer_input",
        "TransferIn",
        "special",
        "Accepted; the standard input is sent along with other files.",
    ),
    Command("transfer_output", "TransferOut", "special", "Whether the standard output comes back."),
    Command("transfer_error", "TransferErr", "special", "Whether the standard error comes back."),
    Command(
        "transfer_common_input",
        "CommonInputFiles",
        "special",
        "Files that are sent once for all jobs of the submission.",
    ),
    Command("output_directory", "OutputDirectory", "file", "Folder that all output comes back to."),
    Command("output_destination", "OutputDestination", "plain", "URL that all output is sent to."),
    Command(
        "checkpoint_destination",
        "CheckpointDestination",
        "plain",
        "URL that checkpoints are sent to.",
    ),
    Command(
        "transfer_plugins", "TransferPlugins", "plain", "Programs of the job's own that fetch URLs."
    ),
    Command(
        "transfer_container",
        "TransferContainer",
        "boolean",
        "Whether the container image is sent along.",
    ),
    Command(
        "public_input_files",
        "PublicInputFiles",
        "filled comma list",
        "Files that may be sent over HTTP without secrecy.",
    ),
    Command(
        "encrypt_input_files",
        "EncryptInputFiles",
        "plain",
        "Files to encrypt on their way to the machine.",
    ),
    Command(
        "encrypt_output_files", "EncryptOutputFiles", "plain", "Files to encrypt on their way back."
    ),
    Command(
        "dont_encrypt_input_files",
        "DontEncryptInputFiles",
        "plain",
        "Files not to encrypt on their way to the machine.",
    ),
    Command(
        "dont_encrypt_output_files",
        "DontEncryptOutputFiles",
        "plain",
        "Files not to encrypt on their way back.",
    ),
    Command("max_transfer_input_mb", "MaxTransferInputMB", "expression", "Most input in MB."),
    Command("max_transfer_output_mb", "MaxTransferOutputMB", "expression", "Most output in MB."),
    Command(
        "erase_output_and_error_on_restart",
        "EraseOutputAndErrorOnRestart",
        "boolean",
        "Whether output is emptied when the job starts again.",
    ),
    Command(
        "checkpoint_exit_code",
        "SuccessCheckpointExitCode",
        "integer",
        'Exit code that means "a checkpoint is ready".',
    ),
    Command("manifest", "ManifestDesired", "boolean", "Whether lists of the sandbox are kept."),
    Command("manifest_dir", "ManifestDir", "plain", "Where they are kept."),
    Command(
        "skip_if_dataflow",
        "SkipIfDataflow",
        "boolean",
        "Whether the job is skipped when its output is newer than its input.",
    ),
    Command("append_files", "AppendFiles", "plain", "Files that are appended to."),
    Command("compress_files", "CompressFiles", "plain", "Files that are compressed."),
    Command("fetch_files", "FetchFiles", "plain", "Files that are fetched."),
    Command("local_files", "LocalFiles", "plain", "Files that stay on the machine."),
    Command("file_remaps", "FileRemaps", "expression", "Other names for files."),
    Command("buffer_files", "BufferFiles", "expression", "Files that are buffered."),
    Command(
        "buffer_size", "BufferSize", "expression", "Size of the buffer of remote files in bytes."
    ),
    Command(
        "buffer_block_size", "BufferBlockSize", "expression", "Size of a block of it in bytes."
    ),
    Command("want_io_proxy", "WantIOProxy", "boolean", "Whether the job gets a chirp connection."),
    Command(
        "want_job_networking",
        "WantJobNetworking",
        "boolean",
        "Whether the job wants the network.",
    ),
    Command(
        "delegate_job_gsi_credentials_lifetime",
        "DelegateJobGSICredentialsLifetime",
        "special",
        "How long a delegated X.509 proxy is good, in seconds.",
    ),
    Command("x509userproxy", "x509userproxy", "special", "An X.509 proxy to send along."),
    Command(
        "use_x509userproxy", "", "special", "Whether the submitter's X.509 proxy is sent along."
    ),
    Command("use_scitokens", "", "special", "Whether a SciToken is sent along.", ("use_scitoken",)),
    Command("scitokens_file", "ScitokensFile", "special", "The SciToken to send along."),
    Command(
        "use_oauth_services",
        "OAuthServicesNeeded",
        "special",
        "OAuth services whose tokens the job needs.",
        ("useoauthservices",),
    ),
    Command(
        "s3_access_key_id_file",
        "EC2AccessKeyId",
        "plain",
        "File with the access key for s3 and gs URLs.",
        (
            "aws_access_key_id_file",
            "gs_access_key_id_file",
        ),
    ),
    Command(
        "s3_secret_access_key_file",
        "EC2SecretAccessKey",
        "plain",
        "File with the secret key for s3 and gs URLs.",
        (
            "aws_secret_access_key_file",
            "gs_secret_access_key_file",
        ),
    ),
    Command("aws_region", "AWSRegion", "plain", "Region of the bucket of s3 URLs."),
    Command(
        "rendezvousdir",
        "",
        "special",
        "Folder that both sides of an authentication over a shared file system see.",
        ("rendezvous_dir", "rendezvousdirectory", "rendezvous_directory"),
    ),
)
