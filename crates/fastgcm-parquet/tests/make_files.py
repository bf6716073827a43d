"""Makes files/ with pyarrow: `pip install pyarrow; python make_files.py files`. Each file has two columns of 40 numbers (7 i and 8 i for i
from 0 on) in two row groups, in pages of 10 rows, without dictionary and compression. Where the footer is not encrypted, each column has a key of its own. The keys are the "wrapped" keys of its footer's metadata, in hex, because the key store here wraps nothing."""

import pathlib
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe


class Store(pe.KmsClient):
    def wrap_key(self, key_bytes, master_key_identifier):
        return key_bytes.hex()

    def unwrap_key(self, wrapped_key, master_key_identifier):
        return bytes.fromhex(wrapped_key if isinstance(wrapped_key, str) else wrapped_key.decode())


folder = pathlib.Path(sys.argv[1])
folder.mkdir(exist_ok=True)
table = pa.table({name: pa.array([factor * i for i in range(40)], pa.int64()) for name, factor in (("n", 7), ("m", 8))})
factory = pe.CryptoFactory(lambda config: Store())
for algorithm in "AES_GCM_V1", "AES_GCM_CTR_V1":
    for bits in 128, 192, 256:
        for plaintext_footer in False, True:
            config = pe.EncryptionConfiguration(
                footer_key="f", encryption_algorithm=algorithm, plaintext_footer=plaintext_footer,
                # With a key for all, pyarrow would encrypt the footer, too.
                **({"column_keys": {"c": ["n", "m"]}} if plaintext_footer else {"uniform_encryption": True}),
                double_wrapping=False, data_key_length_bits=bits,
            )
            properties = factory.file_encryption_properties(pe.KmsConnectionConfig(), config)
            name = f"{algorithm}-{bits}-{'plain' if plaintext_footer else 'encrypted'}.parquet"
            with pq.ParquetWriter(
                folder / name, table.schema, encryption_properties=properties, use_dictionary=False, compression="none",
                write_statistics=False, data_page_size=1, write_batch_size=10, store_schema=False,
            ) as writer:
                writer.write_table(table, row_group_size=20)
