/* What only Intel's header knows: where in IMB_MGR the functions are, and how large a key is. They are then called directly. */
#include <intel-ipsec-mb.h>
#include <string.h>

struct functions {
    aes_gcm_pre_t pre;
    aes_gcm_enc_dec_t enc, dec;
};

size_t ipsec_key_size(void) { return sizeof(struct gcm_key_data); }
size_t ipsec_context_size(void) { return sizeof(struct gcm_context_data); }

/* A manager that chooses by itself, or one held to an architecture; NULL if this machine or this build has not got it. Without GFNI, that for
   AVX2 takes no VAES. */
IMB_MGR *ipsec_manager(const char *level)
{
    IMB_MGR *manager = alloc_mb_mgr(strcmp(level, "avx2-aesni") == 0 ? IMB_FLAG_GFNI_OFF : 0);
    if (manager == NULL)
        return NULL;
    if (strcmp(level, "auto") == 0)
        init_mb_mgr_auto(manager, NULL);
    else if (strncmp(level, "avx2", 4) == 0)
        init_mb_mgr_avx2(manager);
    else
        init_mb_mgr_sse(manager);
    if (imb_get_errno(manager) != 0) {
        free_mb_mgr(manager);
        return NULL;
    }
    return manager;
}

void ipsec_functions(const IMB_MGR *manager, size_t key_bytes, struct functions *functions)
{
    switch (key_bytes) {
    case 16:
        *functions = (struct functions){ manager->gcm128_pre, manager->gcm128_enc, manager->gcm128_dec };
        break;
    case 24:
        *functions = (struct functions){ manager->gcm192_pre, manager->gcm192_enc, manager->gcm192_dec };
        break;
    default:
        *functions = (struct functions){ manager->gcm256_pre, manager->gcm256_enc, manager->gcm256_dec };
    }
}
