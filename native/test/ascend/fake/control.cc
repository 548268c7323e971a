// SPDX-License-Identifier: Apache-2.0
#include "control.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <sstream>

namespace fake_ascend {
namespace {

constexpr const char* kPrefix = "FAKE_ASCEND_";

std::string textOf(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

Control& Control::instance() {
  static Control& control = *new Control;  // threads of engines may outlive the end of main
  return control;
}

Control::Control() {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=');
    if (text.rfind(kPrefix, 0) != 0 || equals == std::string::npos) continue;
    const std::string name = lower(text.substr(std::string(kPrefix).size(), equals - std::string(kPrefix).size()));
    const std::string value = text.substr(equals + 1);
    if (name == "control") {
      file_ = value;
    } else if (name == "rules") {
      environmentRules_ = value;
      std::replace(environmentRules_.begin(), environmentRules_.end(), ';', '\n');
    } else {
      environment_[name] = value;
    }
  }
}

void Control::assign(const std::string& text) {
  const std::lock_guard lock(mutex_);
  assigned_.clear();
  refresh();
  assigned_ = text;
}

fake_ascend_order Control::next(const std::string& function) {
  const std::lock_guard lock(mutex_);
  refresh();
  fake_ascend_order order{};
  for (auto& [line, rule] : rules_) {
    if (rule.function != function) continue;
    ++rule.calls;
    if (rule.onward ? rule.calls < rule.nth : rule.calls != rule.nth) continue;
    if (rule.verb == "delay") {
      order.delay_us += rule.numbers[0];
    } else if (rule.verb == "hang") {
      order.hang = rule.id;
    } else if (rule.verb == "fail") {
      order.status = static_cast<uint32_t>(rule.numbers[0]);
    } else {
      order.partial = 1;
      order.partial_bytes = rule.numbers[0];
      order.status = static_cast<uint32_t>(rule.numbers[1]);
    }
  }
  return order;
}

bool Control::hangs(uint64_t id) {
  const std::lock_guard lock(mutex_);
  refresh();
  return std::any_of(rules_.begin(), rules_.end(), [id](const auto& entry) { return entry.second.id == id; });
}

std::optional<std::string> Control::setting(const std::string& name) {
  const std::lock_guard lock(mutex_);
  refresh();
  if (const auto found = settings_.find(name); found != settings_.end()) return found->second;
  if (const auto found = environment_.find(name); found != environment_.end()) return found->second;
  return std::nullopt;
}

uint64_t Control::number(const std::string& name, uint64_t otherwise) {
  const auto value = setting(name);
  return value && !value->empty() ? std::strtoull(value->c_str(), nullptr, 10) : otherwise;
}

void Control::refresh() {
  // What was parsed first is overwritten by what is parsed later.
  std::string text = environmentRules_ + '\n' + (file_.empty() ? std::string() : textOf(file_)) + '\n' + assigned_;
  if (text == parsed_) return;
  settings_.clear();
  std::map<std::string, Rule> rules;
  parse(text, rules);
  rules_ = std::move(rules);
  parsed_ = std::move(text);
}

void Control::parse(const std::string& text, std::map<std::string, Rule>& rules) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    parseLine(line, rules);
}

void Control::parseLine(const std::string& line, std::map<std::string, Rule>& rules) {
  std::istringstream words(line.substr(0, line.find('#')));
  std::string verb;
  std::string name;
  words >> verb >> name;
  if (verb == "set") {
    std::string value;
    std::getline(words >> std::ws, value);
    settings_[name] = value.substr(0, value.find_last_not_of(" \t\r") + 1);
    return;
  }
  const size_t needed = verb == "fail" || verb == "delay" ? 1 : verb == "partial" ? 2 : 0;
  if (needed == 0 && verb != "hang") return;
  if (const auto known = rules_.find(line); known != rules_.end()) {
    rules[line] = known->second;
    return;
  }
  Rule rule{verb, name, 0, false, {}, ++lastId_, 0};
  std::string nth;
  words >> nth;
  rule.onward = nth == "*" || (!nth.empty() && nth.back() == '+');
  rule.nth = nth == "*" ? 1 : std::strtoull(nth.c_str(), nullptr, 10);
  for (uint64_t number = 0; words >> number;)
    rule.numbers.push_back(number);
  // A rule that was written halfway, by a test that is rewriting the file, is read whole at the next call.
  if (rule.nth > 0 && rule.numbers.size() >= needed) rules[line] = rule;
}

}  // namespace fake_ascend
