// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "fake_api.h"

namespace fake_ascend {

/// Rules and settings in force. Their format is in fake_api.h.
class Control {
 public:
  static Control& instance();

  fake_ascend_order next(const std::string& function);
  bool hangs(uint64_t id);
  std::optional<std::string> setting(const std::string& name);
  uint64_t number(const std::string& name, uint64_t otherwise);
  void assign(const std::string& text);

 private:
  struct Rule {
    std::string verb;
    std::string function;
    uint64_t nth = 0;
    bool onward = false;
    std::vector<uint64_t> numbers;
    uint64_t id = 0;
    uint64_t calls = 0;
  };

  Control();
  void refresh();
  void parse(const std::string& text, std::map<std::string, Rule>& rules);
  void parseLine(const std::string& line, std::map<std::string, Rule>& rules);

  std::mutex mutex_;
  std::string assigned_;
  std::string file_;
  std::string environmentRules_;
  std::map<std::string, std::string> environment_;
  std::string parsed_;
  std::map<std::string, std::string> settings_;
  std::map<std::string, Rule> rules_;  // by line
  uint64_t lastId_ = 0;
};

}  // namespace fake_ascend
