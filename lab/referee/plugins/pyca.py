"""pyca/cryptography: AESGCM for whole messages, Cipher with modes.GCM for pieces. Its wheel carries an OpenSSL of its own."""

import cryptography
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.backends.openssl import backend
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import referee


def message(seals, key, nonce, aads, texts, tag, pieces):
    try:
        if not pieces and (tag == 16 if seals else len(tag) == 16) and 8 <= len(nonce) <= 128:
            if seals:
                return [AESGCM(key).encrypt(nonce, texts[0], aads[0])]
            return [AESGCM(key).decrypt(nonce, texts[0] + tag, aads[0])]
        mode = modes.GCM(nonce, min_tag_length=4) if seals else modes.GCM(nonce, tag, min_tag_length=4)
        cipher = Cipher(algorithms.AES(key), mode)
        context = cipher.encryptor() if seals else cipher.decryptor()
        for aad in aads:
            context.authenticate_additional_data(aad)
        out = [context.update(text) for text in texts] + [context.finalize()]
        return out + [context.tag[:tag]] if seals else out
    except (InvalidTag, ValueError):
        return None


referee.serve(
    "pyca/cryptography",
    f"{cryptography.__version__}, {backend.openssl_version_text()}",
    message,
    tags=referee.TAGS,
    nonces=(8, 128),
    block=1,
)
