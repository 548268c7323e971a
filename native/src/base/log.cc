// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <ctime>

namespace kvpool {
namespace {

std::atomic<int32_t> levelNow{static_cast<int32_t>(LogLevel::Warning)};

const char* levelName(LogLevel level) {
  switch (level) {
    case LogLevel::Off:
      return "off";
    case LogLevel::Error:
      return "ERROR";
    case LogLevel::Warning:
      return "WARN";
    case LogLevel::Info:
      return "INFO";
    case LogLevel::Debug:
      return "DEBUG";
  }
  return "?";
}

std::string timestamp() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ", parts.tm_year + 1900,
                parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, now.tv_nsec / 1000000);
  return text.data();
}

}  // namespace

void setLogLevel(LogLevel level) {
  levelNow.store(static_cast<int32_t>(level), std::memory_order_relaxed);
}

bool logs(LogLevel level) {
  return static_cast<int32_t>(level) <= levelNow.load(std::memory_order_relaxed);
}

void log(LogLevel level, const std::string& line) {
  if (!logs(level)) return;
  std::string whole = timestamp() + " " + levelName(level) + " libkvpool: " + line;
  for (char& c : whole) {
    if (static_cast<unsigned char>(c) < 0x20) c = '?';
  }
  whole += '\n';
  // One write per line keeps lines of several threads apart; a failing stderr leaves nobody to tell.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, whole.data(), whole.size());
}

}  // namespace kvpool
