// SPDX-License-Identifier: Apache-2.0
#include "engine_handle.h"

namespace fake_ascend {

Status EngineHandle::initialize(const std::string& name, const std::map<std::string, std::string>& options,
                                const std::string& prefix) {
  std::string text = name;
  for (const auto& [option, value] : options)
    text += " " + option + "=" + value;
  fake_ascend_order order{};
  fake_ascend_begin("Initialize", &order);
  Closing never;
  obeyDelay(order, never, kNoDeadline);
  Status status = order.status;
  if (status == kSuccess) {
    const auto parsed = EngineOptions::parse(options, prefix);
    const std::lock_guard lock(mutex_);
    if (engine_ != nullptr)
      status = kFailed;
    else
      status = parsed ? Engine::start(name, *parsed, engine_) : kParamInvalid;
  }
  fake_ascend_end("Initialize", status, text.c_str());
  return status;
}

void EngineHandle::finalize() {
  std::shared_ptr<Engine> gone;
  {
    const std::lock_guard lock(mutex_);
    gone = std::move(engine_);
    engine_ = nullptr;
  }
  if (gone == nullptr) return;
  gone->stop();
  fake_ascend_end("Finalize", kSuccess, "");
}

Status EngineHandle::look(void* request, Progress& progress) {
  fake_ascend_order order{};
  fake_ascend_begin("GetTransferStatus", &order);
  const auto engine = find();
  progress = Progress::kUnsuccessful;
  Status status = order.status;
  if (status == kSuccess) status = engine == nullptr ? kFailed : engine->look(request, progress);
  if (progress != Progress::kWaiting) fake_ascend_end("GetTransferStatus", status, "");
  return status;
}

std::shared_ptr<Engine> EngineHandle::find() {
  const std::lock_guard lock(mutex_);
  return engine_;
}

}  // namespace fake_ascend
