// SPDX-License-Identifier: Apache-2.0
#include "ascend/cann/npu.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <future>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "ascend/cann/copier.h"

namespace kvpool::ascend {
namespace {

/// Of the host, for a call of copyWithin().
constexpr uint64_t kRoomBytesMax = uint64_t{64} << 20;

void copyOnHost(std::span<const Copy> copies) {
  for (const Copy& copy : copies)
    std::memmove(copy.to, copy.from, copy.length);  // both may be one caller's, and overlap
}

/// Contexts that were made here. The thread that opened an NPU, or worked for it, may have its context still, and no
/// other one may take it for the caller's: it ends with the one that made it.
class OwnContexts {
 public:
  static OwnContexts& instance() {
    static OwnContexts all;
    return all;
  }
  void add(AclContext context) {
    const std::lock_guard lock(mutex_);
    contexts_.insert(context);
  }
  void remove(AclContext context) {
    const std::lock_guard lock(mutex_);
    contexts_.erase(context);
  }
  bool has(AclContext context) {
    const std::lock_guard lock(mutex_);
    return contexts_.count(context) > 0;
  }

 private:
  std::mutex mutex_;
  std::set<AclContext> contexts_;
};

/// In a thread of its own: ACL sets the device of the thread that opens or resets one, which is the caller's affair.
template <typename Work>
auto apart(Work work) {
  try {
    return std::async(std::launch::async, [&work] { return work(); }).get();
  } catch (const std::system_error&) {  // there is no thread to be had
    return work();
  }
}

/// Where memory is, by a context of the first device, which this thread gets for it.
Result<MemoryLocation> locateByFirst(const Acl& acl, const void* memory) {
  if (const AclError set = acl.setDevice(0); set != kAclOk)
    return Status{KV_IO, acl.problem("NPU 0 cannot be used, aclrtSetDevice", set)};
  const MemoryLocation location = locate(acl, memory);
  (void)acl.resetDevice(0);
  return location;
}

/// Where numbers of devices are not known, memory can only be of the one that there is.
Status onlyDevice(const Acl& acl) {
  uint32_t count = 0;
  if (const AclError counted = acl.getDeviceCount(&count); counted != kAclOk)
    return {KV_IO, acl.problem("aclrtGetDeviceCount", counted)};
  if (count == 1) return {};
  return {KV_INVALID_ARGUMENT, "CANN does not tell its number, so it may be of any of the " + std::to_string(count) +
                                   " NPUs that this process sees: register it from a thread that uses the NPU"};
}

}  // namespace

Result<std::unique_ptr<Npu>> Npu::open(const Acl& acl, const Settings& settings, const void* memory) {
  std::unique_ptr<Npu> npu(new Npu(acl, settings.transferTimeoutMs));
  if (Status device = npu->useDevice(memory); !device.ok()) return device;
  npu->hostNode_ = settings.hostNuma.nodeFor(acl.physicalOf(npu->device_));
  npu->copiers_ = std::make_unique<Copiers>(acl, npu->context_, settings.transferTimeoutMs);
  npu->copyMemory_ = std::make_unique<CopyMemory>(acl, npu->context_, *npu->copiers_, npu->hostNode_);
  return npu;
}

Status Npu::useDevice(const void* memory) {
  const AclContext current = acl_.currentContext();
  if (current != nullptr && !OwnContexts::instance().has(current)) {
    context_ = current;
    if (const AclError error = acl_.getDevice(&device_); error != kAclOk)
      return {KV_IO, acl_.problem("aclrtGetDevice", error)};
  } else {
    if (memory != nullptr) {
      const Result<MemoryLocation> location = apart([&] { return locateByFirst(acl_, memory); });
      if (!location.ok()) return location.status();
      if (location.value().type != Location::Device)
        return {KV_INVALID_ARGUMENT, "ACL does not know it as memory of one"};
      const std::optional<int32_t> device = acl_.deviceOf(location.value().id);
      if (!device && !acl_.numberInMemory(0)) {  // with it, holds() compares
        if (Status only = onlyDevice(acl_); !only.ok()) return only;
      }
      device_ = device.value_or(0);
    }
    if (Status opened = apart([&] { return openOwn(device_); }); !opened.ok()) return opened;
  }
  numberInMemory_ = acl_.numberInMemory(device_);
  return {};
}

Status Npu::openOwn(int32_t device) {
  const std::string refusal = "NPU " + std::to_string(device) + " cannot be used, ";
  const AclError set = acl_.setDevice(device);
  if (set != kAclOk) return {KV_IO, acl_.problem(refusal + "aclrtSetDevice", set)};
  const AclError made = acl_.createContext(&context_, device);
  if (made != kAclOk) {
    Status refused{KV_IO, acl_.problem(refusal + "aclrtCreateContext", made)};
    (void)acl_.resetDevice(device);
    return refused;
  }
  ownsContext_ = true;
  OwnContexts::instance().add(context_);
  return {};
}

Npu::~Npu() {
  copyMemory_.reset();
  const bool mayStillCopy = copiers_ != nullptr && !copiers_->mayStillCopy().ok();
  copiers_.reset();
  if (!ownsContext_ || mayStillCopy) return;
  OwnContexts::instance().remove(context_);
  (void)apart([this] {
    (void)acl_.destroyContext(context_);
    return acl_.resetDevice(device_);
  });
}

Status Npu::copy(std::span<const Copy> copies, int32_t timeoutMs, CopyMemory::Piece& by) {
  Copiers::End end = copiers_->copy(copies, timeoutMs);
  if (end.mayGoOn) by.get_deleter().mayBeInUse = true;
  return std::move(end.status);
}

Status Npu::copyWithin(std::span<const Copy> asked, int32_t timeoutMs) {
  std::vector<Copy> copies(asked.begin(), asked.end());
  for (Copy& copy : copies) {
    if (copy.length == 0) continue;
    const Result<bool> to = holds(copy.to);
    if (!to.ok()) return to.status();
    const Result<bool> from = holds(copy.from);
    if (!from.ok()) return from.status();
    copy.toAt = to.value() ? Location::Device : Location::Host;
    copy.fromAt = from.value() ? Location::Device : Location::Host;
  }
  CopyMemory::Piece room;
  const uint64_t roomBytes = std::min(bytesByHost(copies), kRoomBytesMax);
  if (roomBytes > 0) {
    if (Status may = mayStillCopy(); !may.ok()) return may;  // memory would be taken for nothing
    auto taken = copyMemory(roomBytes);
    if (!taken.ok()) return taken.status();
    room = std::move(taken.value());
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(std::min(timeoutMs, timeoutMs_));
  for (const CopyRound& round : planRounds(copies, room.get(), roomBytes)) {
    copyOnHost(round.before);
    if (round.device.empty()) continue;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) return {KV_TIMEOUT, "the time ended before all was copied between host and NPU"};
    if (Status done = copy(round.device, static_cast<int32_t>(left), room); !done.ok()) return done;
    copyOnHost(round.after);
  }
  return {};
}

Result<bool> Npu::holds(const void* memory) const {
  const ContextScope scope(acl_, context_);
  const MemoryLocation location = locate(acl_, memory);
  if (location.type != Location::Device) return false;
  if (!numberInMemory_ || location.id == *numberInMemory_) return true;
  return Status{KV_INVALID_ARGUMENT,
                "it is memory of " + nameOf(location.id) + ", and here NPU " + std::to_string(device_) +
                    " is used: make a client or transfer engine for each NPU, in a thread that uses it"};
}

std::string Npu::nameOf(uint32_t number) const {
  const std::optional<int32_t> device = acl_.deviceOf(number);
  return device ? "NPU " + std::to_string(*device) : "an NPU that this process does not see";
}

}  // namespace kvpool::ascend
