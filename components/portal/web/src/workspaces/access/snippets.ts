import type { Credentials } from "../../api/workspaces.ts";

export interface Snippet {
  readonly id: string;
  readonly title: string;
  /** What to do with it. */
  readonly about: string;
  readonly text: string;
}

/** What to type to use the storage of a workspace with the programs people have. */
export function makeSnippets({ bucketname, access, secret, endpoint, region }: Credentials): readonly Snippet[] {
  const { host, protocol } = new URL(endpoint);
  return [
    {
      id: "aws",
      title: "aws",
      about: "The command line of AWS, in a shell",
      text: `export AWS_ACCESS_KEY_ID=${access}
export AWS_SECRET_ACCESS_KEY=${secret}
export AWS_DEFAULT_REGION=${region}
export AWS_ENDPOINT_URL=${endpoint}

aws s3 cp scene.tif s3://${bucketname}/scenes/
aws s3 ls s3://${bucketname}/scenes/
`,
    },
    {
      id: "rclone",
      title: "rclone",
      about: "A section of rclone.conf (rclone config file says where that is)",
      text: `# rclone copy scenes swath:${bucketname}/scenes
[swath]
type = s3
provider = Other
access_key_id = ${access}
secret_access_key = ${secret}
endpoint = ${endpoint}
region = ${region}
force_path_style = true
no_check_bucket = true
`,
    },
    {
      id: "python",
      title: "Python",
      about: "With boto3 (pip install boto3)",
      text: `import boto3

s3 = boto3.client(
    "s3",
    endpoint_url="${endpoint}",
    region_name="${region}",
    aws_access_key_id="${access}",
    aws_secret_access_key="${secret}",
)
s3.upload_file("scene.tif", "${bucketname}", "scenes/scene.tif")
for item in s3.list_objects_v2(Bucket="${bucketname}").get("Contents", []):
    print(item["Key"], item["Size"])
`,
    },
    {
      id: "gdal",
      title: "GDAL",
      about: "Reads a scene where it is, without a copy",
      text: `export AWS_ACCESS_KEY_ID=${access}
export AWS_SECRET_ACCESS_KEY=${secret}
export AWS_REGION=${region}
export AWS_S3_ENDPOINT=${host}
export AWS_HTTPS=${protocol === "https:" ? "YES" : "NO"}
export AWS_VIRTUAL_HOSTING=FALSE

gdalinfo /vsis3/${bucketname}/scenes/scene.tif
`,
    },
  ];
}
