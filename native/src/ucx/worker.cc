// SPDX-License-Identifier: Apache-2.0
#include "ucx/worker.h"

namespace kvpool::ucx {
namespace {

/// Rounds of progress in one call, so that a peer that keeps sending does not hold up everything else.
constexpr int kRounds = 64;

}  // namespace

Result<std::unique_ptr<Worker>> Worker::create(const Api& api) {
  std::unique_ptr<Worker> worker(new Worker(api));
  if (Status opened = worker->open(); !opened.ok()) return opened;
  return worker;
}

Worker::~Worker() {
  if (worker_ != nullptr) api_.worker_destroy(worker_);
  if (context_ != nullptr) api_.cleanup(context_);
}

Status Worker::problem(const std::string& what, StatusCode code) const {
  return {KV_IO, what + ": " + api_.status_string(code)};
}

Status Worker::open() {
  ContextParams context;
  context.fieldMask = kParamFeatures;
  context.features = kFeatureRemoteMemory | kFeatureWakeup;
  StatusCode code = api_.init_version(kApiMajor, kApiMinor, &context, nullptr, &context_);
  if (code != kOk) return problem("UCX finds no device it may use (UCX_TLS and UCX_NET_DEVICES choose)", code);
  WorkerParams params;
  params.fieldMask = kWorkerThreadMode;
  params.threadMode = kThreadsInTurn;
  code = api_.worker_create(context_, &params, &worker_);
  if (code != kOk) return problem("UCX cannot make a worker", code);
  code = api_.worker_get_efd(worker_, &descriptor_);
  if (code != kOk) return problem("the transports of UCX_TLS cannot wake a thread that waits", code);
  AddressBytes* bytes = nullptr;
  size_t length = 0;
  code = api_.worker_get_address(worker_, &bytes, &length);
  if (code != kOk) return problem("UCX gives no address", code);
  address_.assign(reinterpret_cast<const char*>(bytes), length);
  api_.worker_release_address(worker_, bytes);
  return {};
}

bool Worker::settle() {
  for (int round = 0; round < kRounds; ++round) {
    if (api_.worker_progress(worker_) > 0) continue;
    if (api_.worker_arm(worker_) != kBusy) return true;
  }
  return false;
}

Result<MemoryHandle*> Worker::map(void* address, size_t length) {
  MapParams params;
  params.fieldMask = kMapAddress | kMapLength;
  params.address = address;
  params.length = length;
  MemoryHandle* memory = nullptr;
  const StatusCode code = api_.mem_map(context_, &params, &memory);
  if (code == kOk) return memory;
  return problem("UCX cannot register " + std::to_string(length) + " bytes (is ulimit -l high enough?)", code);
}

Result<std::string> Worker::keyOf(MemoryHandle* memory) {
  void* buffer = nullptr;
  size_t length = 0;
  const StatusCode code = api_.rkey_pack(context_, memory, &buffer, &length);
  if (code != kOk) return problem("UCX gives no key to registered memory", code);
  std::string key(static_cast<const char*>(buffer), length);
  api_.rkey_buffer_release(buffer);
  return key;
}

}  // namespace kvpool::ucx
