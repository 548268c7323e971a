// SPDX-License-Identifier: Apache-2.0
#include "store/segment_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/checked.h"
#include "store/file_lock.h"
#include "store/segment_memory.h"
#include "store/set_aside.h"

namespace kvpool::store {
namespace {

Result<uint64_t> sizeOf(int fd, const std::string& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return systemError("cannot look at " + path, errno);
  if (!S_ISREG(info.st_mode)) return Status(KV_IO, path + " is not a file; move it away");
  return static_cast<uint64_t>(info.st_size);
}

/// Maps an open file whose header was written or checked, and opens the read-only side.
Result<SegmentFile> finish(Fd file, Mapping mapping, const Geometry& geometry, const Memory& memory) {
  SegmentFile segment;
  const std::string self = "/proc/self/fd/" + std::to_string(file.get());
  segment.readOnly = Fd(::open(self.c_str(), O_RDONLY | O_CLOEXEC));
  if (!segment.readOnly.valid()) return systemError("cannot reopen the segment for reading", errno);
  segment.lock = std::move(file);
  segment.mapping = std::move(mapping);
  segment.geometry = geometry;
  segment.memory = memory;
  return segment;
}

/// What a new segment is to be.
struct Plan {
  SegmentIdentity identity;
  uint64_t bytes;
  NumaPlacement numa;
};

Result<SegmentFile> formatted(Fd file, const Memory& memory, const std::string& shown, const Plan& plan,
                              StoreGate& gate) {
  const uint64_t bytes = possibleBytes(plan.bytes, memory);
  const std::optional<Geometry> geometry = planGeometry(bytes);
  if (!geometry) {
    return Status(KV_INVALID_ARGUMENT, "a segment of " + sizeText(bytes) + " is not possible; it must have " +
                                           sizeText(kSegmentBytesMin) + " to " + sizeText(kSegmentBytesMax));
  }
  Result<Mapping> mapping = makeMemory(file.get(), memory, bytes, plan.numa, shown);
  if (!mapping.ok()) return mapping.status();
  formatSegment(mapping.value().bytes(), *geometry, plan.identity, gate);
  Result<SegmentFile> segment = finish(std::move(file), std::move(mapping.value()), *geometry, memory);
  if (segment.ok()) segment.value().created = true;
  if (segment.ok() && bytes != plan.bytes) {
    segment.value().warnings.push_back(shown + " has " + sizeText(bytes) + " instead of " + sizeText(plan.bytes) +
                                       ", as its memory comes in pages of " + sizeText(memory.pageBytes));
  }
  return segment;
}

/// Under another name until the header is in it: a crash in between leaves no half-made segment under the real name.
Result<SegmentFile> create(const std::string& path, const Plan& plan, StoreGate& gate) {
  const std::string unfinished = path + ".new";
  ::unlink(unfinished.c_str());
  Fd file(::open(unfinished.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640));
  if (!file.valid()) return systemError("cannot create " + unfinished, errno);
  if (Status locked = lockFile(file.get(), unfinished); !locked.ok()) return locked;
  const Result<Memory> memory = memoryOf(file.get());
  if (!memory.ok()) return memory.status();
  Result<SegmentFile> segment = formatted(std::move(file), memory.value(), path, plan, gate);
  if (segment.ok() && ::rename(unfinished.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(unfinished.c_str());
    return systemError("cannot rename " + unfinished, error);
  }
  if (!segment.ok()) ::unlink(unfinished.c_str());
  return segment;
}

/// KV_INVALID_ARGUMENT when that part of the file is none, or none that a segment can lie in.
Status checkLent(const LentMemory& lent, uint64_t bytes, uint64_t fileBytes, const Memory& memory) {
  const auto refuse = [&](const std::string& why) { return Status(KV_INVALID_ARGUMENT, lent.path + why); };
  if (memory.kind != MemoryKind::Tmpfs && memory.kind != MemoryKind::HugePages) {
    return refuse(std::string(" lies on ") + nameOf(memory.kind) + "; memory must be a file on tmpfs or hugetlbfs");
  }
  const std::optional<uint64_t> end = checkedAdd(lent.offset, bytes);
  if (!end || *end > fileBytes) {
    return refuse(" has " + sizeText(fileBytes) + ", but " + sizeText(bytes) + " from " + std::to_string(lent.offset) +
                  " on were asked for; make the file longer first");
  }
  if (lent.offset % memory.pageBytes != 0 || bytes % memory.pageBytes != 0) {
    return refuse(" has pages of " + sizeText(memory.pageBytes) + ", and neither an offset of " +
                  std::to_string(lent.offset) + " nor a size of " + std::to_string(bytes) + " may cut one");
  }
  if (!planGeometry(bytes)) {
    return refuse(": a segment of " + sizeText(bytes) + " is not possible; it must have " + sizeText(kSegmentBytesMin) +
                  " to " + sizeText(kSegmentBytesMax));
  }
  return {};
}

/// What may be in it nobody else may have: only its own version, or a person, can tell.
Status unreadable(const std::string& path, const HeaderCheck& check) {
  return {KV_SEGMENT_LAYOUT, path + ": " + check.why +
                                 ", and it does not say that it was emptied, so it is left as it is; start a version "
                                 "that knows it, have its node drained and stopped in order, or move the file away"};
}

}  // namespace

Result<SegmentFile> openSegment(const std::string& directory, const SegmentIdentity& identity, uint64_t segmentBytes,
                                const std::string& timestamp, uint64_t boot, StoreGate& gate,
                                const NumaPlacement& numa) {
  const std::string path = directory + "/" + kSegmentFileName;
  const Plan plan{identity, segmentBytes, numa};
  Fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid()) {
    if (errno == ENOENT) return create(path, plan, gate);
    return systemError("cannot open " + path, errno);
  }
  if (Status locked = lockFile(file.get(), path); !locked.ok()) return locked;
  const Result<uint64_t> size = sizeOf(file.get(), path);
  if (!size.ok()) return size.status();
  const Result<Memory> memory = memoryOf(file.get());
  if (!memory.ok()) return memory.status();

  HeaderCheck check{HeaderVerdict::Damaged, "a file of " + std::to_string(size.value()) + " bytes is no segment", {}};
  Mapping mapping;
  if (planGeometry(size.value())) {
    // A sparse file would be as dangerous as a full file system.
    if (Status allocated = allocateAll(file.get(), size.value(), path); !allocated.ok()) return allocated;
    Result<Mapping> mapped = Mapping::map(file.get(), size.value(), true);
    if (!mapped.ok()) return mapped.status();
    mapping = std::move(mapped.value());
    check = checkHeader(mapping.bytes(), identity);
  }
  uint16_t replaced = 0;
  if (check.verdict == HeaderVerdict::OtherLayout) {
    // A state that this build cannot find says nothing.
    if (check.layout == 0 || !saysEmptied(mapping.bytes())) return unreadable(path, check);
    if (Status renewed = renewSegment(mapping.bytes(), identity, gate); !renewed.ok()) return renewed;
    replaced = check.layout;
    check = checkHeader(mapping.bytes(), identity);
  }
  bool setBack = false;
  if (check.verdict == HeaderVerdict::Fits && memory.value().kind == MemoryKind::Disk) {
    const std::optional<SegmentState> state = newestState(mapping.bytes());
    setBack = state && maySetBack(*state, boot);
    if (setBack) {
      if (Status formatted = formatAgain(mapping.bytes(), identity, gate); !formatted.ok()) return formatted;
    }
  }
  if (check.verdict == HeaderVerdict::Fits) {
    Result<SegmentFile> segment = finish(std::move(file), std::move(mapping), check.geometry, memory.value());
    if (segment.ok() && replaced != 0) {
      segment.value().replacedLayout = replaced;
      segment.value().warnings.push_back(path + " was in layout " + std::to_string(replaced) +
                                         ", which this library does not know, and says that no object was in it: a "
                                         "new segment was made in its place");
    }
    if (segment.ok() && setBack) {
      segment.value().warnings.push_back(path +
                                         " lies on a disk, and the node that used it last did not end in order "
                                         "before this boot of the machine: what was removed may be there again and "
                                         "what was written missing, so all that was in it counts as lost");
    }
    if (segment.ok() && size.value() != possibleBytes(segmentBytes, memory.value())) {
      segment.value().warnings.push_back(path + " keeps its size of " + sizeText(size.value()) + "; " +
                                         sizeText(segmentBytes) + " were asked for and take effect with a new file");
    }
    return segment;
  }
  const AsideReason reason = check.verdict == HeaderVerdict::Foreign ? AsideReason::Foreign : AsideReason::Damaged;
  const Result<std::string> aside = setAside(path, reason, timestamp);
  if (!aside.ok()) return aside.status();
  Result<SegmentFile> fresh = create(path, plan, gate);
  if (fresh.ok()) {
    fresh.value().warnings.push_back(path + " was set aside as " + aside.value() + " because " + check.why +
                                     "; delete it when it is not needed");
  }
  return fresh;
}

Result<SegmentFile> anonymousSegment(const SegmentIdentity& identity, uint64_t segmentBytes, StoreGate& gate,
                                     const NumaPlacement& numa) {
  Fd file(::memfd_create("kvpool-segment", MFD_CLOEXEC));
  if (!file.valid()) return systemError("memfd_create", errno);
  return formatted(std::move(file), Memory{}, "in memory", {identity, segmentBytes, numa}, gate);
}

Result<SegmentFile> lentSegment(const LentMemory& lent, const SegmentIdentity& identity, uint64_t segmentBytes,
                                StoreGate& gate) {
  if (lent.path.ends_with(std::string("/") + kSegmentFileName)) {
    return Status(KV_INVALID_ARGUMENT, lent.path + " is the segment of a storage node, which would be overwritten");
  }
  Fd file(::open(lent.path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return systemError("cannot open " + lent.path, errno);
  const Result<uint64_t> size = sizeOf(file.get(), lent.path);
  if (!size.ok()) return size.status();
  const Result<Memory> memory = memoryOf(file.get());
  if (!memory.ok()) return memory.status();
  if (Status fits = checkLent(lent, segmentBytes, size.value(), memory.value()); !fits.ok()) return fits;
  if (Status locked = lockRange(file.get(), lent.offset, segmentBytes, lent.path); !locked.ok()) return locked;
  if (Status there = allocateAll(file.get(), segmentBytes, lent.path, lent.offset); !there.ok()) return there;
  Result<Mapping> mapping = Mapping::map(file.get(), segmentBytes, true, lent.offset);
  if (!mapping.ok()) return mapping.status();
  if (Status made = formatAgain(mapping.value().bytes(), identity, gate); !made.ok()) return made;
  Result<SegmentFile> segment =
      finish(std::move(file), std::move(mapping.value()), *planGeometry(segmentBytes), memory.value());
  if (!segment.ok()) return segment;
  segment.value().created = true;
  segment.value().offset = lent.offset;
  return segment;
}

}  // namespace kvpool::store
