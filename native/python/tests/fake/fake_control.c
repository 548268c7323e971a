/* SPDX-License-Identifier: Apache-2.0 */
/* The controls of the fake, and the parts of the library that need no objects: versions, texts, nodes. */
#define _GNU_SOURCE
#include "fake.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FAKE_API __attribute__((visibility("default")))

FAKE_API fake_state fake;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;

void fake_say(char* err, uint32_t size) {
  if (err != NULL && size > 0) snprintf(err, size, "%s", fake.sentence);
}

FAKE_API void fake_gate(int32_t closed) {
  pthread_mutex_lock(&lock);
  fake.gate_closed = closed;
  fake.waiting = 0;
  pthread_cond_broadcast(&opened);
  pthread_mutex_unlock(&lock);
}

void fake_count_engine(int32_t change) {
  __atomic_add_fetch(&fake.engines, change, __ATOMIC_SEQ_CST);
}

void fake_count_batch(int32_t change) {
  pthread_mutex_lock(&lock);
  fake.batches += change;
  if (fake.batches > fake.most_batches) fake.most_batches = fake.batches;
  pthread_cond_broadcast(&opened);
  pthread_mutex_unlock(&lock);
}

static int is_gate_closed(void) {
  return fake.gate_closed || fake.most_batches < fake.meeting;
}

int fake_pass_gate(uint32_t timeout_ms) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += timeout_ms / 1000;
  end.tv_nsec += timeout_ms % 1000 * 1000000;
  if (end.tv_nsec >= 1000000000) end.tv_sec++, end.tv_nsec -= 1000000000;
  pthread_mutex_lock(&lock);
  if (is_gate_closed()) fake.waiting++;
  while (is_gate_closed() && pthread_cond_timedwait(&opened, &lock, &end) == 0)
    continue;
  int open = !is_gate_closed();
  pthread_mutex_unlock(&lock);
  return open;
}

KV_API uint32_t kv_abi_version(void) {
  const char* other = getenv("FAKE_KVPOOL_ABI");
  return other == NULL ? 1 : (uint32_t)atoi(other);
}

KV_API int32_t kv_get_versions(kv_versions* out) {
  *out = (kv_versions){sizeof(*out), 1, 2, 3, 4, 5, 6, 0};
  return KV_OK;
}

KV_API const char* kv_sbom(void) {
  return "{}";
}

KV_API const char* kv_status_name(int32_t status) {
  return status == KV_OK ? "KV_OK" : "KV_FAKE";
}
KV_API const char* kv_status_text(int32_t status) {
  return status == KV_OK ? "fine" : "the fake failed as asked";
}
KV_API int32_t kv_log_level(int32_t level) {
  return level >= 0 && level <= 4 ? KV_OK : KV_INVALID_ARGUMENT;
}

/* A key that is none: who gets a certificate for it is told by the suite `pool`. */
KV_API int32_t kv_enrol_request(const char* token, char* private_key, uint32_t private_key_size, char* query,
                                uint32_t query_size, char* err, uint32_t err_size) {
  if (strchr(token, '.') == NULL) {
    snprintf(err, err_size, "no token");
    return KV_INVALID_ARGUMENT;
  }
  snprintf(private_key, private_key_size, "fake key");
  snprintf(query, query_size, "key=K&proof=P");
  return KV_OK;
}

struct kv_node {
  uint64_t segment_bytes;
  uint32_t port;
};

KV_API int32_t kv_node_start(const kv_node_params* p, kv_node** out, char* err, uint32_t err_size) {
  snprintf(fake.last_call, sizeof(fake.last_call), "%s|%s|%s|%llu|%u|%u|%u|%s|%llu", p->masters, p->advertise_host,
           p->node_id == NULL ? "" : p->node_id, (unsigned long long)p->segment_bytes, p->listen_port, p->flags,
           p->protocols, p->memory_path == NULL ? "" : p->memory_path, (unsigned long long)p->memory_offset);
  if (fake.node_failures > 0) {
    fake.node_failures--;
    fake_say(err, err_size);
    return fake.node_status;
  }
  *out = calloc(1, sizeof(**out));
  (*out)->segment_bytes = p->segment_bytes;
  (*out)->port = p->listen_port == 0 ? 14000 : p->listen_port;
  __atomic_add_fetch(&fake.nodes, 1, __ATOMIC_SEQ_CST);
  return KV_OK;
}

KV_API int32_t kv_node_get_stats(kv_node* node, kv_node_stats* out) {
  *out = (kv_node_stats){.struct_size = sizeof(*out),
                         .listen_port = node->port,
                         .capacity_bytes = node->segment_bytes,
                         .masters_connected = 1,
                         .masters_total = 2,
                         .fenced = !fake.not_fenced};
  return KV_OK;
}

KV_API void kv_node_destroy(kv_node* node) {
  if (node == NULL) return;
  __atomic_sub_fetch(&fake.nodes, 1, __ATOMIC_SEQ_CST);
  free(node);
}
