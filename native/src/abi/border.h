// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "kvpool/kvpool.h"

namespace kvpool::abi {

/// Writes a sentence into the caller's buffer, cut to fit at the border of a UTF-8 character, NUL-terminated.
inline void writeText(std::string_view text, char* out, uint32_t outSize) {
  if (out == nullptr || outSize == 0) return;
  size_t length = text.size() < outSize ? text.size() : outSize - 1;
  while (length < text.size() && length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80)
    --length;
  std::memcpy(out, text.data(), length);
  out[length] = '\0';
}

/// The code of a failure, its sentence written to the caller's buffer.
inline int32_t report(const Status& status, char* err, uint32_t errSize) {
  if (!status.ok()) writeText(status.text(), err, errSize);
  return status.code();
}

/// Runs the body of a C function: what it returns, or the status of the exception that must not cross the border.
template <typename BodyFunction>
int32_t guarded(char* err, uint32_t errSize, BodyFunction body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    writeText("not enough memory", err, errSize);
    return KV_OUT_OF_MEMORY;
  } catch (const std::exception& defect) {
    writeText(defect.what(), err, errSize);
    return KV_INTERNAL;
  } catch (...) {
    writeText("unknown exception", err, errSize);
    return KV_INTERNAL;
  }
}

/// A parameter struct as this library knows it: what an older caller does not have is zero. Nothing when the caller's
/// is larger, too small to have a size at all, or of a size no struct can have: half a pointer must not be followed.
template <typename Params>
std::optional<Params> readParams(const Params* params) {
  if (params == nullptr || params->struct_size == 0 || params->struct_size > sizeof(Params) ||
      params->struct_size % alignof(Params) != 0) {
    return std::nullopt;
  }
  Params copy{};
  std::memcpy(&copy, params, params->struct_size);
  return copy;
}

/// What kv_*_create and kv_*_start share: arguments checked, the struct read, its handle made by `make`, which takes
/// the struct and gives a Result of a unique_ptr to the handle. `out` is NULL after a failure.
template <typename Params, typename Handle, typename Make>
int32_t create(const Params* params, Handle** out, char* err, uint32_t errSize, Make make) noexcept {
  return guarded(err, errSize, [&]() -> int32_t {
    if (out == nullptr) return report({KV_INVALID_ARGUMENT, "out is NULL"}, err, errSize);
    *out = nullptr;
    const auto read = readParams(params);
    if (!read) {
      return report({KV_INVALID_ARGUMENT, "params is NULL or its struct_size does not fit this library, which knows " +
                                              std::to_string(sizeof(Params)) + " bytes"},
                    err, errSize);
    }
    Result<std::unique_ptr<Handle>> made = make(*read);
    if (!made.ok()) return report(made.status(), err, errSize);
    *out = made.value().release();
    return KV_OK;
  });
}

/// The handle whose first member is what was made, or why nothing was.
template <typename Handle, typename Made>
Result<std::unique_ptr<Handle>> handleOf(Result<std::unique_ptr<Made>> made) {
  if (!made.ok()) return made.status();
  return std::unique_ptr<Handle>(new Handle{std::move(made.value())});
}

/// Fills as much of the caller's struct as it has.
template <typename Out>
int32_t writeOut(Out* out, Out values) {
  if (out == nullptr || out->struct_size < sizeof(uint32_t) || out->struct_size > sizeof(Out)) {
    return KV_INVALID_ARGUMENT;
  }
  values.struct_size = out->struct_size;
  std::memcpy(out, &values, out->struct_size);
  return KV_OK;
}

}  // namespace kvpool::abi
