// SPDX-License-Identifier: Apache-2.0
#include "ssd/device.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <new>

#include "ssd/layout.h"

namespace kvpool::ssd {
namespace {

/// Calls `move(bytes, offset)` until the piece is done; short counts are gone on with, the end of the file is not.
template <typename Move>
Status moveAll(const Piece& piece, const std::string& what, Move move) {
  size_t done = 0;
  while (done < piece.bytes.size()) {
    const ssize_t count = move(piece.bytes.subspan(done), piece.offset + done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return systemError(what + " at " + std::to_string(piece.offset + done), errno);
    if (count == 0) {
      return {KV_IO, what + " at " + std::to_string(piece.offset + done) +
                         ": it ends there: another process has cut it short"};
    }
    done += static_cast<size_t>(count);
  }
  return {};
}

}  // namespace

Status FileDevice::read(std::span<const Piece> pieces) {
  for (const Piece& piece : pieces) {
    Status done = moveAll(piece, "read from " + shown_, [&](std::span<uint8_t> bytes, uint64_t offset) {
      return ::pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    });
    if (!done.ok()) return done;
  }
  return {};
}

Status FileDevice::write(std::span<const Piece> pieces) {
  for (const Piece& piece : pieces) {
    Status done = moveAll(piece, "write to " + shown_, [&](std::span<uint8_t> bytes, uint64_t offset) {
      return ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    });
    if (!done.ok()) return done;
  }
  return {};
}

Status FileDevice::sync() {
  return ::fdatasync(file_.get()) == 0 ? Status() : systemError("fdatasync of " + shown_, errno);
}

BlockBuffer::BlockBuffer(uint64_t bytes) : length_(tierExtentBytes(bytes)) {
  memory_.reset(static_cast<uint8_t*>(std::aligned_alloc(kBlockBytes, length_)));
  if (memory_ == nullptr) throw std::bad_alloc();
}

void BlockBuffer::Free::operator()(uint8_t* memory) const {
  std::free(memory);
}

}  // namespace kvpool::ssd
