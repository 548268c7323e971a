// SPDX-License-Identifier: Apache-2.0
#include "ascend/cann/copier.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace kvpool::ascend {
namespace {

// Of streams: launched at once and waited for by spinning.
constexpr uint32_t kFastLaunch = 1;
constexpr uint32_t kFastSync = 2;
/// For a stream that may be done.
constexpr int32_t kLookMs = 1;

const char* nameOf(CopyKind kind) {
  switch (kind) {
    case CopyKind::HostToDevice:
      return "from the host to an NPU";
    case CopyKind::DeviceToHost:
      return "from an NPU to the host";
    case CopyKind::DeviceToDevice:
      return "between NPUs";
    default:
      return "within the host";
  }
}

/// For people: one copy, or all of a part.
std::string describe(const CopyCall& call, std::span<const Copy> all, std::optional<size_t> which) {
  const std::string of = " of " + std::to_string(all.size());
  if (which || call.copies.size() == 1) {
    const uint32_t i = call.copies[which.value_or(0)];
    return "piece " + std::to_string(i) + of + ", " + std::to_string(all[i].length) + " bytes " + nameOf(call.kind);
  }
  return std::to_string(call.copies.size()) + of + " pieces, " + std::to_string(call.copies.front()) + " to " +
         std::to_string(call.copies.back()) + ", " + nameOf(call.kind);
}

void copyOnHost(const CopyCall& call, std::span<const Copy> all) {
  for (const uint32_t i : call.copies)
    std::memmove(all[i].to, all[i].from, all[i].length);  // both may be one caller's, and overlap
}

}  // namespace

MemoryLocation locate(const Acl& acl, const void* memory) {
  PointerAttributes attributes;
  if (acl.pointerAttributes(memory, &attributes) != kAclOk) return {};
  return attributes.location;
}

class Copier::Arguments {
 public:
  Arguments(const Acl& acl, const CopyCall& call, std::span<const Copy> all) {
    for (const uint32_t i : call.copies) {
      to_.push_back(all[i].to);
      from_.push_back(const_cast<uint8_t*>(all[i].from));  // CANN's signature; it only reads
      lengths_.push_back(all[i].length);
    }
    rooms_ = lengths_;
    const bool toDevice = call.kind == CopyKind::HostToDevice;
    attributes_.destination.type = toDevice ? Location::Device : Location::Host;
    attributes_.source.type = toDevice ? Location::Host : Location::Device;
    int32_t device = 0;
    if (acl.getDevice(&device) == kAclOk)
      (toDevice ? attributes_.destination : attributes_.source).id = static_cast<uint32_t>(device);
  }

  AclError copy(const Acl& acl) {
    return acl.memcpyBatch(to_.data(), rooms_.data(), from_.data(), lengths_.data(), to_.size(), &attributes_, &first_,
                           1, &failed_);
  }
  AclError copyOn(AclStream stream, const Acl& acl) {
    return acl.memcpyBatchAsync(to_.data(), rooms_.data(), from_.data(), lengths_.data(), to_.size(), &attributes_,
                                &first_, 1, &failed_, stream);
  }
  /// The one that CANN named.
  [[nodiscard]] std::optional<size_t> failed() const {
    return failed_ < to_.size() ? std::optional(failed_) : std::nullopt;
  }

 private:
  std::vector<void*> to_;
  std::vector<void*> from_;
  std::vector<size_t> lengths_;
  std::vector<size_t> rooms_;
  CopyBatchAttributes attributes_;
  size_t first_ = 0;
  size_t failed_ = SIZE_MAX;
};

Copier::Copier(const Acl& acl, CopyWays& ways, int32_t timeoutMs) : acl_(acl), ways_(ways), timeoutMs_(timeoutMs) {}

Copier::~Copier() {
  if (!mayStillCopy().ok()) {
    (void)arguments_.release();  // and the stream: the device may still use them
  } else if (stream_ != nullptr) {
    destroyStream();
  }
}

Status Copier::mayStillCopy() {
  if (stuck_.ok()) return {};
  if (acl_.synchronizeStream(stream_, kLookMs) != kAclOk) return stuck_;
  stuck_ = {};
  destroyStream();
  return {};
}

Status Copier::copy(std::span<const Copy> copies, int32_t timeoutMs) {
  if (Status stuck = mayStillCopy(); !stuck.ok()) return stuck;
  timeoutMs = std::min(timeoutMs, timeoutMs_);
  const auto until = Clock::now() + std::chrono::milliseconds(timeoutMs);
  for (const CopyCall& call : planCopies(copies)) {
    if (Status status = perform({call, copies, timeoutMs, until}); !status.ok()) return status;
  }
  return {};
}

Status Copier::perform(const Part& part) {
  if (part.call.kind == CopyKind::HostToHost) {
    copyOnHost(part.call, part.all);
    return {};
  }
  if (Status made = makeStream(); !made.ok()) return made;
  if (part.call.kind == CopyKind::DeviceToDevice) return oneByOne(part);
  for (CopyWay way = ways_.best(); way != CopyWay::OneByOne; way = ways_.best()) {
    if (auto status = atOnce(part, way)) return *status;
  }
  return oneByOne(part);
}

std::optional<Status> Copier::atOnce(const Part& part, CopyWay way) {
  arguments_ = std::make_unique<Arguments>(acl_, part.call, part.all);
  const bool onStream = way == CopyWay::BatchOnStream;
  const AclError error = onStream ? arguments_->copyOn(stream_, acl_) : arguments_->copy(acl_);
  if (error == kAclOk) return onStream ? synchronize(part) : Status{};
  const std::string why = acl_.problem(onStream ? "aclrtMemcpyBatchAsync" : "aclrtMemcpyBatch", error);
  if (error == kAclFeatureNotSupported) {
    ways_.leaveOut(way, why);
    return std::nullopt;
  }
  const std::optional<size_t> failed = arguments_->failed();
  if (failed) return giveUp(KV_TRANSFER_FAILED, describe(part.call, part.all, failed) + ": " + why);
  // It took none of them: CANN is known to refuse calls whose copies it makes one by one.
  ways_.refused(why);
  Status done = oneByOne(part);
  return done.ok() ? done : Status{done.code(), done.text() + "; all at once: " + why};
}

Status Copier::oneByOne(const Part& part) {
  for (size_t i = 0; i < part.call.copies.size(); ++i) {
    const Copy& copy = part.all[part.call.copies[i]];
    const AclError error = acl_.memcpyAsync(copy.to, copy.length, copy.from, copy.length, part.call.kind, stream_);
    if (error == kAclOk) continue;
    const std::string why = acl_.problem("aclrtMemcpyAsync", error);
    return giveUp(KV_TRANSFER_FAILED, describe(part.call, part.all, i) + ": " + why);
  }
  return synchronize(part);
}

Status Copier::makeStream() {
  if (stream_ != nullptr) return {};
  const AclError error = acl_.createStream(&stream_, 0, kFastLaunch | kFastSync);
  if (error == kAclOk) return {};
  stream_ = nullptr;
  return {KV_TRANSFER_FAILED, acl_.problem("aclrtCreateStreamWithConfig", error)};
}

Status Copier::synchronize(const Part& part) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(part.until - Clock::now()).count();
  // Zero and less would be no limit.
  const auto timeoutMs = static_cast<int32_t>(std::clamp<int64_t>(left, 1, part.timeoutMs));
  const AclError error = acl_.synchronizeStream(stream_, timeoutMs);
  if (error == kAclOk) return {};
  const bool isLate = error == kAclStreamSyncTimeout;
  const std::string what = describe(part.call, part.all, std::nullopt) +
                           (isLate ? ", not done within " + std::to_string(part.timeoutMs) + " ms" : "");
  return giveUp(isLate ? KV_TIMEOUT : KV_TRANSFER_FAILED,
                what + ": " + acl_.problem("aclrtSynchronizeStreamWithTimeout", error));
}

/// The next call has another stream, as this one may keep the error.
Status Copier::giveUp(int32_t code, const std::string& why) {
  const AclError aborted = acl_.abortStream(stream_);
  if (aborted == kAclOk) {
    destroyStream();
    return {code, "copy of " + why};
  }
  stuck_ = {code, "copy of " + why + "; its stream may still copy: " + acl_.problem("aclrtStreamAbort", aborted) +
                      ". Memory of the host that it uses is kept, and copies between host and NPU are refused, until "
                      "it has ended; if it does not, restart this process"};
  const Status stuck = mayStillCopy();  // nothing may have been left to abort
  return stuck.ok() ? Status{code, "copy of " + why} : stuck;
}

void Copier::destroyStream() {
  const auto destroy = acl_.destroyStreamForce == nullptr ? acl_.destroyStream : acl_.destroyStreamForce;
  (void)destroy(std::exchange(stream_, nullptr));
  arguments_.reset();
}

}  // namespace kvpool::ascend
