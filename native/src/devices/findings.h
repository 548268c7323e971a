// SPDX-License-Identifier: Apache-2.0
// What facts about a container mean for protocol ascend. Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ascend/cann/runtime.h"
#include "devices/host_facts.h"

namespace kvpool::devices {

/// How a transfer engine wants NPUs to move bytes, as far as it needs something of the host.
enum class Link { Any, RoCE, Fabric };

/// A driver's version as far as it decides what the driver can.
struct DriverVersion {
  uint32_t major = 0;
  uint32_t minor = 0;

  /// "25.5.0", "26.0", "24.1.rc2"; nothing for what does not begin so.
  static std::optional<DriverVersion> parse(const std::string& text);
  auto operator<=>(const DriverVersion&) const = default;
};

/// What is asked of the container.
struct Needs {
  uint32_t devices = 1;  ///< NPUs the container should have
  Link link = Link::Any;
  std::optional<DriverVersion> driverMinimum;
};

/// What came of loading CANN.
struct CannAnswer {
  std::optional<ascend::Absence> absence;  ///< nothing: CANN is there and sees devices
  std::string text;
};

enum class Level { Ok, Warning, Missing };

/// One thing that was looked at.
struct Finding {
  std::string check;  ///< cann, devices, driver, addresses, memlock, hugepages
  Level level = Level::Ok;
  std::optional<ascend::Absence> absence;  ///< set with Level::Missing
  std::string text;
  std::string remedy;  ///< empty when all is well
};

/// One finding for each thing that was looked at.
std::vector<Finding> judge(const HostFacts& facts, const CannAnswer& cann, const Needs& needs);

/// The one that a condition names, nothing when no finding is Missing: what is missing first on the way from a library
/// to a device.
const Finding* worst(const std::vector<Finding>& findings);

}  // namespace kvpool::devices
