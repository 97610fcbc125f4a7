"""A round trip of boto3 against the object store: boto3-round-trip.py <endpoint> <access key> <secret key> <folder>"""

import hashlib
import os
import sys
import urllib.request

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.client import Config
from botocore.exceptions import ClientError

endpoint, access_key, secret_key, folder = sys.argv[1:]


def connect(**options):
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
        region_name="us-east-1",
        config=Config(signature_version="s3v4", s3={"addressing_style": "path"}, retries={"max_attempts": 1}, **options),
    )


def expect_error(code, call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        assert error.response["Error"]["Code"] == code, error.response["Error"]
    else:
        raise AssertionError(f"{code} expected")


s3 = connect()
s3.create_bucket(Bucket="boto3")
s3.put_object(Bucket="boto3", Key="a b/ü+%.txt", Body=b"hello", ContentType="text/plain", Metadata={"scene": "x"})
answer = s3.get_object(Bucket="boto3", Key="a b/ü+%.txt")
assert answer["Body"].read() == b"hello"
assert answer["Metadata"] == {"scene": "x"}
assert s3.get_object(Bucket="boto3", Key="a b/ü+%.txt", Range="bytes=1-2")["Body"].read() == b"el"
expect_error("NoSuchKey", s3.get_object, Bucket="boto3", Key="absent")
expect_error("NoSuchBucket", s3.list_objects_v2, Bucket="absent-bucket")

# Managed transfers: parts of 5 MiB, several at once.
path = os.path.join(folder, "boto3.bin")
content = os.urandom(18 * 1024 * 1024)
with open(path, "wb") as file:
    file.write(content)
transfer = TransferConfig(multipart_threshold=5 * 1024 * 1024, multipart_chunksize=5 * 1024 * 1024, max_concurrency=4)
s3.upload_file(path, "boto3", "large.bin", Config=transfer)
head = s3.head_object(Bucket="boto3", Key="large.bin")
assert head["ETag"].endswith('-4"'), head["ETag"]
s3.download_file("boto3", "large.bin", path + ".down", Config=transfer)
with open(path + ".down", "rb") as file:
    assert hashlib.sha256(file.read()).digest() == hashlib.sha256(content).digest()
s3.copy({"Bucket": "boto3", "Key": "large.bin"}, "boto3", "copied.bin", Config=transfer)
assert s3.head_object(Bucket="boto3", Key="copied.bin")["ContentLength"] == len(content)

# Listing page by page, with folders.
for number in range(12):
    s3.put_object(Bucket="boto3", Key=f"list/{number % 3}/{number}", Body=b"")
pages = s3.get_paginator("list_objects_v2").paginate(
    Bucket="boto3", Prefix="list/", Delimiter="/", PaginationConfig={"PageSize": 2}
)
assert [each["Prefix"] for page in pages for each in page.get("CommonPrefixes", [])] == ["list/0/", "list/1/", "list/2/"]
assert sum(1 for _ in boto3.resource(
    "s3", endpoint_url=endpoint, aws_access_key_id=access_key, aws_secret_access_key=secret_key, region_name="us-east-1"
).Bucket("boto3").objects.filter(Prefix="list/")) == 12

# Presigned addresses and forms.
url = s3.generate_presigned_url("put_object", Params={"Bucket": "boto3", "Key": "signed"}, ExpiresIn=60)
urllib.request.urlopen(urllib.request.Request(url, data=b"by url", method="PUT")).close()
url = s3.generate_presigned_url("get_object", Params={"Bucket": "boto3", "Key": "signed"}, ExpiresIn=60)
with urllib.request.urlopen(url) as response:
    assert response.read() == b"by url"

# Versions.
s3.put_bucket_versioning(Bucket="boto3", VersioningConfiguration={"Status": "Enabled"})
first = s3.put_object(Bucket="boto3", Key="v", Body=b"1")["VersionId"]
s3.put_object(Bucket="boto3", Key="v", Body=b"2")
assert s3.delete_object(Bucket="boto3", Key="v")["DeleteMarker"] is True
assert s3.get_object(Bucket="boto3", Key="v", VersionId=first)["Body"].read() == b"1"

# Everything away.
versions = s3.list_object_versions(Bucket="boto3")
doomed = [{"Key": each["Key"], "VersionId": each["VersionId"]} for each in versions["Versions"] + versions["DeleteMarkers"]]
assert "Errors" not in s3.delete_objects(Bucket="boto3", Delete={"Objects": doomed})
s3.delete_bucket(Bucket="boto3")
print("done")
