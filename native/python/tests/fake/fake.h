/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libkvpool without a pool: the functions of kvpool.h that the Python side calls, over a table in memory, with faults
 * that a test asks for through fake_*(). It stands at the lowest border, so everything above it is the real thing.
 */
#ifndef KVPOOL_TEST_FAKE_H
#define KVPOOL_TEST_FAKE_H

#include <stdio.h>

#include "kvpool/agent.h"
#include "kvpool/engine.h"
#include "kvpool/enrol.h"
#include "kvpool/kvpool.h"
#include "kvpool/sbom.h"

/* What the tests set and read. */
typedef struct fake_state {
  int32_t fail_op; /* the next fail_lines lines of this operation end with fail_status */
  int32_t fail_status;
  int32_t fail_lines;
  int32_t submit_status;
  int32_t create_status;
  int32_t node_status; /* the next node_failures starts of a node end with this */
  int32_t node_failures;
  int32_t leases;      /* 1: a read or exists leases the object, for ever */
  int32_t gate_closed; /* 1: calls block */
  int32_t not_fenced;
  int32_t leaderless;
  int32_t clients; /* alive */
  int32_t nodes;
  int32_t waiting; /* calls that found the gate closed */
  int32_t batches; /* in flight */
  int32_t most_batches;
  int32_t meeting; /* calls block until so many batches were in flight at a time */
  int32_t engines; /* alive */
  char sentence[512];
  char last_call[1024];
} fake_state;

extern fake_state fake;

void fake_say(char* err, uint32_t size);

#define FAKE_REGIONS 64

/* Registered memory. */
typedef struct fake_regions {
  struct {
    char* begin;
    uint64_t length; /* 0: free */
  } each[FAKE_REGIONS];
} fake_regions;

int32_t fake_add_region(fake_regions* regions, char* begin, uint64_t length);
int32_t fake_drop_region(fake_regions* regions, const char* begin);

struct kv_engine {
  fake_regions* lent;
};

void fake_count_engine(int32_t change);

/* Counts batches in flight. */
void fake_count_batch(int32_t change);

/* 1 when the gate is open, or opened within timeout_ms. */
int fake_pass_gate(uint32_t timeout_ms);

#endif
