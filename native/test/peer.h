// SPDX-License-Identifier: Apache-2.0
// A small blocking client for tests: sends and receives frames and payloads on one socket, with a bound on every wait.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/crc32c.h"
#include "base/fd.h"
#include "net/socket.h"
#include "wire/frame.h"
#include "wire/handshake.h"

namespace kvpool::test {

constexpr int kWaitMs = 10000;

class Peer {
 public:
  explicit Peer(Fd fd) : fd_(std::move(fd)) {}

  static Peer tcp(uint16_t port) {
    const auto addresses = net::resolve({"127.0.0.1", port});
    EXPECT_TRUE(addresses.ok());
    Result<Fd> fd = net::startConnect(addresses.value().front());
    EXPECT_TRUE(fd.ok());
    wait(fd.value().get(), POLLOUT);
    EXPECT_EQ(net::connectOutcome(fd.value().get()), 0);
    return Peer(std::move(fd.value()));
  }
  static Peer unixSocket(const std::string& path) {
    Result<Fd> fd = net::connectUnix(path);
    EXPECT_TRUE(fd.ok()) << fd.status().text();
    return Peer(std::move(fd.value()));
  }

  [[nodiscard]] int fd() const { return fd_.get(); }

  void send(std::span<const uint8_t> bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && errno == EAGAIN) {
        wait(fd_.get(), POLLOUT);
        continue;
      }
      ASSERT_GT(count, 0) << "send: " << std::strerror(errno);
      bytes = bytes.subspan(static_cast<size_t>(count));
    }
  }
  void sendWith(std::span<const uint8_t> bytes, int descriptor) {
    const int descriptors[] = {descriptor};
    ASSERT_EQ(net::sendWithDescriptors(fd_.get(), bytes, descriptors), static_cast<ssize_t>(bytes.size()));
  }
  template <typename Append>
  void sendFrames(Append append) {
    wire::Bytes out;
    append(out);
    send(out);
  }
  void sendPayload(std::string_view payload, uint32_t crcOff = 0) {
    wire::Bytes out(payload.begin(), payload.end());
    const uint32_t crc = crc32c(payload) ^ crcOff;
    const auto* trailer = reinterpret_cast<const uint8_t*>(&crc);
    out.insert(out.end(), trailer, trailer + sizeof crc);
    send(out);
  }

  /// The next frame's body; nothing when the other side closed.
  std::optional<wire::Bytes> receive() {
    for (;;) {
      if (const std::optional<wire::Body> body = decoder_.next()) return wire::Bytes(body->begin(), body->end());
      const std::span<uint8_t> into = decoder_.writable();
      const size_t count = receiveSome(into);
      if (count == 0) return std::nullopt;
      decoder_.received(count);
    }
  }
  /// A payload and whether its checksum was right.
  std::pair<std::string, bool> receivePayload(size_t length) {
    std::string whole;
    while (whole.size() < length + 4) {
      const std::span<const uint8_t> early = decoder_.takeRaw(length + 4 - whole.size());
      whole.append(early.begin(), early.end());
      if (!early.empty()) continue;
      const size_t count = receiveSome(decoder_.writable());
      if (count == 0) return {"", false};
      decoder_.received(count);
    }
    uint32_t crc = 0;
    std::memcpy(&crc, whole.data() + length, 4);
    whole.resize(length);
    return {whole, crc == crc32c(whole)};
  }
  bool closedByOther() { return !receive().has_value(); }

  std::vector<Fd>& descriptors() { return descriptors_; }
  void shutdownWrites() { ::shutdown(fd_.get(), SHUT_WR); }
  void close() { fd_.reset(); }

  static void wait(int fd, short events) {
    pollfd one{fd, events, 0};
    ASSERT_EQ(::poll(&one, 1, kWaitMs), 1) << "nothing happened for " << kWaitMs << " ms";
  }

 private:
  size_t receiveSome(std::span<uint8_t> into) {
    for (;;) {
      const net::ReceivedBytes received = net::receiveWithDescriptors(fd_.get(), into, &descriptors_);
      if (received.count > 0) return static_cast<size_t>(received.count);
      if (received.count == 0 || received.errorNumber != EAGAIN) return 0;
      pollfd one{fd_.get(), POLLIN, 0};
      if (::poll(&one, 1, kWaitMs) != 1) {
        ADD_FAILURE() << "nothing received for " << kWaitMs << " ms";
        return 0;
      }
    }
  }

  Fd fd_;
  wire::FrameDecoder decoder_;
  std::vector<Fd> descriptors_;
};

}  // namespace kvpool::test
