// SPDX-License-Identifier: Apache-2.0
#include "fake_api.h"

#include <cstring>

#include "acl_device.h"
#include "acl_memory.h"
#include "control.h"
#include "ledger.h"

using fake_ascend::Control;
using fake_ascend::Ledger;

void fake_ascend_control(const char* text) {
  Control::instance().assign(text);
}
uint64_t fake_ascend_calls(const char* function) {
  return Ledger::instance().calls(function);
}
uint64_t fake_ascend_failures(const char* function) {
  return Ledger::instance().failures(function);
}
uint64_t fake_ascend_live(const char* kind) {
  return Ledger::instance().live(kind);
}
uint64_t fake_ascend_leaks() {
  return Ledger::instance().leaks();
}

void fake_ascend_reset() {
  Control::instance().assign("");
  Ledger::instance().forgetCalls();
}

void fake_ascend_begin(const char* function, fake_ascend_order* order) {
  *order = Control::instance().next(function);
}

void fake_ascend_end(const char* function, uint32_t status, const char* text) {
  Ledger::instance().ended(function, status, text);
}

int fake_ascend_hangs(uint64_t hang) {
  return Control::instance().hangs(hang) ? 1 : 0;
}

uint64_t fake_ascend_number(const char* setting, uint64_t otherwise) {
  return Control::instance().number(setting, otherwise);
}

size_t fake_ascend_text(const char* setting, char* buffer, size_t size) {
  const auto value = Control::instance().setting(setting);
  if (!value || value->size() >= size) return 0;
  std::memcpy(buffer, value->c_str(), value->size() + 1);
  return value->size();
}

void fake_ascend_count(const char* kind, int64_t change) {
  Ledger::instance().count(kind, change);
}
int fake_ascend_has_context() {
  return fake_ascend::currentDevice() ? 1 : 0;
}

int fake_ascend_locate(const void* pointer, size_t size) {
  const auto place = fake_ascend::Registry::instance().locate(pointer, size);
  return static_cast<int>(place.kind) + (place.mapped ? 4 : 0);
}
