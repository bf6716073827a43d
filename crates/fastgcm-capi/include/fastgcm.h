/* libfastgcm: AES-GCM (NIST SP 800-38D) for C and C++. Made by cbindgen of the Rust files; do not change it here.
 *
 * All lengths are in bytes. Functions return a fastgcm_status; none aborts. A buffer with a length of 0 may be NULL. Any number of
 * threads may use one key at a time. Licensed under Apache-2.0 or MIT, at your choice. */

#ifndef FASTGCM_H
#define FASTGCM_H

#include <stddef.h>
#include <stdint.h>

/**
 * The length of a root key in bytes.
 */
#define FASTGCM_ROOT_KEY_BYTES 32

/**
 * The length in bytes of a nonce of XAES-256-GCM and of KC-XAES-256-GCM.
 */
#define FASTGCM_XAES_256_GCM_NONCE 24

/**
 * The length in bytes of a tag of XAES-256-GCM.
 */
#define FASTGCM_XAES_256_GCM_TAG 16

/**
 * The length in bytes of a tag of KC-XAES-256-GCM: 16 bytes of tag, then 32 bytes of commitment.
 */
#define FASTGCM_KC_XAES_256_GCM_TAG 48

/**
 * The scheme by which a root key makes the key of AES-256-GCM for each message. The meaning of a number never changes; later versions may
 * add numbers.
 */
typedef enum {
  /**
   * XAES-256-GCM (c2sp.org/XAES-256-GCM): nonces of 24 bytes, which may be random, and tags of 16 bytes.
   */
  FASTGCM_XAES_256_GCM = 1,
  /**
   * XAES-256-GCM with a commitment to the key (IACR ePrint 2025/758): nobody can make a message that opens under two keys. Tags have 48 bytes.
   */
  FASTGCM_KC_XAES_256_GCM = 2
} fastgcm_scheme;

/**
 * The result of a call. Any result but `FASTGCM_OK` means that the call has done nothing, unless its function says otherwise. Later
 * versions may add results.
 */
typedef enum {
  /**
   * The call has succeeded.
   */
  FASTGCM_OK = 0,
  /**
   * The message, its AAD, nonce or tag is not what the key's owner sealed.
   */
  FASTGCM_UNAUTHENTIC = 1,
  /**
   * A key, nonce, tag or buffer has a length that the call does not accept.
   */
  FASTGCM_INVALID_LENGTH = 2,
  /**
   * A text has more than 2^36 - 32 bytes, or AAD or a nonce has more than 2^61 - 1.
   */
  FASTGCM_TOO_LONG = 3,
  /**
   * There is no back end of that name, this machine cannot run it, or there is no such scheme.
   */
  FASTGCM_UNAVAILABLE = 4,
  /**
   * AAD came after text, something came after the end, the key has another back end, or a root key was wiped.
   */
  FASTGCM_OUT_OF_ORDER = 5,
  /**
   * A pointer is NULL. (A buffer with a length of 0 may be NULL.)
   */
  FASTGCM_NULL = 6,
  /**
   * An output overlaps an input or another output.
   */
  FASTGCM_OVERLAP = 7,
  /**
   * The memory for a key or a message is too small, or not aligned as required.
   */
  FASTGCM_PLACE = 8,
  /**
   * There was not enough memory.
   */
  FASTGCM_NO_MEMORY = 9,
  /**
   * A self-test found a wrong answer. Nothing of this library may be used.
   */
  FASTGCM_SELFTEST = 10,
  /**
   * A fault of this library. The output is undefined.
   */
  FASTGCM_INTERNAL = 11
} fastgcm_status;

/**
 * A key, ready for use by any number of threads. Its memory belongs to the caller (`fastgcm_key_init`) or to the heap (`fastgcm_key_new`).
 */
typedef struct fastgcm_key fastgcm_key;

/**
 * A message in pieces, for one thread at a time.
 */
typedef struct fastgcm_pieces fastgcm_pieces;

/**
 * A root key of a `fastgcm_scheme`, ready for use by any number of threads. Its memory belongs to the caller (`fastgcm_root_key_init`) or
 * to the heap (`fastgcm_root_key_new`).
 */
typedef struct fastgcm_root_key fastgcm_root_key;

/**
 * Bytes that are only read.
 */
typedef struct {
  /**
   * The bytes. It may be NULL if `size` is 0.
   */
  const uint8_t *data;
  /**
   * The number of bytes.
   */
  size_t size;
} fastgcm_slice;

/**
 * A message of a batch. The caller allocates it, so its layout never changes.
 */
typedef struct {
  /**
   * The nonce: 12 bytes, which must be unique for every message under one key.
   */
  uint8_t nonce[12];
  /**
   * The result for this packet, a `fastgcm_status`. The call writes it.
   */
  int status;
  /**
   * AAD, which is only read. It may be NULL if `aad_size` is 0.
   */
  const uint8_t *aad;
  /**
   * The number of bytes of AAD.
   */
  size_t aad_size;
  /**
   * The text or ciphertext that is read.
   */
  const uint8_t *from;
  /**
   * The ciphertext or text that is written. It is `from`, or does not overlap it.
   */
  uint8_t *to;
  /**
   * The number of bytes of text, in `from` and in `to`.
   */
  size_t size;
  /**
   * The tag: written when the packet is sealed, read when it is opened.
   */
  uint8_t tag[16];
} fastgcm_packet;

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/**
 * Returns how many bytes of memory a key needs.
 */
size_t fastgcm_key_size(void);

/**
 * Returns the alignment of a key: its address must be a multiple of this number.
 */
size_t fastgcm_key_align(void);

/**
 * Makes a key in the caller's memory, which has `place_size` bytes. `fastgcm_key_wipe` ends the key.
 *
 * `key` has `key_size` bytes: 16, 24 or 32. They are only read. `backend` is NULL for the machine's best back end, or the name of a back
 * end (`fastgcm_backend`).
 *
 * If the function returns `FASTGCM_PLACE`, `FASTGCM_INVALID_LENGTH`, `FASTGCM_UNAVAILABLE` or `FASTGCM_NULL`, nothing is written, and
 * there is no key.
 */
int fastgcm_key_init(fastgcm_key *key_place,
                     size_t place_size,
                     const uint8_t *key,
                     size_t key_size,
                     const char *backend);

/**
 * Wipes a key that `fastgcm_key_init` has made. The key has then ended, and its memory may be used for something else. NULL is allowed.
 *
 * **No call may use a key that has ended**, and no output may overlap a key. A call under a `fastgcm_key` notices neither, because looking
 * would cost every short message time: it would seal under a key that everybody knows. (Calls under a root key notice both.)
 */
void fastgcm_key_wipe(fastgcm_key *key);

/**
 * Makes a key on the heap: `*key_made` is the key, or NULL if the call fails. `fastgcm_key_free` ends the key.
 */
int fastgcm_key_new(fastgcm_key **key_made, const uint8_t *key, size_t key_size, const char *backend);

/**
 * Wipes a key that `fastgcm_key_new` has made, and frees its memory. NULL is allowed.
 */
void fastgcm_key_free(fastgcm_key *key);

/**
 * Encrypts a message (SP 800-38D, section 7.1).
 *
 * `nonce` has `nonce_size` bytes: 12, or any other number from 1 on. **A nonce must be unique for every message under one key.** `text`
 * has `text_size` bytes, and the function writes as many to `ciphertext`, which is `text` itself or does not overlap it. It writes 16
 * bytes to `tag`. The outputs must overlap neither `aad` nor `nonce`, nor each other.
 *
 * If the function returns `FASTGCM_INVALID_LENGTH` (an empty nonce), `FASTGCM_TOO_LONG`, `FASTGCM_OVERLAP` or `FASTGCM_NULL`, nothing is
 * written.
 */
int fastgcm_seal(const fastgcm_key *key,
                 const uint8_t *nonce,
                 size_t nonce_size,
                 const uint8_t *aad,
                 size_t aad_size,
                 const uint8_t *text,
                 size_t text_size,
                 uint8_t *ciphertext,
                 uint8_t *tag);

/**
 * Decrypts a message, and verifies it (SP 800-38D, section 7.2).
 *
 * `ciphertext` has `ciphertext_size` bytes, and the function writes as many to `text`, which is `ciphertext` itself or does not overlap
 * it. `tag` has `tag_size` bytes: 16, or the first 12 to 15, 8 or 4 of a tag. A caller with tags of several lengths must not let the
 * sender choose the length. `text` must overlap neither `aad` nor `nonce`.
 *
 * **Nobody else may write to these buffers during the call**, as another thread could, or a process that shares the memory. The library
 * loads `ciphertext` twice, to hash it and to decrypt it, so ciphertext that changes in between may be accepted as text that nobody
 * sealed. Copy shared memory first. This rule holds for every function that opens.
 *
 * Returns `FASTGCM_UNAUTHENTIC` if anything differs from what was sealed; `text` is then all zero. If the function returns
 * `FASTGCM_INVALID_LENGTH` (of the nonce or the tag), `FASTGCM_TOO_LONG`, `FASTGCM_OVERLAP` or `FASTGCM_NULL`, nothing is written.
 */
int fastgcm_open(const fastgcm_key *key,
                 const uint8_t *nonce,
                 size_t nonce_size,
                 const uint8_t *aad,
                 size_t aad_size,
                 const uint8_t *ciphertext,
                 size_t ciphertext_size,
                 const uint8_t *tag,
                 size_t tag_size,
                 uint8_t *text);

/**
 * Encrypts a message whose AAD and text lie in several buffers, one behind the other: `aad_count` and `text_count` of them. `ciphertext`
 * has `ciphertext_size` bytes, which must equal the length of all text, and must overlap neither an input nor a list. Everything else is
 * as for `fastgcm_seal`.
 */
int fastgcm_seal_gathered(const fastgcm_key *key,
                          const uint8_t *nonce,
                          size_t nonce_size,
                          const fastgcm_slice *aad,
                          size_t aad_count,
                          const fastgcm_slice *text,
                          size_t text_count,
                          uint8_t *ciphertext,
                          size_t ciphertext_size,
                          uint8_t *tag);

/**
 * Decrypts a message whose AAD and ciphertext lie in several buffers. `text` has `text_size` bytes, which must equal the length of all
 * ciphertext, and must overlap neither a list nor any input but the tag, which has 16 bytes. Everything else is as for `fastgcm_open`.
 */
int fastgcm_open_gathered(const fastgcm_key *key,
                          const uint8_t *nonce,
                          size_t nonce_size,
                          const fastgcm_slice *aad,
                          size_t aad_count,
                          const fastgcm_slice *ciphertext,
                          size_t ciphertext_count,
                          const uint8_t *tag,
                          uint8_t *text,
                          size_t text_size);

/**
 * Encrypts `count` packets, side by side where that is faster: short packets of equal lengths. `packets` may be NULL only if `count` is 0.
 *
 * The outputs (each packet's `to` and the list itself) must overlap no input and no other output: packets may share AAD, but not texts. A
 * packet's `from` may be its own `to`.
 *
 * If the function returns `FASTGCM_OVERLAP`, `FASTGCM_NULL`, `FASTGCM_TOO_LONG` or `FASTGCM_NO_MEMORY`, nothing is written, in no packet.
 * Otherwise each packet has its tag and its status, and the result is `FASTGCM_OK`.
 */
int fastgcm_seal_batch(const fastgcm_key *key,
                       fastgcm_packet *packets,
                       size_t count);

/**
 * Decrypts and verifies `count` packets. The rules for buffers are those of `fastgcm_seal_batch`; each packet's `tag` has 16 bytes and is
 * only read.
 *
 * Returns `FASTGCM_UNAUTHENTIC` if any packet differs from what was sealed: its `status` says so, and its text is all zero. All other
 * packets are opened.
 */
int fastgcm_open_batch(const fastgcm_key *key,
                       fastgcm_packet *packets,
                       size_t count);

/**
 * Returns how many bytes of memory a message in pieces needs.
 */
size_t fastgcm_pieces_size(void);

/**
 * Returns the alignment of a message in pieces: its address must be a multiple of this number.
 */
size_t fastgcm_pieces_align(void);

/**
 * Begins a message in pieces in the caller's memory, which has `place_size` bytes. `fastgcm_pieces_wipe` ends the message. After this call
 * come AAD, then text, then `fastgcm_pieces_finish` or `fastgcm_pieces_verify`, all with one key. Functions for whole messages are faster.
 *
 * If the function returns `FASTGCM_PLACE`, `FASTGCM_INVALID_LENGTH` (an empty nonce), `FASTGCM_TOO_LONG` or `FASTGCM_NULL`, nothing is
 * written.
 */
int fastgcm_pieces_init(fastgcm_pieces *pieces_place,
                        size_t place_size,
                        const fastgcm_key *key,
                        const uint8_t *nonce,
                        size_t nonce_size);

/**
 * Begins a message on the heap: `*pieces_made` is the message, or NULL if the call fails. `fastgcm_pieces_free` ends the message.
 */
int fastgcm_pieces_new(fastgcm_pieces **pieces_made, const fastgcm_key *key, const uint8_t *nonce, size_t nonce_size);

/**
 * Takes the next `aad_size` bytes of AAD. If the function returns `FASTGCM_OUT_OF_ORDER`, `FASTGCM_TOO_LONG` or `FASTGCM_NULL`, it has not
 * taken them.
 */
int fastgcm_pieces_aad(fastgcm_pieces *pieces,
                       const fastgcm_key *key,
                       const uint8_t *aad,
                       size_t aad_size);

/**
 * Encrypts the next `text_size` bytes of text to `ciphertext`, which is `text` itself or does not overlap it. If the function returns
 * `FASTGCM_OUT_OF_ORDER`, `FASTGCM_TOO_LONG`, `FASTGCM_OVERLAP` or `FASTGCM_NULL`, it has not taken them, and nothing is written.
 */
int fastgcm_pieces_seal(fastgcm_pieces *pieces,
                        const fastgcm_key *key,
                        const uint8_t *text,
                        size_t text_size,
                        uint8_t *ciphertext);

/**
 * Decrypts the next bytes of text. **They are not verified** before `fastgcm_pieces_verify` has returned `FASTGCM_OK`: until then they
 * must have no effect, and if it returns anything else, the caller must wipe them.
 */
int fastgcm_pieces_open(fastgcm_pieces *pieces,
                        const fastgcm_key *key,
                        const uint8_t *ciphertext,
                        size_t ciphertext_size,
                        uint8_t *text);

/**
 * Ends a message that was sealed, and writes 16 bytes to `tag`. If the function returns `FASTGCM_OUT_OF_ORDER` or `FASTGCM_NULL`, nothing
 * is written.
 */
int fastgcm_pieces_finish(fastgcm_pieces *pieces,
                          const fastgcm_key *key,
                          uint8_t *tag);

/**
 * Ends a message that was opened, and compares its tag in constant time; `tag_size` is as for `fastgcm_open`. Returns
 * `FASTGCM_UNAUTHENTIC` if anything differs from what was sealed. If it returns `FASTGCM_INVALID_LENGTH`, `FASTGCM_OUT_OF_ORDER` or
 * `FASTGCM_NULL`, the message has not ended.
 */
int fastgcm_pieces_verify(fastgcm_pieces *pieces,
                          const fastgcm_key *key,
                          const uint8_t *tag,
                          size_t tag_size);

/**
 * Wipes a message in pieces, whether or not it has ended, and ends it. NULL is allowed.
 */
void fastgcm_pieces_wipe(fastgcm_pieces *pieces);

/**
 * Wipes a message in pieces that `fastgcm_pieces_new` has made, and frees its memory. NULL is allowed.
 */
void fastgcm_pieces_free(fastgcm_pieces *pieces);

/**
 * Returns how many bytes of memory a root key needs, whatever its scheme.
 */
size_t fastgcm_root_key_size(void);

/**
 * Returns the alignment of a root key: its address must be a multiple of this number.
 */
size_t fastgcm_root_key_align(void);

/**
 * Makes a root key in the caller's memory, which has `place_size` bytes. `fastgcm_root_key_wipe` ends the key.
 *
 * `scheme` is a `fastgcm_scheme`. **A key is for one scheme**: 32 bytes must not be the root key of two schemes. `key` has `key_size`
 * bytes: 32. They are only read. `backend` is NULL for the machine's best back end, or the name of a back end (`fastgcm_backend`).
 *
 * If the function returns `FASTGCM_PLACE`, `FASTGCM_INVALID_LENGTH`, `FASTGCM_UNAVAILABLE` (the scheme or the back end) or `FASTGCM_NULL`,
 * nothing is written, and there is no key.
 */
int fastgcm_root_key_init(fastgcm_root_key *key_place,
                          size_t place_size,
                          int scheme,
                          const uint8_t *key,
                          size_t key_size,
                          const char *backend);

/**
 * Wipes a root key that `fastgcm_root_key_init` has made. The key has then ended, and its memory may be used for something else. NULL is
 * allowed.
 */
void fastgcm_root_key_wipe(fastgcm_root_key *key);

/**
 * Makes a root key on the heap: `*key_made` is the key, or NULL if the call fails. `fastgcm_root_key_free` ends the key. Everything else
 * is as for `fastgcm_root_key_init`.
 */
int fastgcm_root_key_new(fastgcm_root_key **key_made,
                         int scheme,
                         const uint8_t *key,
                         size_t key_size,
                         const char *backend);

/**
 * Wipes a root key that `fastgcm_root_key_new` has made, and frees its memory. NULL is allowed.
 */
void fastgcm_root_key_free(fastgcm_root_key *key);

/**
 * Encrypts a message.
 *
 * `nonce` has `nonce_size` bytes, the length of the scheme's nonces: 24. **A nonce must be unique for every message under one key**; 24
 * random bytes are unique for 2^80 messages. `text` has `text_size` bytes, and the function writes as many to `ciphertext`, which is
 * `text` itself or does not overlap it. It writes `tag_size` bytes to `tag`, the length of the scheme's tags: 16, or 48 if the scheme
 * commits to its key. `tag` may be `ciphertext + text_size`. The outputs must overlap neither `aad`, `nonce` nor `key`, nor each other.
 *
 * If the function returns `FASTGCM_INVALID_LENGTH` (of the nonce or the tag), `FASTGCM_TOO_LONG`, `FASTGCM_OVERLAP`, `FASTGCM_NULL` or
 * `FASTGCM_OUT_OF_ORDER` (the key was wiped), nothing is written.
 */
int fastgcm_root_seal(const fastgcm_root_key *key,
                      const uint8_t *nonce,
                      size_t nonce_size,
                      const uint8_t *aad,
                      size_t aad_size,
                      const uint8_t *text,
                      size_t text_size,
                      uint8_t *ciphertext,
                      uint8_t *tag,
                      size_t tag_size);

/**
 * Decrypts a message, and verifies it: tag and commitment together, in constant time.
 *
 * `nonce` has `nonce_size` bytes, the length of the scheme's nonces: 24. `ciphertext` has `ciphertext_size` bytes, and the function writes
 * as many to `text`, which is `ciphertext` itself or does not overlap it. `tag` has `tag_size` bytes, the length of the scheme's tags: 16,
 * or 48 if the scheme commits to its key. `text` must overlap neither `aad`, `nonce` nor `key`. `fastgcm_open` says what nobody may write to
 * during the call.
 *
 * Returns `FASTGCM_UNAUTHENTIC` if anything differs from what was sealed; `text` is then all zero. If the function returns
 * `FASTGCM_INVALID_LENGTH` (of the nonce or the tag), `FASTGCM_TOO_LONG`, `FASTGCM_OVERLAP`, `FASTGCM_NULL` or `FASTGCM_OUT_OF_ORDER`
 * (the key was wiped), nothing is written.
 */
int fastgcm_root_open(const fastgcm_root_key *key,
                      const uint8_t *nonce,
                      size_t nonce_size,
                      const uint8_t *aad,
                      size_t aad_size,
                      const uint8_t *ciphertext,
                      size_t ciphertext_size,
                      const uint8_t *tag,
                      size_t tag_size,
                      uint8_t *text);

/**
 * Returns the name of back end number `index` among the back ends that this machine can run, best first; NULL behind the last. The string
 * is constant.
 */
const char *fastgcm_backend(size_t index);

/**
 * Returns the name of the back end that a key uses, or NULL if the key is NULL. The string is constant.
 */
const char *fastgcm_key_backend(const fastgcm_key *key);

/**
 * Returns the version of this library, such as "0.1.0". The string is constant.
 */
const char *fastgcm_version(void);

/**
 * Returns the meaning of a status, in English. The string is constant.
 */
const char *fastgcm_text(int status);

/**
 * Seals and opens known answers, and opens a forgery, on each back end of this machine, in less than a millisecond. Returns `FASTGCM_OK`
 * or `FASTGCM_SELFTEST`.
 */
int fastgcm_selftest(void);

#ifdef __cplusplus
}  /* extern "C" */
#endif  /* __cplusplus */

#endif  /* FASTGCM_H */
