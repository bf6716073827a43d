"""What type checkers read: a program that uses each kind of call. It also runs."""

import io
import os
import pathlib
import tempfile

from fastgcm import AESGCM, AESGCMSIV, KCXAES256GCM, XAES256GCM, CounterNonces, InvalidTag, Sealer, SealingKey, XorNonces, __version__, cpu, open_file, seal_file
from fastgcm.cobblestone import Cobblestone256Decryptor, Cobblestone256Encryptor
from fastgcm.hazmat import PartHash, Plan, seal_part


def main() -> None:
    aesgcm = AESGCM(AESGCM.generate_key(256))
    nonces = CounterNonces(b"left")
    packed = nonces.draw_batch(2)
    many: list[bytes] = aesgcm.seal_batch(packed, [b"one", b"two"], b"aad", threads=2)
    opened: list[bytes] = aesgcm.open_batch(packed, many, [b"aad", b"aad"])
    records: bytes = aesgcm.seal_batch(packed, bytearray(128))
    length: int = aesgcm.open_batch_into(packed, records, None, bytearray(128))
    assert opened == [b"one", b"two"] and length == 128
    sealer = Sealer(aesgcm, nonces.draw())
    sealer.update_aad(memoryview(b"aad"))
    tag: bytes = sealer.update(b"text") + sealer.finalize()
    assert len(tag) == 20 and nonces.position == 3
    for other, nonce in ((AESGCMSIV(bytes(16)), bytes(12)), (XAES256GCM(bytes(32)), bytes(24)), (KCXAES256GCM(bytes(32)), bytes(24))):
        assert other.decrypt(nonce, other.encrypt(nonce, b"text", None), None) == b"text"
    xaes = XAES256GCM(bytes(32))
    alone: bytes = xaes.open_random(xaes.seal_random(b"text", b"aad"), b"aad")
    of_xaes: list[bytes] = xaes.open_batch(bytes(24), xaes.seal_batch(bytes(24), [alone]))
    assert of_xaes == [b"text"] and __version__
    sealing = SealingKey(bytes(16), XorNonces(bytes(12)), confidentiality=60, blocks=7, sealers=2)
    counted: bytes = sealing.open(sealing.seal(b"text"))
    left: int = sealing.blocks_left
    assert counted == b"text" and left and XorNonces.at(bytes(12), 0) == bytes(12)
    committing = KCXAES256GCM(KCXAES256GCM.generate_key())
    message: bytes = committing.seal_random(b"text", b"aad")
    assert len(message) == 24 + 4 + 48 and committing.open_random(message, b"aad") == b"text"
    plan = Plan(bytes(12), 100, 64)
    parts: list[tuple[int, int]] = plan.missing()
    for begin, end in parts:
        _, part = seal_part(aesgcm, plan.nonce, begin, bytes(end - begin))
        plan.accept(PartHash.from_bytes(part.to_bytes()))
    assert len(plan.tag(aesgcm, None)) == 16
    stream = Cobblestone256Encryptor(bytes(32), b"context")
    file = io.BytesIO(stream.update(bytes(20_000)) + stream.finalize())
    assert Cobblestone256Decryptor(bytes(32), b"context").decrypt_range(file, 16_380, 10) == bytes(10)
    with tempfile.TemporaryDirectory() as folder:
        text, sealed = os.path.join(folder, "text"), pathlib.Path(folder, "sealed")
        pathlib.Path(text).write_bytes(b"text")
        seal_file(bytes(32), text, sealed, context=b"context")
        open_file(bytes(32), sealed, text, context=b"context", overwrite=True)
    try:
        aesgcm.decrypt(bytes(12), bytes(20), None)
    except InvalidTag:
        print(cpu()["backend"])


if __name__ == "__main__":
    main()
