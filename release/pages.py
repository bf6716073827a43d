"""Converts pages from the form before a release, which takes fastgcm from a copy of the repository, to a release's, which takes it from registries."""

import os
import re

REPOSITORY = "https://github.com/fastgcm/fastgcm"
LEFT = re.compile(r"published yet|[Nn]o release is|of no release|(--path |path = \")(\.\./)+fastgcm/|<!-- (un)?released")
AUDITED = "**fastgcm has not been audited, and it is not FIPS-validated.**"


def security(source, version):
    """Returns the security section of a package's page, with the section of SECURITY.md about verification at its end."""
    verification = re.search(r"^## Verify a release\n.*?(?=\n## )", (source / "SECURITY.md").read_text(), re.MULTILINE | re.DOTALL)[0].strip()
    return f"## Security\n\n{AUDITED} [SECURITY.md]({REPOSITORY}/blob/v{version}/SECURITY.md) says what is promised, and how to report a fault.\n\n{verification}\n"


def released(text, source, path, version):
    """Returns the page in the release's form:

    * `<!-- unreleased -->ONE<!-- released OTHER-->` becomes OTHER;
    * `path = "../fastgcm/crates/NAME"` becomes `version = "0.1"`, that crate's version, and `cargo add NAME --path ...` takes it from the registry;
    * a crate's README, and the page of Java, end with SECURITY.md's section about verification and the owner's key: registries show such a page;
    * links to the branch `main` become links to the tag;
    * in a crate's README a link to a file of the repository becomes a link to the released file, because the page is also shown elsewhere.
    """

    def of_crate(found):
        manifest = (source / "crates" / found[1] / "Cargo.toml").read_text()
        number = re.search(r'^version = "(\d+\.\d+)', manifest, re.MULTILINE)
        return f'version = "{number[1] if number else ".".join(version.split(".")[:2])}"'

    def absolute(found):
        target, _, place = found[1].partition("#")
        file = (path.parent / target).resolve()
        if re.match(r"[a-z]+:|$", target) or not file.is_relative_to(source.resolve()):
            return found[0]
        kind = "tree" if file.is_dir() else "blob"
        return f"]({REPOSITORY}/{kind}/v{version}/{os.path.relpath(file, source.resolve())}{'#' + place if place else ''})"

    of_a_crate = path.name == "README.md" and path.parent.parent.name == "crates"
    if of_a_crate or path.name == "java.md":
        text = f"{text.rstrip()}\n\n{security(source, version)}"
    text = re.sub(r"<!-- unreleased -->.*?<!-- released\s?(.*?)-->", r"\1", text, flags=re.DOTALL)
    text = re.sub(r"(-n fastgcm-|\"fastgcm-|verify\.sh '[^']+' |`NAME-)\d+\.\d+\.\d+", rf"\g<1>{version}", text)
    text = re.sub(r'path = "\.\./fastgcm/crates/([a-z0-9-]+)"', of_crate, text)
    text = re.sub(r" --path (?:\.\./)+fastgcm/crates/[a-z0-9-]+(?: # a copy of this repository; and)?", "", text)
    text = text.replace(f"{REPOSITORY}/blob/main/", f"{REPOSITORY}/blob/v{version}/")
    if of_a_crate:
        text = re.sub(r"\]\(([^)\s]+)\)", absolute, text)
    if left := LEFT.search(text):
        raise SystemExit(f"release: {path.name} still says {text[max(0, left.start() - 60) : left.end() + 60]!r}")
    return text
