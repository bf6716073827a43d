"""pyca/cryptography (50.0.2) and PyCryptodome (4.4.0): a manner. Both open a tag of five bytes, which SP 800-38D has not (4, 8, and 12 to 16):
the first where the caller allows four (`min_tag_length`), the second where the caller asks for five (`mac_len`).

    python3 tags.py         # with either or both installed; status 1: at least one does
"""

KEY, NONCE, TEXT = bytes(16), bytes(12), b"a text"
found = []
try:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    seal = Cipher(algorithms.AES(KEY), modes.GCM(NONCE)).encryptor()
    sealed = seal.update(TEXT) + seal.finalize()
    opens = Cipher(algorithms.AES(KEY), modes.GCM(NONCE, seal.tag[:5], min_tag_length=4)).decryptor()
    if opens.update(sealed) + opens.finalize() == TEXT:
        found.append("pyca/cryptography")
except (ImportError, ValueError):
    pass
try:
    from Crypto.Cipher import AES

    sealed, tag = AES.new(KEY, AES.MODE_GCM, nonce=NONCE, mac_len=5).encrypt_and_digest(TEXT)
    if AES.new(KEY, AES.MODE_GCM, nonce=NONCE, mac_len=5).decrypt_and_verify(sealed, tag) == TEXT:
        found.append("PyCryptodome")
except (ImportError, ValueError):
    pass
print("opens a tag of five bytes:", ", ".join(found) or "none of them")
raise SystemExit(bool(found))
