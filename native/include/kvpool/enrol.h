/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enrol.h: what a process sends to a master to get a certificate for its ServiceAccount's token. The conventions are those of kvpool.h.
 *
 * The request itself is HTTPS: POST /api/v1/enrol?QUERY with the token as header X-Kvpool-Token, to a master whose
 * certificate was checked before. The answer's certificate is for the private key that is made here.
 */
#ifndef KVPOOL_ENROL_H
#define KVPOOL_ENROL_H

#include "kvpool/kvpool.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KV_ENROL_TOKEN_BYTES_MAX 8192 /* longer ones are refused here and by masters */
#define KV_ENROL_KEY_BYTES 512        /* room for the private key, with its NUL */
#define KV_ENROL_QUERY_BYTES 512      /* room for the query, with its NUL */

/* Makes a key of EC P-256 and the proof that who asks has it. `token` is a JWT: base64url and dots, nothing else. Writes
 * NUL-terminated texts: to `private_key` PEM (PKCS#8, no passphrase), which is secret, to `query` "key=...&proof=...",
 * base64url of the public key (SubjectPublicKeyInfo) and of its signature (ECDSA with SHA-256, DER) over "kvpool enrol",
 * a line feed and the token. KV_INVALID_ARGUMENT for what is no token, KV_BUFFER_TOO_SMALL for less room than the two
 * constants; then nothing is written to either. */
KV_API int32_t kv_enrol_request(const char *token, char *private_key, uint32_t private_key_size, char *query,
                                uint32_t query_size, char *err, uint32_t err_size);

#ifdef __cplusplus
}
#endif

#endif
