/* SPDX-License-Identifier: Apache-2.0 */
/* No transfer engine: the extension is linked against these functions, and the tests of engines use the real library.
 */
#include "kvpool/engine.h"

#include "fake.h"

KV_API int32_t kv_engine_create(const kv_engine_params* params, kv_engine** out, char* err, uint32_t err_size) {
  (void)params;
  *out = NULL;
  fake_say(err, err_size);
  return KV_INTERNAL;
}
KV_API int32_t kv_engine_transports(kv_engine* engine, char* out, uint32_t out_size) {
  (void)engine, (void)out, (void)out_size;
  return KV_INTERNAL;
}
KV_API int32_t kv_engine_register(kv_engine* engine, const kv_region* regions, uint32_t count, const char* location) {
  (void)engine, (void)regions, (void)count, (void)location;
  return KV_INTERNAL;
}
KV_API int32_t kv_engine_unregister(kv_engine* engine, const kv_region* regions, uint32_t count) {
  (void)engine, (void)regions, (void)count;
  return KV_INTERNAL;
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
  (void)engine, (void)out, (void)out_size;
  return KV_INTERNAL;
}
KV_API int32_t kv_engine_get_stats(kv_engine* engine, kv_engine_stats* out) {
  (void)engine, (void)out;
  return KV_INTERNAL;
}
KV_API void kv_engine_destroy(kv_engine* engine) {
  (void)engine;
}
