// SPDX-License-Identifier: Apache-2.0
#include "ucx/remote_memory.h"

#include <utility>

namespace kvpool::ucx {

namespace {

/// UCX is not told how long an address or a key is, and reads on where it is cut off: these zeros, then, and not what
/// lies behind it. More than the largest of its fields, one for each of its 64 memory domains.
constexpr size_t kZerosBehind = size_t{64} * 256;

std::string withZeros(const std::string& bytes) {
  std::string padded = bytes;
  padded.resize(bytes.size() + kZerosBehind);
  return padded;
}

/// An address begins with the version of its form, and UCX ends the process where it does not know it: it must be the
/// first, which all know, or ours.
Status judge(const std::string& ours, const StagingOffer& offer) {
  constexpr uint8_t kVersionBits = 0x0f;
  if (offer.worker.empty() || offer.key.empty()) return {KV_IO, "the peer offers memory without an address or a key"};
  const int version = offer.worker.front() & kVersionBits;
  if (version == 0 || version == (ours[0] & kVersionBits)) return {};
  return {KV_IO, "the peer's UCX address has form " + std::to_string(version) + ", which UCX here does not know"};
}

}  // namespace

Result<std::unique_ptr<RemoteMemory>> RemoteMemory::open(Worker& worker, const StagingOffer& offer) {
  if (Status judged = judge(worker.address(), offer); !judged.ok()) return judged;
  const std::string address = withZeros(offer.worker);
  const std::string key = withZeros(offer.key);
  std::unique_ptr<RemoteMemory> remote(new RemoteMemory(worker, offer));
  EndpointParams params;
  params.fieldMask = kEndpointAddress | kEndpointErrorMode | kEndpointErrorHandler;
  params.address = reinterpret_cast<const AddressBytes*>(address.data());
  // Transports that cannot tell that a peer died are left out: what was begun with it would never end.
  params.errorMode = kErrorsOfPeer;
  params.errorHandler = &onError;
  params.errorArgument = remote.get();
  StatusCode code = worker.api().ep_create(worker.handle(), &params, &remote->endpoint_);
  if (code != kOk) return worker.problem("UCX has no transport to the peer that notices its end", code);
  code = worker.api().ep_rkey_unpack(remote->endpoint_, key.data(), &remote->key_);
  if (code == kOk) return remote;
  remote->close();
  return worker.problem("UCX cannot use the key of the peer's memory", code);
}

RemoteMemory::~RemoteMemory() {
  if (key_ != nullptr) worker_.api().rkey_destroy(key_);
}

RemoteMemory::Operation& RemoteMemory::begin(Kind kind, uint64_t number, RequestParams& params) {
  operations_.push_front({this, kind, number, {}});
  Operation& operation = operations_.front();
  operation.self = operations_.begin();
  params.fieldMask = kRequestCallback | kRequestUserData;
  params.done = &onDone;
  params.userData = &operation;
  return operation;
}

void RemoteMemory::read(uint64_t operation, uint64_t offset, std::span<uint8_t> into) {
  if (closing_) return completions_.push_back({operation, false});
  RequestParams params;
  Operation& begun = begin(Kind::Read, operation, params);
  posted(begun, worker_.api().get_nbx(endpoint_, into.data(), into.size(), base_ + offset, key_, &params));
}

void RemoteMemory::write(uint64_t operation, uint64_t offset, std::span<const uint8_t> from) {
  if (closing_) return completions_.push_back({operation, false});
  RequestParams params;
  Operation& begun = begin(Kind::Write, operation, params);
  posted(begun, worker_.api().put_nbx(endpoint_, from.data(), from.size(), base_ + offset, key_, &params));
}

/// A request that goes on is told by onDone; all else is over already.
void RemoteMemory::posted(Operation& operation, StatusPointer answer) {
  if (answer != nullptr && !isError(answer)) return;
  ended(operation, answer == nullptr);
}

void RemoteMemory::onDone(void* request, StatusCode status, void* operation) {
  auto& done = *static_cast<Operation*>(operation);
  done.owner->worker_.api().request_free(request);
  done.owner->ended(done, status == kOk);
}

void RemoteMemory::onError(void* self, EndpointHandle*, StatusCode status) {
  auto& remote = *static_cast<RemoteMemory*>(self);
  if (remote.failure_.empty()) remote.failure_ = remote.worker_.api().status_string(status);
}

void RemoteMemory::ended(Operation& operation, bool good) {
  const Kind kind = operation.kind;
  const uint64_t number = operation.number;
  operations_.erase(operation.self);
  if (kind == Kind::Flush) {
    flushing_ = false;
    for (const uint64_t write : std::exchange(inFlush_, {}))
      completions_.push_back({write, good});
  } else if (kind == Kind::Write && good) {
    written_.push_back(number);
  } else {
    completions_.push_back({number, good});
  }
}

void RemoteMemory::flush() {
  flushing_ = true;
  inFlush_ = std::exchange(written_, {});
  RequestParams params;
  Operation& begun = begin(Kind::Flush, 0, params);
  posted(begun, worker_.api().ep_flush_nbx(endpoint_, &params));
}

bool RemoteMemory::advance() {
  const bool flushes = !written_.empty() && !flushing_ && !closing_;
  if (flushes) flush();
  if (closing_) {
    for (const uint64_t write : std::exchange(written_, {}))
      completions_.push_back({write, false});
  }
  if (closeRequest_ != nullptr && worker_.api().request_check_status(closeRequest_) != kInProgress) {
    worker_.api().request_free(std::exchange(closeRequest_, nullptr));
  }
  return flushes;
}

void RemoteMemory::close() {
  if (closing_) return;
  closing_ = true;
  RequestParams params;
  params.fieldMask = kRequestFlags;
  params.flags = kCloseByForce;
  const StatusPointer answer = worker_.api().ep_close_nbx(endpoint_, &params);
  if (answer != nullptr && !isError(answer)) closeRequest_ = answer;
}

}  // namespace kvpool::ucx
