// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "kvpool/kvpool.h"

namespace kvpool {

/// A kv_status and the sentence that explains it. The sentence is for people: it names the cause and the way out.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(int32_t code, std::string text) : code_(code), text_(std::move(text)) {}

  [[nodiscard]] bool ok() const { return code_ == KV_OK; }
  [[nodiscard]] int32_t code() const { return code_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  int32_t code_ = KV_OK;
  std::string text_;
};

/// A value, or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {}  // NOLINT(google-explicit-constructor)
  Result(int32_t code, std::string text) : status_(code, std::move(text)) {}

  [[nodiscard]] bool ok() const { return value_.has_value(); }
  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] T& value() { return *value_; }
  [[nodiscard]] const T& value() const { return *value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

/// Name of a kv_status as in the header; "KV_UNKNOWN" for a number it does not define.
const char* statusName(int32_t code);
/// One sentence about a kv_status.
const char* statusText(int32_t code);
/// A failed system call as KV_IO: "WHAT: strerror(errno)".
Status systemError(const std::string& what, int errorNumber);

}  // namespace kvpool
