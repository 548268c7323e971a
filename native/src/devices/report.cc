// SPDX-License-Identifier: Apache-2.0
#include "devices/report.h"

#include <array>
#include <cstdio>
#include <string_view>

#include "base/utf8.h"

namespace kvpool::devices {
namespace {

constexpr std::string_view kCut = " ...";

const char* word(Level level) {
  switch (level) {
    case Level::Ok:
      return "ok";
    case Level::Warning:
      return "warning";
    case Level::Missing:
      return "missing";
  }
  return "";
}

std::string plain(const std::string& text) {
  std::string made = text;
  if (!isUtf8(made)) {
    for (char& byte : made) {
      if (static_cast<unsigned char>(byte) >= 0x80) byte = '?';
    }
  }
  return made;
}

std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (const char byte : plain(text)) {
    if (byte == '"' || byte == '\\') {
      made += '\\';
      made += byte;
    } else if (static_cast<unsigned char>(byte) < 0x20) {
      std::array<char, 8> code{};
      std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(byte));
      made += code.data();
    } else {
      made += byte;
    }
  }
  return made + "\"";
}

/// Not in the middle of a character.
std::string cut(const std::string& text, size_t most) {
  std::string made = plain(text);
  if (made.size() <= most) return made;
  made.resize(most);
  while (!isUtf8(made))
    made.pop_back();
  return made + std::string(kCut);
}

const char* reason(const Finding* finding) {
  return finding == nullptr || !finding->absence ? "" : toString(*finding->absence);
}

}  // namespace

std::string text(const std::vector<Finding>& findings) {
  std::string lines;
  for (const Finding& finding : findings) {
    const std::string why = finding.absence ? std::string(" (") + toString(*finding.absence) + ")" : "";
    lines += std::string(word(finding.level)) + "\t" + finding.check + why + ": " + finding.text +
             (finding.remedy.empty() ? "" : ". " + finding.remedy) + "\n";
  }
  return lines;
}

std::string json(const Outcome& outcome) {
  std::string made = "{\"reason\":" + quoted(reason(worst(outcome.findings))) +
                     ",\"blocking\":" + (outcome.blocking ? "true" : "false") + ",\"npus\":[";
  const char* between = "";
  for (const uint32_t npu : outcome.npus) {
    made += between + std::to_string(npu);
    between = ",";
  }
  made += "],\"findings\":[";
  between = "";
  for (const Finding& finding : outcome.findings) {
    made += std::string(between) + "{\"check\":" + quoted(finding.check) + ",\"level\":" + quoted(word(finding.level)) +
            ",\"reason\":" + quoted(reason(&finding)) + ",\"text\":" + quoted(finding.text) +
            ",\"remedy\":" + quoted(finding.remedy) + "}";
    between = ",";
  }
  return made + "]}";
}

std::string message(const Outcome& outcome) {
  for (size_t most = kMessageBytesMax;; most /= 2) {
    Outcome told{{}, outcome.npus, outcome.blocking};
    for (const Finding& finding : outcome.findings) {
      if (finding.level == Level::Ok) continue;
      told.findings.push_back(finding);
      told.findings.back().text = cut(finding.text, most);
    }
    std::string made = json(told);
    if (made.size() <= kMessageBytesMax || most == 0) return made;
  }
}

}  // namespace kvpool::devices
