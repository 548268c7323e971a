// SPDX-License-Identifier: Apache-2.0
#include "client/shell/segment_view.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <optional>

#include "base/checked.h"
#include "store/segment_header.h"

namespace kvpool::client {
namespace {

store::SegmentHeader headerOf(const uint8_t* bytes) {
  store::SegmentHeader header;
  std::memcpy(&header, bytes, sizeof header);
  return header;
}

/// How its records are sealed, if their layout is one this library understands.
std::optional<store::RecordSeal> readableSeal(const uint8_t* bytes, uint64_t fileBytes,
                                              const wire::VersionRange& layouts) {
  const auto state = store::newestState({bytes, fileBytes});
  if (!state || !wire::contains(layouts, state->activeLayout)) return std::nullopt;
  return store::sealOf(headerOf(bytes), *state);
}

/// Slots of the directory if the header is one this library understands and agrees with the file's size.
std::optional<uint32_t> readableSlots(const uint8_t* bytes, uint64_t fileBytes) {
  const store::SegmentHeader header = headerOf(bytes);
  const auto geometry = store::planGeometry(fileBytes);
  const bool fits = geometry && header.magic == store::kSegmentMagic && header.headerVersion == store::kHeaderVersion &&
                    header.crc == crc32c(&header, offsetof(store::SegmentHeader, crc)) &&
                    header.fileBytes == fileBytes && header.recordBytes == sizeof(store::DirectoryRecord) &&
                    header.slots == geometry->slots && header.dataOffset == geometry->dataOffset;
  if (!fits) return std::nullopt;
  return header.slots;
}

}  // namespace

Result<std::unique_ptr<SegmentView>> SegmentView::map(const Fd& descriptor, uint64_t fileBytes,
                                                      const wire::VersionRange& layouts) {
  struct stat info {};
  if (::fstat(descriptor.get(), &info) != 0) return systemError("fstat of a segment file", errno);
  if (info.st_size < 0 || static_cast<uint64_t>(info.st_size) < fileBytes || fileBytes < store::kSegmentBytesMin) {
    return {KV_SEGMENT_FOREIGN, "a segment file is smaller than the node said"};
  }
  void* mapped = ::mmap(nullptr, fileBytes, PROT_READ, MAP_SHARED, descriptor.get(), 0);
  if (mapped == MAP_FAILED) return systemError("mapping a segment file", errno);
  const auto* bytes = static_cast<const uint8_t*>(mapped);
  const std::optional<uint32_t> slots = readableSlots(bytes, fileBytes);
  std::unique_ptr<SegmentView> view(new SegmentView(bytes, fileBytes, layouts));
  const std::optional<store::RecordSeal> seal = slots ? readableSeal(bytes, fileBytes, layouts) : std::nullopt;
  if (!seal) return {KV_SEGMENT_LAYOUT, "a segment file has a layout this client cannot read"};
  view->slots_ = *slots;
  view->seal_ = *seal;
  return view;
}

SegmentView::~SegmentView() {
  ::munmap(const_cast<uint8_t*>(bytes_), fileBytes_);
}

std::optional<store::DirectoryRecord> SegmentView::intactRecord(uint32_t slot) {
  const auto record = store::readIntactRecord(bytes_, slot, seal_);
  if (record) return record;
  const std::optional<store::RecordSeal> seal = readableSeal(bytes_, fileBytes_, layouts_);
  if (!seal || *seal == seal_) return std::nullopt;
  seal_ = *seal;
  return store::readIntactRecord(bytes_, slot, seal_);
}

const uint8_t* SegmentView::find(const ExtentRef& extent, const ObjectId& object, uint64_t offset, uint64_t length,
                                 std::optional<uint32_t> crc) {
  if (extent.slot >= slots_) return nullptr;
  const auto record = intactRecord(extent.slot);
  const bool names = record && record->state == static_cast<uint32_t>(store::SlotState::Committed) &&
                     record->generation == extent.generation && record->objectEpoch == object.epoch &&
                     record->objectCounter == object.counter && record->payloadLength == length;
  if (!names || !rangeInside(record->offset, record->extentBytes, 0, fileBytes_)) return nullptr;
  if (crc && record->payloadCrc != *crc) return nullptr;
  const uint64_t distance = store::payloadDistance(record->keyLength);
  const std::optional<uint64_t> summed = summedBytes(length);
  const bool inside = summed && distance <= record->extentBytes && *summed <= record->extentBytes - distance;
  if (!inside || record->offset + distance != offset) return nullptr;
  return bytes_ + offset;
}

}  // namespace kvpool::client
