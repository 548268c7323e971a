/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kvpool.h: the C ABI of libkvpool. engine.h, agent.h and enrol.h beside it add transfer engines, agents and enrolment; that is all
 * of it.
 *
 * Conventions
 *  1. Only int32_t, uint32_t, int64_t, uint64_t and pointers cross this border, one prototype per statement: a test
 *     compares every prototype and layout here with the Java side.
 *  2. Functions that can fail return an int32_t of enum kv_status: 0 is success, negative is failure. The hundreds
 *     digit says what is broken and so what the caller may throw away (see the enum).
 *  3. Where a function takes (char *err, uint32_t err_size), a failure writes a NUL-terminated UTF-8 sentence there, cut
 *     to fit; err may be NULL with err_size 0. Nothing is written on success.
 *  4. Parameter structs begin with struct_size = sizeof(the struct) as the caller knows it. A smaller one is read with
 *     defaults for what it lacks, a larger one is refused with KV_INVALID_ARGUMENT. Zero or NULL in a field means its
 *     default unless the field says otherwise.
 *  5. Handles are opaque. Each has one create and one destroy; destroying NULL does nothing. All functions are thread
 *     safe, except that nothing may run on a handle while or after it is destroyed.
 *  6. Strings passed in are NUL-terminated UTF-8 and copied; memory passed in tables stays the caller's and must stay
 *     valid until the batch is done. Nothing is ever called back.
 *  7. Sizes are bytes, times milliseconds, unless the name says otherwise.
 */
#ifndef KVPOOL_KVPOOL_H
#define KVPOOL_KVPOOL_H

#include <stdint.h>

#if defined(__GNUC__)
#define KV_API __attribute__((visibility("default")))
#else
#define KV_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Grouped by the largest thing that is broken. */
enum kv_status {
  KV_OK = 0,
  /* -1xx: this object */
  KV_NOT_FOUND = -101,
  KV_EXISTS = -102,
  KV_BUSY = -103,             /* the key is being put by another client */
  KV_HAS_LEASE = -104,        /* a reader may still use it */
  KV_LEASE_EXPIRED = -105,    /* the read outlived its lease and the object is gone */
  KV_UNAVAILABLE = -106,      /* known, but nodes that hold it, or most storage nodes, are away */
  KV_INVALID_KEY = -107,      /* not 1 to KV_KEY_BYTES_MAX bytes of UTF-8, or the first is zero */
  KV_TOO_LARGE = -108,        /* larger than any segment */
  KV_CHECKSUM = -109,         /* bytes do not match their CRC-32C */
  KV_BUFFER_TOO_SMALL = -110, /* result_length says what is needed */
  /* -2xx: this call */
  KV_INVALID_ARGUMENT = -201,
  KV_NOT_REGISTERED = -202, /* buffer outside every registered region */
  KV_TIMEOUT = -203,
  KV_CLOSED = -204,
  KV_QUEUE_FULL = -205, /* a bound was reached; try again later */
  KV_TOO_OLD = -206,    /* library and caller do not fit; see kv_abi_version */
  /* -3xx: room in the pool */
  KV_NO_SPACE = -301,
  KV_QUOTA_EXCEEDED = -302, /* the tenant is at its ceiling, and what it has is leased, pinned or retained */
  /* -4xx: this connection or peer */
  KV_CONNECT_FAILED = -401,
  KV_TRANSFER_FAILED = -402,
  KV_PROTOCOL = -403,
  KV_IDENTITY_MISMATCH = -404,
  KV_VERSION_MISMATCH = -405,
  KV_NOT_PERMITTED = -406, /* the certificate of this process, or what the leader granted, does not allow it */
  /* -5xx: leadership; look for the leader and ask again */
  KV_NOT_LEADER = -501,
  KV_RECOVERING = -502,
  KV_STALE_EPOCH = -503,
  KV_NOT_FENCED = -504, /* the node has not met this epoch's leader yet */
  /* -6xx: a segment */
  KV_SEGMENT_IN_USE = -601,
  KV_SEGMENT_FOREIGN = -602, /* belongs to another pool or node, or is no segment */
  KV_SEGMENT_LAYOUT = -603,  /* a layout version this library does not know */
  KV_OUT_OF_MEMORY = -604,
  KV_IO = -605,
  /* -9xx: a defect of kvpool */
  KV_INTERNAL = -901
};

#define KV_KEY_BYTES_MAX 4096 /* of a tenant other than `default` its name and two bytes count too */
#define KV_SEGMENT_BYTES_MIN 16777216
#define KV_SEGMENT_BYTES_MAX 35184372088832 /* 32 TiB, of an SSD tier too: masters keep offsets in 45 bits */
#define KV_BATCH_MAX 65536

/* Transports, as bits. */
#define KV_PROTOCOL_TCP 1
#define KV_PROTOCOL_SHM 2
/* By CANN, between machines and in one: before tcp, with which it carries the requests. Without tcp beside it, nodes and
 * clients without CANN are not used. Not together with UCX. */
#define KV_PROTOCOL_ASCEND 8
#define KV_PROTOCOL_UCX 4 /* between machines, before tcp, by which its requests go; needs libucp.so.0 on both sides */

/* tls_mode: what of TLS 1.3 with certificates of both sides is spoken on TCP. Unix sockets and shared memory are what they
 * are in any mode. A node that requires it does not serve UCX and CANN, as their bytes would go around it, unless it is
 * told that their network is trusted (KV_NODE_TRUSTED_FABRIC). */
#define KV_TLS_DEFAULT 0    /* required with a tls_dir, else off */
#define KV_TLS_OFF 1        /* plain connections alone; tls_dir is not looked at */
#define KV_TLS_PERMISSIVE 2 /* TLS is dialled; both are taken, a plain peer with the rights that all have where it is off */
#define KV_TLS_REQUIRED 3   /* TLS alone */

/* payloads: what becomes of a TCP connection between a client and a storage node, or between two storage nodes, once both
 * certificates are checked. Connections with masters are encrypted as long as they live. */
#define KV_PAYLOADS_DEFAULT 0       /* a node: encrypted; a client: as each node has it */
#define KV_PAYLOADS_ENCRYPTED 1     /* TLS as long as it lives, whatever the peer would take */
#define KV_PAYLOADS_AUTHENTICATED 2 /* TLS ends behind the handshake where the peer takes that too: keys and values are as
                                     * readable on the network, and as easily changed there, as without TLS */

/* ---- library ------------------------------------------------------------------------------------------------ */

/* The ABI this library speaks. A caller built against another number must not go on. */
KV_API uint32_t kv_abi_version(void);

/* The version numbers of the library, each range with both ends included. */
typedef struct kv_versions {
  uint32_t struct_size;
  uint32_t wire_min;
  uint32_t wire_max;
  uint32_t layout_min;
  uint32_t layout_max;
  uint32_t abi_min;
  uint32_t abi_max;
  uint32_t reserved;
} kv_versions;
KV_API int32_t kv_get_versions(kv_versions *out);

/* Name ("KV_NOT_FOUND") and sentence of a status; static memory, never NULL. */
KV_API const char *kv_status_name(int32_t status);
KV_API const char *kv_status_text(int32_t status);

/* Least severity written to stderr: 0 off, 1 error, 2 warning (default), 3 info, 4 debug. */
KV_API int32_t kv_log_level(int32_t level);

/* ---- storage node ------------------------------------------------------------------------------------------- */

typedef struct kv_node kv_node;

/* Set in kv_node_params.flags: anonymous memory, random identity, gone with the process; data_dir must be NULL. */
#define KV_NODE_TRANSIENT 1
/* Set in kv_node_params.flags: pages of the segment are left to be made by the first put that touches them, instead of by
 * threads of low priority while the node serves. */
#define KV_NODE_NO_PREFAULT 2
/* Set in kv_node_params.flags: the segment's pages are locked, so that they are never swapped. Needs a limit of locked
 * memory that allows it. Huge pages are never swapped anyway. */
#define KV_NODE_LOCK_MEMORY 4
/* Set in kv_node_params.flags: ucx and ascend are served also where TLS is required, though they authenticate no peer and
 * encrypt nothing: for networks whose hosts are all trusted. */
#define KV_NODE_TRUSTED_FABRIC 8

#define KV_NODE_STAGING_BYTES 1073741824 /* default of kv_node_params.staging_bytes */

typedef struct kv_node_params {
  uint32_t struct_size;
  uint32_t flags;
  const char *pool_id;        /* UUID text; NULL only with KV_NODE_TRANSIENT: learned from the masters */
  const char *node_id;        /* 1 to 253 of printable ASCII, no space or comma; NULL with KV_NODE_TRANSIENT: random */
  const char *masters;        /* HOST:PORT[,HOST:PORT...]; IPv6 hosts in brackets */
  const char *listen_host;    /* default "::" (both families), falls back to 0.0.0.0 where IPv6 is off */
  const char *advertise_host; /* what clients connect to; required */
  const char *data_dir;       /* existing directory on tmpfs or hugetlbfs; holds segment-0.kvs, and shm.sock without a socket_dir */
  uint64_t segment_bytes;     /* size of the segment file; 16 MiB at least */
  uint32_t listen_port;       /* 0: any free port */
  uint32_t protocols;         /* KV_PROTOCOL_* bits; 0: tcp and, with a data_dir, shm. Without UCX, or
                               * CANN beside tcp, the node goes on without it */
  uint32_t connect_timeout_ms;  /* default 3000 */
  uint32_t transfer_timeout_ms; /* a connection that makes no progress for this long ends; default 30000 */
  const char *product;          /* product version told to peers; default that of the library */
  const char *zone;             /* failure domain, at most 253 bytes: replicas prefer different ones; NULL: unknown */
  uint64_t scrub_bytes_per_second; /* how fast stored payloads are compared with their checksums; default 64 MiB */
  const char *numa; /* where a new segment's memory lies: "local", "interleave" or the number of a NUMA node;
                     * NULL or "": as the process has it */
  const char *ssd_path; /* existing directory, or block device, of the SSD tier that evicted objects go to; NULL or "": none */
  uint64_t ssd_bytes;   /* what the tier may take there; 16 MiB at least */
  const char *socket_dir; /* existing directory, from '/', for the socket of shm, so that containers which mount it at the same
                           * path can share memory without seeing the segment; many nodes may have the same. NULL or "":
                           * data_dir */
  uint32_t idle_timeout_ms; /* a client's connection with nothing under way for twice as long ends: clients close theirs at the
                             * time itself. Default 300000. At the bound of 4096 connections one that has been idle for 15 s
                             * makes way for a new one */
  uint32_t reserved;
  uint64_t staging_bytes; /* bound of the memory that all clients together share with the node for writing by shm; pages that
                           * they never wrote count as this process's once it reads them. Default KV_NODE_STAGING_BYTES */
  const char *memory_path; /* with KV_NODE_TRANSIENT: an existing file on tmpfs or hugetlbfs of which segment_bytes from
                            * memory_offset on are the segment, instead of memory of this process's own. What is there is
                            * overwritten. Until the node is destroyed others must not write there; a file that is cut off
                            * ends the node. The range is locked against other nodes. NULL or "": none */
  uint64_t memory_offset;  /* in that file, a multiple of its pages */
  const char *ssd_key_file; /* the SSD tier is encrypted (AES-256-XTS) with what this file has: 32 bytes, or 64 hexadecimal
                             * digits. With another key, a first one, or none any more, the tier begins empty. When it cannot
                             * be read, the node goes on without the tier. NULL or "": not encrypted */
  const char *tls_dir; /* directory with tls.crt (PEM, the node's own certificate first), tls.key (PKCS#8) and ca.crt (the roots
                        * that are trusted), looked at every 10 s. The certificate has one URI, spiffe://POOL-ID/node/NODE-ID;
                        * a transient node's may be a tenant's or an agent's. NULL or "": none */
  uint32_t tls_mode;   /* KV_TLS_* */
  uint32_t payloads;   /* KV_PAYLOADS_*, with TLS: to those who dial the node, and to nodes that it copies from */
} kv_node_params;

/* Opens or creates the segment, verifies its records, listens and dials the masters (and goes on dialling for ever).
 * On success *out is the caller's, to be ended with kv_node_destroy. */
KV_API int32_t kv_node_start(const kv_node_params *params, kv_node **out, char *err, uint32_t err_size);

typedef struct kv_node_stats {
  uint32_t struct_size;
  uint32_t listen_port; /* the port really bound */
  uint64_t incarnation;
  uint64_t capacity_bytes;
  uint64_t used_bytes;
  uint64_t objects;
  uint64_t epoch;              /* highest obeyed */
  uint32_t masters_connected;  /* of masters_total */
  uint32_t masters_total;
  uint32_t clients_connected;
  uint32_t fenced;             /* 1: has met the leader of its epoch in this life */
  uint64_t restored_objects;   /* found in the segment at start */
  uint64_t dropped_records;    /* torn, overlapping, out of range or of an epoch that no leader had, at start */
  uint64_t writes;
  uint64_t write_bytes;
  uint64_t write_failures;
  uint64_t reads;
  uint64_t read_bytes;
  uint64_t read_misses;        /* the extent held another generation */
  uint64_t checksum_failures;
  uint64_t stale_refusals;     /* commands and grants of an older epoch */
  uint64_t protocol_errors;    /* connections ended for malformed bytes */
  uint64_t damaged_objects;    /* dropped because their bytes no longer matched their checksum */
  uint64_t scrub_rounds;       /* times the scrub has been through the segment */
  uint64_t scrubbed_bytes;
  uint64_t copies_in;          /* objects copied here from other nodes */
  uint64_t copies_in_bytes;
  uint64_t tombstones;         /* removed keys kept in mind now */
  uint64_t ids_hash;           /* order-free hash of the ids of the committed objects */
  uint64_t restored_ids_hash;  /* of those found in the segment at start */
  uint64_t prefault_bytes;     /* of the segment, to be made present by prefaulting; 0: it is off */
  uint64_t prefaulted_bytes;   /* of these, so far */
  uint64_t page_bytes;         /* size of the segment's pages */
  uint32_t protocols;          /* KV_PROTOCOL_* bits it serves; kv_node_explain says why one is missing */
  uint32_t ucx_clients;        /* of clients_connected, those whose memory UCX reaches */
  uint64_t ucx_refusals;       /* clients that wanted UCX and got tcp */
  uint64_t ucx_write_bytes;
  uint64_t ucx_read_bytes;
  uint64_t ssd_capacity_bytes; /* of the SSD tier, for payloads; 0: there is none */
  uint64_t ssd_used_bytes;
  uint64_t ssd_objects;        /* readable there */
  uint64_t ssd_writes;         /* objects that became readable there in this life */
  uint64_t ssd_write_bytes;
  uint64_t ssd_reads;
  uint64_t ssd_off;            /* 1: a tier was asked for and does not work; the node has memory only; the log says why */
  /* Files that lay beside the node's own when it had started, set aside by that start or an earlier one. */
  uint64_t damaged_files_set_aside; /* NAME.set-aside-damaged-TIME */
  uint64_t foreign_files_set_aside; /* NAME.set-aside-foreign-TIME: of another pool or node */
  uint64_t set_aside_bytes;         /* what they take */
  uint64_t replaced_layout;         /* of an emptied segment that this build cannot read, and made its own of; 0: none */
  uint64_t ascend_clients;          /* of clients_connected, those whose memory CANN reaches */
  uint64_t ascend_refusals;         /* clients that wanted it and did not get it */
  uint64_t ascend_write_bytes;
  uint64_t ascend_read_bytes;
  uint64_t ascend_transfers;          /* that CANN ended well, those included that look whether a client is reached */
  uint64_t ascend_transfer_failures;
  uint64_t ascend_transfer_us;        /* sum of the durations of both, with the wait for a channel */
  uint64_t tls_handshakes;            /* that ended well, dialled and accepted */
  uint64_t tls_handshake_failures;    /* with plain_refusals */
  uint64_t tls_plain_refusals;        /* connections without TLS where it is required */
  uint64_t auth_refusals;             /* peers with a good certificate that does not allow what they asked for */
  uint64_t grant_refusals;            /* writes that the leader did not grant to that client, on this node */
  uint64_t tls_not_after_ms;          /* when the node's certificate ends, in milliseconds of 1970; 0: it has none */
  uint64_t ascend_transfer_timeouts;  /* of ascend_transfer_failures, those that ran out of time */
  uint64_t ascend_retries;            /* transfers that were tried again, as CANN had no room for their channel */
  uint64_t ascend_connects;           /* channels that were wanted of CANN, or left to it */
  uint64_t ascend_renewals;           /* channels that were ended to be made again: they did not know all memory, or were of an
                                       * earlier life */
  uint64_t ascend_disconnects;        /* ends of channels that were wanted of CANN */
  uint64_t ascend_room_made;          /* channels that ended because another one needed their room */
  uint64_t ascend_channels;           /* that there are, with ascend_channels_kept */
  uint64_t ascend_channels_kept;      /* that CANN keeps, as their peer is gone and could not be told */
  uint64_t ascend_channels_max;       /* that there may be; 0: CANN is not used */
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
  uint64_t ssd_read_bytes;            /* of ssd_reads */
  /* Of reads and writes of payloads that the SSD ended well, from when they were wanted of it, with the wait for others: the sum
   * of their durations, and how many took at most this long, as above. */
  uint64_t ssd_read_us;
  uint64_t ssd_reads_in_100us;
  uint64_t ssd_reads_in_1ms;
  uint64_t ssd_reads_in_10ms;
  uint64_t ssd_reads_in_100ms;
  uint64_t ssd_reads_in_1s;
  uint64_t ssd_reads_longer;
  uint64_t ssd_write_us;
  uint64_t ssd_writes_in_100us;
  uint64_t ssd_writes_in_1ms;
  uint64_t ssd_writes_in_10ms;
  uint64_t ssd_writes_in_100ms;
  uint64_t ssd_writes_in_1s;
  uint64_t ssd_writes_longer;
} kv_node_stats;
KV_API int32_t kv_node_get_stats(kv_node *node, kv_node_stats *out);

/* The sentence why a protocol that was asked for is not served. Empty when all are. */
KV_API int32_t kv_node_explain(kv_node *node, char *out, uint32_t out_size);

/* Stops threads, closes connections; a segment file stays as it is. */
KV_API void kv_node_destroy(kv_node *node);

/* ---- client ------------------------------------------------------------------------------------------------- */

typedef struct kv_client kv_client;

typedef struct kv_client_params {
  uint32_t struct_size;
  uint32_t protocols;           /* KV_PROTOCOL_* bits; 0: shm and tcp. Preferred: shm on one machine, ucx or ascend, tcp */
  const char *masters;          /* HOST:PORT[,HOST:PORT...] in any order; the leader is found */
  const char *name;             /* shown in logs of masters and nodes; default: host name */
  uint32_t connect_timeout_ms;  /* default 3000 */
  uint32_t transfer_timeout_ms; /* a transfer that makes no progress for this long fails; default 30000 */
  uint32_t ready_timeout_ms;    /* how long create waits for a serving leader; default 20000 */
  uint32_t queue_ops_max;       /* bound of operations in flight; default KV_BATCH_MAX */
  const char *product;
  uint32_t busy_wait_us; /* a thread that waits for its batch looks for answers for at most this long before it sleeps,
                          * and only where they come sooner on average; default 100, KV_BUSY_WAIT_NEVER to sleep at once */
  uint32_t idle_timeout_ms; /* a connection to a storage node that nobody used for this long ends, and the memory shared there
                             * is given back; the next use opens it again; default 300000 */
  const char *tls_dir;  /* as of a node. The certificate's URI is spiffe://POOL-ID/tenant/TENANT/rw/NAME, ro instead of rw for
                         * reading alone, or agent/NAME or admin/NAME. NULL or "": none */
  uint32_t tls_mode;    /* KV_TLS_*; a client dials TLS unless it is off */
  uint32_t payloads;    /* KV_PAYLOADS_*, towards storage nodes; encrypted needs TLS */
} kv_client_params;

#define KV_BUSY_WAIT_NEVER 0xFFFFFFFFU /* kv_client_params.busy_wait_us */

/* Connects to the pool. Fails with a sentence that names each master tried and why it did not do. */
KV_API int32_t kv_client_create(const kv_client_params *params, kv_client **out, char *err, uint32_t err_size);

/* Declares memory that KV_OP_PUT and KV_OP_GET may name with KV_BATCH_REGISTERED. Not copied, not pinned. It may be an NPU's
 * that this thread uses, or, where this thread uses none, of any one: values then go through memory of the host, by ACL, which
 * is loaded for that, whatever the protocols of the client. A client copies by one NPU: that of its engine of CANN, else that
 * whose memory it was given first. Overlaps, memory of other NPUs, and other memory that this process cannot read, are refused
 * with KV_INVALID_ARGUMENT; an unknown address gives KV_NOT_REGISTERED. Unregistering returns when no
 * batch uses the memory any more, so after the timeout of a batch at the most. A get of a batch that ended then, and is waited
 * for later, is KV_NOT_REGISTERED if the memory is an NPU's; one whose copy neither ended in time nor could be aborted may still
 * write there, which kv_client_explain says. For what is registered with a transfer engine there is
 * kv_client_use_engine_memory. */
KV_API int32_t kv_client_register(kv_client *client, void *address, uint64_t length);
KV_API int32_t kv_client_unregister(kv_client *client, void *address);

/* Bytes that go from one place of this process to another. */
typedef struct kv_memory_copy {
  void *to;
  const void *from;
  uint64_t length;
} kv_memory_copy;

/* Copies at once, for callers that put values together or take them apart themselves. One side of each must be registered
 * with the client, or with an engine whose memory it uses; else KV_NOT_REGISTERED, and nothing was copied. It may be memory
 * of an NPU, which ACL copies within ASCEND_TRANSFER_TIMEOUT: else KV_TIMEOUT, as while an earlier copy hangs. KV_QUEUE_FULL and
 * KV_OUT_OF_MEMORY: there is no memory of the host for it now. After any failure but KV_NOT_REGISTERED each copy may have been
 * made. Copies that overlap each other have no order. */
KV_API int32_t kv_client_copy_memory(kv_client *client, const kv_memory_copy *copies, uint32_t count);

/* Part of a value in the caller's memory. */
typedef struct kv_piece {
  void *data; /* NULL only with length 0 */
  uint64_t length;
} kv_piece;

/* One line of a batch. The caller owns the table; kv fills status and result_length. */
typedef struct kv_op {
  const void *key;        /* UTF-8, not NUL-terminated */
  uint32_t key_length;
  int32_t status;         /* out */
  void *data;             /* PUT, PUT_PARTS: source, GET: destination, LOCATE: the first kv_replica; else NULL. With KV_BATCH_PIECES: the
                           * first of its kv_pieces */
  uint64_t length;        /* PUT, PUT_START: bytes of the value (0 allowed), GET: room in data, LOCATE: room for so many kv_replica. With
                           * KV_BATCH_PIECES: how many pieces */
  uint64_t result_length; /* out: GET and EXISTS: bytes of the value; LOCATE: how many copies there are, which may be more than there
                           * is room for; RETAIN, RELEASE, PREFETCH: how many objects */
} kv_op;

enum kv_op_code {
  KV_OP_PUT = 1,    /* an existing key is KV_OK and keeps its object, unless KV_BATCH_UPSERT is set */
  KV_OP_GET = 2,
  KV_OP_EXISTS = 3, /* KV_OK or KV_NOT_FOUND; leases what exists */
  KV_OP_REMOVE = 4,
  /* Hints. They promise nothing: the next leader has heard none, and a reader relies on its lease alone. Only objects that
   * are there now are meant. KV_NOT_FOUND, KV_UNAVAILABLE, KV_NO_SPACE and KV_QUEUE_FULL say that nothing was done. */
  KV_OP_RETAIN = 5,  /* for retain_ms from now on it is neither evicted nor moved to an SSD as long as anything else can be;
                      * remove still removes it. A second time prolongs it. KV_NO_SPACE: half of the pool's memory is
                      * retained. result_length: objects retained */
  KV_OP_RELEASE = 6, /* ends that. result_length: objects that are there */
  KV_OP_PREFETCH = 7, /* from the SSD to memory. result_length: objects on their way there, 0 when all are in memory.
                       * KV_NO_SPACE: there is no room for it now */
  /* A put in many calls: start, parts in any order, end or revoke. No reader sees the value before its end. It lasts 30 s at
   * most, and ends before that with a connection to its storage nodes and with the leader that allowed it: then what is asked
   * of it is KV_LEASE_EXPIRED, its room goes back, and it can only be started again. All need kv_batch_options.objects. Not
   * through an agent. */
  KV_OP_PUT_START = 8,  /* makes room for a value of `length` bytes, with the options of PUT. objects, out: names it. KV_EXISTS
                         * for a key that has a value, unless KV_BATCH_UPSERT is set; KV_BUSY: somebody else is putting it */
  KV_OP_PUT_PARTS = 9,  /* with KV_BATCH_PIECES and offsets: where in the value each piece belongs. result_length: bytes
                         * written. KV_INVALID_ARGUMENT when one is outside of the value; then none is written. Any failure
                         * but that, KV_NOT_REGISTERED and KV_TIMEOUT ends the put */
  KV_OP_PUT_END = 10,   /* KV_OK: readable. Whatever else it is, the put is over; KV_INVALID_ARGUMENT when bytes were never
                         * written */
  KV_OP_PUT_REVOKE = 11, /* gives the room back */
  KV_OP_LOCATE = 12 /* where the copies of an object are that a reader may use now, those in memory first; leases it, like GET. Not
                     * through an agent */
};
#define KV_LOCATED_MAX 32 /* copies of one object, on both media of its nodes */
enum kv_medium { KV_MEDIUM_DRAM = 1, KV_MEDIUM_SSD = 3 };
/* One copy of an object. */
typedef struct kv_replica {
  uint64_t length;   /* bytes of the value */
  uint64_t offset;   /* of the value in the segment of that medium */
  uint32_t medium;   /* of enum kv_medium */
  uint32_t reserved; /* 0 */
  char node[256];    /* id of its storage node */
  char address[264]; /* HOST:PORT where that serves clients */
} kv_replica;

/* kv_batch_options.flags */
#define KV_BATCH_REGISTERED 1 /* refuse data outside registered memory with KV_NOT_REGISTERED */
#define KV_BATCH_FORCE 2      /* REMOVE: also what is leased */
#define KV_BATCH_UPSERT 4     /* PUT: an existing object gives way to a new one when that is whole; its bytes are never
                               * changed in place. A retry after a lost answer may put it in place a second time. */
#define KV_BATCH_WAIT 8       /* the caller goes on to kv_client_wait at once, whose thread then moves the bytes itself;
                               * without it, or if the caller does something else first, a thread of the client does */
#define KV_BATCH_PIECES 16    /* PUT, GET, PUT_PARTS: the value of a line lies in pieces, one after the other; they travel as one value.
                               * The caller keeps them, like the table, until the batch is done. */
#define KV_PIECES_MAX 65536   /* pieces of one line */
#define KV_PARTS_MAX 2048     /* pieces of one line with kv_batch_options.offsets */
#define KV_BATCH_REUSE 32     /* GET: while the lease on an object holds that an earlier GET with this flag was told about, it
                               * is read without asking the leader. For keys whose value never changes: an upsert or forced
                               * remove by another client may be seen late, by the length of a lease at the most. */

#define KV_BATCH_GROUPS 64    /* REMOVE, RETAIN, RELEASE, PREFETCH: the keys are names of groups, and each object of them is
                               * meant. RETAIN: all or none. The others: what can be done is, and the status is the first
                               * that is not KV_OK. KV_TOO_LARGE for more than KV_GROUP_OBJECTS_MAX objects. */
#define KV_GROUP_OBJECTS_MAX 16384
#define KV_RETAIN_MS_MAX 3600000

/* kv_batch_options.pins */
#define KV_PIN_SOFT 1 /* evicted only when nothing unpinned is left, until soft_pin_ms after its last use */
#define KV_PIN_HARD 2 /* never evicted; remove still removes it */
#define KV_PIN_KEEP_SOFT 4 /* with KV_BATCH_UPSERT and without KV_PIN_SOFT: the soft pin of the object that is replaced, if it has one
                            * that is not over, with its length */
#define KV_SOFT_PIN_MS_MAX 86400000

/* Names one value that a key had; what is put in its place has another one. */
typedef struct kv_object_id {
  uint64_t epoch;
  uint64_t counter;
} kv_object_id;

#define KV_PREFERRED_MAX 16 /* kv_batch_options.nodes */
typedef struct kv_batch_options {
  uint32_t struct_size;
  uint32_t flags;
  uint32_t timeout_ms;        /* of the whole batch, retries included; default 30000 */
  uint32_t replicas;          /* PUT: copies on different nodes; 0 = the pool's default */
  const char *nodes; /* PUT: storage nodes tried first, in this order, with commas between them, at most KV_PREFERRED_MAX:
                                * ids, or HOST:PORT where they serve clients; what is the name of none is logged once; NULL = none.
                      * REMOVE: one node, whose copy in memory alone goes, and the object when it has no other; KV_NOT_FOUND
                      * without such a copy; NULL = every copy */
  uint32_t pins;              /* PUT: KV_PIN_* bits */
  uint32_t soft_pin_ms;       /* PUT with KV_PIN_SOFT: at most KV_SOFT_PIN_MS_MAX; 0 = the pool's default */
  const uint64_t *groups;     /* PUT: for each line kv_group_id of its group, or 0; copied. NULL = no groups */
  /* GET and PUT_PARTS with KV_BATCH_PIECES: parts of values. For each line one number for each of its pieces: where in the value the
   * bytes for that piece begin. In any order, and the value may have more bytes. A line without pieces needs none. The
   * caller keeps them, like the pieces, until the batch is done. KV_INVALID_ARGUMENT for a line with more than KV_PARTS_MAX
   * pieces, or with one that is not inside of the value; result_length is that of the whole value also then. A line is
   * right as a whole or a failure. Not through an agent. NULL = whole values. */
  const uint64_t *const *offsets;
  /* GET with offsets: for each line, in: the value that is meant, or all 0 for whichever it is; out: the one that was read.
   * When the key has another one or none, the line is KV_LEASE_EXPIRED: so parts that are read at different times are of
   * one value. With KV_BATCH_REUSE too a lease of which less than half is left is prolonged by the call. A line of no
   * pieces reads nothing: it names the value and leases it. PUT_START: out, the value that is begun; PUT_PARTS, PUT_END and
   * PUT_REVOKE: in. The caller's, until the batch is done. NULL = none */
  kv_object_id *objects;
  uint32_t retain_ms; /* RETAIN: 1 to KV_RETAIN_MS_MAX; else 0 */
  uint32_t reserved;  /* 0 */
} kv_batch_options;

/* The number of a group's name (FNV-1a 64): the same in every client. Reading one object of a group leases all of them,
 * and they are evicted together. 0, no group, for an empty or NULL name. */
KV_API uint64_t kv_group_id(const char *name, uint32_t length);

/* Queues a batch of one kind of operation and returns at once; *batch_out names it. options may be NULL. A key that
 * stands twice in one batch is done in order. Each line gets its own status; a transfer is whole or a failure. */
KV_API int32_t kv_client_submit(kv_client *client, int32_t op_code, kv_op *table, uint32_t count,
                                const kv_batch_options *options, uint64_t *batch_out);

/* KV_OK when every line of the batch has its status (the batch is then forgotten), KV_TIMEOUT while it runs.
 * timeout_ms 0 polls. Every batch ends by its own timeout at the latest. */
KV_API int32_t kv_client_wait(kv_client *client, uint64_t batch, uint32_t timeout_ms);

/* Removes every object that is not leased (force 1: every object); *removed_out says how many. Blocks. */
KV_API int32_t kv_client_remove_all(kv_client *client, uint32_t force, uint32_t timeout_ms, uint64_t *removed_out);

/* The same of the objects in whose keys a regular expression of RE2's syntax matches somewhere; of all when it is empty.
 * KV_INVALID_ARGUMENT when it is none, has more than 1024 bytes, or more than 256 parts, repeated ones counted as often as
 * they repeat. Looking at every key takes time: after KV_TIMEOUT what was removed stays so, and the call may be made again. */
KV_API int32_t kv_client_remove_matching(kv_client *client, const char *pattern, uint32_t pattern_length, uint32_t force,
                                         uint32_t timeout_ms, uint64_t *removed_out);

/* Copies of one object that are asked for by name. Not through an agent. They go on after the call, up to 300 s, and only
 * the leader that was asked knows of them. */

/* Has the object of a key copied to the memory of storage nodes, named by their ids or by HOST:PORT. With a source, which must have it, to
 * one node, and then the source gives its own copy up, as soon as no reader has a lease; source NULL: none does. The copies
 * are wanted from then on: a lost one is made again. *task_out names the task; the same that is still under way is not begun
 * again. KV_NOT_FOUND: no such object; KV_INVALID_ARGUMENT: the nodes cannot be those. Blocks. */
KV_API int32_t kv_client_copy(kv_client *client, const char *key, uint32_t key_length, const char *source,
                              const char *const *targets, uint32_t target_count, uint32_t timeout_ms, uint64_t *task_out);
#define KV_COPY_TARGETS_MAX 16

enum kv_task_state {
  KV_TASK_PENDING = 1, /* waits for room, for readers or for its turn */
  KV_TASK_PROCESSING = 2,
  KV_TASK_FAILED = 3,
  KV_TASK_SUCCESS = 4
};

typedef struct kv_task {
  uint32_t struct_size;
  int32_t state;    /* of enum kv_task_state */
  int32_t why;      /* a kv_status: of FAILED the reason; before the end what it waits for, or KV_OK */
  uint32_t moves;   /* 1: it has a source */
  uint64_t age_ms;  /* since it was asked for */
  uint64_t rest_ms; /* since its state changed */
} kv_task;

/* How far a task is. KV_NOT_FOUND: this leader knows none of that number. Blocks. */
KV_API int32_t kv_client_task(kv_client *client, uint64_t task, uint32_t timeout_ms, kv_task *out);

/* The sentence behind the latest failure of this client, for logs: which peer, what it said. Empty when none. */
KV_API int32_t kv_client_explain(kv_client *client, char *out, uint32_t out_size);

/* How long things took. Each is counted once, in the first step that fits. */
typedef struct kv_durations {
  uint64_t us; /* all together */
  uint64_t in_100us;
  uint64_t in_1ms;
  uint64_t in_10ms;
  uint64_t in_100ms;
  uint64_t in_1s;
  uint64_t longer;
} kv_durations;

/* Requests to the leader. */
#define KV_REQUEST_GRANT 0
#define KV_REQUEST_PUBLISH 1
#define KV_REQUEST_LOOKUP 2
#define KV_REQUEST_EXISTS 3
#define KV_REQUEST_REMOVE 4
#define KV_REQUEST_REMOVE_ALL 5
#define KV_REQUEST_COPY 6
#define KV_REQUEST_TASK 7
#define KV_REQUEST_HINT 8
#define KV_REQUESTS 9

typedef struct kv_client_stats {
  uint32_t struct_size;
  uint32_t leader_known;   /* 1: connected to a serving leader */
  uint64_t epoch;
  uint64_t puts;
  uint64_t gets;
  uint64_t hits;
  uint64_t misses;
  uint64_t put_bytes;
  uint64_t get_bytes;
  uint64_t shm_bytes;      /* of put_bytes and get_bytes, moved through shared memory */
  uint64_t retries;
  uint64_t checksum_failures;
  uint64_t leader_changes;
  uint64_t ucx_bytes;      /* of put_bytes and get_bytes, moved by UCX */
  uint64_t ucx_lanes;      /* connections to nodes on which UCX was put to use */
  uint64_t ucx_refusals;   /* nodes to which it was wanted and tcp is used; kv_client_explain and the log say why */
  uint64_t shm_refusals;   /* tries to attach a node on this machine that failed, with tcp used for the next 30 s where it
                            * may be; why is said in the log, once for each life of a node */
  uint64_t put_batch_us;   /* sum of the durations of batches of puts, of any outcome, from submit until the last line is done */
  uint64_t put_batches_in_100us; /* that took at most this long; each is counted once, in the first that fits */
  uint64_t put_batches_in_1ms;
  uint64_t put_batches_in_10ms;
  uint64_t put_batches_in_100ms;
  uint64_t put_batches_in_1s;
  uint64_t put_batches_longer;
  uint64_t get_batch_us;   /* the same of gets */
  uint64_t get_batches_in_100us;
  uint64_t get_batches_in_1ms;
  uint64_t get_batches_in_10ms;
  uint64_t get_batches_in_100ms;
  uint64_t get_batches_in_1s;
  uint64_t get_batches_longer;
  uint64_t ascend_bytes;    /* of put_bytes and get_bytes, moved by CANN */
  uint64_t ascend_lanes;    /* connections to nodes on which CANN was put to use */
  uint64_t ascend_refusals; /* nodes to which it was wanted and could not be had; kv_client_explain and the log say why */
  kv_durations single_puts; /* of the batches of puts, those of one line */
  kv_durations single_gets;
  kv_durations requests[KV_REQUESTS]; /* that were answered, by KV_REQUEST_*; measured in milliseconds */
} kv_client_stats;
KV_API int32_t kv_client_get_stats(kv_client *client, kv_client_stats *out);

KV_API void kv_client_destroy(kv_client *client);

#ifdef __cplusplus
}
#endif

#endif
