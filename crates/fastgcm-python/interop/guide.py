"""Runs docs/data.md as it stands there: `guide.py FOLDER`. Commands run where the project is, Python in FOLDER, which it makes anew.
Blocks of `console` are for the folder of another project, and do not run.

S3 (of moto, or FASTGCM_S3 is its URL) has a bucket `bucket`, and KMS, of moto, a key `alias/data`. Only `pip install`, which asks a registry, is left
out.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys


def main(folder):
    import boto3
    from moto.server import ThreadedMotoServer

    root = pathlib.Path(__file__).resolve().parents[3]
    page = (root / "docs/data.md").read_text()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    os.environ.update(AWS_ACCESS_KEY_ID="a", AWS_SECRET_ACCESS_KEY="b", AWS_DEFAULT_REGION="us-east-1", AWS_ENDPOINT_URL=f"http://{host}:{port}")
    os.environ["AWS_ENDPOINT_URL_S3"] = os.environ.get("FASTGCM_S3", os.environ["AWS_ENDPOINT_URL"])
    boto3.client("s3").create_bucket(Bucket="bucket")
    kms = boto3.client("kms")
    kms.create_alias(AliasName="alias/data", TargetKeyId=kms.create_key()["KeyMetadata"]["KeyId"])
    (folder / "data.bin").write_bytes(os.urandom(40 << 20))
    os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    names, blocks = {"__name__": "guide"}, 0
    for language, block in re.findall(r"^```(sh|python)\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        if language == "sh":
            lines = "".join(line for line in block.splitlines(keepends=True) if not line.startswith("pip install"))
            read, write = os.pipe()
            run = subprocess.run(["bash", "-euc", f"{lines}\nenv -0 >&{write}"], cwd=root, pass_fds=[write])
            os.close(write)
            with os.fdopen(read, "rb") as pipe:
                told = pipe.read()
            if run.returncode:
                sys.exit(f"{lines}: {run.returncode}")
            os.environ.update(line.split("=", 1) for line in told.decode().split("\0") if "=" in line)
        else:
            os.chdir(folder)
            exec(compile(block, f"docs/data.md, block {blocks}", "exec"), names)
        blocks += 1
    left = [name for name in os.listdir(folder) if "partial" in name]
    assert not left and blocks >= 6, (left, blocks)
    print(f"data::guide ok {blocks}", flush=True)
    for client in [name for name in names.values() if type(name).__name__ == "Client"]:
        client.shutdown()
    server.stop()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve())
