"""A registry of crates on the loopback, in Cargo's sparse protocol: keeps the crates published to it, and redirects to another registry for all others.

No registry that can be installed does both, and a program has other dependencies. ELSEWHERE is the index in Cargo's configuration.
"""

import hashlib
import json
import os
import pathlib
import re
import threading
import tomllib
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def elsewhere():
    """Returns the index that replaces crates.io in Cargo's configuration."""
    home = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
    config = home / "config.toml"
    sources = tomllib.loads(config.read_text()).get("source", {}) if config.exists() else {}
    named = sources.get("crates-io", {}).get("replace-with")
    url = sources[named]["registry"] if named else "sparse+https://index.crates.io/"
    return url.removeprefix("sparse+").rstrip("/")


def line(described, archive):
    """Returns the index's line for a crate, from the metadata that Cargo sends."""
    needs = []
    for need in described["deps"]:
        alias = need.get("explicit_name_in_toml")
        needs.append({
            "name": alias or need["name"],
            "req": need["version_req"],
            "package": need["name"] if alias else None,
            **{key: need[key] for key in ("features", "optional", "default_features", "target", "kind")},
            "registry": None,
        })
    old, new = {}, {}
    for name, wants in described["features"].items():
        (new if any(word.startswith("dep:") or "?/" in word for word in wants) else old)[name] = wants
    return {
        "name": described["name"],
        "vers": described["vers"],
        "deps": needs,
        "cksum": hashlib.sha256(archive).hexdigest(),
        "features": old,
        "features2": new,
        "links": described.get("links"),
        "rust_version": described.get("rust_version"),
        "yanked": False,
        "v": 2,
    }


class Registry(ThreadingHTTPServer):
    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.index, self.crates, self.elsewhere = {}, {}, elsewhere()
        self.left = 1000  # uploads before each fails
        with urllib.request.urlopen(f"{self.elsewhere}/config.json") as file:
            self.downloads = json.load(file)["dl"]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def source(self):
        """Returns Cargo's configuration that replaces crates.io by this registry."""
        return f'[source.crates-io]\nreplace-with = "here"\n[source.here]\nregistry = "sparse+{self.url}/"\n[registries.here]\nindex = "sparse+{self.url}/"\ntoken = "rehearsal"\n'


class Handler(BaseHTTPRequestHandler):
    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        here = self.server
        if self.path == "/config.json":
            return self.answer(200, json.dumps({"dl": f"{here.url}/dl/{{crate}}/{{version}}", "api": here.url}).encode())
        if found := re.fullmatch(r"/dl/([^/]+)/([^/]+)", self.path):
            if archive := here.crates.get(found.groups()):
                return self.answer(200, archive)
            template = here.downloads if "{" in here.downloads else here.downloads + "/{crate}/{version}/download"
            return self.answer(302, Location=template.replace("{crate}", found[1]).replace("{version}", found[2]))
        if self.path.startswith("/none/"):  # registries of npm and PyPI that know nothing
            return self.answer(404)
        name = self.path.rsplit("/", 1)[-1]
        if name in here.index:
            return self.answer(200, "".join(json.dumps(each) + "\n" for each in here.index[name]).encode())
        self.answer(302, Location=here.elsewhere + self.path)

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        size = int.from_bytes(body[:4], "little")
        described, archive = json.loads(body[4 : 4 + size]), body[8 + size :]
        if self.server.left == 0:
            return self.answer(503, b'{"errors": [{"detail": "the registry is unavailable"}]}')
        self.server.left -= 1
        known = self.server.index.setdefault(described["name"], [])
        if any(each["vers"] == described["vers"] for each in known):
            return self.answer(400, b'{"errors": [{"detail": "this version already exists"}]}')
        known.append(line(described, archive))
        self.server.crates[described["name"], described["vers"]] = archive
        self.answer(200, b'{"warnings": {"invalid_categories": [], "invalid_badges": [], "other": []}}')

    def log_message(self, *_):
        pass
