/* Seals a message under a random nonce with a key that commits (KC-XAES-256-GCM), opens it, and shows that a forgery is refused. */
#include <fastgcm.h>
#include <stdio.h>
#include <string.h>

/* Random bytes of the operating system. */
static int random_bytes(uint8_t *to, size_t size) {
    FILE *urandom = fopen("/dev/urandom", "rb");
    size_t done = urandom ? fread(to, 1, size, urandom) : 0;
    if (urandom) fclose(urandom);
    return done == size ? 0 : -1;
}

int main(void) {
    enum { NONCE = FASTGCM_XAES_256_GCM_NONCE, TAG = FASTGCM_KC_XAES_256_GCM_TAG, SIZE = 14 };
    static const uint8_t bytes[FASTGCM_ROOT_KEY_BYTES] = "a secret that nobody else knows", aad[] = "to: everyone";
    uint8_t message[NONCE + SIZE + TAG]; /* what is sent */
    uint8_t *nonce = message, *text = nonce + NONCE, *tag = text + SIZE;
    fastgcm_root_key *key;
    int status;

    if (random_bytes(nonce, NONCE) != 0) return 1;
    memcpy(text, "attack at dawn", SIZE);

    status = fastgcm_root_key_new(&key, FASTGCM_KC_XAES_256_GCM, bytes, sizeof bytes, NULL);
    if (status == FASTGCM_OK) status = fastgcm_root_seal(key, nonce, NONCE, aad, sizeof aad, text, SIZE, text, tag, TAG);
    if (status == FASTGCM_OK) status = fastgcm_root_open(key, nonce, NONCE, aad, sizeof aad, text, SIZE, tag, TAG, text);
    if (status != FASTGCM_OK) {
        fprintf(stderr, "%s\n", fastgcm_text(status));
        return 1;
    }
    printf("%.*s\n", SIZE, (const char *)text);

    /* Another commitment: somebody else's key. */
    if (fastgcm_root_seal(key, nonce, NONCE, aad, sizeof aad, text, SIZE, text, tag, TAG) != FASTGCM_OK) return 1;
    tag[TAG - 1] ^= 1;
    if (fastgcm_root_open(key, nonce, NONCE, aad, sizeof aad, text, SIZE, tag, TAG, text) != FASTGCM_UNAUTHENTIC) return 1;
    if (text[0] != 0) return 1; /* the text is all zero */

    fastgcm_root_key_free(key);
    puts("random_nonce.c ok");
    return 0;
}
