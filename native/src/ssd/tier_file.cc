// SPDX-License-Identifier: Apache-2.0
#include "ssd/tier_file.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "ssd/sealed_device.h"
#include "store/file_lock.h"
#include "store/set_aside.h"

namespace kvpool::ssd {
namespace {

/// Of the table at a time when a tier is opened.
constexpr uint64_t kLoadBytes = uint64_t{4} << 20;

/// At the begin of a device that nobody uses: superblocks and labels lie in there.
constexpr uint64_t kUnusedBytes = uint64_t{1} << 20;

struct Opened {
  Fd file;
  bool direct = false;
};

/// With O_DIRECT where the file system knows it; tmpfs, for one, does not.
Result<Opened> openFile(const std::string& path, int flags) {
  const int all = flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  Fd direct(::open(path.c_str(), all | O_DIRECT, 0640));
  if (direct.valid()) return Opened{std::move(direct), true};
  if (errno != EINVAL) return systemError("cannot open " + path, errno);
  Fd buffered(::open(path.c_str(), all, 0640));
  if (!buffered.valid()) return systemError("cannot open " + path, errno);
  return Opened{std::move(buffered), false};
}

/// A device goes by many names, most of them links. O_EXCL is the kernel's own lock: it also keeps out who has the
/// device by another name, in another container, or as a file system.
Result<Opened> openDevice(const std::string& path) {
  Fd device(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_DIRECT | O_EXCL));
  if (device.valid()) return Opened{std::move(device), true};
  if (errno == EBUSY) {
    return Status(KV_SEGMENT_IN_USE,
                  path + " is mounted, or used by another process; give this node a device of its own");
  }
  if (errno != EACCES && errno != EPERM) return systemError("cannot open " + path, errno);
  return Status(KV_IO, path + " may not be opened by user " + std::to_string(::geteuid()) +
                           "; give that user the device. In a pod with a claim of volumeMode Block containerd does "
                           "so with device_ownership_from_security_context = true");
}

Result<uint64_t> sizeOf(int file, const std::string& path) {
  struct stat info {};
  if (::fstat(file, &info) != 0) return systemError("cannot look at " + path, errno);
  if (!S_ISBLK(info.st_mode)) return static_cast<uint64_t>(info.st_size);
  uint64_t bytes = 0;
  if (::ioctl(file, BLKGETSIZE64, &bytes) != 0) return systemError("cannot ask for the size of " + path, errno);
  return bytes;
}

Result<TierCheck> checkFile(Device& device, uint64_t bytes, const store::SegmentIdentity& identity) {
  if (bytes < kTierBytesMin) {
    TierCheck check;
    check.why = "a file of " + std::to_string(bytes) + " bytes is no SSD tier";
    return check;
  }
  const BlockBuffer blocks(kTableOffset);
  const Piece piece{0, blocks.bytes()};
  if (Status read = device.read({&piece, 1}); !read.ok()) return read;
  return checkTier(blocks.bytes(), bytes, identity);
}

Result<TierGeometry> plan(uint64_t bytes) {
  const std::optional<TierGeometry> geometry = planTier(bytes);
  if (geometry) return *geometry;
  return Status(KV_INVALID_ARGUMENT,
                "an SSD tier of " + std::to_string(bytes) + " bytes is not possible; it must have 16 MiB to 32 TiB");
}

/// Asked before anything is allocated: to find out by allocating fills the disk for everybody meanwhile.
Status checkRoom(int file, uint64_t bytes, const std::string& path) {
  struct statvfs system {};
  if (::fstatvfs(file, &system) != 0) return systemError("cannot ask how much room there is for " + path, errno);
  const uint64_t free = static_cast<uint64_t>(system.f_bavail) * system.f_frsize;
  if (free >= bytes) return {};
  return {KV_IO, path + " cannot have " + std::to_string(bytes) + " bytes: its file system has " +
                     std::to_string(free) + " left; ask for a smaller tier or make room"};
}

/// Every block now: what a later write finds missing would cost the whole tier.
Status allocateAll(int file, uint64_t bytes, const std::string& path, std::vector<std::string>& warnings) {
  if (Status room = checkRoom(file, bytes, path); !room.ok()) return room;
  if (::fallocate(file, 0, 0, static_cast<off_t>(bytes)) == 0) return {};
  const int error = errno;
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    return {KV_IO, path + " cannot have " + std::to_string(bytes) +
                       " bytes: the file system, or a limit on it, has less; ask for a smaller tier or make room"};
  }
  if (error != EOPNOTSUPP) return systemError("cannot allocate " + path, error);
  if (::ftruncate(file, static_cast<off_t>(bytes)) != 0) return systemError("cannot make " + path, errno);
  warnings.push_back(path + " lies on a file system that cannot allocate ahead: the tier ends when that is full");
  return {};
}

/// The device of a tier whose header this is becomes what its reader sees. Why that is not possible, as half a
/// sentence.
std::string unlock(std::unique_ptr<Device>& device, const TierHeader& header, const std::optional<SealKey>& key) {
  const bool sealed = header.sealing != static_cast<uint32_t>(Sealing::None);
  if (!sealed && !key) return "";
  if (!sealed) return "what it held was not encrypted, and is to be";
  if (!key) return "it was encrypted, and no key was given";
  const std::optional<TierSecret> secret = secretOf(header, *key);
  if (!secret) return "it was encrypted with another key";
  device = std::make_unique<SealedDevice>(std::move(device), *secret);
  return "";
}

/// Makes an empty tier there.
Status make(std::unique_ptr<Device>& device, TierHeader& header, const std::optional<SealKey>& key) {
  if (key) {
    if (Status sealed = sealHeader(header, *key); !sealed.ok()) return sealed;
  }
  if (Status made = formatTier(*device, header); !made.ok()) return made;
  const std::string why = unlock(device, header, key);
  return why.empty() ? Status() : Status(KV_IO, "the new SSD tier cannot be read: " + why);
}

/// Under another name until the header is in it, so that a crash leaves no half-made tier under the real one.
Result<TierFile> create(const std::string& path, const TierWish& wish) {
  const Result<TierGeometry> geometry = plan(wish.bytes);
  if (!geometry.ok()) return geometry.status();
  const std::string unfinished = path + ".new";
  ::unlink(unfinished.c_str());
  Result<Opened> opened = openFile(unfinished, O_CREAT | O_EXCL);
  if (!opened.ok()) return opened.status();
  const int file = opened.value().file.get();
  TierFile tier;
  Status made = store::lockFile(file, unfinished);
  if (made.ok()) made = allocateAll(file, wish.bytes, path, tier.warnings);
  tier.device = std::make_unique<FileDevice>(std::move(opened.value().file), path);
  tier.header = newHeader(geometry.value(), wish.identity, wish.number);
  if (made.ok()) made = make(tier.device, tier.header, wish.key);
  if (made.ok() && ::rename(unfinished.c_str(), path.c_str()) != 0) {
    made = systemError("cannot rename " + unfinished, errno);
  }
  if (!made.ok()) {
    ::unlink(unfinished.c_str());
    return made;
  }
  tier.created = true;
  tier.direct = opened.value().direct;
  tier.shown = path;
  return tier;
}

TierFile found(Opened opened, std::unique_ptr<Device> device, const TierHeader& header, const std::string& path) {
  TierFile tier;
  tier.device = std::move(device);
  tier.header = header;
  tier.direct = opened.direct;
  tier.shown = path;
  return tier;
}

/// The beginning of a sentence that ends with what it takes.
std::string keepsItsSize(const TierFile& tier, uint64_t askedBytes) {
  return tier.shown + " keeps its " + std::to_string(tier.header.tierBytes) + " bytes; " + std::to_string(askedBytes) +
         " were asked for and take effect ";
}

Status newer(const std::string& path, const TierCheck& check) {
  return {KV_SEGMENT_LAYOUT, path + ": " + check.why + "; start the newer version, or move it away"};
}

Status leftAlone(const std::string& path, const std::string& why) {
  return {KV_SEGMENT_FOREIGN, path + " is left alone because " + why +
                                  "; to give it to this node, overwrite its first " + std::to_string(kUnusedBytes) +
                                  " bytes with zeros"};
}

/// A tier's file or device as it was found: ours alone, and its first block judged.
struct Looked {
  Opened opened;
  std::unique_ptr<Device> device;
  uint64_t bytes = 0;
  TierCheck check;
};

Result<Looked> lookAt(Result<Opened> opened, const std::string& path, const store::SegmentIdentity& identity) {
  if (!opened.ok()) return opened.status();
  const int file = opened.value().file.get();
  if (Status locked = store::lockFile(file, path); !locked.ok()) return locked;
  const Result<uint64_t> size = sizeOf(file, path);
  if (!size.ok()) return size.status();
  auto device = std::make_unique<FileDevice>(std::move(opened.value().file), path);
  const Result<TierCheck> check = checkFile(*device, size.value(), identity);
  if (!check.ok()) return check.status();
  if (check.value().verdict == TierVerdict::Newer) return newer(path, check.value());
  return Looked{std::move(opened.value()), std::move(device), size.value(), check.value()};
}

Result<TierFile> openInDirectory(const std::string& path, const TierWish& wish) {
  if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) return create(path, wish);
  Result<Looked> looked = lookAt(openFile(path, 0), path, wish.identity);
  if (!looked.ok()) return looked.status();
  auto& [opened, device, size, check] = looked.value();
  if (check.verdict == TierVerdict::Fits) {
    const std::string locked = unlock(device, check.header, wish.key);
    if (!locked.empty()) {
      // Its room is needed for the next one, and comes back when the file is closed.
      if (::unlink(path.c_str()) != 0) return systemError("cannot delete " + path, errno);
      device.reset();
      Result<TierFile> fresh = create(path, wish);
      if (fresh.ok()) fresh.value().warnings.push_back(path + " was emptied because " + locked);
      return fresh;
    }
    TierFile tier = found(std::move(opened), std::move(device), check.header, path);
    if (tier.header.tierBytes != wish.bytes) {
      tier.warnings.push_back(keepsItsSize(tier, wish.bytes) + "with a new file");
    }
    return tier;
  }
  const store::AsideReason reason =
      check.verdict == TierVerdict::Foreign ? store::AsideReason::Foreign : store::AsideReason::Damaged;
  const Result<std::string> aside = store::setAside(path, reason, wish.timestamp);
  if (!aside.ok()) return aside.status();
  Result<TierFile> fresh = create(path, wish);
  if (fresh.ok()) {
    const std::string why = check.why.empty() ? "nothing is in it" : check.why;
    fresh.value().warnings.push_back(path + " was set aside as " + aside.value() + " because " + why +
                                     "; delete it when it is not needed");
  }
  return fresh;
}

/// Not only its first block: file systems, mirrors and volume groups may leave that to others and begin behind it.
Status checkUnused(Device& device, uint64_t bytes, const std::string& path) {
  const BlockBuffer begin(std::min(bytes, kUnusedBytes));
  const Piece piece{0, begin.bytes()};
  if (Status read = device.read({&piece, 1}); !read.ok()) return read;
  const std::span<const uint8_t> found = begin.bytes();
  if (std::all_of(found.begin(), found.end(), [](uint8_t byte) { return byte == 0; })) return {};
  return leftAlone(path, "something is in its first " + std::to_string(kUnusedBytes) + " bytes");
}

/// What an earlier tier left is to be unreadable, and its table is not to be taken for damaged records of the next one.
Status wipe(const std::string& path, const TierHeader& old, std::vector<std::string>& warnings) {
  const Fd device(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!device.valid()) return systemError("cannot open " + path, errno);
  std::array<uint64_t, 2> all{0, old.tierBytes / kBlockBytes * kBlockBytes};
  if (::ioctl(device.get(), BLKDISCARD, all.data()) != 0 && old.sealing == static_cast<uint32_t>(Sealing::None)) {
    warnings.push_back(path + " cannot forget what lies there: it can be read until it is overwritten");
  }
  std::array<uint64_t, 2> table{kTableOffset, old.dataOffset - kTableOffset};
  return ::ioctl(device.get(), BLKZEROOUT, table.data()) == 0 ? Status()
                                                              : systemError("cannot overwrite " + path, errno);
}

Result<TierFile> openOnDevice(const TierWish& wish) {
  const std::string& path = wish.path;
  Result<Looked> looked = lookAt(openDevice(path), path, wish.identity);
  if (!looked.ok()) return looked.status();
  auto& [opened, device, size, check] = looked.value();
  const Result<TierGeometry> geometry = plan(std::min(wish.bytes, size));
  if (!geometry.ok()) return geometry.status();
  std::vector<std::string> warnings;
  if (check.verdict == TierVerdict::Fits) {
    const std::string locked = unlock(device, check.header, wish.key);
    if (locked.empty()) {
      TierFile tier = found(std::move(opened), std::move(device), check.header, path);
      if (tier.header.tierBytes != std::min(wish.bytes, size)) {
        tier.warnings.push_back(keepsItsSize(tier, wish.bytes) + "once its first " + std::to_string(kUnusedBytes) +
                                " bytes are overwritten with zeros, which empties it");
      }
      return tier;
    }
    warnings.push_back(path + " was emptied because " + locked);
    if (Status wiped = wipe(path, check.header, warnings); !wiped.ok()) return wiped;
  } else {
    if (check.verdict != TierVerdict::Empty) return leftAlone(path, check.why);
    if (Status unused = checkUnused(*device, size, path); !unused.ok()) return unused;
  }
  TierHeader header = newHeader(geometry.value(), wish.identity, wish.number);
  if (Status made = make(device, header, wish.key); !made.ok()) return made;
  TierFile tier = found(std::move(opened), std::move(device), header, path);
  tier.created = true;
  tier.warnings = std::move(warnings);
  if (size < wish.bytes) {
    tier.warnings.push_back(path + " has " + std::to_string(size) + " bytes; " + std::to_string(wish.bytes) +
                            " were asked for");
  }
  return tier;
}

}  // namespace

Result<TierFile> openTier(const TierWish& wish) {
  struct stat info {};
  if (::stat(wish.path.c_str(), &info) != 0) return systemError("cannot look at " + wish.path, errno);
  Result<TierFile> tier =
      S_ISBLK(info.st_mode) ? openOnDevice(wish) : openInDirectory(wish.path + "/" + kTierFileName, wish);
  if (tier.ok() && !tier.value().direct) {
    tier.value().warnings.push_back(tier.value().shown +
                                    " cannot be opened with O_DIRECT: the page cache lies in between and takes memory");
  }
  return tier;
}

Status formatTier(Device& device, TierHeader& header) {
  const BlockBuffer block(kBlockBytes);
  for (int copy = 0; copy < 2; ++copy) {
    header = nextHeader(header, {});
    encodeHeader(block.bytes(), header);
    const Piece piece{headerOffset(header), block.bytes()};
    if (Status written = device.write({&piece, 1}); !written.ok()) return written;
    if (Status synced = device.sync(); !synced.ok()) return synced;
  }
  return {};
}

Result<TierRecovery> loadTable(Device& device, Table& table, const Table::FateOf& fateOf) {
  const uint64_t end = kTableOffset + uint64_t{table.geometry().slots} * sizeof(TierRecord);
  const BlockBuffer buffer(std::min(kLoadBytes, end - kTableOffset));
  for (uint64_t at = kTableOffset; at < end; at += kLoadBytes) {
    const Piece piece{at, buffer.bytes().first(std::min(kLoadBytes, end - at))};
    if (Status read = device.read({&piece, 1}); !read.ok()) return read;
    table.recover(piece.bytes, fateOf);
  }
  return table.finishRecovery();
}

}  // namespace kvpool::ssd
