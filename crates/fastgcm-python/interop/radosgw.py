"""Ceph's S3 server, with a monitor and a store in memory, all in one folder and on 127.0.0.1: `with server(folder) as url`.

It is what Debian packages (`radosgw`, `ceph-mon`, `ceph-osd`). It checks signatures. Its one user has the key `a` and the secret `b`.
"""

import contextlib
import os
import pathlib
import socket
import subprocess
import time
import urllib.error
import urllib.request
import uuid

CONFIGURATION = """
[global]
fsid = {fsid}
mon_initial_members = a
mon_host = [v2:127.0.0.1:{monitor}/0]
public_network = 127.0.0.0/8
auth_allow_insecure_global_id_reclaim = false
# One copy, on one machine. In memory, so that nothing of the machine's disk is measured or filled.
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 4
osd_pool_default_pg_autoscale_mode = off
mon_allow_pool_size_one = true
osd_crush_chooseleaf_type = 0
osd_objectstore = memstore
memstore_device_bytes = 4294967296
# Of the disk it only wants to log: a disk that is nearly full stops no test.
mon_data_avail_warn = 1
mon_data_avail_crit = 1
mon_data = {folder}/mon
osd_data = {folder}/osd
rgw_data = {folder}/rgw
run_dir = {folder}
admin_socket =
pid_file =
log_file = {folder}/$name.log
keyring = {folder}/keyring
rgw_frontends = beast endpoint=127.0.0.1:{port}
"""


def version():
    """As in `ceph version 16.2.15 (...) pacific (stable)`."""
    return subprocess.run(["radosgw", "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()[2]


def _free_port():
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


@contextlib.contextmanager
def server(folder):
    folder = pathlib.Path(folder).absolute()
    folder.mkdir(parents=True)
    for name in ("mon", "osd", "rgw"):
        (folder / name).mkdir()
    fsid, disk, monitor, port = uuid.uuid4(), str(uuid.uuid4()), _free_port(), _free_port()
    configuration, keys = folder / "ceph.conf", folder / "keyring"
    configuration.write_text(CONFIGURATION.format(fsid=fsid, folder=folder, monitor=monitor, port=port))
    environment = os.environ | {"CEPH_CONF": str(configuration)}
    out, running = open(folder / "out", "wb"), []
    options = {"env": environment, "stdin": subprocess.DEVNULL, "stdout": out, "stderr": subprocess.STDOUT}

    def run(*command):
        subprocess.run([*map(str, command)], check=True, timeout=120, **options)

    def start(*command):
        # It ends with us, whatever ends us.
        running.append(subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *map(str, command)], **options))

    def key(name, *rights):
        run("ceph-authtool", keys, "--gen-key", "-n", name, *(word for who, right in rights for word in ("--cap", who, right)))

    try:
        run("ceph-authtool", keys, "--create-keyring")
        key("mon.", ("mon", "allow *"))
        key("client.admin", ("mon", "allow *"), ("osd", "allow *"))
        key("osd.0", ("mon", "allow profile osd"), ("osd", "allow *"))
        run("monmaptool", "--create", "--addv", "a", f"[v2:127.0.0.1:{monitor}]", "--fsid", fsid, folder / "monmap")
        run("ceph-mon", "--mkfs", "-i", "a", "--monmap", folder / "monmap", "--keyring", keys)
        start("ceph-mon", "-f", "-i", "a")
        run("ceph", "osd", "new", disk)
        run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", disk)
        start("ceph-osd", "-f", "-i", "0")
        run("radosgw-admin", "user", "create", "--uid=user", "--display-name=user", "--access-key=a", "--secret-key=b")
        start("radosgw", "-f", "-n", "client.admin", "--keyring", keys)
        url = f"http://127.0.0.1:{port}"
        for _ in range(600):
            if ended := [process.args[3] for process in running if process.poll() is not None]:
                raise RuntimeError(f"{ended} ended: {folder}/out and the logs beside it say why")
            with contextlib.suppress(urllib.error.URLError, ConnectionError):
                urllib.request.urlopen(url, timeout=10).close()
                break
            time.sleep(0.1)
        else:
            raise RuntimeError(f"no answer: see {folder}/out and the logs beside it")
        yield url
    finally:
        for process in reversed(running):
            process.terminate()
        for process in running:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        out.close()
