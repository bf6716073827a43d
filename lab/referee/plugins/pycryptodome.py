"""PyCryptodome: AES.MODE_GCM, in pieces."""

import Crypto
from Crypto.Cipher import AES

import referee


def message(seals, key, nonce, aads, texts, tag, pieces):
    try:
        cipher = AES.new(key, AES.MODE_GCM, nonce=nonce, mac_len=tag if seals else len(tag))
        for aad in aads:
            cipher.update(aad)
        if seals:
            return [cipher.encrypt(text) for text in texts] + [cipher.digest()]
        out = [cipher.decrypt(text) for text in texts]
        cipher.verify(tag)
        return out
    except ValueError:
        return None


referee.serve("PyCryptodome", Crypto.__version__, message, tags=referee.TAGS, nonces=(1, 1 << 20), block=1)
