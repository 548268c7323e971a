// SPDX-License-Identifier: Apache-2.0
// Initialization, devices and contexts. Context and device are those of a thread, as with ACL.
#include "acl_device.h"

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <vector>

#include "acl_call.h"
#include "control.h"
#include "ledger.h"

namespace fake_ascend {
namespace {

std::vector<uint64_t> listOfNumbers(const std::string& text) {
  std::vector<uint64_t> numbers;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');)
    numbers.push_back(std::strtoull(part.c_str(), nullptr, 10));
  return numbers;
}

/// Devices as this process sees them: logic id -> number on the machine.
std::vector<uint64_t> visibleDevices() {
  if (const char* visible = std::getenv("ASCEND_RT_VISIBLE_DEVICES"); visible != nullptr && *visible != '\0')
    return listOfNumbers(visible);
  std::vector<uint64_t> all(Control::instance().number("devices", 1));
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = i;
  return all;
}

class Contexts {
 public:
  static Contexts& instance() {
    static Contexts& contexts = *new Contexts;
    return contexts;
  }

  aclrtContext create(int device) {
    const std::lock_guard lock(mutex_);
    const aclrtContext context = newHandle();
    devices_[context] = device;
    Ledger::instance().count("context", 1);
    return context;
  }

  bool destroy(aclrtContext context) {
    const std::lock_guard lock(mutex_);
    if (isPrimary(context) || devices_.erase(context) == 0) return false;
    Ledger::instance().count("context", -1);
    return true;
  }

  /// Each aclrtSetDevice counts one use of the device's own context.
  aclrtContext use(int device) {
    const std::lock_guard lock(mutex_);
    Primary& primary = primaries_[device];
    if (primary.uses++ == 0) {
      primary.context = newHandle();
      devices_[primary.context] = device;
    }
    return primary.context;
  }

  bool release(int device) {
    const std::lock_guard lock(mutex_);
    const auto found = primaries_.find(device);
    if (found == primaries_.end()) return false;
    if (--found->second.uses == 0) {
      devices_.erase(found->second.context);
      primaries_.erase(found);
    }
    return true;
  }

  std::optional<int> deviceOf(aclrtContext context) {
    const std::lock_guard lock(mutex_);
    const auto found = devices_.find(context);
    return found == devices_.end() ? std::nullopt : std::optional<int>(found->second);
  }

 private:
  struct Primary {
    aclrtContext context = nullptr;
    uint64_t uses = 0;
  };

  bool isPrimary(aclrtContext context) const {
    for (const auto& [device, primary] : primaries_)
      if (primary.context == context) return true;
    return false;
  }

  std::mutex mutex_;
  std::map<aclrtContext, int> devices_;
  std::map<int, Primary> primaries_;
};

thread_local aclrtContext currentContext = nullptr;
std::atomic<bool> initialized{false};

/// Whether the device can be used; else why not.
aclError checkDevice(int32_t device) {
  const auto visible = visibleDevices();
  if (visible.empty()) return refuse(acl::kNoDevice, "no device");
  if (device < 0 || static_cast<size_t>(device) >= visible.size())
    return refuse(acl::kRtParamInvalid, "device " + std::to_string(device) + " is none of the visible devices");
  const uint64_t number = visible[static_cast<size_t>(device)];
  // Ids of the machine in ASCEND_RT_VISIBLE_DEVICES of a container that has fewer devices.
  if (number >= Control::instance().number("devices", 1))
    return refuse(acl::kDeviceOpenFailed, "device " + std::to_string(number) + " cannot be opened");
  for (const uint64_t closed : listOfNumbers(Control::instance().setting("closed_devices").value_or("")))
    if (closed == number)
      return refuse(acl::kDeviceOpenFailed, "device " + std::to_string(number) + " cannot be opened");
  return acl::kSuccess;
}

}  // namespace

void* newHandle() {
  static std::atomic<uintptr_t> last{0xACE0000};
  return reinterpret_cast<void*>(last += 16);
}

uint32_t driverNumber(int device) {
  return static_cast<uint32_t>(visibleDevices().at(static_cast<size_t>(device)));
}

std::optional<int> currentDevice() {
  return Contexts::instance().deviceOf(currentContext);
}

}  // namespace fake_ascend

using fake_ascend::call;
using fake_ascend::checkDevice;
using fake_ascend::Contexts;
using fake_ascend::Control;
using fake_ascend::currentContext;
using fake_ascend::Ledger;
using fake_ascend::refuse;
namespace acl = fake_ascend::acl;

aclError aclInit(const char* configPath) {
  return call("aclInit", configPath == nullptr ? "" : configPath, []() -> aclError {
    return fake_ascend::initialized.exchange(true) ? refuse(acl::kRepeatInitialize, "initialized before")
                                                   : acl::kSuccess;
  });
}

aclError aclFinalize() {
  return call("aclFinalize", "", []() -> aclError {
    if (!fake_ascend::initialized.exchange(false)) return refuse(acl::kFailure, "not initialized");
    Ledger::instance().reportLeaks();
    return acl::kSuccess;
  });
}

const char* aclrtGetSocName() {
  if (call("aclrtGetSocName", "", [] { return acl::kSuccess; }) != acl::kSuccess) return nullptr;
  thread_local std::string name;
  name = Control::instance().setting("soc").value_or("Ascend910B3");
  return name.c_str();
}

aclError aclrtGetVersion(int32_t* major, int32_t* minor, int32_t* patch) {
  return call("aclrtGetVersion", "", [&]() -> aclError {
    if (major == nullptr || minor == nullptr || patch == nullptr) return refuse(acl::kInvalidParam, "null");
    *major = 1;
    *minor = 14;
    *patch = 0;
    return acl::kSuccess;
  });
}

aclError aclrtSetDevice(int32_t device) {
  return call("aclrtSetDevice", std::to_string(device), [&]() -> aclError {
    if (const aclError status = checkDevice(device)) return status;
    currentContext = Contexts::instance().use(device);
    return acl::kSuccess;
  });
}

aclError aclrtResetDevice(int32_t device) {
  return call("aclrtResetDevice", std::to_string(device), [&]() -> aclError {
    if (const aclError status = checkDevice(device)) return status;
    return Contexts::instance().release(device) ? acl::kSuccess
                                                : refuse(acl::kRtParamInvalid, "the device is not in use");
  });
}

aclError aclrtGetDevice(int32_t* device) {
  return fake_ascend::callInContext("aclrtGetDevice", "", [&]() -> aclError {
    if (device == nullptr) return refuse(acl::kInvalidParam, "null");
    *device = *fake_ascend::currentDevice();
    return acl::kSuccess;
  });
}

aclError aclrtGetDeviceCount(uint32_t* count) {
  return call("aclrtGetDeviceCount", "", [&]() -> aclError {
    if (count == nullptr) return refuse(acl::kInvalidParam, "null");
    *count = static_cast<uint32_t>(fake_ascend::visibleDevices().size());
    return *count == 0 ? refuse(acl::kNoDevice, "no device") : acl::kSuccess;
  });
}

aclError aclrtGetLogicDevIdByUserDevId(const int32_t user, int32_t* const logic) {
  return call("aclrtGetLogicDevIdByUserDevId", std::to_string(user), [&]() -> aclError {
    if (logic == nullptr || user < 0 || static_cast<size_t>(user) >= fake_ascend::visibleDevices().size())
      return refuse(acl::kRtParamInvalid, "device " + std::to_string(user) + " is none of the visible devices");
    *logic = static_cast<int32_t>(fake_ascend::driverNumber(user));
    return acl::kSuccess;
  });
}

aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logic, int32_t* const physical) {
  return call("aclrtGetPhyDevIdByLogicDevId", std::to_string(logic), [&]() -> aclError {
    const auto visible = fake_ascend::visibleDevices();
    if (physical == nullptr || logic < 0 || static_cast<size_t>(logic) >= visible.size())
      return refuse(acl::kRtParamInvalid, "device " + std::to_string(logic) + " is none of the visible devices");
    const uint64_t number = visible[static_cast<size_t>(logic)];
    const auto ids = fake_ascend::listOfNumbers(Control::instance().setting("physical_ids").value_or(""));
    *physical = static_cast<int32_t>(number < ids.size() ? ids[number] : number);
    return acl::kSuccess;
  });
}

aclError aclrtCreateContext(aclrtContext* context, int32_t device) {
  return call("aclrtCreateContext", std::to_string(device), [&]() -> aclError {
    if (context == nullptr) return refuse(acl::kInvalidParam, "null");
    if (const aclError status = checkDevice(device)) return status;
    *context = currentContext = Contexts::instance().create(device);
    return acl::kSuccess;
  });
}

aclError aclrtDestroyContext(aclrtContext context) {
  return call("aclrtDestroyContext", "", [&]() -> aclError {
    return Contexts::instance().destroy(context)
               ? acl::kSuccess
               : refuse(acl::kRtParamInvalid, "not a context that aclrtCreateContext made");
  });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  return call("aclrtSetCurrentContext", "", [&]() -> aclError {
    if (!Contexts::instance().deviceOf(context)) return refuse(acl::kRtParamInvalid, "not a context");
    currentContext = context;
    return acl::kSuccess;
  });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  return fake_ascend::callInContext("aclrtGetCurrentContext", "", [&]() -> aclError {
    if (context == nullptr) return refuse(acl::kInvalidParam, "null");
    *context = currentContext;
    return acl::kSuccess;
  });
}
