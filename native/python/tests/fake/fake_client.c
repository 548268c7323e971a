/* SPDX-License-Identifier: Apache-2.0 */
/* The fake's client and the objects it stores. A batch takes effect when kv_client_wait ends it and not before, so a
 * test sees whether the caller kept its memory that long. */
#include <fcntl.h>
#include <pthread.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake.h"

#define FAKE_API __attribute__((visibility("default")))
#define BUCKETS 4096
#define BATCHES 256

typedef struct object {
  struct object* next;
  char* key; /* and a zero behind it, for regexec */
  uint32_t key_length;
  void* data;
  uint64_t length;
  uint64_t number;
  int leased;
} object;

typedef struct batch {
  uint64_t id; /* 0: free */
  int32_t op_code;
  kv_op* table;
  uint32_t count;
  uint32_t flags;
  const uint64_t* const* offsets;
  kv_object_id* objects;
} batch;

/* What is put in many calls. */
typedef struct open_put {
  struct open_put* next;
  uint64_t number;
  uint64_t length;
  char* data;
  char* written; /* of each byte */
} open_put;

struct kv_client {
  fake_regions regions;
  const fake_regions* lent; /* of an engine */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static object* objects[BUCKETS];
static batch batches[BATCHES];
static open_put* open_puts;
static uint64_t next_batch = 1;
static uint64_t objects_named; /* put, or begun to be */

static void drop(object** at) {
  object* o = *at;
  *at = o->next;
  free(o->key);
  free(o->data);
  free(o);
}

static uint64_t drop_all(const regex_t* of, int leased_too) {
  uint64_t dropped = 0;
  for (int i = 0; i < BUCKETS; i++) {
    for (object** at = &objects[i]; *at != NULL;) {
      if (((*at)->leased && !leased_too) || (of != NULL && regexec(of, (*at)->key, 0, NULL, 0) != 0)) {
        at = &(*at)->next;
      } else {
        drop(at);
        dropped++;
      }
    }
  }
  return dropped;
}

static void drop_open(open_put** at) {
  open_put* o = *at;
  *at = o->next;
  free(o->data);
  free(o->written);
  free(o);
}

/* Forgets the objects and every fault; clients, nodes and engines stay counted. */
FAKE_API void fake_reset(void) {
  pthread_mutex_lock(&lock);
  drop_all(NULL, 1);
  while (open_puts != NULL)
    drop_open(&open_puts);
  int32_t clients = fake.clients, nodes = fake.nodes, engines = fake.engines;
  memset(&fake, 0, sizeof(fake));
  fake.engines = engines;
  fake.clients = clients;
  fake.nodes = nodes;
  pthread_mutex_unlock(&lock);
}

KV_API int32_t kv_client_create(const kv_client_params* p, kv_client** out, char* err, uint32_t err_size) {
  snprintf(fake.last_call, sizeof(fake.last_call), "%s|%s|%u|%u|%u|%u|%u|%u|%s|%u", p->masters,
           p->name == NULL ? "" : p->name, p->protocols, p->connect_timeout_ms, p->transfer_timeout_ms,
           p->ready_timeout_ms, p->busy_wait_us, p->idle_timeout_ms, p->tls_dir == NULL ? "" : p->tls_dir, p->payloads);
  if (fake.create_status != KV_OK) {
    fake_say(err, err_size);
    return fake.create_status;
  }
  fake_pass_gate(p->ready_timeout_ms);
  *out = calloc(1, sizeof(**out));
  __atomic_add_fetch(&fake.clients, 1, __ATOMIC_SEQ_CST);
  return KV_OK;
}

KV_API int32_t kv_client_attach(const kv_attach_params* p, kv_client** out, char* err, uint32_t err_size) {
  snprintf(fake.last_call, sizeof(fake.last_call), "attach|%s|%s|%llu|%u", p->socket_path,
           p->name == NULL ? "" : p->name, (unsigned long long)p->staging_bytes, p->ready_timeout_ms);
  if (fake.create_status != KV_OK) {
    fake_say(err, err_size);
    return fake.create_status;
  }
  fake_pass_gate(p->ready_timeout_ms);
  *out = calloc(1, sizeof(**out));
  __atomic_add_fetch(&fake.clients, 1, __ATOMIC_SEQ_CST);
  return KV_OK;
}

KV_API void kv_client_destroy(kv_client* client) {
  if (client == NULL) return;
  __atomic_sub_fetch(&fake.clients, 1, __ATOMIC_SEQ_CST);
  memset(client, 0xDD, sizeof(*client));
  free(client);
}

int32_t fake_add_region(fake_regions* regions, char* begin, uint64_t length) {
  if (begin == NULL || length == 0) return KV_INVALID_ARGUMENT;
  int empty = -1;
  for (int i = 0; i < FAKE_REGIONS; i++) {
    if (regions->each[i].length == 0) {
      empty = i;
    } else if (regions->each[i].begin < begin + length && begin < regions->each[i].begin + regions->each[i].length) {
      return KV_INVALID_ARGUMENT;
    }
  }
  if (empty < 0) return KV_QUEUE_FULL;
  regions->each[empty].begin = begin;
  regions->each[empty].length = length;
  return KV_OK;
}

int32_t fake_drop_region(fake_regions* regions, const char* begin) {
  for (int i = 0; i < FAKE_REGIONS; i++) {
    if (regions->each[i].length == 0 || regions->each[i].begin != begin) continue;
    regions->each[i].length = 0;
    return KV_OK;
  }
  return KV_NOT_REGISTERED;
}

KV_API int32_t kv_client_register(kv_client* client, void* address, uint64_t length) {
  return fake_add_region(&client->regions, address, length);
}

KV_API int32_t kv_client_unregister(kv_client* client, void* address) {
  return fake_drop_region(&client->regions, address);
}

/* As a device copies, which needs no access of the processor's. */
static void copy_by_device(void* to, const void* from, uint64_t length) {
  char* held = malloc(length);
  int memory = open("/proc/self/mem", O_RDWR);
  if (held == NULL || memory < 0 || pread(memory, held, length, (off_t)(uintptr_t)from) != (ssize_t)length ||
      pwrite(memory, held, length, (off_t)(uintptr_t)to) != (ssize_t)length) {
    abort();
  }
  close(memory);
  free(held);
}

/* Whatever is registered. */
KV_API int32_t kv_client_copy_memory(kv_client* client, const kv_memory_copy* copies, uint32_t count) {
  (void)client;
  snprintf(fake.last_call, sizeof(fake.last_call), "copy_memory|%u", count);
  if (fake.submit_status != KV_OK) return fake.submit_status;
  for (uint32_t i = 0; i < count; i++) {
    if (copies[i].length > 0) copy_by_device(copies[i].to, copies[i].from, copies[i].length);
  }
  return KV_OK;
}

KV_API int32_t kv_client_use_engine_memory(kv_client* client, kv_engine* engine) {
  client->lent = engine->lent;
  return KV_OK;
}

static int holds(const fake_regions* regions, const char* begin, uint64_t length) {
  for (int i = 0; regions != NULL && i < FAKE_REGIONS; i++) {
    const char* from = regions->each[i].begin;
    if (regions->each[i].length != 0 && begin >= from && begin + length <= from + regions->each[i].length) return 1;
  }
  return 0;
}

static int is_registered(const kv_client* client, const kv_op* op) {
  return holds(&client->regions, op->data, op->length) || holds(client->lent, op->data, op->length);
}

static object** find(const kv_op* op) {
  uint32_t hash = 2166136261u;
  for (uint32_t i = 0; i < op->key_length; i++)
    hash = (hash ^ ((const unsigned char*)op->key)[i]) * 16777619u;
  object** at = &objects[hash % BUCKETS];
  while (*at != NULL && ((*at)->key_length != op->key_length || memcmp((*at)->key, op->key, op->key_length) != 0)) {
    at = &(*at)->next;
  }
  return at;
}

static int32_t put_one(const kv_op* op, uint32_t flags) {
  object** at = find(op);
  if (*at != NULL && (flags & KV_BATCH_UPSERT) == 0) return KV_OK;
  if (*at != NULL) drop(at);
  object* o = calloc(1, sizeof(*o));
  o->key = calloc(1, op->key_length + 1);
  o->key_length = op->key_length;
  o->data = malloc(op->length + 1);
  o->length = op->length;
  memcpy(o->key, op->key, op->key_length);
  if (op->length > 0) memcpy(o->data, op->data, op->length);
  o->number = ++objects_named;
  *at = o;
  return KV_OK;
}

static int32_t read_one(kv_op* op, int with_data) {
  object* o = *find(op);
  if (o == NULL) return KV_NOT_FOUND;
  op->result_length = o->length;
  if (fake.leases) o->leased = 1;
  if (!with_data) return KV_OK;
  if (op->length < o->length) return KV_BUFFER_TOO_SMALL;
  if (o->length > 0) memcpy(op->data, o->data, o->length);
  return KV_OK;
}

/* One copy in memory, by a node whose names tell how long the key is. */
static int32_t locate_one(kv_op* op) {
  const object* o = *find(op);
  if (o == NULL) return KV_NOT_FOUND;
  kv_replica* out = op->data;
  op->result_length = 1;
  *out = (kv_replica){.length = o->length, .offset = 4096, .medium = o->length == 0 ? KV_MEDIUM_SSD : KV_MEDIUM_DRAM};
  snprintf(out->node, sizeof(out->node), "node-%u", op->key_length);
  snprintf(out->address, sizeof(out->address), "host:%u", op->key_length);
  return KV_OK;
}

static int32_t remove_one(const kv_op* op, uint32_t flags) {
  object** at = find(op);
  object* o = *at;
  if (o == NULL) return KV_NOT_FOUND;
  if (o->leased && (flags & KV_BATCH_FORCE) == 0) return KV_HAS_LEASE;
  drop(at);
  return KV_OK;
}

/* The line with its value in one run of bytes, from or to which the pieces are copied. */
static int32_t run_in_pieces(kv_client* client, const batch* b, kv_op* op) {
  const kv_piece* pieces = op->data;
  kv_op whole = *op;
  whole.length = 0;
  for (uint64_t i = 0; i < op->length; i++) {
    const kv_op piece = {.data = pieces[i].data, .length = pieces[i].length};
    if (!is_registered(client, &piece)) return KV_NOT_REGISTERED;
    whole.length += pieces[i].length;
  }
  char* joined = malloc(whole.length + 1);
  whole.data = joined;
  uint64_t at = 0;
  for (uint64_t i = 0; b->op_code == KV_OP_PUT && i < op->length; at += pieces[i++].length)
    memcpy(joined + at, pieces[i].data, pieces[i].length);
  const int32_t status = b->op_code == KV_OP_PUT ? put_one(&whole, b->flags) : read_one(&whole, 1);
  op->result_length = whole.result_length;
  for (uint64_t i = 0; b->op_code == KV_OP_GET && status == KV_OK && i < op->length && at < op->result_length; i++) {
    const uint64_t left = op->result_length - at;
    memcpy(pieces[i].data, joined + at, left < pieces[i].length ? left : pieces[i].length);
    at += pieces[i].length;
  }
  free(joined);
  return status;
}

/* Whether the key does not have the object that is meant. They are named by when they were put. */
static int is_another(const kv_op* op, const kv_object_id* meant) {
  const object* o = *find(op);
  return meant != NULL && meant->counter != 0 && (o == NULL || o->number != meant->counter);
}

/* Parts of the line's value. */
static int32_t run_parts(kv_client* client, kv_op* op, const uint64_t* offsets, kv_object_id* meant) {
  if (is_another(op, meant)) return KV_LEASE_EXPIRED;
  const kv_piece* pieces = op->data;
  kv_op whole = *op;
  whole.length = 1 << 20;
  char* joined = malloc(whole.length);
  whole.data = joined;
  int32_t status = read_one(&whole, 1);
  op->result_length = whole.result_length;
  for (uint64_t i = 0; status == KV_OK && i < op->length; i++) {
    const kv_op piece = {.data = pieces[i].data, .length = pieces[i].length};
    if (!is_registered(client, &piece))
      status = KV_NOT_REGISTERED;
    else if (offsets[i] + pieces[i].length > op->result_length)
      status = KV_INVALID_ARGUMENT;
  }
  for (uint64_t i = 0; status == KV_OK && i < op->length; i++)
    memcpy(pieces[i].data, joined + offsets[i], pieces[i].length);
  if (meant != NULL && status == KV_OK) *meant = (kv_object_id){1, (*find(op))->number};
  free(joined);
  return status;
}

static int32_t start_one(const kv_op* op, uint32_t flags, kv_object_id* name) {
  if (*find(op) != NULL && (flags & KV_BATCH_UPSERT) == 0) return KV_EXISTS;
  open_put* o = calloc(1, sizeof(*o));
  o->number = ++objects_named;
  o->length = op->length;
  o->data = calloc(1, op->length + 1);
  o->written = calloc(1, op->length + 1);
  o->next = open_puts;
  open_puts = o;
  *name = (kv_object_id){2, o->number};
  return KV_OK;
}

static open_put** find_open(const kv_object_id* name) {
  open_put** at = &open_puts;
  while (*at != NULL && (*at)->number != name->counter)
    at = &(*at)->next;
  return at;
}

static int32_t write_parts(kv_client* client, kv_op* op, const uint64_t* offsets, const kv_object_id* name) {
  const open_put* o = *find_open(name);
  if (o == NULL) return KV_LEASE_EXPIRED;
  const kv_piece* pieces = op->data;
  for (uint64_t i = 0; i < op->length; i++) {
    const kv_op piece = {.data = pieces[i].data, .length = pieces[i].length};
    if (!is_registered(client, &piece)) return KV_NOT_REGISTERED;
    if (offsets[i] + pieces[i].length > o->length) return KV_INVALID_ARGUMENT;
  }
  op->result_length = 0;
  for (uint64_t i = 0; i < op->length; op->result_length += pieces[i++].length) {
    memcpy(o->data + offsets[i], pieces[i].data, pieces[i].length);
    memset(o->written + offsets[i], 1, pieces[i].length);
  }
  return KV_OK;
}

static int32_t end_one(const kv_op* op, uint32_t flags, const kv_object_id* name, int commits) {
  open_put** at = find_open(name);
  open_put* o = *at;
  if (o == NULL) return KV_LEASE_EXPIRED;
  int32_t status = memchr(o->written, 0, o->length) == NULL ? KV_OK : KV_INVALID_ARGUMENT;
  kv_op whole = *op;
  whole.data = o->data;
  whole.length = o->length;
  const int keeps = *find(op) != NULL && (flags & KV_BATCH_UPSERT) == 0;
  if (commits && status == KV_OK) status = put_one(&whole, flags);
  if (commits && status == KV_OK && !keeps) (*find(op))->number = o->number;
  drop_open(at);
  return commits ? status : KV_OK;
}

static int32_t run_line(kv_client* client, const batch* b, kv_op* op) {
  if (fake.fail_lines > 0 && fake.fail_op == b->op_code) {
    fake.fail_lines--;
    return fake.fail_status;
  }
  if (op->key_length == 0 || op->key_length > KV_KEY_BYTES_MAX) return KV_INVALID_KEY;
  kv_object_id* name = b->objects == NULL ? NULL : &b->objects[op - b->table];
  switch (b->op_code) {
    case KV_OP_PUT_START:
      return start_one(op, b->flags, name);
    case KV_OP_PUT_PARTS:
      return write_parts(client, op, b->offsets[op - b->table], name);
    case KV_OP_PUT_END:
    case KV_OP_PUT_REVOKE:
      return end_one(op, b->flags, name, b->op_code == KV_OP_PUT_END);
    default:
      break;
  }
  if (b->offsets != NULL) {
    return run_parts(client, op, b->offsets[op - b->table], name);
  }
  if ((b->flags & KV_BATCH_PIECES) != 0) return run_in_pieces(client, b, op);
  if ((b->flags & KV_BATCH_REGISTERED) != 0 && !is_registered(client, op)) return KV_NOT_REGISTERED;
  switch (b->op_code) {
    case KV_OP_PUT:
      return put_one(op, b->flags);
    case KV_OP_GET:
      return read_one(op, 1);
    case KV_OP_EXISTS:
      return read_one(op, 0);
    case KV_OP_LOCATE:
      return locate_one(op);
    case KV_OP_RETAIN:
    case KV_OP_RELEASE:
    case KV_OP_PREFETCH: /* memory is all that there is */
      op->result_length = b->op_code != KV_OP_PREFETCH;
      return *find(op) == NULL ? KV_NOT_FOUND : KV_OK;
    default:
      return remove_one(op, b->flags);
  }
}

/* As tests can tell it: 1000 and the length of the name. */
KV_API uint64_t kv_group_id(const char* name, uint32_t length) {
  return name == NULL || length == 0 ? 0 : 1000 + length;
}

KV_API int32_t kv_client_submit(kv_client* client, int32_t op_code, kv_op* table, uint32_t count,
                                const kv_batch_options* options, uint64_t* batch_out) {
  (void)client;
  if (fake.submit_status != KV_OK) return fake.submit_status;
  if (count > KV_BATCH_MAX) return KV_INVALID_ARGUMENT;
  pthread_mutex_lock(&lock);
  int end = snprintf(fake.last_call, sizeof(fake.last_call), "%d|%u|%u|%u|%s|%u|%u|%u", op_code, count,
                     options->flags & ~(uint32_t)KV_BATCH_WAIT, /* in every call: they all wait at once */
                     options->replicas, options->nodes == NULL ? "" : options->nodes, options->timeout_ms,
                     options->pins, options->soft_pin_ms);
  for (uint32_t i = 0; options->groups != NULL && i < count && end < (int)sizeof(fake.last_call); i++)
    end += snprintf(fake.last_call + end, sizeof(fake.last_call) - (size_t)end, "|%llu",
                    (unsigned long long)options->groups[i]);
  if (options->retain_ms != 0 && end < (int)sizeof(fake.last_call))
    snprintf(fake.last_call + end, sizeof(fake.last_call) - (size_t)end, "|%u", options->retain_ms);
  int32_t status = KV_QUEUE_FULL;
  for (int i = 0; i < BATCHES && status != KV_OK; i++) {
    if (batches[i].id != 0) continue;
    batches[i] = (batch){next_batch, op_code, table, count, options->flags, options->offsets, options->objects};
    *batch_out = next_batch++;
    status = KV_OK;
  }
  pthread_mutex_unlock(&lock);
  if (status == KV_OK) fake_count_batch(1);
  return status;
}

static batch* batch_of(uint64_t id) {
  for (int i = 0; i < BATCHES; i++) {
    if (batches[i].id == id) return &batches[i];
  }
  return NULL;
}

KV_API int32_t kv_client_wait(kv_client* client, uint64_t id, uint32_t timeout_ms) {
  if (!fake_pass_gate(timeout_ms)) return KV_TIMEOUT;
  pthread_mutex_lock(&lock);
  batch* b = batch_of(id);
  int32_t status = b == NULL ? KV_INVALID_ARGUMENT : KV_OK;
  if (b != NULL) {
    for (uint32_t i = 0; i < b->count; i++)
      b->table[i].status = run_line(client, b, &b->table[i]);
    b->id = 0;
  }
  pthread_mutex_unlock(&lock);
  if (b != NULL) fake_count_batch(-1);
  return status;
}

KV_API int32_t kv_client_remove_matching(kv_client* client, const char* pattern, uint32_t pattern_length,
                                         uint32_t force, uint32_t timeout_ms, uint64_t* removed) {
  (void)client;
  (void)timeout_ms;
  if (fake.submit_status != KV_OK) return fake.submit_status;
  regex_t regex; /* Python's text ends with a zero */
  if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0) return KV_INVALID_ARGUMENT;
  pthread_mutex_lock(&lock);
  *removed = drop_all(pattern_length == 0 ? NULL : &regex, force != 0);
  pthread_mutex_unlock(&lock);
  regfree(&regex);
  return KV_OK;
}

/* Storage nodes have names of one letter. The first task is 1 << 32 | 1, and failed for want of room when it has a
 * source. */
static uint64_t last_task;

KV_API int32_t kv_client_copy(kv_client* client, const char* key, uint32_t key_length, const char* source,
                              const char* const* targets, uint32_t target_count, uint32_t timeout_ms, uint64_t* task) {
  (void)client;
  (void)timeout_ms;
  if (fake.submit_status != KV_OK) return fake.submit_status;
  if (target_count == 0 || strlen(targets[0]) != 1) return KV_INVALID_ARGUMENT;
  pthread_mutex_lock(&lock);
  const kv_op op = {.key = key, .key_length = key_length};
  const int32_t status = *find(&op) == NULL ? KV_NOT_FOUND : KV_OK;
  if (status == KV_OK) last_task = (uint64_t)1 << 32 | (source != NULL ? 2 : 1);
  *task = last_task;
  pthread_mutex_unlock(&lock);
  return status;
}

KV_API int32_t kv_client_task(kv_client* client, uint64_t task, uint32_t timeout_ms, kv_task* out) {
  (void)client;
  (void)timeout_ms;
  if (fake.submit_status != KV_OK) return fake.submit_status;
  if (task == 0 || task != last_task) return KV_NOT_FOUND;
  const int moves = (task & 2) != 0;
  *out = (kv_task){.struct_size = sizeof(*out),
                   .state = moves ? KV_TASK_FAILED : KV_TASK_SUCCESS,
                   .why = moves ? KV_NO_SPACE : KV_OK,
                   .moves = (uint32_t)moves,
                   .age_ms = 3000,
                   .rest_ms = 1000};
  return KV_OK;
}

KV_API int32_t kv_client_explain(kv_client* client, char* out, uint32_t out_size) {
  (void)client;
  fake_say(out, out_size);
  return KV_OK;
}

KV_API int32_t kv_client_get_stats(kv_client* client, kv_client_stats* out) {
  (void)client;
  *out = (kv_client_stats){.struct_size = sizeof(*out),
                           .leader_known = !fake.leaderless,
                           .put_batch_us = 1200,
                           .put_batches_in_100us = 2,
                           .put_batches_in_1ms = 1,
                           .put_batches_longer = 4,
                           .single_gets = {.us = 70, .in_100us = 3},
                           .requests = {[KV_REQUEST_LOOKUP] = {.us = 16000, .in_1ms = 5, .in_10ms = 1, .in_100ms = 1}}};
  return KV_OK;
}
