/* Crypto++ (8.7): a nonce that is not 12 bytes long, and whose pre-counter block J0 ends with ff ff ff ff, gets a wrong
 * keystream: the counter carries into its first 96 bits, where SP 800-38D (inc32) wraps it at 32. One nonce of 2^32 is like
 * that. Ciphertext and tag below are those of OpenSSL 3.0 and 4.0 and of lab/model; the tag is right only for that text.
 *
 *     c++ cryptopp.cc -lcryptopp && ./a.out        # libcrypto++-dev; status 1: the answer is wrong
 */
#include <cryptopp/aes.h>
#include <cryptopp/gcm.h>
#include <cstdio>
#include <cstring>

int main()
{
    unsigned char key[16], text[32] = { 0 }, out[48];
    const unsigned char nonce[] = { 0xd7, 0x56, 0xe4, 0x1c, 0xf4, 0xea, 0x83, 0x7a, 0x94, 0x12, 0xd3, 0x6a, 0x18, 0xbf, 0x11, 0x8c };
    const unsigned char right[] = { 0x37, 0xa4, 0xf3, 0x42, 0x1c, 0x25, 0x59, 0x35, 0x1f, 0x2a, 0xaa, 0x75, 0x69, 0x62, 0x98, 0x74,
                                    0x42, 0xcb, 0x83, 0x63, 0x3e, 0x43, 0x91, 0x8a, 0x66, 0x68, 0x4e, 0x70, 0x5e, 0xa2, 0x03, 0x9e,
                                    0x52, 0x5d, 0x4f, 0x8b, 0x2f, 0x7b, 0x47, 0x20, 0xb3, 0xa8, 0x39, 0xd5, 0x2b, 0xb6, 0x9c, 0x19 };
    for (int i = 0; i < 16; i++)
        key[i] = i;
    CryptoPP::GCM<CryptoPP::AES>::Encryption gcm;
    gcm.SetKeyWithIV(key, sizeof key, nonce, sizeof nonce);
    gcm.ProcessData(out, text, sizeof text);
    gcm.TruncatedFinal(out + 32, 16);
    for (unsigned char byte : out)
        printf("%02x", byte);
    int wrong = memcmp(out, right, sizeof right) != 0;
    printf(" %s\n", wrong ? "wrong" : "right");
    return wrong;
}
