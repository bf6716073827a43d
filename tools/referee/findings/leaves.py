"""pyca/cryptography (50.0.2, decrypt_into) and PyCryptodome (4.4.0, decrypt_and_verify with output): a manner. A message whose tag is wrong is refused, and
its plaintext is in the caller's buffer. A caller that checks the exception first is safe; one whose buffer others see (shared memory, a frame that is shown, a
file that is mapped) hands out text that nobody has verified. SP 800-38D (7.2) says that a refused message gives FAIL and no text. From outside it looks as if the
cipher's update writes the text, the tag is compared after that, and nothing clears the buffer. It would help to clear it before InvalidTag is raised, or
a sentence in the documentation of decrypt_into. No report was found in pyca's tracker on 28 November 2026.

    python3 -m pip install cryptography pycryptodome && python3 leaves.py # status 1: it is
"""

from Crypto.Cipher import AES
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

key, nonce, text = bytes(16), bytes(12), b"sixteen bytes of"
sealed = AESGCM(key).encrypt(nonce, text, None)
forged = sealed[:-1] + bytes([sealed[-1] ^ 1])
left = bytearray(16)
try:
    AESGCM(key).decrypt_into(nonce, forged, None, left)
except InvalidTag:
    print("pyca:", bytes(left))
other = bytearray(16)
try:
    AES.new(key, AES.MODE_GCM, nonce=nonce).decrypt_and_verify(forged[:16], forged[16:], output=other)
except ValueError:
    print("PyCryptodome:", bytes(other))
raise SystemExit(text in (left, other))
