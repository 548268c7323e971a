// SPDX-License-Identifier: Apache-2.0
// Copies between memory of the host and of devices. The kind of a copy must be that of its addresses.
#include <cstring>
#include <vector>

#include "acl_call.h"
#include "acl_memory.h"
#include "acl_stream.h"
#include "control.h"

namespace fake_ascend {
namespace {

constexpr size_t kMostInBatch = 4096;

struct Copy {
  void* dst;
  const void* src;
  size_t size;
};

bool isDevice(const void* pointer, size_t size) {
  return Registry::instance().locate(pointer, size).kind == Registry::Kind::kDevice;
}

bool isHost(const void* pointer, size_t size) {
  const auto kind = Registry::instance().locate(pointer, size).kind;
  return kind == Registry::Kind::kHost || kind == Registry::Kind::kUnknown;
}

/// Of a device, whether it is the one of this thread's context.
bool isOfContext(const void* pointer) {
  const auto range = Registry::instance().find(pointer);
  return range && range->location.id == driverNumber(*currentDevice());
}

/// Attributes name a device as ACL does, not by the driver's number.
bool isAt(const aclrtMemLocation& where, const void* pointer, size_t size) {
  if (where.type != ACL_MEM_LOCATION_TYPE_DEVICE) return isHost(pointer, size);
  return isDevice(pointer, size) && isOfContext(pointer) && where.id == static_cast<uint32_t>(*currentDevice());
}

aclError checkCopy(const void* dst, size_t destMax, const void* src, size_t size, aclrtMemcpyKind kind) {
  if (dst == nullptr || src == nullptr) return refuse(acl::kInvalidParam, "null");
  if (size > destMax) return refuse(acl::kRtParamInvalid, "more bytes than destMax");
  const bool fromDevice = isDevice(src, size);
  const bool toDevice = isDevice(dst, size);
  if ((!fromDevice && !isHost(src, size)) || (!toDevice && !isHost(dst, size)))
    return refuse(acl::kRtParamInvalid, "the bytes cross the end of an allocation");
  if ((fromDevice && !isOfContext(src)) || (toDevice && !isOfContext(dst)))
    return refuse(acl::kRtParamInvalid, "the memory is of another device than that of the context");
  if (kind == ACL_MEMCPY_DEFAULT) return acl::kSuccess;
  if (kind > ACL_MEMCPY_DEFAULT) return refuse(acl::kInvalidParam, "no such kind");
  const bool saysFromDevice = kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
  const bool saysToDevice = kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
  if (saysFromDevice != fromDevice || saysToDevice != toDevice)
    return refuse(acl::kRtParamInvalid, "the kind is not that of the addresses");
  return acl::kSuccess;
}

/// The arguments of aclrtMemcpyBatch and of its asynchronous form.
struct Batch {
  void** dsts;
  size_t* destMaxes;
  void** srcs;
  size_t* sizes;
  size_t count;
  aclrtMemcpyBatchAttr* attributes;
  size_t* attributeIndexes;
  size_t attributeCount;
  size_t* failIndex;

  [[nodiscard]] aclError check() const {
    if (failIndex == nullptr) return refuse(acl::kInvalidParam, "null");
    *failIndex = SIZE_MAX;
    if (!isSupported()) return refuse(acl::kFeatureNotSupported, "this chip or driver has no batch copies");
    if (count == 0 || count > kMostInBatch) return refuse(acl::kRtParamInvalid, "a batch has 1 to 4096 copies");
    if (dsts == nullptr || destMaxes == nullptr || srcs == nullptr || sizes == nullptr || attributes == nullptr ||
        attributeIndexes == nullptr)
      return refuse(acl::kInvalidParam, "null");
    if (attributeCount == 0 || attributeCount > count || attributeIndexes[0] != 0)
      return refuse(acl::kRtParamInvalid, "attributes must be at most as many as copies, and begin with the first");
    for (size_t i = 1; i < attributeCount; ++i)
      if (attributeIndexes[i] <= attributeIndexes[i - 1] || attributeIndexes[i] >= count)
        return refuse(acl::kRtParamInvalid, "the indexes of attributes must increase");
    return checkItems();
  }

  /// All of them, or those before the one at which a rule lets the call fail.
  [[nodiscard]] std::vector<Copy> copies(const fake_ascend_order& order) const {
    std::vector<Copy> some;
    for (size_t i = 0; i < count && !failsAt(i, order); ++i)
      some.push_back({dsts[i], srcs[i], sizes[i]});
    return some;
  }

  /// After the copies before it.
  [[nodiscard]] aclError end(const fake_ascend_order& order) const {
    if (order.partial == 0 || order.partial_bytes >= count) return acl::kSuccess;
    *failIndex = order.partial_bytes;
    return refuse(static_cast<aclError>(order.status), "a rule of the test lets this copy fail");
  }

 private:
  static bool isSupported() {
    const std::string soc = Control::instance().setting("soc").value_or("Ascend910B3");
    const bool chip =
        soc.rfind("Ascend910B", 0) == 0 || soc.rfind("Ascend910_93", 0) == 0 || soc.rfind("Ascend950", 0) == 0;
    return chip && Control::instance().number("memcpy_batch", 1) != 0;
  }

  static bool failsAt(size_t item, const fake_ascend_order& order) {
    return order.partial != 0 && item == order.partial_bytes;
  }

  static bool isHostToDevice(const aclrtMemcpyBatchAttr& attribute) {
    return attribute.srcLoc.type == ACL_MEM_LOCATION_TYPE_HOST && attribute.dstLoc.type == ACL_MEM_LOCATION_TYPE_DEVICE;
  }

  static bool isDeviceToHost(const aclrtMemcpyBatchAttr& attribute) {
    return attribute.srcLoc.type == ACL_MEM_LOCATION_TYPE_DEVICE && attribute.dstLoc.type == ACL_MEM_LOCATION_TYPE_HOST;
  }

  [[nodiscard]] aclError refuseItem(size_t item, const std::string& reason) const {
    *failIndex = item;
    return refuse(acl::kRtParamInvalid, "copy " + std::to_string(item) + ": " + reason);
  }

  [[nodiscard]] aclError checkItems() const {
    size_t group = 0;
    for (size_t i = 0; i < count; ++i) {
      if (group + 1 < attributeCount && attributeIndexes[group + 1] == i) ++group;
      const aclrtMemcpyBatchAttr& attribute = attributes[group];
      if (!isHostToDevice(attribute) && !isDeviceToHost(attribute))
        return refuseItem(i, "neither from the host to a device nor back");
      if (isHostToDevice(attribute) != isHostToDevice(attributes[0])) return refuseItem(i, "a batch has one direction");
      if (dsts[i] == nullptr || srcs[i] == nullptr || sizes[i] > destMaxes[i])
        return refuseItem(i, "null, or more bytes than destMax");
      if (!isAt(attribute.dstLoc, dsts[i], sizes[i]) || !isAt(attribute.srcLoc, srcs[i], sizes[i]))
        return refuseItem(i, "the addresses are not where the attribute says");
    }
    return acl::kSuccess;
  }
};

void move(const Copy& copy) {
  Registry& memory = Registry::instance();
  std::memmove(memory.reach(copy.dst), memory.reach(copy.src), copy.size);
}

void copyAll(const std::vector<Copy>& copies) {
  for (const Copy& copy : copies)
    move(copy);
}

bool isPageable(const void* pointer) {
  return Registry::instance().locate(pointer, 1).kind == Registry::Kind::kUnknown;
}

aclError submit(aclrtStream handle, std::vector<Copy> copies) {
  const auto stream = Streams::instance().find(handle);
  if (stream == nullptr) return refuse(acl::kRtParamInvalid, "not a stream");
  bool waits = false;
  for (const Copy& copy : copies)
    waits = waits || isPageable(copy.dst) || isPageable(copy.src);
  stream->submit([copies = std::move(copies)] { copyAll(copies); });
  return waits ? stream->synchronize(-1) : acl::kSuccess;
}

std::string describe(size_t size, aclrtMemcpyKind kind) {
  return std::to_string(size) + " " + std::to_string(kind);
}

}  // namespace
}  // namespace fake_ascend

using fake_ascend::Batch;
using fake_ascend::callInContext;
using fake_ascend::checkCopy;
namespace acl = fake_ascend::acl;

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind) {
  return callInContext("aclrtMemcpy", fake_ascend::describe(count, kind), [&]() -> aclError {
    if (const aclError status = checkCopy(dst, destMax, src, count, kind)) return status;
    fake_ascend::move({dst, src, count});
    return acl::kSuccess;
  });
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
  return callInContext("aclrtMemcpyAsync", fake_ascend::describe(count, kind), [&]() -> aclError {
    if (const aclError status = checkCopy(dst, destMax, src, count, kind)) return status;
    return fake_ascend::submit(stream, {{dst, src, count}});
  });
}

aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxes, void** srcs, size_t* sizes, size_t count,
                          aclrtMemcpyBatchAttr* attributes, size_t* attributeIndexes, size_t attributeCount,
                          size_t* failIndex) {
  return callInContext("aclrtMemcpyBatch", std::to_string(count), [&](const fake_ascend_order& order) -> aclError {
    const Batch batch{dsts, destMaxes, srcs, sizes, count, attributes, attributeIndexes, attributeCount, failIndex};
    if (const aclError status = batch.check()) return status;
    fake_ascend::copyAll(batch.copies(order));
    return batch.end(order);
  });
}

aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxes, void** srcs, size_t* sizes, size_t count,
                               aclrtMemcpyBatchAttr* attributes, size_t* attributeIndexes, size_t attributeCount,
                               size_t* failIndex, aclrtStream stream) {
  return callInContext("aclrtMemcpyBatchAsync", std::to_string(count), [&](const fake_ascend_order& order) -> aclError {
    const Batch batch{dsts, destMaxes, srcs, sizes, count, attributes, attributeIndexes, attributeCount, failIndex};
    if (const aclError status = batch.check()) return status;
    const aclError submitted = fake_ascend::submit(stream, batch.copies(order));
    return submitted == acl::kSuccess ? batch.end(order) : submitted;
  });
}
