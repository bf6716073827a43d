"""Reads with pyarrow what `program.rs` has written: `python read.py FOLDER`."""

import pathlib
import sys

import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe


class Store(pe.KmsClient):
    def wrap_key(self, key_bytes, master_key_identifier):
        return key_bytes.hex()

    def unwrap_key(self, wrapped_key, master_key_identifier):
        return bytes.fromhex(wrapped_key if isinstance(wrapped_key, str) else wrapped_key.decode())


factory = pe.CryptoFactory(lambda config: Store())
expected = {"n": [7 * i for i in range(40)], "m": [8 * i for i in range(40)]}
count = 0
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.parquet")):
    by_metadata = factory.file_decryption_properties(pe.KmsConnectionConfig())
    assert pq.ParquetFile(path, decryption_properties=by_metadata).read().to_pydict() == expected, path
    count += 1
    name, bits = path.stem.split("-")
    if name != "columns":  # of which pyarrow takes no keys directly
        properties = pe.create_decryption_properties(bytes([1]) * (int(bits) // 8))
        assert pq.ParquetFile(path, decryption_properties=properties).read().to_pydict() == expected, path
        count += 1
    data = bytearray(path.read_bytes())
    data[4 + 4 + 12] ^= 1
    changed = path.with_name("changed")
    changed.write_bytes(data)
    try:
        pq.ParquetFile(changed, decryption_properties=factory.file_decryption_properties(pe.KmsConnectionConfig())).read()
    except OSError:
        count += 1
assert count == 9 + 6 + 9, count
print(f"arrow_rs::pyarrow_reads ok {count}")
