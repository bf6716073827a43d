"""The official client, as a program that goes on: `official.py S3 KMS KMS-KEY`. Each line of the input is `put|series|get NAME FILE`.

It runs in an environment of its own (amazon-s3-encryption-client-python). It answers each line by `ok`, or by the name of the error.
"""

import sys

import boto3
from s3_encryption import S3EncryptionClient, S3EncryptionClientConfig
from s3_encryption.materials.kms_keyring import KmsKeyring

endpoint, kms_endpoint, kms_key = sys.argv[1:]
keyring = KmsKeyring(boto3.client("kms", endpoint_url=kms_endpoint), kms_key)
client = S3EncryptionClient(boto3.client("s3", endpoint_url=endpoint), S3EncryptionClientConfig(keyring=keyring))
for line in sys.stdin:
    what, name, file = line.split()
    where = {"Bucket": "bucket", "Key": name, "EncryptionContext": {"name": "object"}}
    try:
        if what == "put":
            with open(file, "rb") as text:
                client.put_object(**where, Body=text.read())
        elif what == "series":
            client.upload_file(file, "bucket", name, EncryptionContext={"name": "object"})
        elif what == "get":
            text = client.get_object(**where)["Body"].read()
            with open(file, "wb") as out:
                out.write(text)
        print("ok", flush=True)
    except Exception as error:
        print(type(error).__name__, flush=True)
