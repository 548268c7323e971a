/* SPDX-License-Identifier: Apache-2.0 */
/* A transfer engine without sockets: what is registered with it, for stores that are given one. Transfers are tested
 * with the real library. */
#include <stdlib.h>
#include <string.h>

#include "fake.h"

KV_API int32_t kv_engine_create(const kv_engine_params* params, kv_engine** out, char* err, uint32_t err_size) {
  *out = NULL;
  if (strstr(params->protocols, "tcp") == NULL) {
    snprintf(err, err_size, "no protocol of the list works here: %s", params->protocols);
    return KV_INVALID_ARGUMENT;
  }
  *out = calloc(1, sizeof(**out));
  (*out)->lent = calloc(1, sizeof(fake_regions)); /* clients look at it later on: it stays */
  fake_count_engine(1);
  return KV_OK;
}
KV_API int32_t kv_engine_transports(kv_engine* engine, char* out, uint32_t out_size) {
  (void)engine;
  snprintf(out, out_size, "tcp: used");
  return KV_OK;
}
KV_API int32_t kv_engine_register(kv_engine* engine, const kv_region* regions, uint32_t count, const char* location) {
  (void)location;
  for (uint32_t i = 0; i < count; i++) {
    const int32_t status = fake_add_region(engine->lent, (char*)(uintptr_t)regions[i].address, regions[i].length);
    if (status != KV_OK) return status;
  }
  return KV_OK;
}
KV_API int32_t kv_engine_unregister(kv_engine* engine, const kv_region* regions, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const int32_t status = fake_drop_region(engine->lent, (char*)(uintptr_t)regions[i].address);
    if (status != KV_OK) return status;
  }
  return KV_OK;
}
KV_API int32_t kv_engine_submit(kv_engine* engine, int32_t op, kv_transfer* table, uint32_t count,
                                const kv_transfer_options* options, uint64_t* batch_out) {
  (void)engine, (void)op, (void)table, (void)count, (void)options, (void)batch_out;
  return KV_INTERNAL;
}
KV_API int32_t kv_engine_wait(kv_engine* engine, uint64_t batch, uint32_t timeout_ms) {
  (void)engine, (void)batch, (void)timeout_ms;
  return KV_INTERNAL;
}
KV_API int32_t kv_engine_describe(kv_engine* engine, const char* peer, kv_region* table, uint32_t capacity,
                                  uint32_t* count_out, uint32_t timeout_ms) {
  (void)engine, (void)peer, (void)table, (void)capacity, (void)count_out, (void)timeout_ms;
  return KV_INTERNAL;
}
KV_API int32_t kv_engine_next_notify(kv_engine* engine, char* name, uint32_t name_size, void* message,
                                     uint32_t message_size, uint32_t* message_length) {
  (void)engine, (void)name, (void)name_size, (void)message, (void)message_size, (void)message_length;
  return KV_INTERNAL;
}
KV_API int32_t kv_engine_explain(kv_engine* engine, char* out, uint32_t out_size) {
  (void)engine;
  fake_say(out, out_size);
  return KV_OK;
}
KV_API int32_t kv_engine_get_stats(kv_engine* engine, kv_engine_stats* out) {
  (void)engine;
  *out = (kv_engine_stats){.struct_size = sizeof(*out), .listen_port = 15000};
  return KV_OK;
}
KV_API void kv_engine_destroy(kv_engine* engine) {
  if (engine == NULL) return;
  memset(engine->lent, 0, sizeof(*engine->lent));
  fake_count_engine(-1);
  free(engine);
}
