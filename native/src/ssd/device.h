// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/fd.h"
#include "base/status.h"

namespace kvpool::ssd {

/// Bytes to move: place, length and memory are multiples of kBlockBytes.
struct Piece {
  uint64_t offset = 0;
  std::span<uint8_t> bytes;
};

/// Where a tier lies. Calls block and may come from several threads; pieces of calls that overlap in time do not
/// overlap in place. Tests put their own in its place, with crashes and failures.
class Device {
 public:
  virtual ~Device() = default;

  /// All of the pieces, or KV_IO with a sentence; a file that ends early is KV_IO too.
  virtual Status read(std::span<const Piece> pieces) = 0;
  virtual Status write(std::span<const Piece> pieces) = 0;
  /// What was written survives the loss of power.
  virtual Status sync() = 0;
};

/// A file or a block device by pread and pwrite, several at a time from several threads.
class FileDevice final : public Device {
 public:
  FileDevice(Fd file, std::string shown) : file_(std::move(file)), shown_(std::move(shown)) {}

  Status read(std::span<const Piece> pieces) override;
  Status write(std::span<const Piece> pieces) override;
  Status sync() override;

 private:
  Fd file_;  // holds the flock
  std::string shown_;
};

/// Memory as a Device wants it.
class BlockBuffer {
 public:
  BlockBuffer() = default;
  /// Rounded up to whole blocks. Throws std::bad_alloc.
  explicit BlockBuffer(uint64_t bytes);

  [[nodiscard]] std::span<uint8_t> bytes() const { return {memory_.get(), length_}; }

 private:
  struct Free {
    void operator()(uint8_t* memory) const;
  };
  std::unique_ptr<uint8_t, Free> memory_;
  size_t length_ = 0;
};

}  // namespace kvpool::ssd
