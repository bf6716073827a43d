/* AWS-LC: what it has of OpenSSL's EVP, in pieces.
 * without: OPENSSL_ia32cap
 * built: aws-lc
 * link: -DBORINGSSL_PREFIX=aws_lc_0_47_0 -I$(aws-lc-sys)/include $(aws-lc-sys)/libaws_lc_0_47_0_crypto.a -lpthread */
#include "openssl.c"
