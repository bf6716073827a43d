// What targets/botan.c calls.
#include "gcm-prove.h"
#include <botan/aes.h>
#include <botan/gcm.h>
#include <cstring>

extern "C" uint64_t botan_gcm(int opens, const call *c) {
    using namespace Botan;
    try {
        BlockCipher *cipher = c->key.size == 16 ? static_cast<BlockCipher *>(new AES_128) : c->key.size == 24 ? static_cast<BlockCipher *>(new AES_192) : new AES_256;
        std::unique_ptr<AEAD_Mode> mode(opens ? static_cast<AEAD_Mode *>(new GCM_Decryption(cipher)) : new GCM_Encryption(cipher));
        mode->set_key(c->key.at, c->key.size);
        mode->set_associated_data(c->aad.at, c->aad.size);
        mode->start(c->nonce.at, c->nonce.size);
        const size_t n = c->from.size;
        secure_vector<uint8_t> text;
        text.reserve(n + 16);
        text.insert(text.end(), c->from.at, c->from.at + n);
        if (opens) text.insert(text.end(), c->tag.at, c->tag.at + 16);
        mode->finish(text);
        std::memcpy(c->to.at, text.data(), n);
        if (!opens) std::memcpy(c->tag.at, text.data() + n, 16);
        return DONE;
    } catch (const std::exception &) {
        return opens ? REFUSED : FAILED;
    }
}
