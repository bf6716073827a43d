/* AWS-LC: AES-GCM-SIV by EVP_AEAD.
 * without: OPENSSL_ia32cap
 * built: aws-lc
 * link: -DBORINGSSL_PREFIX=aws_lc_0_47_0 -I$(aws-lc-sys)/include $(aws-lc-sys)/libaws_lc_0_47_0_crypto.a -lpthread */
#define SIV
#include "boringssl.c"
