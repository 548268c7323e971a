// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "acl_api.h"
#include "engine_api.h"
#include "fake_api.h"

namespace fake_ascend {

constexpr uint32_t kOk = 0;
constexpr size_t kMega1 = size_t{1} << 20;
constexpr size_t kMega2 = size_t{2} << 20;
constexpr size_t kGiga1 = size_t{1} << 30;

/// Four devices, the first of which is current, and no rules.
class Scene : public testing::Test {
 protected:
  Scene() {
    fake_ascend_reset();
    control("");
    EXPECT_EQ(aclrtSetDevice(0), acl::kSuccess);
  }
  ~Scene() override { fake_ascend_reset(); }

  static void control(const std::string& text) { fake_ascend_control(("set devices 4\n" + text).c_str()); }
};

inline std::string freeAddress(const std::string& host = "127.0.0.1") {
  const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof name;
  EXPECT_EQ(::bind(file, reinterpret_cast<sockaddr*>(&name), size), 0);
  EXPECT_EQ(::getsockname(file, reinterpret_cast<sockaddr*>(&name), &size), 0);
  ::close(file);
  return host + ":" + std::to_string(ntohs(name.sin_port));
}

inline uintptr_t addressOf(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

using Options = std::map<ge::AscendString, ge::AscendString>;

/// No buffer pool, so that only registered memory can be reached.
inline Options plain(Options more = {}) {
  more.emplace("adxl.BufferPool", "0:0");
  return more;
}

inline Options roce(Options more = {}) {
  more.emplace("GlobalResourceConfig", R"({"comm_resource_config.protocol_desc":["roce:device"]})");
  return plain(std::move(more));
}

inline Options autoConnect() {
  return plain({{"AutoConnect", "1"}});
}

/// An initialized engine, and memory for it.
class Node {
 public:
  explicit Node(const Options& options = plain(), const std::string& name = freeAddress()) : name_(name) {
    EXPECT_EQ(engine.Initialize(name.c_str(), options), kOk);
  }
  ~Node() {
    engine.Finalize();
    for (void* pointer : device_)
      EXPECT_EQ(aclrtFree(pointer), acl::kSuccess);
    for (void* pointer : host_)
      EXPECT_EQ(aclrtFreeHost(pointer), acl::kSuccess);
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  [[nodiscard]] const char* name() const { return name_.c_str(); }

  char* allocateDevice(size_t size) {
    void* pointer = nullptr;
    EXPECT_EQ(aclrtMalloc(&pointer, size, 0), acl::kSuccess);
    device_.push_back(pointer);
    return static_cast<char*>(pointer);
  }

  char* allocateHost(size_t size) {
    void* pointer = nullptr;
    EXPECT_EQ(aclrtMallocHost(&pointer, size), acl::kSuccess);
    host_.push_back(pointer);
    return static_cast<char*>(pointer);
  }

  adxl::Status add(const void* pointer, size_t size, adxl::MemType type, adxl::MemHandle* handle = nullptr) {
    adxl::MemHandle own = nullptr;
    return engine.RegisterMem({addressOf(pointer), size, {}}, type, handle == nullptr ? own : *handle);
  }

  char* device(size_t size) {
    char* pointer = allocateDevice(size);
    EXPECT_EQ(add(pointer, size, adxl::MEM_DEVICE), kOk);
    return pointer;
  }

  char* host(size_t size) {
    char* pointer = allocateHost(size);
    EXPECT_EQ(add(pointer, size, adxl::MEM_HOST), kOk);
    return pointer;
  }

  adxl::Status connect(const Node& peer, int ms = 20000) { return engine.Connect(peer.name(), ms); }
  adxl::Status disconnect(const Node& peer, int ms = 20000) { return engine.Disconnect(peer.name(), ms); }

  adxl::Status move(adxl::TransferOp operation, const std::string& peer, const void* local, uintptr_t remote,
                    size_t size, int ms = 200000) {
    return engine.TransferSync(peer.c_str(), operation, {{addressOf(local), remote, size}}, ms);
  }

  adxl::Status write(const Node& peer, const void* local, const void* remote, size_t size, int ms = 200000) {
    return move(adxl::WRITE, peer.name(), local, addressOf(remote), size, ms);
  }

  adxl::Status read(const Node& peer, const void* local, const void* remote, size_t size, int ms = 200000) {
    return move(adxl::READ, peer.name(), local, addressOf(remote), size, ms);
  }

  adxl::AdxlEngine engine;

 private:
  std::string name_;
  std::vector<void*> device_;
  std::vector<void*> host_;
};

constexpr adxl::Status kParamInvalidStatus = 103900;
constexpr adxl::Status kTimeoutStatus = 103901;
constexpr adxl::Status kNotConnectedStatus = 103902;
constexpr adxl::Status kAlreadyConnectedStatus = 103903;
constexpr adxl::Status kUnsupportedStatus = 103905;
constexpr adxl::Status kResourceExhaustedStatus = 203900;
constexpr adxl::Status kFailedStatus = 503900;

}  // namespace fake_ascend
