"""pyca/cryptography: AESGCM for whole messages, Cipher with modes.GCM for pieces, into the referee's memory. Its wheel carries an OpenSSL of its own."""
# without: OPENSSL_ia32cap

import cryptography
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.backends.openssl import backend
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import referee


def message(q):
    try:
        if not q.pieces and len(q.tag) == 16 and 8 <= len(q.nonce) <= 128:
            aead = AESGCM(q.key)
            (aead.encrypt_into if q.seals else aead.decrypt_into)(q.nonce, q.given, q.aad, q.made)
            return True
        nonce = bytes(q.nonce)
        mode = modes.GCM(nonce, min_tag_length=4) if q.seals else modes.GCM(nonce, bytes(q.tag), min_tag_length=4)
        cipher = Cipher(algorithms.AES(q.key), mode)
        context = cipher.encryptor() if q.seals else cipher.decryptor()
        for aad in q.aads:
            context.authenticate_additional_data(aad)
        for text, out in zip(q.texts, q.outs):
            context.update_into(text, out)
        context.finalize()
        if q.seals:
            q.tag[:] = context.tag[: len(q.tag)]
        return True
    except (InvalidTag, ValueError):
        return False


referee.serve(
    "pyca/cryptography",
    f"{cryptography.__version__}, {backend.openssl_version_text()}",
    message,
    offers=referee.WHOLE | referee.TAG_BEHIND,
    tags=referee.TAGS,
    nonces=(8, 128),
    block=1,
)
