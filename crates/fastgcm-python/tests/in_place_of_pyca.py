"""A plugin of pytest: pyca/cryptography's own tests of what this package has too, with this package in its place.

    python -m pytest -p in_place_of_pyca tests/hazmat/primitives/test_aead.py tests/test_cobblestone.py
"""

import types

import pytest
from cryptography import cobblestone
from cryptography.hazmat.bindings._rust import openssl
from cryptography.hazmat.primitives.ciphers import aead

import fastgcm.cobblestone

aead.AESGCM, aead.AESGCMSIV = fastgcm.AESGCM, fastgcm.AESGCMSIV
for name in cobblestone.__all__:
    setattr(cobblestone, name, getattr(fastgcm.cobblestone, name))

# What differs by intent.
DIFFERENT = {
    "TestAESGCM::test_data_too_large": "4 GiB are not too much",
    "TestAESGCMSIV::test_data_too_large": "likewise",
    "TestAESGCMSIV::test_bad_key": "RFC 8452 has no keys of 192 bits: they are a ValueError, not UnsupportedAlgorithm",
}


def pytest_collection_modifyitems(config, items):
    ours = [item for item in items if "AESGCM" in item.nodeid or "test_cobblestone" in item.nodeid]
    items[:] = ours
    for item in ours:
        # pyca's tests leave out keys of 192 bits for AES-GCM-SIV if the library below is AWS-LC, which has none either.
        if hasattr(item.module, "rust_openssl"):
            item.module.rust_openssl = types.SimpleNamespace(**{**vars(openssl), "CRYPTOGRAPHY_IS_AWSLC": True})
        for different, why in DIFFERENT.items():
            if item.nodeid.endswith(different):
                item.add_marker(pytest.mark.xfail(reason=why, strict=True))


def pytest_terminal_summary(terminalreporter):
    stats = terminalreporter.stats
    assert len(stats.get("xfailed", [])) == len(DIFFERENT)
    terminalreporter.line(f"python::pyca ok {len(stats.get('passed', []))}")
