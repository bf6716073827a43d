"""pyca/cryptography: AESGCMSIV, which is that of the OpenSSL in its wheel."""
# without: OPENSSL_ia32cap

import cryptography
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.backends.openssl import backend
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV

import referee


def message(q):
    try:
        aead = AESGCMSIV(q.key)
        q.made[:] = (aead.encrypt if q.seals else aead.decrypt)(q.nonce, q.given, q.aad)
        return True
    except (InvalidTag, ValueError):
        return False


version = f"{cryptography.__version__}, {backend.openssl_version_text()}"
offers = referee.WHOLE | referee.IN_PLACE | referee.TAG_BEHIND
referee.serve("pyca/cryptography, AES-GCM-SIV", version, message, offers=offers, keys=1 | 4, algorithm=referee.AES_GCM_SIV)
