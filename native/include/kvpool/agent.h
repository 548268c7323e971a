/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent.h: the agent of a machine, and clients that go through it. The conventions are those of kvpool.h.
 *
 * An agent does the work of clients on its machine: they reach it by a unix socket in a directory that both see, and
 * share staging memory with it through which all values travel. It owns no objects. When it ends, its clients wait for
 * the next one at the same path, and what was in flight is asked again until its time runs out.
 */
#ifndef KVPOOL_AGENT_H
#define KVPOOL_AGENT_H

#include "kvpool/kvpool.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KV_AGENT_STAGING_BYTES 1073741824   /* default of kv_agent_params.staging_bytes */
#define KV_AGENT_CLIENTS_MAX 256            /* clients of one agent */
#define KV_ATTACH_STAGING_BYTES 67108864    /* default of kv_attach_params.staging_bytes */
#define KV_ATTACH_STAGING_BYTES_MIN 1048576 /* what less is raised to */

/* ---- agent ---------------------------------------------------------------------------------------------------- */

typedef struct kv_agent kv_agent;

typedef struct kv_agent_params {
  uint32_t struct_size;
  uint32_t protocols;           /* KV_PROTOCOL_* bits towards storage nodes; 0: all, shared memory preferred */
  const char *masters;          /* HOST:PORT[,HOST:PORT...] in any order; they may be away */
  const char *socket_path;      /* where clients find it, a file; at most 107 bytes, the first no '@'; a socket without a
                                 * listener is replaced */
  const char *name;             /* shown in logs of masters, nodes and clients; default: host name */
  const char *product;
  uint64_t staging_bytes;       /* bound of the staging memory of all clients together */
  uint32_t connect_timeout_ms;  /* default 3000 */
  uint32_t transfer_timeout_ms; /* default 30000; also how long a client may leave an answer unread */
  const char *tls_dir;          /* as of a client, towards masters and storage nodes; the URI ends with agent/NAME */
  uint32_t tls_mode;            /* KV_TLS_* */
  uint32_t reserved;
  const char *abstract_socket;  /* name of a second socket, which has no file: clients of the same user and network namespace
                                 * find it as "@NAME"; at most 106 bytes; NULL: none. Where another process has the name the
                                 * log says so, and clients find the agent by socket_path alone */
} kv_agent_params;

/* Listens and goes on looking for a leader for ever. On success *out is the caller's, to be ended with
 * kv_agent_destroy. */
KV_API int32_t kv_agent_start(const kv_agent_params *params, kv_agent **out, char *err, uint32_t err_size);

typedef struct kv_agent_stats {
  uint32_t struct_size;
  uint32_t leader_known; /* 1: connected to a serving leader */
  uint64_t epoch;
  uint64_t clients;      /* connected now */
  uint64_t staging_bytes; /* shared with them now */
  uint64_t staging_bytes_max;
  uint64_t running;      /* requests being done */
  uint64_t requests;     /* taken so far, of one batch or part of one each */
  uint64_t lines;        /* in them */
  uint64_t refused_clients; /* for their version, their role, or for a bound */
  uint64_t protocol_errors; /* connections ended for malformed bytes */
  uint64_t put_bytes;
  uint64_t get_bytes;
  uint64_t hits;
  uint64_t misses;
  uint64_t retries;
  uint64_t checksum_failures;
  uint64_t leader_changes;
  uint64_t shm_bytes;    /* of put_bytes and get_bytes, moved through memory shared with storage nodes */
  uint64_t shm_refusals; /* as in kv_client_stats */
} kv_agent_stats;
/* KV_INTERNAL after a defect ended it: start another one, best in a new process. */
KV_API int32_t kv_agent_get_stats(kv_agent *agent, kv_agent_stats *out);

/* Why no leader serves the agent; empty while one does. */
KV_API int32_t kv_agent_explain(kv_agent *agent, char *out, uint32_t out_size);

/* Closes connections and removes the socket. */
KV_API void kv_agent_destroy(kv_agent *agent);

/* ---- client --------------------------------------------------------------------------------------------------- */

typedef struct kv_attach_params {
  uint32_t struct_size;
  uint32_t ready_timeout_ms; /* how long attach waits for an agent with a serving leader; default 20000 */
  const char *socket_path;   /* of the agent */
  const char *name;          /* shown in the agent's log; default: host name */
  const char *product;
  uint64_t staging_bytes;    /* shared with the agent; the largest value that can be put or read */
  uint32_t queue_ops_max;    /* bound of operations in flight; default KV_BATCH_MAX */
  uint32_t reserved;
} kv_attach_params;

/* Makes a client that goes through an agent. All functions of a kv_client work on it; what differs:
 * a value that is larger than the staging memory ends with KV_TOO_LARGE; while no agent is there, lines wait for one and
 * end with KV_CONNECT_FAILED when their time runs out; one that is there but does not answer is given up a second after
 * that, with KV_TIMEOUT; kv_client_stats counts everything as shared memory. */
KV_API int32_t kv_client_attach(const kv_attach_params *params, kv_client **out, char *err, uint32_t err_size);

#ifdef __cplusplus
}
#endif

#endif
