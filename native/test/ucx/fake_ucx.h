// SPDX-License-Identifier: Apache-2.0
// UCX in one process: what it calls remote memory lies here, at the address it has. Does as it is told, good or bad.
#pragma once

#include <sys/eventfd.h>

#include <cstring>
#include <deque>
#include <list>

#include "base/fd.h"
#include "ucx/api.h"

namespace kvpool::test {

/// One at a time; the functions of api() work on the one that lives.
class FakeUcx {
 public:
  FakeUcx() : wakeup_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) { living_ = this; }
  ~FakeUcx() { living_ = nullptr; }
  FakeUcx(const FakeUcx&) = delete;
  FakeUcx& operator=(const FakeUcx&) = delete;

  // What goes wrong.
  bool noDevice = false;
  bool noMemory = false;
  bool noTransport = false;
  bool noKey = false;
  bool hangs = false;         ///< nothing that was begun ends
  int refusedOperations = 0;  ///< the next ones fail when they are begun
  int failingOperations = 0;  ///< the next ones fail when they end
  int closingTakes = 0;       ///< looks until a closed endpoint is closed

  // What was done.
  int flushes = 0;
  int requestsAlive = 0;
  int endpointsAlive = 0;
  int keysAlive = 0;
  int mapped = 0;
  int workersAlive = 0;

  void losePeer() { errorHandler_(errorArgument_, endpoint(), -25); }

  static const ucx::Api& api() {
    static const ucx::Api functions{
        &initVersion,
        [](ucx::ContextHandle*) {},
        &workerCreate,
        [](ucx::WorkerHandle*) { --it().workersAlive; },
        &workerAddress,
        [](ucx::WorkerHandle*, ucx::AddressBytes*) {},
        [](ucx::WorkerHandle*, int* descriptor) { return *descriptor = it().wakeup_.get(), ucx::kOk; },
        [](ucx::WorkerHandle*) { return it().due() ? ucx::kBusy : ucx::kOk; },
        [](ucx::WorkerHandle*) { return it().progress(); },
        &memMap,
        [](ucx::ContextHandle*, ucx::MemoryHandle*) { return --it().mapped, ucx::kOk; },
        &keyPack,
        [](void*) {},
        &endpointCreate,
        &endpointClose,
        &keyUnpack,
        [](ucx::KeyHandle*) { --it().keysAlive; },
        [](ucx::EndpointHandle*, void* to, size_t length, uint64_t remote, ucx::KeyHandle*,
           const ucx::RequestParams* params) { return it().begin(to, pointer(remote), length, *params); },
        [](ucx::EndpointHandle*, const void* from, size_t length, uint64_t remote, ucx::KeyHandle*,
           const ucx::RequestParams* params) { return it().begin(pointer(remote), from, length, *params); },
        [](ucx::EndpointHandle*, const ucx::RequestParams* params) {
          ++it().flushes;
          return it().begin(nullptr, nullptr, 0, *params);
        },
        [](void*) { return --it().closingTakes > 0 ? ucx::kInProgress : ucx::kOk; },
        [](void* request) { it().free(request); },
        [](ucx::StatusCode code) { return code == ucx::kCanceled ? "cancelled" : "what the fake was told to say"; }};
    return functions;
  }

 private:
  struct Request {
    void* to;
    const void* from;
    size_t length;
    ucx::RequestParams params;
  };

  static FakeUcx& it() { return *living_; }
  static void* pointer(uint64_t address) {
    return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
  }
  template <typename Handle>
  static Handle* handle() {
    static char place;
    return reinterpret_cast<Handle*>(&place);
  }
  static ucx::EndpointHandle* endpoint() { return handle<ucx::EndpointHandle>(); }

  static ucx::StatusCode initVersion(unsigned, unsigned, const ucx::ContextParams*, const void*,
                                     ucx::ContextHandle** out) {
    *out = it().noDevice ? nullptr : handle<ucx::ContextHandle>();
    return it().noDevice ? -12 : ucx::kOk;
  }
  static ucx::StatusCode workerCreate(ucx::ContextHandle*, const ucx::WorkerParams*, ucx::WorkerHandle** out) {
    ++it().workersAlive;
    *out = handle<ucx::WorkerHandle>();
    return ucx::kOk;
  }
  static ucx::StatusCode workerAddress(ucx::WorkerHandle*, ucx::AddressBytes** out, size_t* length) {
    static char text[] = "worker";
    *out = reinterpret_cast<ucx::AddressBytes*>(text);
    *length = sizeof text - 1;
    return ucx::kOk;
  }
  static ucx::StatusCode memMap(ucx::ContextHandle*, const ucx::MapParams*, ucx::MemoryHandle** out) {
    if (it().noMemory) return -4;
    ++it().mapped;
    *out = handle<ucx::MemoryHandle>();
    return ucx::kOk;
  }
  static ucx::StatusCode keyPack(ucx::ContextHandle*, ucx::MemoryHandle*, void** out, size_t* length) {
    static char text[] = "key";
    *out = text;
    *length = sizeof text - 1;
    return ucx::kOk;
  }
  static ucx::StatusCode endpointCreate(ucx::WorkerHandle*, const ucx::EndpointParams* params,
                                        ucx::EndpointHandle** out) {
    if (it().noTransport) return -6;
    it().errorHandler_ = params->errorHandler;
    it().errorArgument_ = params->errorArgument;
    ++it().endpointsAlive;
    *out = endpoint();
    return ucx::kOk;
  }
  static ucx::StatusPointer endpointClose(ucx::EndpointHandle*, const ucx::RequestParams*) {
    --it().endpointsAlive;
    while (!it().pending_.empty())
      it().finish(ucx::kCanceled);
    if (it().closingTakes == 0) return nullptr;
    return it().make({});
  }
  static ucx::StatusCode keyUnpack(ucx::EndpointHandle*, const void*, ucx::KeyHandle** out) {
    if (it().noKey) return -5;
    ++it().keysAlive;
    *out = handle<ucx::KeyHandle>();
    return ucx::kOk;
  }

  Request* make(const Request& request) {
    ++requestsAlive;
    requests_.push_back(request);
    return &requests_.back();
  }
  void free(void* request) {
    --requestsAlive;
    requests_.remove_if([request](const Request& one) { return &one == request; });
  }
  ucx::StatusPointer begin(void* to, const void* from, size_t length, const ucx::RequestParams& params) {
    if (refusedOperations > 0) {
      --refusedOperations;
      return reinterpret_cast<void*>(intptr_t{-6});  // NOLINT(performance-no-int-to-ptr)
    }
    Request* request = make({to, from, length, params});
    pending_.push_back(request);
    return request;
  }
  [[nodiscard]] bool due() const { return !pending_.empty() && !hangs; }
  unsigned progress() {
    if (!due()) return 0;
    const bool fails = failingOperations > 0;
    if (fails) --failingOperations;
    finish(fails ? -3 : ucx::kOk);
    return 1;
  }
  void finish(ucx::StatusCode status) {
    Request* request = pending_.front();
    pending_.pop_front();
    if (status == ucx::kOk && request->length > 0) std::memcpy(request->to, request->from, request->length);
    request->params.done(request, status, request->params.userData);
  }

  inline static FakeUcx* living_ = nullptr;
  Fd wakeup_;
  void (*errorHandler_)(void*, ucx::EndpointHandle*, ucx::StatusCode) = nullptr;
  void* errorArgument_ = nullptr;
  std::deque<Request*> pending_;
  std::list<Request> requests_;
};

}  // namespace kvpool::test
