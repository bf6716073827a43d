/* Contexts of one key in many threads, copied by EVP_CIPHER_CTX_copy, and contexts that were made before a fork: each answer is that of OpenSSL's own
 * provider. shared.sh runs it with ASan, and under valgrind. */
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 50, LONGEST = 5000 };

#define CHECK(what) ((what) ? (void)0 : (fprintf(stderr, "line %d: %s\n", __LINE__, #what), abort()))

static const unsigned char key[32] = "a key that all of these contexts";
static unsigned char text[LONGEST];

/* The message of that number, by a context that has the key already. */
static void seal(EVP_CIPHER_CTX *context, int number, unsigned char *out, unsigned char tag[16]) {
    unsigned char iv[12] = {0};
    int size = number * 97 % LONGEST, done;
    memcpy(iv, &number, sizeof number);
    CHECK(EVP_EncryptInit_ex2(context, NULL, NULL, iv, NULL) == 1);
    CHECK(EVP_EncryptUpdate(context, NULL, &done, iv, 5) == 1);
    CHECK(EVP_EncryptUpdate(context, out, &done, text, size / 2) == 1);
    CHECK(EVP_EncryptUpdate(context, out + size / 2, &done, text + size / 2, size - size / 2) == 1);
    CHECK(EVP_EncryptFinal_ex(context, out + size, &done) == 1);
    CHECK(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag) == 1);
}

static EVP_CIPHER_CTX *keyed(EVP_CIPHER *cipher) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    CHECK(context != NULL && EVP_EncryptInit_ex2(context, cipher, key, NULL, NULL) == 1);
    return context;
}

static EVP_CIPHER_CTX *shared, *referee;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;

/* Seals messages by copies of the shared context, some of them in the middle of a message, and compares. */
static void *work(void *argument) {
    int from = *(int *)argument, size;
    unsigned char *mine = malloc(LONGEST + 16), *theirs = malloc(LONGEST + 16), tags[2][16];
    CHECK(mine != NULL && theirs != NULL);
    for (int number = from; number < from + ROUNDS; number++) {
        EVP_CIPHER_CTX *copy = EVP_CIPHER_CTX_new(), *other = EVP_CIPHER_CTX_new();
        CHECK(copy != NULL && other != NULL && EVP_CIPHER_CTX_copy(copy, shared) == 1);
        unsigned char iv[12] = {0xff};
        CHECK(EVP_EncryptInit_ex2(copy, NULL, NULL, iv, NULL) == 1 && EVP_EncryptUpdate(copy, mine, &size, text, 100 + number % 50) == 1);
        CHECK(EVP_CIPHER_CTX_copy(other, copy) == 1);
        EVP_CIPHER_CTX_free(copy);
        seal(other, number, mine, tags[0]);
        EVP_CIPHER_CTX_free(other);
        pthread_mutex_lock(&one);
        seal(referee, number, theirs, tags[1]);
        pthread_mutex_unlock(&one);
        CHECK(memcmp(mine, theirs, number * 97 % LONGEST) == 0 && memcmp(tags[0], tags[1], 16) == 0);
    }
    free(mine);
    free(theirs);
    return NULL;
}

static void threads(int from) {
    pthread_t all[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = from + i * ROUNDS;
        CHECK(pthread_create(&all[i], NULL, work, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(all[i], NULL) == 0);
}

int main(void) {
    for (int i = 0; i < LONGEST; i++) text[i] = (unsigned char)(i * 7);
    EVP_CIPHER *ours = EVP_CIPHER_fetch(NULL, "AES-256-GCM", "provider=fastgcm");
    EVP_CIPHER *theirs = EVP_CIPHER_fetch(NULL, "AES-256-GCM", "provider=default");
    CHECK(ours != NULL && theirs != NULL);
    shared = keyed(ours);
    referee = keyed(theirs);
    threads(0);
    /* In the middle of a message when the process forks: both end it, with the same tag. */
    EVP_CIPHER_CTX *begun = keyed(ours);
    unsigned char iv[12] = {1}, out[2000], tags[2][16];
    int done, pipes[2], status;
    CHECK(EVP_EncryptInit_ex2(begun, NULL, NULL, iv, NULL) == 1 && EVP_EncryptUpdate(begun, out, &done, text, 777) == 1);
    CHECK(pipe(pipes) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    CHECK(EVP_EncryptUpdate(begun, out + 777, &done, text + 777, 1000) == 1 && EVP_EncryptFinal_ex(begun, out + 1777, &done) == 1);
    CHECK(EVP_CIPHER_CTX_ctrl(begun, EVP_CTRL_AEAD_GET_TAG, 16, tags[0]) == 1);
    threads(child == 0 ? 1000 : 2000);
    EVP_CIPHER_CTX_free(begun);
    EVP_CIPHER_CTX_free(shared);
    EVP_CIPHER_CTX_free(referee);
    EVP_CIPHER_free(ours);
    EVP_CIPHER_free(theirs);
    if (child == 0) {
        CHECK(write(pipes[1], tags[0], 16) == 16);
        close(pipes[0]);
        close(pipes[1]);
        return 0;
    }
    CHECK(read(pipes[0], tags[1], 16) == 16 && memcmp(tags[0], tags[1], 16) == 0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    close(pipes[0]);
    close(pipes[1]);
    puts("shared ok");
    return 0;
}
