/* Calls of the OpenSSL provider that are proved: the module `fastgcm.so` as it is shipped, whose functions are
 * called as OpenSSL's core calls them, from `OSSL_provider_init` on. That chooses the row, of what CPUID says;
 * `perform` sees that it is the row that the prover means. */
#include "call.h"
#include <dlfcn.h>
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/params.h>

static const char told[] = "environment;empty\n" "verb;nothing;Gcm Seals Read Zeros 16;[];[]\n"
                           "verb;einit, update, final;Gcm Seals Apart Zeros 16 heap;[];[]\n"
                           "verb;dinit, update, final;Gcm Opens Apart Unverified 16 heap;[];[]\n"
                           "verb;einit, update, final in place;Gcm Seals InPlace Zeros 16 heap;[];[]\n"
                           "verb;dinit, update, final in place;Gcm Opens InPlace Unverified 16 heap;[];[]\n"
                           "verb;einit, three updates, final;Gcm Seals Apart Zeros 16 cut heap;[];[]\n"
                           "verb;dinit, three updates, final;Gcm Opens Apart Unverified 16 cut heap;[];[]\n"
                           "verb;second message of a key, sealed;Gcm Seals Apart Zeros 16 heap;[];[]\n"
                           "verb;second message of a key, opened;Gcm Opens Apart Unverified 16 heap;[];[]\n"
                           "verb;duplicate of a message, sealed;Gcm Seals Apart Zeros 16 cut heap;[];[]\n"
                           "verb;duplicate of a message, opened;Gcm Opens Apart Unverified 16 cut heap;[];[]\n"
                           "verb;GMAC;Gmac Seals Read Zeros 16 heap;[];[]\n"
                           "verb;AES-GCM-SIV, sealed;Siv Seals Apart Zeros 16 heap;[16, 32];[12]\n"
                           "verb;AES-GCM-SIV, opened;Siv Opens Apart Unverified 16 heap;[16, 32];[12]\n" GCM_PROVE_ROWS;

static OSSL_provider_init_fn *begin;

/* The C library's compares the first bytes of what it frees with a number of its own: secrets would decide.
 * What is freed stays as it is. */
void free(void *memory) {}

/* The core that the provider is given: it may tell errors. */
static void new_error(const OSSL_CORE_HANDLE *core) {}
static void set_error(const OSSL_CORE_HANDLE *core, uint32_t reason, const char *format, va_list arguments) {}
static const OSSL_DISPATCH core[] = {
    {OSSL_FUNC_CORE_NEW_ERROR, (void (*)(void))new_error},
    {OSSL_FUNC_CORE_VSET_ERROR, (void (*)(void))set_error},
    {0, NULL}};

typedef void (*function)(void);
static function find(const OSSL_DISPATCH *table, int number) {
    while (table->function_id != number) table++;
    return table->function;
}
#define THE(table, name, NAME) ((OSSL_FUNC_##name##_fn *)find(table, OSSL_FUNC_##NAME))

/* The functions of an algorithm: one whose names begin so. */
static const OSSL_DISPATCH *algorithm(const OSSL_DISPATCH *provider, void *context, int operation,
                                      const char *name) {
    int no_cache;
    OSSL_FUNC_provider_query_operation_fn *query = THE(provider, provider_query_operation, PROVIDER_QUERY_OPERATION);
    for (const OSSL_ALGORITHM *of = query(context, operation, &no_cache);; of++) {
        size_t i = 0;
        while (name[i] && name[i] == of->algorithm_names[i]) i++;
        if (!name[i] && of->algorithm_names[i] != '-') return of->implementation;
    }
}

/* One message. `cut`: in three pieces; 2: from the second on in a duplicate. Only what an end may refuse is no
 * failure. */
static uint64_t message(const call *c, const OSSL_DISPATCH *of, void **context, const uint8_t *key,
                        const uint8_t *from, uint8_t *to, uint8_t *tag_at, int seals, int cut) {
    size_t n, size = c->to.size, ends[] = {cut ? c->cuts[0] : size, cut ? c->cuts[1] : size, size};
    OSSL_FUNC_cipher_encrypt_init_fn *init = seals ? THE(of, cipher_encrypt_init, CIPHER_ENCRYPT_INIT)
                                                   : THE(of, cipher_decrypt_init, CIPHER_DECRYPT_INIT);
    OSSL_FUNC_cipher_update_fn *update = THE(of, cipher_update, CIPHER_UPDATE);
    OSSL_PARAM length[] = {OSSL_PARAM_size_t("ivlen", (size_t *)&c->nonce.size), OSSL_PARAM_END};
    OSSL_PARAM tag[] = {OSSL_PARAM_octet_string("tag", tag_at, 16), OSSL_PARAM_END};
    OSSL_FUNC_cipher_set_ctx_params_fn *set = THE(of, cipher_set_ctx_params, CIPHER_SET_CTX_PARAMS);
    if (!set(*context, length) || !init(*context, key, key ? c->key.size : 0, c->nonce.at, c->nonce.size, NULL)) return 2;
    if (!seals && !set(*context, tag)) return 2;
    for (size_t i = 0, at = 0, until[] = {cut ? c->aad.size / 2 : 0, c->aad.size}; i < 2; at = until[i++]) {
        if (until[i] > at && !update(*context, NULL, &n, until[i] - at, c->aad.at + at, until[i] - at)) return 2;
    }
    for (size_t i = 0, at = 0; i < 3; at = ends[i++]) {
        if (cut == 2 && i == 1) {
            void *copy = THE(of, cipher_dupctx, CIPHER_DUPCTX)(*context);
            THE(of, cipher_freectx, CIPHER_FREECTX)(*context);
            if (!(*context = copy)) return 2;
        }
        if (ends[i] > at && (!update(*context, to + at, &n, ends[i] - at, from + at, ends[i] - at) || n != ends[i] - at)) return 2;
    }
    if (!THE(of, cipher_final, CIPHER_FINAL)(*context, to, &n, 0)) return seals ? 2 : 1;
    return !seals || THE(of, cipher_get_ctx_params, CIPHER_GET_CTX_PARAMS)(*context, tag) ? 0 : 2;
}

static uint64_t gmac(const call *c, const OSSL_DISPATCH *provider, void *provided, const char *cipher) {
    const OSSL_DISPATCH *of = algorithm(provider, provided, OSSL_OP_MAC, "GMAC");
    void *context = THE(of, mac_newctx, MAC_NEWCTX)(provided);
    OSSL_PARAM params[] = {OSSL_PARAM_utf8_string("cipher", (char *)cipher, 11),
                           OSSL_PARAM_octet_string("iv", c->nonce.at, c->nonce.size), OSSL_PARAM_END};
    size_t n;
    if (!context || !THE(of, mac_init, MAC_INIT)(context, c->key.at, c->key.size, params)) return 2;
    if (!THE(of, mac_update, MAC_UPDATE)(context, c->aad.at, c->aad.size)) return 2;
    if (!THE(of, mac_final, MAC_FINAL)(context, c->tag.at, &n, 16)) return 2;
    THE(of, mac_freectx, MAC_FREECTX)(context);
    return 0;
}

__attribute__((noinline)) static uint64_t perform(const call *c) {
    if (c->verb == 0) return 0;
    const OSSL_DISPATCH *provider;
    void *provided;
    if (!begin(NULL, core, &provider, &provided)) return 2;
    const char *row = NULL;
    OSSL_PARAM backend[] = {{"fastgcm-backend", OSSL_PARAM_UTF8_PTR, &row, sizeof row, 0}, OSSL_PARAM_END};
    if (!THE(provider, provider_get_params, PROVIDER_GET_PARAMS)(provided, backend)) return 2;
    for (size_t i = 0; rows[c->row][i] || row[i]; i++)
        if (rows[c->row][i] != row[i]) return 2;
    static const char *const ciphers[][2] = {
        {"AES-128-GCM", "AES-128-GCM-SIV"}, {"AES-192-GCM", "AES-192-GCM-SIV"}, {"AES-256-GCM", "AES-256-GCM-SIV"}};
    const char *const *cipher = ciphers[c->key.size / 8 - 2];
    if (c->verb == 11) return gmac(c, provider, provided, cipher[0]);
    const OSSL_DISPATCH *of = algorithm(provider, provided, OSSL_OP_CIPHER, cipher[c->verb > 11]);
    void *context = THE(of, cipher_newctx, CIPHER_NEWCTX)(provided);
    int seals = c->verb % 2 == (c->verb < 11), cut = c->verb == 5 || c->verb == 6 ? 1 : c->verb == 9 || c->verb == 10 ? 2 : 0;
    const uint8_t *from = c->verb == 3 || c->verb == 4 ? c->to.at : c->from.at, *key = c->key.at;
    if (!context) return 2;
    if (c->verb == 7 || c->verb == 8) {
        /* The first of the two, of which nobody asks. */
        uint64_t first = message(c, of, &context, key, from, c->heap.at, c->heap.at + c->to.size, 1, 0);
        if (first) return first;
        key = NULL;
    }
    uint64_t done = message(c, of, &context, key, from, c->to.at, c->tag.at, seals, cut);
    THE(of, cipher_freectx, CIPHER_FREECTX)(context);
    THE(provider, provider_teardown, PROVIDER_TEARDOWN)(provided);
    return done;
}

int main(int count, char **arguments) {
    void *module = count > 1 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    begin = module ? (OSSL_provider_init_fn *)dlsym(module, "OSSL_provider_init") : NULL;
    return !begin || proved(told) == 0;
}
