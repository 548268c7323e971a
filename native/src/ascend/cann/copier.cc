// SPDX-License-Identifier: Apache-2.0
#include "ascend/cann/copier.h"

#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace kvpool::ascend {
namespace {

// Of streams: launched at once and waited for by spinning.
constexpr uint32_t kFastLaunch = 1;
constexpr uint32_t kFastSync = 2;

void copyOnHost(const CopyCall& call, std::span<const Copy> copies) {
  for (const uint32_t i : call.copies)
    std::memcpy(copies[i].to, copies[i].from, copies[i].length);
}

}  // namespace

Location locate(const Acl& acl, const void* memory) {
  PointerAttributes attributes;
  if (acl.pointerAttributes(memory, &attributes) != kAclOk) return Location::Host;
  return attributes.location.type;
}

Copier::~Copier() {
  if (stream_ != nullptr) (void)acl_.destroyStream(stream_);
}

Status Copier::copy(std::span<const Copy> copies) {
  for (const CopyCall& call : planCopies(copies)) {
    if (Status status = perform(call, copies); !status.ok()) return status;
  }
  return {};
}

Status Copier::perform(const CopyCall& call, std::span<const Copy> copies) {
  if (call.kind == CopyKind::HostToHost) {
    copyOnHost(call, copies);
    return {};
  }
  const bool betweenHostAndDevice = call.kind != CopyKind::DeviceToDevice;
  if (betweenHostAndDevice && batches_ && acl_.memcpyBatch != nullptr) {
    if (auto status = atOnce(call, copies)) return *status;
  }
  return oneByOne(call, copies);
}

std::optional<Status> Copier::atOnce(const CopyCall& call, std::span<const Copy> copies) {
  const size_t count = call.copies.size();
  std::vector<void*> to(count);
  std::vector<void*> from(count);
  std::vector<size_t> lengths(count);
  for (size_t i = 0; i < count; ++i) {
    const Copy& copy = copies[call.copies[i]];
    to[i] = copy.to;
    from[i] = const_cast<uint8_t*>(copy.from);  // CANN's signature; it only reads
    lengths[i] = copy.length;
  }
  const bool toDevice = call.kind == CopyKind::HostToDevice;
  CopyBatchAttributes attributes;
  attributes.destination.type = toDevice ? Location::Device : Location::Host;
  attributes.source.type = toDevice ? Location::Host : Location::Device;
  int32_t device = 0;
  if (acl_.getDevice(&device) == kAclOk)
    (toDevice ? attributes.destination : attributes.source).id = static_cast<uint32_t>(device);
  std::array<size_t, 1> firsts = {0};
  size_t failed = 0;
  std::vector<size_t> rooms = lengths;
  const AclError error = acl_.memcpyBatch(to.data(), rooms.data(), from.data(), lengths.data(), count, &attributes,
                                          firsts.data(), 1, &failed);
  if (error == kAclOk) return Status{};
  if (error == kAclFeatureNotSupported) {
    batches_ = false;
    return std::nullopt;
  }
  const std::string which = failed < count ? ", copy " + std::to_string(failed) : "";
  return Status{KV_TRANSFER_FAILED, acl_.problem("aclrtMemcpyBatch of " + std::to_string(count) + which, error)};
}

Status Copier::oneByOne(const CopyCall& call, std::span<const Copy> copies) {
  if (stream_ == nullptr) {
    const AclError error = acl_.createStream(&stream_, 0, kFastLaunch | kFastSync);
    if (error != kAclOk) return {KV_TRANSFER_FAILED, acl_.problem("aclrtCreateStreamWithConfig", error)};
  }
  for (const uint32_t i : call.copies) {
    const Copy& copy = copies[i];
    const AclError error = acl_.memcpyAsync(copy.to, copy.length, copy.from, copy.length, call.kind, stream_);
    if (error == kAclOk) continue;
    const std::string why = acl_.problem("aclrtMemcpyAsync of " + std::to_string(copy.length) + " bytes", error);
    (void)synchronize();  // those before it must not be made after this
    return {KV_TRANSFER_FAILED, why};
  }
  return synchronize();
}

Status Copier::synchronize() {
  const AclError error = acl_.synchronizeStream(stream_, timeoutMs_);
  if (error == kAclOk) return {};
  const std::string why = acl_.problem("copies on the device", error);
  (void)acl_.abortStream(stream_);
  return {error == kAclStreamSyncTimeout ? KV_TIMEOUT : KV_TRANSFER_FAILED, why};
}

}  // namespace kvpool::ascend
