// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <unistd.h>

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

/// What kv_*_create and kv_*_start share: arguments checked, the struct read, settings made of it, and a handle of what
/// `make` makes of these. `out` is NULL after a failure.
template <typename Params, typename Handle, typename Read, typename Make>
int32_t create(const Params* params, Handle** out, char* err, uint32_t errSize, Read settingsFrom, Make make) noexcept {
  return guarded(err, errSize, [&]() -> int32_t {
    if (out == nullptr) return report({KV_INVALID_ARGUMENT, "out is NULL"}, err, errSize);
    *out = nullptr;
    const auto read = readParams(params);
    if (!read) {
      return report({KV_INVALID_ARGUMENT, "params is NULL or its struct_size does not fit this library, which knows " +
                                              std::to_string(sizeof(Params)) + " bytes"},
                    err, errSize);
    }
    auto settings = settingsFrom(*read);
    if (!settings.ok()) return report(settings.status(), err, errSize);
    auto made = make(std::move(settings.value()));
    if (!made.ok()) return report(made.status(), err, errSize);
    *out = std::make_unique<Handle>(Handle{{std::move(made.value())}}).release();
    return KV_OK;
  });
}

/// What a handle has. A fork copies it but not the threads behind it: in the child every call says KV_CLOSED and
/// destroy only forgets.
template <typename Self>
struct Owned {
  std::unique_ptr<Self> self;
  pid_t owner = ::getpid();

  [[nodiscard]] bool isOurs() const { return owner == ::getpid(); }
};

/// Runs the body with what the handle has, or says why there is none. The sentence of a failed Status, unless it is
/// empty, is what kv_*_explain tells from now on.
template <typename Self, typename BodyFunction>
int32_t with(Owned<Self>* handle, BodyFunction body) noexcept {
  return guarded(nullptr, 0, [&]() -> int32_t {
    if (handle == nullptr) return KV_INVALID_ARGUMENT;
    if (!handle->isOurs()) return KV_CLOSED;
    const Status status = body(*handle->self);
    if (!status.ok() && !status.text().empty()) handle->self->explain(status.text());
    return status.code();
  });
}

template <typename Handle>
void destroy(Handle* handle) {
  // In a child of a fork there is no thread to stop, and its memory may be in any state, so it stays.
  if (handle != nullptr && !handle->isOurs()) (void)handle->self.release();
  delete handle;
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
