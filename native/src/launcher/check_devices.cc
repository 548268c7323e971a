// SPDX-License-Identifier: Apache-2.0
#include "launcher/check_devices.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "devices/cann_probe.h"
#include "devices/findings.h"
#include "devices/host_facts.h"
#include "devices/report.h"

namespace kvpool::launcher {
namespace {

constexpr uint32_t kDevicesMax = 64;
constexpr uint32_t kLimitMaxSeconds = 3600;

constexpr const char* kUsage =
    "usage: kvpool check-devices [FLAG=VALUE]... [--json]\n"
    "\n"
    "Says whether this container has what protocol ascend needs: CANN's libraries and functions, NPUs, a driver that "
    "is\n"
    "new enough, addresses of network cards, memory that can be locked, huge pages.\n"
    "\n"
    "  --protocols=LIST       protocols of the storage node (default ascend,tcp). With tcp or ucx among them it "
    "starts\n"
    "                         whatever is missing, and the exit code is 0; else it is 1\n"
    "  --devices=N            NPUs that the container should have (default 1)\n"
    "  --link=LINK            RoCE: NPUs need addresses in /etc/hccn.conf. Fabric: the host needs huge pages. "
    "Default:\n"
    "                         neither\n"
    "  --driver-min=VERSION   the oldest driver that will do, for example 25.5. Default: any\n"
    "  --time-limit=SECONDS   how long CANN may take to say which devices there are (default 60)\n"
    "  --json                 prints JSON instead of lines\n"
    "  --termination-log=FILE writes the findings there too, as JSON of at most 4000 bytes\n"
    "  --root=DIR             looks for files below DIR (default /). CANN is looked for as storage nodes do: in\n"
    "                         KVPOOL_ASCEND_LIBRARY_DIR, else by LD_LIBRARY_PATH, else below /usr/local/Ascend\n"
    "\n"
    "Exit code: 0 the storage node starts, 1 it does not, 2 wrong arguments.\n";

struct Arguments {
  std::vector<std::string> protocols{"ascend", "tcp"};
  devices::Needs needs;
  std::chrono::seconds limit{60};
  bool json = false;
  std::string terminationLog;
  std::string root = "/";
};

[[noreturn]] void wrong(const std::string& what) {
  throw std::invalid_argument(what + "; see kvpool check-devices --help");
}

uint32_t number(const std::string& flag, const std::string& text, uint32_t most) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0 || value > most) {
    wrong(flag + " should be a number from 1 to " + std::to_string(most) + ", not '" + text + "'");
  }
  return value;
}

std::vector<std::string> protocolsOf(const std::string& text) {
  static const std::vector<std::string> known{"shm", "ascend", "ucx", "tcp"};
  std::vector<std::string> protocols;
  std::istringstream in(text);
  for (std::string protocol; std::getline(in, protocol, ',');) {
    if (std::find(known.begin(), known.end(), protocol) == known.end()) {
      wrong("--protocols should be some of shm,ascend,ucx,tcp, not '" + text + "'");
    }
    protocols.push_back(protocol);
  }
  if (std::find(protocols.begin(), protocols.end(), "ascend") == protocols.end()) {
    wrong("--protocols has no ascend, so no device is needed");
  }
  return protocols;
}

devices::Link linkOf(const std::string& text) {
  if (text == "RoCE") return devices::Link::RoCE;
  if (text == "Fabric") return devices::Link::Fabric;
  wrong("--link should be RoCE or Fabric, not '" + text + "'");
}

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  std::map<std::string, std::string> seen;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    const std::string flag = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (!seen.emplace(flag, value).second) wrong(flag + " is there twice");
    if (flag == "--json" && equals == std::string::npos) {
      arguments.json = true;
      continue;
    }
    if (value.empty()) wrong("'" + word + "' is no FLAG=VALUE");
    if (flag == "--protocols") {
      arguments.protocols = protocolsOf(value);
    } else if (flag == "--devices") {
      arguments.needs.devices = number(flag, value, kDevicesMax);
    } else if (flag == "--link") {
      arguments.needs.link = linkOf(value);
    } else if (flag == "--driver-min") {
      arguments.needs.driverMinimum = devices::DriverVersion::parse(value);
      if (!arguments.needs.driverMinimum) wrong("--driver-min should be MAJOR.MINOR, not '" + value + "'");
    } else if (flag == "--time-limit") {
      arguments.limit = std::chrono::seconds(number(flag, value, kLimitMaxSeconds));
    } else if (flag == "--termination-log") {
      arguments.terminationLog = value;
    } else if (flag == "--root") {
      arguments.root = value;
    } else {
      wrong("there is no flag " + flag);
    }
  }
  return arguments;
}

/// Whether other machines are reached without NPUs too.
bool hasAnother(const std::vector<std::string>& protocols) {
  return std::any_of(protocols.begin(), protocols.end(),
                     [](const std::string& protocol) { return protocol == "tcp" || protocol == "ucx"; });
}

/// Only for those that read it: the findings stand in the log too.
void leave(const std::string& message, const std::string& file) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << message;
  out.close();
  if (!out) std::cerr << "kvpool: cannot write the findings to " << file << "\n";
}

}  // namespace

int checkDevices(const std::vector<std::string>& words) {
  if (std::find(words.begin(), words.end(), "--help") != words.end()) {
    std::cout << kUsage;
    return EXIT_SUCCESS;
  }
  const Arguments arguments = parse(words);
  const devices::HostFacts facts = devices::readHostFacts(arguments.root);
  devices::Outcome outcome{devices::judge(facts, devices::probeCann(arguments.limit), arguments.needs), facts.numbers};
  outcome.blocking = devices::worst(outcome.findings) != nullptr && !hasAnother(arguments.protocols);
  std::cout << (arguments.json ? devices::json(outcome) + "\n" : devices::text(outcome.findings));
  if (!arguments.terminationLog.empty()) leave(devices::message(outcome), arguments.terminationLog);
  return outcome.blocking ? EXIT_FAILURE : EXIT_SUCCESS;
}

}  // namespace kvpool::launcher
