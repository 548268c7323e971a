/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kvpool_sim.h: the node core for simulations. Test only, never shipped; libkvpool_sim.so.
 *
 * A simulated node is the production core over memory of the caller: no sockets, no clock, no threads. The caller plays
 * the shell: it tells what happened, takes the actions and does them. A crash drops the instance and keeps the bytes.
 *
 * Functions return KV_OK, KV_CLOSED when the life of the node was cut (see kv_sim_node_cut; only kv_sim_node_destroy
 * may follow), or KV_INTERNAL for a defect, which kv_sim_node_problem explains. Not thread safe.
 */
#ifndef KVPOOL_SIM_H
#define KVPOOL_SIM_H

#include <stdint.h>

#if defined(__GNUC__)
#define KV_SIM_API __attribute__((visibility("default")))
#else
#define KV_SIM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kv_sim_node kv_sim_node;

/* Of the Ascend transport. */
typedef struct kv_sim_cann {
  uint32_t connects_by_itself;
  uint32_t connect_timeout_ms;
  uint32_t transfer_timeout_ms;
  uint32_t card_repeats_ms;
  uint32_t channels_max;
  uint32_t calls_max; /* open at a time */
} kv_sim_cann;

typedef struct kv_sim_params {
  uint32_t struct_size;
  uint32_t transient;
  uint64_t pool_high; /* both zero only when transient */
  uint64_t pool_low;
  const char* node_id;
  const char* tcp; /* HOST:PORT told to masters */
  uint64_t incarnation;
  uint64_t random_seed;
  uint32_t masters;                /* LeaderGone names number N as "master-N:0" */
  uint32_t client_connections_max; /* 0: the default */
  void* tier;                      /* bytes of an SSD, the caller's; NULL without one. Zeros become a tier */
  uint64_t tier_bytes;
  uint32_t tier_number; /* of a tier that is made or emptied; not 0 */
  uint32_t tcp_only;    /* not by shared memory too */
  void* disk;    /* as large as the segment: what of it has been written to its disk for certain; NULL in memory */
  uint64_t boot; /* of the machine; not 0 */
  void* staging; /* of the node, for what CANN moves; NULL: clients offer no memory */
  uint64_t staging_bytes;
  uint64_t tier_staging_bytes; /* of it, at its end, in whole blocks: into which the SSD reads */
  const kv_sim_cann* cann;     /* NULL where there is no staging */
} kv_sim_params;

/* Makes `bytes` (16 MiB at least) of zeros a segment of this pool and node. */
KV_SIM_API int32_t kv_sim_format(const kv_sim_params* params, void* memory, uint64_t bytes);

/* A new life over a formatted segment. cut_stores and cut_bytes as in kv_sim_node_cut, so that the recovery can be cut
 * too; cut_stores UINT64_MAX never cuts. KV_SEGMENT_FOREIGN when the bytes are no segment of this pool and node. */
KV_SIM_API int32_t kv_sim_node_create(const kv_sim_params* params, void* memory, uint64_t bytes, uint64_t cut_stores,
                                      uint32_t cut_bytes, kv_sim_node** out);
KV_SIM_API void kv_sim_node_destroy(kv_sim_node* node);

/* Ends this life at a store to the directory or the header state: the next `stores` are done, of the one after only the
 * first `bytes` bytes, and nothing after that. */
KV_SIM_API int32_t kv_sim_node_cut(kv_sim_node* node, uint64_t stores, uint32_t bytes);
/* Stores done in this life. */
KV_SIM_API uint64_t kv_sim_node_stores(const kv_sim_node* node);
/* For the death of a node with an SSD, before it is destroyed: of what is being written there only some sectors are. */
KV_SIM_API void kv_sim_node_tier_tear(kv_sim_node* node, uint64_t random);
KV_SIM_API const char* kv_sim_node_problem(const kv_sim_node* node);

typedef struct kv_sim_recovery {
  uint64_t restored;
  uint64_t unfinished;
  uint64_t torn;
  uint64_t invalid;
  uint64_t overlapping;
} kv_sim_recovery;
KV_SIM_API int32_t kv_sim_node_recovery(const kv_sim_node* node, kv_sim_recovery* out);

/* ---- what happened ------------------------------------------------------------------------------------------- */
/* Connections are numbers of the caller's choice, never reused; times are milliseconds that do not go back. */

/* who: the path in the certificate of the peer, as tenant/a/rw/b or node/c; NULL without one. */
KV_SIM_API int32_t kv_sim_node_accepted(kv_sim_node* node, uint64_t now_ms, uint64_t connection, uint32_t local,
                                        const char* who);
KV_SIM_API int32_t kv_sim_node_dialled(kv_sim_node* node, uint64_t now_ms, uint64_t connection, uint32_t master);
/* refused: 1 when the address answered that nobody listens, 0 for time-outs and everything else. */
KV_SIM_API int32_t kv_sim_node_dial_failed(kv_sim_node* node, uint64_t now_ms, uint32_t master, uint32_t refused);
/* Answers of KV_SIM_DIAL_SOURCE. The connection is to another node, of which this one is a client. */
KV_SIM_API int32_t kv_sim_node_source_dialled(kv_sim_node* node, uint64_t now_ms, uint64_t connection, uint64_t source);
KV_SIM_API int32_t kv_sim_node_source_dial_failed(kv_sim_node* node, uint64_t source);
/* `body` is a frame without its length and checksum. */
KV_SIM_API int32_t kv_sim_node_frame(kv_sim_node* node, uint64_t now_ms, uint64_t connection, const void* body,
                                     uint32_t length);
KV_SIM_API int32_t kv_sim_node_malformed(kv_sim_node* node, uint64_t connection);
KV_SIM_API int32_t kv_sim_node_payload_received(kv_sim_node* node, uint64_t connection, uint32_t computed_crc,
                                                uint32_t sent_crc);
KV_SIM_API int32_t kv_sim_node_payload_sent(kv_sim_node* node, uint64_t connection);
KV_SIM_API int32_t kv_sim_node_staging_mapped(kv_sim_node* node, uint64_t connection, int32_t status);
KV_SIM_API int32_t kv_sim_node_sent(kv_sim_node* node, uint64_t connection, uint64_t bytes);
/* What CANN answers to a call, as in ascend/core/abi.h. It touches nothing for it afterwards, unless it says timeout.
 */
KV_SIM_API int32_t kv_sim_node_cann_answered(kv_sim_node* node, uint64_t now_ms, uint64_t call, uint32_t status);
KV_SIM_API int32_t kv_sim_node_closed(kv_sim_node* node, uint64_t now_ms, uint64_t connection);
KV_SIM_API int32_t kv_sim_node_tick(kv_sim_node* node, uint64_t now_ms);
/* The memory ends with this node: it tells the masters and closes their connections; none is dialled any more. */
KV_SIM_API int32_t kv_sim_node_leave(kv_sim_node* node);
/* A node whose memory outlives it ends in order: what it stored is on its disk. Only destroy may follow. */
KV_SIM_API int32_t kv_sim_node_end(kv_sim_node* node);
/* The power of its machine fails, when no node lives: of each page that was stored to since it was written for certain
 * the disk has what was stored or what was there before. */
KV_SIM_API void kv_sim_cut_power(void* memory, void* disk, uint64_t bytes, uint64_t random);
/* 1 when the next life under this boot would not believe what the segment holds. */
KV_SIM_API int32_t kv_sim_may_set_back(const void* memory, uint64_t bytes, uint64_t boot);
/* Does a job of the SSD, or fails it. Jobs may be done in any order. */
KV_SIM_API int32_t kv_sim_node_tier_work(kv_sim_node* node, uint64_t job, uint32_t fails);

/* ---- what to do ---------------------------------------------------------------------------------------------- */

enum kv_sim_action_kind {
  KV_SIM_NONE = 0,
  KV_SIM_SEND_FRAMES = 1,        /* data: whole frames; answer with sent */
  KV_SIM_SEND_SEGMENTS = 2,      /* the same, with a read-only view of the segment */
  KV_SIM_SEND_PAYLOAD = 3,       /* offset, length in the segment, crc; answer with payload_sent */
  KV_SIM_RECEIVE_PAYLOAD = 4,    /* the bytes behind the frame go to offset, length; answer with payload_received */
  KV_SIM_DISCARD_PAYLOAD = 5,    /* the next length bytes behind the frame (checksum included) are dropped */
  KV_SIM_COPY_STAGING = 6,       /* staging_offset to offset, length, crc; answer with payload_received */
  KV_SIM_MAP_STAGING = 7,        /* length; answer with staging_mapped */
  KV_SIM_CLOSE = 8,              /* data: the reason; answer with closed */
  KV_SIM_DIAL = 9,               /* master; answer with dialled or dial_failed */
  KV_SIM_NOTE = 10,              /* data: a sentence for people */
  KV_SIM_DIAL_SOURCE = 11,       /* connection: number of the source; data: HOST:PORT; answer with source_dialled or
                                    source_dial_failed */
  KV_SIM_TIER_WRITE = 12,        /* connection: number of a job, to be done by tier_work; it reads offset, length of the
                                    segment until then */
  KV_SIM_TIER_STORE = 13,        /* connection: number of a job */
  KV_SIM_TIER_READ = 14,         /* connection: number of a job */
  KV_SIM_SEND_TIER_PAYLOAD = 15, /* like SEND_PAYLOAD; offset is an address, good until payload_sent or closed */
  KV_SIM_PULL = 16,  /* for the caller to know: offset, length of the segment are written from now on; connection: a
                        number of the core's */
  KV_SIM_PUSH = 17,  /* the same, read */
  KV_SIM_MOVED = 18, /* that has ended */
  /* Calls of CANN, to be answered by cann_answered, in any order; connection: number of the call, data: IP:PORT. */
  KV_SIM_CANN_CONNECT = 19, /* length: its timeout */
  KV_SIM_CANN_DISCONNECT = 20,
  KV_SIM_CANN_READ = 21, /* offset: address here, staging_offset: address there, length; crc: its timeout */
  KV_SIM_CANN_WRITE = 22 /* the same */
};

typedef struct kv_sim_action {
  int32_t kind;
  uint32_t crc;
  uint64_t connection;
  uint64_t offset;
  uint64_t length;
  uint64_t staging_offset;
  uint32_t master;
  uint32_t data_length;
  const void* data; /* valid until the next call of this function */
} kv_sim_action;

/* The next action in order. KV_SIM_NONE when there is none, and then the turn is over: changes of the directory that no
 * message had to wait for were gathered and handed out just before. */
KV_SIM_API int32_t kv_sim_node_next(kv_sim_node* node, kv_sim_action* out);

#ifdef __cplusplus
}
#endif

#endif
