/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h: the transfer engine of libkvpool. It moves bytes between registered memory of processes, without a pool.
 * The conventions are those of kvpool.h.
 */
#ifndef KVPOOL_ENGINE_H
#define KVPOOL_ENGINE_H

#include "kvpool/kvpool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Each engine listens; who transfers dials the other one, which does the writing and reading in its own memory, and only
 * inside what is registered there at that moment. */
typedef struct kv_engine kv_engine;

#define KV_ENGINE_PORT_MIN 15000
#define KV_ENGINE_PORT_MAX 17000
#define KV_ENGINE_REGIONS_MAX 16384
#define KV_ENGINE_NOTIFIES_MAX 4096 /* that wait for kv_engine_next_notify; the next one is refused with KV_QUEUE_FULL */
#define KV_NOTIFY_NAME_BYTES_MAX 253
#define KV_NOTIFY_BYTES_MAX 4096

typedef struct kv_engine_params {
  uint32_t struct_size;
  uint32_t port_min;            /* the first free port of [port_min, port_max] in random order is taken; default */
  uint32_t port_max;            /* KV_ENGINE_PORT_MIN to KV_ENGINE_PORT_MAX; both 0 for that */
  uint32_t connect_timeout_ms;  /* until a dialled peer has said what is registered there; default 3000 */
  uint32_t transfer_timeout_ms; /* a connection that should make progress and makes none for this long ends; default 30000 */
  uint32_t idle_timeout_ms;     /* a connection that nobody used for this long ends; default 300000 */
  uint32_t queue_lines_max;     /* bound of transfers in flight or not waited for; default KV_BATCH_MAX */
  uint32_t busy_wait_us;        /* as in kv_client_params; default 100, KV_BUSY_WAIT_NEVER: sleep at once */
  const char *metadata;    /* "P2PHANDSHAKE" or NULL: peers are HOST:PORT; others are refused */
  const char *protocols;   /* those that may be used, such as "ascend,tcp"; with a peer the first that both have. NULL: "tcp" */
  const char *name;        /* shown in logs of peers; default: host name */
  const char *listen_host; /* default "::" (both families), falls back to 0.0.0.0 where IPv6 is off */
  const char *product;     /* product version told to peers; default that of the library */
  const char *ascend_host; /* IP at which peers reach this machine, for the protocol "ascend"; default HCCL_IF_IP, or listen_host */
  const char *tls_dir;     /* as in kv_client_params, for every connection: peers show a certificate of a client of the same pool and
                            * tenant, or are refused. One with ro reads and does not write, which by
                            * "ascend" its own side alone sees to. NULL: no TLS, and no peer with it */
  uint32_t payloads;       /* KV_PAYLOADS_*, with a tls_dir; default encrypted. Authenticated where both sides say so */
  uint32_t trusted_fabric; /* not 0: "ascend" is used beside a tls_dir too, though CANN checks no peer and encrypts nothing */
  uint32_t sockets_only;   /* not 0: what "tcp" moves goes by the connection also between processes of one machine, which by default
                            * copy it from memory to memory where the kernel lets them (docs/engines/transfer-engine.md) */
} kv_engine_params;

/* Listens and starts the engine's thread. On success *out is the caller's, to be ended with kv_engine_destroy. */
KV_API int32_t kv_engine_create(const kv_engine_params *params, kv_engine **out, char *err, uint32_t err_size);

/* A sentence for each protocol of the list: used, or why not. And one for peers of the same machine. */
KV_API int32_t kv_engine_transports(kv_engine *engine, char *out, uint32_t out_size);

/* Registered memory. */
typedef struct kv_region {
  uint64_t address;
  uint64_t length;
} kv_region;

/* Lets peers read and write these regions: all of them, or with a failure none. Not copied, not pinned. location is
 * "*", "cpu" or "cpu:N" (NULL: "*"), and "npu" or "npu:N" where ascend is used; others are refused. Where memory really is,
 * CANN says. KV_INVALID_ARGUMENT for overlaps, and for memory that this process cannot read, as that of an accelerator:
 * transfers from and to it are refused so as well. Memory of an NPU is not, where ascend is used. */
KV_API int32_t kv_engine_register(kv_engine *engine, const kv_region *regions, uint32_t count, const char *location);

/* Takes them back, named by address; length is not looked at. All, or none with KV_NOT_REGISTERED. When this returns no
 * peer reads or writes there: transfers that were doing so fail at the peer; where CANN moves them, by its word when it
 * takes the memory back, which no hardware has shown yet. Nor does a client that uses the memory of this
 * engine: batches that are at it are waited for, and new ones get KV_NOT_REGISTERED. */
KV_API int32_t kv_engine_unregister(kv_engine *engine, const kv_region *regions, uint32_t count);

/* From now on memory that is registered with the engine, before this call or after it, counts as registered with the
 * client too, for as long as it is registered there. It may be registered with both. Neither becomes the other's: either
 * may be destroyed first, and kv_engine_destroy waits like kv_engine_unregister for what the client is at. */
KV_API int32_t kv_client_use_engine_memory(kv_client *client, kv_engine *engine);

enum kv_transfer_op {
  KV_TRANSFER_WRITE = 1, /* local memory to the peer's */
  KV_TRANSFER_READ = 2,  /* the peer's memory to local */
  KV_TRANSFER_PROBE = 3, /* nothing is moved: is the peer there and an engine */
  KV_TRANSFER_CONNECT = 4 /* nothing is moved: KV_OK as soon as there is a connection, which is made if there is none */
};

/* One line of a batch. The caller owns the table, keeps it and the local memory until the batch is done. */
typedef struct kv_transfer {
  const char *peer; /* HOST:PORT, IPv6 hosts in brackets; lines of one batch may name different peers */
  void *local;      /* needs no registration */
  uint64_t remote;  /* address in the peer's process; the peer checks that [remote, remote + length) is in one region */
  uint64_t length;  /* 0 is allowed and moves nothing */
  int32_t status;   /* out */
  uint32_t reserved;
} kv_transfer;

typedef struct kv_transfer_options {
  uint32_t struct_size;
  uint32_t timeout_ms;        /* deadline of the whole batch, the retry and the wait for it included; default 30000 */
  const char *notify_name;    /* if not NULL: told to each peer of the batch when all lines to it are done, */
  const void *notify_message; /* once; at most KV_NOTIFY_BYTES_MAX bytes of anything */
  uint32_t notify_length;
  uint32_t reserved;
} kv_transfer_options;

/* Queues a batch of one kind of operation and returns at once; *batch_out names it. options may be NULL. Each line gets
 * its own status. What a failed line left in the destination is undefined. A line that fails because its connection
 * ended or the peer's registrations changed is tried once more, with what the peer then says is registered.
 * A peer whose connection ended less than a second ago may be restarting: it is dialled again until that second is over.
 * Lines to any other peer that cannot be reached, and probes, get KV_CONNECT_FAILED at once, or after connect_timeout_ms
 * when its host is silent. Lines under way to a host that acknowledges nothing for connect_timeout_ms get
 * KV_TRANSFER_FAILED. */
KV_API int32_t kv_engine_submit(kv_engine *engine, int32_t op, kv_transfer *table, uint32_t count,
                                const kv_transfer_options *options, uint64_t *batch_out);

/* KV_OK when every line of the batch has its status (the batch is then forgotten), KV_TIMEOUT while it runs.
 * timeout_ms 0 polls. Every batch ends by its own timeout at the latest. */
KV_API int32_t kv_engine_wait(kv_engine *engine, uint64_t batch, uint32_t timeout_ms);

/* Asks a peer what is registered there now, in order of registration. *count_out says how many there are, also when that
 * is more than capacity (KV_BUFFER_TOO_SMALL). Blocks for timeout_ms at most (0: 30000). */
KV_API int32_t kv_engine_describe(kv_engine *engine, const char *peer, kv_region *table, uint32_t capacity,
                                  uint32_t *count_out, uint32_t timeout_ms);

/* The next notification of a peer, in order of arrival; KV_NOT_FOUND when none waits. name gets NUL-terminated UTF-8.
 * KV_BUFFER_TOO_SMALL leaves it waiting; KV_NOTIFY_NAME_BYTES_MAX + 1 and KV_NOTIFY_BYTES_MAX are always enough. */
KV_API int32_t kv_engine_next_notify(kv_engine *engine, char *name, uint32_t name_size, void *message,
                                     uint32_t message_size, uint32_t *message_length);

/* The sentence behind the latest failure of this engine, for logs. Empty when none. */
KV_API int32_t kv_engine_explain(kv_engine *engine, char *out, uint32_t out_size);

typedef struct kv_engine_stats {
  uint32_t struct_size;
  uint32_t listen_port; /* the port really bound */
  uint64_t incarnation;
  uint64_t regions;
  uint64_t region_bytes;
  uint64_t peers_connected;    /* that we dialled */
  uint64_t clients_connected;  /* that dialled us */
  uint64_t batches;            /* done, of any outcome */
  uint64_t write_bytes;        /* of lines that are KV_OK */
  uint64_t read_bytes;
  uint64_t failed_lines;
  uint64_t timed_out_lines;    /* of failed_lines */
  uint64_t retries;            /* lines that were tried once more */
  uint64_t peer_restarts;      /* times a peer came back as another process */
  uint64_t served_writes;      /* requests of peers */
  uint64_t served_write_bytes;
  uint64_t served_reads;
  uint64_t served_read_bytes;
  uint64_t refused_requests;   /* outside of what is registered */
  uint64_t checksum_failures;
  uint64_t protocol_errors;    /* connections ended for malformed bytes */
  uint64_t peers_refused;      /* connections not let in: no TLS, certificate or tenant that is taken here, too many */
  uint64_t notifies_sent;
  uint64_t notifies_received;
  uint64_t batch_us;           /* sum of the durations of batches */
  uint64_t batches_in_100us;   /* batches that took at most this long; each is counted once, in the first that fits */
  uint64_t batches_in_1ms;
  uint64_t batches_in_10ms;
  uint64_t batches_in_100ms;
  uint64_t batches_in_1s;
  uint64_t batches_longer;
  /* All of CANN's are 0 where it is not used. */
  uint64_t ascend_transfers;          /* that CANN ended well; one is what a batch has for one peer */
  uint64_t ascend_transfer_failures;
  uint64_t ascend_transfer_us;        /* sum of the durations of both, with the wait for a channel */
  uint64_t ascend_transfer_timeouts;  /* of ascend_transfer_failures, those that ran out of time */
  uint64_t ascend_retries;            /* transfers that were tried again, as CANN had no room for their channel */
  uint64_t ascend_connects;           /* channels that were wanted of CANN, or left to it */
  uint64_t ascend_renewals;           /* channels that were ended to be made again: they did not know all memory, or were of an
                                       * earlier life */
  uint64_t ascend_disconnects;        /* ends of channels that were wanted of CANN */
  uint64_t ascend_room_made;          /* channels that ended because another one needed their room */
  uint64_t ascend_channels;           /* that there are, with ascend_channels_kept */
  uint64_t ascend_channels_kept;      /* that CANN keeps, as their peer is gone and could not be told */
  uint64_t ascend_channels_max;       /* that there may be */
  uint64_t same_machine_requests;     /* of ours to peers, of at most 4 MiB, whose bytes were copied from memory to memory */
  uint64_t same_machine_bytes;        /* of those */
  uint64_t same_machine_refusals;     /* pairs of processes of this machine whose bytes went by tcp for all that, once a connection and
                                       * direction; kv_engine_transports says why the latest did */
  /* How many took at most this long; each is counted once, in the first that fits. Of transfers those that ended well and the
   * others; of channels those that were wanted of CANN, whose durations are ascend_connect_us together. */
  uint64_t ascend_transfers_in_100us;
  uint64_t ascend_transfers_in_1ms;
  uint64_t ascend_transfers_in_10ms;
  uint64_t ascend_transfers_in_100ms;
  uint64_t ascend_transfers_in_1s;
  uint64_t ascend_transfers_longer;
  uint64_t ascend_connect_us;
  uint64_t ascend_connects_in_100us;
  uint64_t ascend_connects_in_1ms;
  uint64_t ascend_connects_in_10ms;
  uint64_t ascend_connects_in_100ms;
  uint64_t ascend_connects_in_1s;
  uint64_t ascend_connects_longer;
} kv_engine_stats;
KV_API int32_t kv_engine_get_stats(kv_engine *engine, kv_engine_stats *out);

/* Ends every batch with KV_CLOSED, stops the thread and closes connections. */
KV_API void kv_engine_destroy(kv_engine *engine);

#ifdef __cplusplus
}
#endif

#endif
