// SPDX-License-Identifier: Apache-2.0
#include "devices/findings.h"

#include <algorithm>
#include <charconv>

namespace kvpool::devices {

using ascend::Absence;

namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

std::string listed(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items)
    text += (text.empty() ? "" : ", ") + item;
  return text;
}

const char* remedyOf(Absence absence) {
  switch (absence) {
    case Absence::CannLibraryNotFound:
      return "Build the pool's image (spec.image) on a CANN image, 8.3 or newer, and see that the driver's directory "
             "is "
             "in the container: accelerator.driverFrom and driverRoot of the transfer engine";
    case Absence::SymbolMissing:
      return "Build the pool's image (spec.image) on a CANN image, 8.3 or newer";
    case Absence::NoDevice:
      return "See on the host with npu-smi info whether the driver has the NPU, and whether the device plugin gives it "
             "to the pod: accelerator.resourceName of the transfer engine";
    case Absence::DriverTooOld:
      return "Update the driver of the host";
  }
  return "";
}

Finding ofCann(const CannAnswer& cann) {
  if (!cann.absence) return {"cann", Level::Ok, std::nullopt, cann.text, ""};
  return {"cann", Level::Missing, cann.absence, cann.text, remedyOf(*cann.absence)};
}

/// Device files, as CANN needs them. Where CANN sees devices all the same, its word counts.
Finding ofDevices(const HostFacts& facts, bool seen, const Needs& needs) {
  const auto bad = [&](const std::string& text, const std::string& remedy) {
    return seen ? Finding{"devices", Level::Warning, std::nullopt, text, remedy}
                : Finding{"devices", Level::Missing, Absence::NoDevice, text, remedy};
  };
  if (facts.npus.empty()) return bad("there is no /dev/davinciN", remedyOf(Absence::NoDevice));
  if (!facts.lacking.empty()) {
    return bad(listed(facts.lacking) + (facts.lacking.size() == 1 ? " is missing" : " are missing"),
               "Without ascend-docker-runtime run the device plugin with -useAscendDocker=false; with it, see that "
               "podTemplate.runtimeClassName names it");
  }
  std::vector<std::string> closed;
  std::vector<std::string> open;
  for (const auto* files : {&facts.npus, &facts.control}) {
    for (const DeviceFile& file : *files) {
      if (file.problem.empty()) {
        open.push_back(file.path);
      } else {
        closed.push_back(file.path + " (" + file.problem + ")");
      }
    }
  }
  if (!closed.empty()) {
    return bad(
        "cannot open " + listed(closed),
        "Set accelerator.group of the transfer engine to the files' group on the host: stat -c %g /dev/davinci0");
  }
  if (facts.npus.size() < needs.devices) {
    return {"devices", Level::Warning, std::nullopt,
            "the container has " + std::to_string(facts.npus.size()) + " of " + std::to_string(needs.devices) + " NPUs",
            remedyOf(Absence::NoDevice)};
  }
  return {"devices", Level::Ok, std::nullopt, listed(open), ""};
}

Finding ofDriver(const HostFacts& facts, const Needs& needs) {
  const auto unknown = [&](const std::string& text) {
    // Where no version is asked for, it is no matter that it is unknown.
    const Level level = needs.driverMinimum ? Level::Warning : Level::Ok;
    return Finding{"driver", level, std::nullopt, text,
                   level == Level::Ok ? "" : "See on the host: cat " + std::string(kDriverVersionFile)};
  };
  if (!facts.driverVersion) return unknown(std::string(kDriverVersionFile) + " says no version");
  const auto version = DriverVersion::parse(*facts.driverVersion);
  if (!version) return unknown("the driver's version " + *facts.driverVersion + " is not MAJOR.MINOR");
  if (needs.driverMinimum && *version < *needs.driverMinimum) {
    const std::string least =
        std::to_string(needs.driverMinimum->major) + "." + std::to_string(needs.driverMinimum->minor);
    return {"driver", Level::Missing, Absence::DriverTooOld,
            "the driver is HDK " + *facts.driverVersion + ", and the transfer engine's settings need " + least +
                " or newer",
            std::string(remedyOf(Absence::DriverTooOld)) + " to HDK " + least +
                " or newer, or change link and mode of the transfer engine's accelerator"};
  }
  return {"driver", Level::Ok, std::nullopt, "HDK " + *facts.driverVersion, ""};
}

Finding ofAddresses(const HostFacts& facts) {
  std::vector<std::string> without;
  for (const uint32_t device : facts.numbers) {
    if (std::find(facts.withAddress.begin(), facts.withAddress.end(), device) == facts.withAddress.end()) {
      without.push_back(std::to_string(device));
    }
  }
  const std::string remedy =
      "Give each NPU's network card an address on the host: hccn_tool -i NPU -ip -s address IP netmask MASK. Pods see "
      "it "
      "when they are created again";
  if (!facts.addressesReadable) {
    return {"addresses", Level::Warning, std::nullopt,
            std::string(kAddressesFile) + " is missing, empty or cannot be read, and link RoCE needs it", remedy};
  }
  if (!without.empty()) {
    return {"addresses", Level::Warning, std::nullopt,
            std::string(kAddressesFile) + " has no address of NPU " + listed(without) + ", and link RoCE needs one",
            remedy};
  }
  return {"addresses", Level::Ok, std::nullopt, "each NPU's network card has an address", ""};
}

Finding ofLimit(const HostFacts& facts) {
  if (!facts.lockableBytes) return {"memlock", Level::Ok, std::nullopt, "memory can be locked without limit", ""};
  return {
      "memlock", Level::Warning, std::nullopt,
      "only " + std::to_string(*facts.lockableBytes / kMiB) + " MiB of memory can be locked, and NPUs reach no other",
      "Run the container runtime of the node with LimitMEMLOCK=infinity"};
}

Finding ofHugePages(const HostFacts& facts) {
  if (facts.of1Gi.free > 0 || facts.of2Mi.free > 0) {
    return {"hugepages", Level::Ok, std::nullopt,
            std::to_string(facts.of1Gi.free) + " free of 1 GiB, " + std::to_string(facts.of2Mi.free) + " of 2 MiB", ""};
  }
  const uint64_t total = facts.of1Gi.total + facts.of2Mi.total;
  return {"hugepages", Level::Warning, std::nullopt,
          total == 0 ? "the host has no huge pages of 1 GiB or 2 MiB, which link Fabric maps"
                     : "all huge pages of the host are in use, and link Fabric maps some",
          "Reserve some on the host: sysctl vm.nr_hugepages=PAGES"};
}

}  // namespace

std::optional<DriverVersion> DriverVersion::parse(const std::string& text) {
  DriverVersion version;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
  if (minor.ec != std::errc() || (minor.ptr != end && *minor.ptr != '.')) return std::nullopt;
  return version;
}

std::vector<Finding> judge(const HostFacts& facts, const CannAnswer& cann, const Needs& needs) {
  std::vector<Finding> findings{ofCann(cann), ofDevices(facts, !cann.absence, needs), ofDriver(facts, needs),
                                ofLimit(facts)};
  if (needs.link == Link::RoCE) findings.push_back(ofAddresses(facts));
  if (needs.link == Link::Fabric) findings.push_back(ofHugePages(facts));
  return findings;
}

const Finding* worst(const std::vector<Finding>& findings) {
  constexpr Absence kOrder[] = {Absence::CannLibraryNotFound, Absence::SymbolMissing, Absence::DriverTooOld,
                                Absence::NoDevice};
  for (const Absence absence : kOrder) {
    for (const Finding& finding : findings) {
      if (finding.absence == absence) return &finding;
    }
  }
  return nullptr;
}

}  // namespace kvpool::devices
