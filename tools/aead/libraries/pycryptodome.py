"""PyCryptodome: AES.MODE_GCM, in pieces, into the referee's memory. Tags are the library's own bytes."""
# without: REFEREE_PYCRYPTODOME=aesni REFEREE_PYCRYPTODOME=clmul

import os

import Crypto
from Crypto.Cipher import AES

import referee

WITHOUT = os.environ.get("REFEREE_PYCRYPTODOME", "")
USE = {"use_aesni": "aesni" not in WITHOUT, "use_clmul": "clmul" not in WITHOUT}


# YOURS is another library's place: write to q.made or q.outs and q.tag, and return whether it is done (referee.py says what a question has).
def message(q):
    try:
        cipher = AES.new(q.key, AES.MODE_GCM, nonce=q.nonce, mac_len=len(q.tag), **USE)
        for aad in q.aads:
            cipher.update(aad)
        if not q.pieces:
            if q.seals:
                q.tag[:] = cipher.encrypt_and_digest(q.given, output=q.made)[1]
            else:
                cipher.decrypt_and_verify(q.given, q.tag, output=q.made)
            return True
        for text, out in zip(q.texts, q.outs):
            (cipher.encrypt if q.seals else cipher.decrypt)(text, output=out)
        if q.seals:
            q.tag[:] = cipher.digest()
        else:
            cipher.verify(q.tag)
        return True
    except ValueError:
        return False


# YOURS: name, version, keys=1 | 4 without AES-192, tags (bit n: n bytes), the shortest and the longest nonce, block=0 without pieces.
offers = referee.WHOLE | referee.IN_PLACE
referee.serve("PyCryptodome", Crypto.__version__, message, offers=offers, tags=referee.TAGS, nonces=(1, 1 << 20), block=1)
