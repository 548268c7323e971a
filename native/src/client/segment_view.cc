// SPDX-License-Identifier: Apache-2.0
#include "client/segment_view.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <string>

#include "base/checked.h"
#include "store/layout.h"

namespace kvpool::client {
namespace {

/// Slots of the directory if the header is one this library understands and agrees with the file's size.
std::optional<uint32_t> readableSlots(const uint8_t* bytes, uint64_t fileBytes) {
  store::SegmentHeader header;
  std::memcpy(&header, bytes, sizeof header);
  const auto geometry = store::planGeometry(fileBytes);
  const bool fits = geometry && header.magic == store::kSegmentMagic && header.layoutVersion == store::kLayoutVersion &&
                    header.crc == crc32c(&header, offsetof(store::SegmentHeader, crc)) &&
                    header.fileBytes == fileBytes && header.recordBytes == sizeof(store::DirectoryRecord) &&
                    header.slots == geometry->slots && header.dataOffset == geometry->dataOffset;
  if (!fits) return std::nullopt;
  return header.slots;
}

}  // namespace

Result<std::unique_ptr<SegmentView>> SegmentView::map(const Fd& descriptor, uint64_t fileBytes) {
  struct stat info {};
  if (::fstat(descriptor.get(), &info) != 0) return systemError("fstat of a segment file", errno);
  if (info.st_size < 0 || static_cast<uint64_t>(info.st_size) < fileBytes || fileBytes < store::kSegmentBytesMin) {
    return {KV_SEGMENT_FOREIGN, "a segment file is smaller than the node said"};
  }
  void* mapped = ::mmap(nullptr, fileBytes, PROT_READ, MAP_SHARED, descriptor.get(), 0);
  if (mapped == MAP_FAILED) return systemError("mapping a segment file", errno);
  const auto* bytes = static_cast<const uint8_t*>(mapped);
  const std::optional<uint32_t> slots = readableSlots(bytes, fileBytes);
  std::unique_ptr<SegmentView> view(new SegmentView(bytes, fileBytes, slots.value_or(0)));
  if (!slots) return {KV_SEGMENT_LAYOUT, "a segment file has a layout this client cannot read"};
  return view;
}

SegmentView::~SegmentView() {
  ::munmap(const_cast<uint8_t*>(bytes_), fileBytes_);
}

const uint8_t* SegmentView::find(const ExtentRef& extent, const ObjectId& object, uint64_t offset,
                                 uint64_t length) const {
  if (extent.slot >= slots_) return nullptr;
  const auto record = store::readIntactRecord(bytes_, extent.slot);
  const bool names = record && record->state == static_cast<uint32_t>(store::SlotState::Committed) &&
                     record->generation == extent.generation && record->objectEpoch == object.epoch &&
                     record->objectCounter == object.counter && record->payloadLength == length;
  if (!names || !rangeInside(record->offset, record->extentBytes, 0, fileBytes_)) return nullptr;
  const uint64_t distance = store::payloadDistance(record->keyLength);
  const bool inside = distance <= record->extentBytes && length <= record->extentBytes - distance;
  if (!inside || record->offset + distance != offset) return nullptr;
  return bytes_ + offset;
}

}  // namespace kvpool::client
