/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kvpool_sim_client.h: the client core for simulations, in libkvpool_sim.so beside the node core. Test only.
 *
 * The caller plays the shell: it tells what happened, takes the actions and does them, in order. Times are milliseconds
 * that do not go back. Functions return KV_OK, KV_INVALID_ARGUMENT, or KV_INTERNAL for a defect. Not thread safe.
 */
#ifndef KVPOOL_SIM_CLIENT_H
#define KVPOOL_SIM_CLIENT_H

#include <stdint.h>

#include "kvpool/kvpool.h"

#if defined(__GNUC__)
#define KV_SIM_CLIENT_API __attribute__((visibility("default")))
#else
#define KV_SIM_CLIENT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kv_sim_client kv_sim_client;

typedef struct kv_sim_client_params {
  uint32_t struct_size;
  uint32_t protocols;  /* KV_PROTOCOL_* bits */
  const char* masters; /* any names, separated by commas; they come back in dial actions */
  const char* name;
  const char* boot_id; /* nodes whose shm address begins with it are reached through shared memory; may be empty */
  uint64_t incarnation;
  uint64_t random_seed;
  uint32_t connect_timeout_ms;  /* 0: the default */
  uint32_t transfer_timeout_ms; /* 0: the default */
  uint32_t cann_patience_ms;    /* both timeouts of CANN together, for the rest of memory that was offered */
  uint32_t cann_card_repeats_ms;
} kv_sim_client_params;

KV_SIM_CLIENT_API int32_t kv_sim_client_create(const kv_sim_client_params* params, kv_sim_client** out);
KV_SIM_CLIENT_API void kv_sim_client_destroy(kv_sim_client* client);

/* ---- what happened ------------------------------------------------------------------------------------------- */

typedef struct kv_sim_batch {
  uint32_t struct_size;
  int32_t op_code; /* KV_OP_*, or KV_SIM_OP_REMOVE_ALL with one line */
  uint64_t batch;  /* a number of the caller's choice, never reused */
  uint32_t count;
  uint32_t timeout_ms;
  uint32_t replicas;
  uint32_t force;
  kv_op* table;         /* the caller's until the batch is finished; its statuses are filled then */
  uint32_t upsert;      /* puts: replace what exists */
  uint32_t pins;        /* puts: KV_PIN_* */
  uint32_t soft_pin_ms; /* puts: 0 = the pool's default */
  uint32_t reuse;       /* gets: as KV_BATCH_REUSE */
} kv_sim_batch;
#define KV_SIM_OP_REMOVE_ALL 100

KV_SIM_CLIENT_API int32_t kv_sim_client_submit(kv_sim_client* client, int64_t now_ms, const kv_sim_batch* batch);
KV_SIM_CLIENT_API int32_t kv_sim_client_opened(kv_sim_client* client, int64_t now_ms, uint64_t connection);
/* A dial that failed or a connection that ended; reason is NUL-terminated. */
KV_SIM_CLIENT_API int32_t kv_sim_client_closed(kv_sim_client* client, int64_t now_ms, uint64_t connection,
                                               const char* reason);
/* `body` is a frame without its length and checksum. */
KV_SIM_CLIENT_API int32_t kv_sim_client_frame(kv_sim_client* client, int64_t now_ms, uint64_t connection,
                                              const void* body, uint32_t length);
KV_SIM_CLIENT_API int32_t kv_sim_client_payload_sent(kv_sim_client* client, int64_t now_ms, uint64_t connection,
                                                     uint64_t transfer);
KV_SIM_CLIENT_API int32_t kv_sim_client_payload_received(kv_sim_client* client, int64_t now_ms, uint64_t connection,
                                                         uint64_t transfer, uint32_t computed_crc, uint32_t sent_crc);
KV_SIM_CLIENT_API int32_t kv_sim_client_segments_mapped(kv_sim_client* client, int64_t now_ms, uint64_t connection,
                                                        int32_t status);
KV_SIM_CLIENT_API int32_t kv_sim_client_copied_to_staging(kv_sim_client* client, int64_t now_ms, uint64_t connection,
                                                          uint64_t transfer, uint32_t crc);
/* KV_OK: the directory named the object before and after the copy; KV_NOT_FOUND: it did not. */
KV_SIM_CLIENT_API int32_t kv_sim_client_copied_from_segment(kv_sim_client* client, int64_t now_ms, uint64_t connection,
                                                            uint64_t transfer, int32_t status, uint32_t crc);
/* `address`: the memory, which is the connection's until that ends; `worker`: IP:PORT of the engine of CANN. */
KV_SIM_CLIENT_API int32_t kv_sim_client_staging_offered(kv_sim_client* client, int64_t now_ms, uint64_t connection,
                                                        void* address, const char* worker, uint64_t registrations);
/* Due every 5 ms while batches run. */
KV_SIM_CLIENT_API int32_t kv_sim_client_tick(kv_sim_client* client, int64_t now_ms);
/* Ends every batch with KV_CLOSED; take the actions, then destroy. */
KV_SIM_CLIENT_API int32_t kv_sim_client_shut_down(kv_sim_client* client, int64_t now_ms);

/* ---- what to do ---------------------------------------------------------------------------------------------- */

enum kv_sim_client_action_kind {
  KV_SIM_CLIENT_NONE = 0,
  KV_SIM_CLIENT_DIAL = 1,              /* data: the address; unix: 1 for a socket path; answer opened or closed */
  KV_SIM_CLIENT_SEND_FRAMES = 2,       /* data: whole frames */
  KV_SIM_CLIENT_SEND_PAYLOAD = 3,      /* memory, length, then its CRC-32C; answer payload_sent */
  KV_SIM_CLIENT_RECEIVE_PAYLOAD = 4,   /* the bytes behind the frame go to memory (NULL: drop); payload_received */
  KV_SIM_CLIENT_SEND_STAGING = 5,      /* data: frames, sent with a new staging memory of `length` bytes */
  KV_SIM_CLIENT_MAP_SEGMENTS = 6,      /* answer segments_mapped */
  KV_SIM_CLIENT_COPY_TO_STAGING = 7,   /* memory, length, offset in the staging memory; answer copied_to_staging */
  KV_SIM_CLIENT_COPY_FROM_SEGMENT = 8, /* memory, length, offset in the segment, extent, object; copied_from_segment */
  KV_SIM_CLIENT_CANCEL_COPY = 9,
  KV_SIM_CLIENT_CLOSE = 10,
  KV_SIM_CLIENT_FINISH_BATCH = 11,      /* transfer: the batch; its table is filled */
  KV_SIM_CLIENT_OFFER_STAGING = 12,     /* length; memory: of an earlier connection, NULL: new memory of the caller's;
                                           answer staging_offered; COPY_TO_STAGING goes there too */
  KV_SIM_CLIENT_COPY_FROM_STAGING = 13, /* memory, length, offset in the staging memory; copied_from_segment */
};

typedef struct kv_sim_client_action {
  int32_t kind;
  uint32_t unix_socket;
  uint64_t connection;
  uint64_t transfer;
  void* memory; /* the batch's */
  uint64_t length;
  uint64_t offset;
  uint64_t generation;
  uint32_t slot;
  uint32_t segment;
  uint64_t object_epoch;
  uint64_t object_counter;
  const void* data; /* valid until the next call of this function */
  uint64_t data_length;
} kv_sim_client_action;

/* The next action in order; kind KV_SIM_CLIENT_NONE when there is none. */
KV_SIM_CLIENT_API int32_t kv_sim_client_next(kv_sim_client* client, kv_sim_client_action* out);

/* The sentence behind the latest failure; valid until the next call on this client. */
KV_SIM_CLIENT_API const char* kv_sim_client_explain(kv_sim_client* client);

#ifdef __cplusplus
}
#endif

#endif
