// SPDX-License-Identifier: Apache-2.0
// CANN in this process, which is the fake of test/ascend/fake.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "ascend/cann/runtime.h"

namespace kvpool::ascend {

template <typename Function>
Function functionOf(const char* name) {
  void* found = ::dlsym(RTLD_DEFAULT, name);
  EXPECT_NE(found, nullptr) << name;
  return reinterpret_cast<Function>(found);
}

/// What the fake shall do, one statement a line; see fake_api.h.
inline void control(const std::string& text) {
  functionOf<void (*)(const char*)>("fake_ascend_control")(text.c_str());
}
inline uint64_t calls(const char* function) {
  return functionOf<uint64_t (*)(const char*)>("fake_ascend_calls")(function);
}
inline uint64_t live(const char* kind) {
  return functionOf<uint64_t (*)(const char*)>("fake_ascend_live")(kind);
}

inline const Runtime& runtime() {
  static const Runtime* loaded = [] {
    ::setenv("KVPOOL_ASCEND_LIBRARY_DIR", FAKE_CANN_DIRECTORY "/cann", 1);
    ::setenv("HCCL_INTRA_ROCE_ENABLE", "1", 1);
    const Loading loading = loadRuntime();
    EXPECT_NE(loading.runtime, nullptr) << loading.text;
    return loading.runtime;
  }();
  return *loaded;
}

/// A device's context, current in this thread.
class Device {
 public:
  Device() {
    EXPECT_EQ(runtime().acl.setDevice(0), kAclOk);
    EXPECT_EQ(runtime().acl.createContext(&context_, 0), kAclOk);
    EXPECT_EQ(runtime().acl.setCurrentContext(context_), kAclOk);
  }
  ~Device() { EXPECT_EQ(runtime().acl.destroyContext(context_), kAclOk); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  [[nodiscard]] AclContext context() const { return context_; }

 private:
  AclContext context_ = nullptr;
};

}  // namespace kvpool::ascend
