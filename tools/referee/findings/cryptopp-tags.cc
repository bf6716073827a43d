/* Crypto++ (8.7): a manner. TruncatedVerify takes a tag of one byte, and of none, which SP 800-38D has not.
 *
 *     c++ cryptopp-tags.cc -lcryptopp && ./a.out   # libcrypto++-dev; status 1: it does
 */
#include <cryptopp/aes.h>
#include <cryptopp/gcm.h>
#include <cstdio>

int main()
{
    unsigned char key[16] = { 1 }, nonce[12] = { 2 }, text[32] = { 3 }, sealed[32], opened[32], tag[16];
    CryptoPP::GCM<CryptoPP::AES>::Encryption seals;
    seals.SetKeyWithIV(key, sizeof key, nonce, sizeof nonce);
    seals.ProcessData(sealed, text, sizeof text);
    seals.TruncatedFinal(tag, sizeof tag);
    bool takes[2];
    for (int length = 0; length < 2; length++) {
        CryptoPP::GCM<CryptoPP::AES>::Decryption opens;
        opens.SetKeyWithIV(key, sizeof key, nonce, sizeof nonce);
        opens.ProcessData(opened, sealed, sizeof text);
        takes[length] = opens.TruncatedVerify(tag, length);
    }
    std::printf("takes a tag of no bytes: %d, of 1: %d\n", takes[0], takes[1]);
    return takes[0] || takes[1];
}
