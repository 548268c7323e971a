// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/fd.h"
#include "temporary_directory.h"

namespace kvpool::test {

/// A block device whose bytes are a file; gone with the object. Only root may make one, and not in every container.
class LoopDevice {
 public:
  explicit LoopDevice(uint64_t bytes) {
    std::ofstream{file()};
    std::filesystem::resize_file(file(), bytes);
    control_ = Fd(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
    const Fd backing(::open(file().c_str(), O_RDWR | O_CLOEXEC));
    // Another process may take the free one first.
    for (int attempt = 0; attempt < kAttempts && !valid(); attempt++)
      attach(backing.get());
  }

  [[nodiscard]] bool valid() const { return device_.valid(); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  static constexpr int kAttempts = 10;

  [[nodiscard]] std::string file() const { return directory_.path() + "/disk"; }

  void attach(int backing) {
    const int number = control_.valid() ? ::ioctl(control_.get(), LOOP_CTL_GET_FREE) : -1;
    if (number < 0) return;
    path_ = "/dev/loop" + std::to_string(number);
    Fd device(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    loop_config config{};
    config.fd = static_cast<uint32_t>(backing);
    config.block_size = kSectorBytes;
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR;  // when the last one closes it
    if (device.valid() && ::ioctl(device.get(), LOOP_CONFIGURE, &config) == 0) device_ = std::move(device);
  }

  static constexpr uint32_t kSectorBytes = 512;

  TemporaryDirectory directory_;
  std::string path_;
  Fd control_;
  Fd device_;
};

}  // namespace kvpool::test
