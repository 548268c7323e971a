// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kvpool {

/// Takes functions out of a library that is loaded, and notes those that it lacks.
class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}

  template <typename Function>
  void take(Function& into, const std::string& name) {
    takeIfThere(into, name);
    if (into == nullptr) missing_.push_back(name);
  }
  /// Null when the library lacks it.
  template <typename Function>
  void takeIfThere(Function& into, const std::string& name) {
    into = reinterpret_cast<Function>(find(name));
  }
  [[nodiscard]] bool has(const std::string& name) const { return find(name) != nullptr; }
  [[nodiscard]] const std::vector<std::string>& missing() const { return missing_; }

 private:
  [[nodiscard]] void* find(const std::string& name) const;

  void* library_;
  std::vector<std::string> missing_;
};

}  // namespace kvpool
