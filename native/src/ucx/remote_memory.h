// SPDX-License-Identifier: Apache-2.0
// Memory that a peer exposed, read and written from here without its help.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "ucx/worker.h"
#include "wire/staging_offer.h"

namespace kvpool::ucx {

class RemoteMemory {
 public:
  /// A finished read or write. Nothing touches its local memory any more, whether it worked or not.
  struct Completion {
    uint64_t operation = 0;
    bool good = false;
  };

  /// KV_IO when UCX has no way to such a peer, or when the offer cannot be one of UCX's. Whether the peer answers shows
  /// with the first read. UCX takes what is in the offer on trust: a forged one can still end the process.
  static Result<std::unique_ptr<RemoteMemory>> open(Worker& worker, const StagingOffer& offer);
  /// Only once closed() is true, or the worker is gone.
  ~RemoteMemory();
  RemoteMemory(const RemoteMemory&) = delete;
  RemoteMemory& operator=(const RemoteMemory&) = delete;

  /// Both end with one completion of this number. `offset` and length must lie in what was offered.
  void read(uint64_t operation, uint64_t offset, std::span<uint8_t> into);
  /// Complete when the bytes are in the peer's memory.
  void write(uint64_t operation, uint64_t offset, std::span<const uint8_t> from);

  /// To be called after the worker has settled: makes sure of writes, many at a time, and looks whether closing is
  /// over. True when the worker has something new to do.
  bool advance();
  [[nodiscard]] std::vector<Completion> takeCompletions() { return std::exchange(completions_, {}); }
  /// Why the peer is lost; empty while it is not.
  [[nodiscard]] const std::string& failure() const { return failure_; }

  /// Cancels what is under way, which still completes.
  void close();
  /// Nothing is under way and nothing will be.
  [[nodiscard]] bool closed() const { return closing_ && closeRequest_ == nullptr && operations_.empty(); }

 private:
  enum class Kind { Read, Write, Flush };
  struct Operation {
    RemoteMemory* owner = nullptr;
    Kind kind = Kind::Read;
    uint64_t number = 0;
    std::list<Operation>::iterator self;
  };

  RemoteMemory(Worker& worker, const StagingOffer& offer) : worker_(worker), base_(offer.address) {}
  static void onDone(void* request, StatusCode status, void* operation);
  static void onError(void* self, EndpointHandle* endpoint, StatusCode status);
  Operation& begin(Kind kind, uint64_t number, RequestParams& params);
  void posted(Operation& operation, StatusPointer answer);
  void ended(Operation& operation, bool good);
  void flush();

  Worker& worker_;
  uint64_t base_;
  EndpointHandle* endpoint_ = nullptr;
  KeyHandle* key_ = nullptr;
  bool closing_ = false;
  bool flushing_ = false;
  void* closeRequest_ = nullptr;
  std::string failure_;
  std::list<Operation> operations_;
  std::vector<uint64_t> written_;  // left this machine, may not have arrived
  std::vector<uint64_t> inFlush_;  // of these, what the flush under way is about
  std::vector<Completion> completions_;
};

}  // namespace kvpool::ucx
