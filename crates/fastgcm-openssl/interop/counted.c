/* The provider, which adds up what it has done in a file that all processes of a program share: nobody can ask other people's programs.
   FASTGCM_COUNTED names the file, of three numbers of 64 bits: keys, messages, bytes. MODULE is the provider. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <openssl/core_dispatch.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static OSSL_FUNC_provider_get_params_fn *get;
static OSSL_FUNC_provider_query_operation_fn *query;
static OSSL_FUNC_cipher_freectx_fn *freectx;
static void *provider;
static uint64_t *total, before[3];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The provider counts when a context is freed; so do we. */
static void counted(void *context) {
    uint64_t now[3] = {0};
    OSSL_PARAM params[] = {{"fastgcm-keys", OSSL_PARAM_UNSIGNED_INTEGER, now, 8, 0}, {"fastgcm-messages", OSSL_PARAM_UNSIGNED_INTEGER, now + 1, 8, 0},
                           {"fastgcm-bytes", OSSL_PARAM_UNSIGNED_INTEGER, now + 2, 8, 0}, {0}};
    freectx(context);
    pthread_mutex_lock(&lock);
    get(provider, params);
    for (int i = 0; i < 3; before[i] = now[i], i++) __atomic_fetch_add(total + i, now[i] - before[i], __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
}

static const OSSL_ALGORITHM *asked(void *context, int operation, int *no_cache) {
    static OSSL_ALGORITHM copy[16];
    static OSSL_DISPATCH functions[16][32];
    const OSSL_ALGORITHM *list = query(context, operation, no_cache);
    if (operation != OSSL_OP_CIPHER) return list;
    for (int i = 0; list[i].algorithm_names; i++) {
        copy[i] = list[i];
        /* Of AES-GCM alone: whatever else there is has contexts of its own. */
        if (strncmp(list[i].algorithm_names, "AES-", 4) || strstr(list[i].algorithm_names, "SIV")) continue;
        copy[i].implementation = functions[i];
        for (int j = 0; list[i].implementation[j].function_id; j++) {
            functions[i][j] = list[i].implementation[j];
            if (functions[i][j].function_id != OSSL_FUNC_CIPHER_FREECTX) continue;
            freectx = (OSSL_FUNC_cipher_freectx_fn *)functions[i][j].function;
            functions[i][j].function = (void (*)(void))counted;
        }
    }
    return copy;
}

int OSSL_provider_init(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in, const OSSL_DISPATCH **out, void **context) {
    static OSSL_DISPATCH functions[32];
    void *module = dlopen(MODULE, RTLD_NOW);
    OSSL_provider_init_fn *init = module ? (OSSL_provider_init_fn *)dlsym(module, "OSSL_provider_init") : NULL;
    int file = open(getenv("FASTGCM_COUNTED") ?: "", O_RDWR);
    total = file < 0 ? MAP_FAILED : mmap(NULL, 24, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (!init || total == MAP_FAILED || !init(handle, in, out, context)) return 0;
    provider = *context;
    for (int i = 0; (*out)[i].function_id; i++) {
        functions[i] = (*out)[i];
        if (functions[i].function_id == OSSL_FUNC_PROVIDER_GET_PARAMS) get = (OSSL_FUNC_provider_get_params_fn *)functions[i].function;
        if (functions[i].function_id != OSSL_FUNC_PROVIDER_QUERY_OPERATION) continue;
        query = (OSSL_FUNC_provider_query_operation_fn *)functions[i].function;
        functions[i].function = (void (*)(void))asked;
    }
    *out = functions;
    return 1;
}
