// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "ascend/cann/acl.h"
#include "ascend/cann/adxl.h"

namespace kvpool::ascend {

/// Why there is no Ascend transport here, as conditions of pools name it.
enum class Absence { CannLibraryNotFound, SymbolMissing, NoDevice, DriverTooOld };
/// The name, as in the enum.
const char* toString(Absence absence);

/// CANN as this process has it.
struct Runtime {
  Acl acl;
  Adxl adxl;
  std::string files;     ///< those that were loaded, for people
  uint32_t devices = 0;  ///< NPUs that this process sees; their numbers begin at 0
};

/// The runtime, or why there is none.
struct Loading {
  const Runtime* runtime = nullptr;
  std::optional<Absence> absence;
  std::string text;  ///< for people: what was used; or what is missing, each path that was tried, and how to fix it
};

/// Loads CANN, which stays loaded, and counts devices. Thread-safe. A failure is not remembered, so that a driver that
/// was mounted or installed meanwhile is found.
Loading loadRuntime();

/// ACL alone, or why there is none.
struct AclLoading {
  const Acl* acl = nullptr;
  std::optional<Absence> absence;
  std::string text;  ///< for people, where there is none
};

/// As loadRuntime(), of what copies within a machine need.
AclLoading loadAcl();
/// Whether this thread has the context of a device, by an ACL that its application uses. Loads and begins nothing. One
/// that was there when this process was forked counts for none: ACL's threads are not here, so it does not work, and
/// nothing is loaded here any more.
bool threadHasContext();

}  // namespace kvpool::ascend
