/* Crypto++: GCM<AES>, with tables of 2 KiB, as is its default.
 * without: GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2 GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F GLIBC_TUNABLES=glibc.cpu.hwcaps=-ERMS
 * without: GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX_Fast_Unaligned_Load GLIBC_TUNABLES=glibc.cpu.hwcaps=-SSSE3
 * link: -lcryptopp
 * debian: libcrypto++-dev */
#include "aead.h"
#include <cryptopp/aes.h>
#include <cryptopp/config_ver.h>
#include <cryptopp/gcm.h>
#include <cryptopp/secblock.h>
#include <memory>

using namespace CryptoPP;

struct Key {
    SecByteBlock bytes; /* which wipes what it frees */
};
struct Run {
    std::unique_ptr<AuthenticatedSymmetricCipher> cipher;
    bool seals;
};

static const char *version(void) { return "8.7"; }
static void *key(const uint8_t *bytes, size_t length) { return new Key { SecByteBlock(bytes, length) }; }
static void release(void *key) { delete (Key *)key; }
static void drop(void *run) { delete (Run *)run; }

static void *begin(void *made, int seals, const uint8_t *nonce, size_t length, size_t)
try {
    const SecByteBlock &key = ((Key *)made)->bytes;
    auto run = std::make_unique<Run>();
    run->seals = seals;
    if (seals)
        run->cipher = std::make_unique<GCM<AES>::Encryption>();
    else
        run->cipher = std::make_unique<GCM<AES>::Decryption>();
    run->cipher->SetKeyWithIV(key.data(), key.size(), nonce, length);
    return run.release();
} catch (const Exception &) {
    return nullptr;
}

static int aad(void *run, const uint8_t *aad, size_t length)
try {
    ((Run *)run)->cipher->Update(aad, length);
    return 1;
} catch (const Exception &) {
    return 0;
}

static int update(void *run, const uint8_t *input, uint8_t *output, size_t length)
try {
    ((Run *)run)->cipher->ProcessData(output, input, length);
    return 1;
} catch (const Exception &) {
    return 0;
}

static int finish(void *made, uint8_t *tag, size_t length)
try {
    Run *run = (Run *)made;
    if (!run->seals)
        return run->cipher->TruncatedVerify(tag, length);
    run->cipher->TruncatedFinal(tag, length);
    return 1;
} catch (const Exception &) {
    return 0;
}

const struct aead_plugin aead_plugin = {
    .interface = AEAD_INTERFACE,
    .offers = AEAD_IN_PLACE,
    .keys = AEAD_KEYS_ALL,
    .tags = AEAD_TAGS_ALL,
    .nonce_min = 1,
    .nonce_max = 1 << 20,
    .block = 1,
    .name = "Crypto++",
    .version = version,
    .key = key,
    .free = release,
    .begin = begin,
    .aad = aad,
    .update = update,
    .finish = finish,
    .drop = drop,
};
