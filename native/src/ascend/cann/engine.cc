// SPDX-License-Identifier: Apache-2.0
#include "ascend/cann/engine.h"

#include "ascend/cann/fabric_memory.h"
#include "ascend/core/statuses.h"

namespace kvpool::ascend {

Result<std::unique_ptr<Engine>> Engine::open(const Runtime& runtime, const Wanted& wanted) {
  const ContextScope scope(runtime.acl, wanted.context);
  std::unique_ptr<Engine> engine(new Engine(runtime, wanted));
  const Adxl& adxl = runtime.adxl;
  Options options;
  for (const auto& [name, value] : wanted.options)
    options.emplace(Text(adxl, name), Text(adxl, value));
  adxl.create(&engine->room_);
  const TransportStatus status = adxl.initialize(&engine->room_, Text(adxl, wanted.endpoint), options);
  if (status != kTransportOk) {
    adxl.destroy(&engine->room_);
    const bool lacksFabric = wanted.options.contains("EnableUseFabricMem") &&
                             (isRefusal(status) || status == uint32_t{kAclFeatureNotSupported});
    return {KV_IO, adxl.name + " does not start at " + wanted.endpoint + ": " + toString(status) +
                       runtime.acl.recentWords() + (lacksFabric ? std::string(". ") + kFabricRemedy : "")};
  }
  engine->initialized_ = true;
  return engine;
}

Engine::~Engine() {
  if (!initialized_) return;
  const ContextScope scope(runtime_.acl, context_);
  runtime_.adxl.finalize(&room_);
  runtime_.adxl.destroy(&room_);
}

Result<MemoryHandle> Engine::registerMemory(uintptr_t address, size_t length, MemoryType type) {
  const ContextScope scope(runtime_.acl, context_);
  MemoryDescription memory;
  memory.address = address;
  memory.length = length;
  MemoryHandle handle = nullptr;
  const TransportStatus status = runtime_.adxl.registerMemory(&room_, memory, type, handle);
  if (status == kTransportOk) return handle;
  const bool ofDevice = type == MemoryType::Device;
  const bool isOfItsPlace = status == kParamInvalid || status == kTransportFailed;
  const char* const place = ofDevice
                                ? ". By HCCS it begins at a multiple of 2 MiB, by the fabric at one of 1 GiB"
                                : ". It is ACL's, or begins at a multiple of 64 KiB; drivers before HDK 25.5 register "
                                  "20 GB of a host for an NPU";
  return {KV_IO,
          std::to_string(length) + " bytes of " + (ofDevice ? "device" : "host") +
              " memory cannot be registered with " + runtime_.adxl.name + ": " + toString(status) +
              runtime_.acl.recentWords() +
              (isOfItsPlace ? std::string(place) + "; CANN has room for 256 regions by HCCL: register few large ones"
                            : "")};
}

Status Engine::deregisterMemory(MemoryHandle memory) {
  const ContextScope scope(runtime_.acl, context_);
  const TransportStatus status = runtime_.adxl.deregisterMemory(&room_, memory);
  if (status == kTransportOk) return {};
  return {KV_IO, "memory cannot be taken back from " + runtime_.adxl.name + ": " + toString(status)};
}

TransportStatus Engine::connect(const std::string& peer, int32_t timeoutMs) {
  const ContextScope scope(runtime_.acl, context_);
  return runtime_.adxl.connect(&room_, Text(runtime_.adxl, peer), timeoutMs);
}

TransportStatus Engine::disconnect(const std::string& peer, int32_t timeoutMs) {
  const ContextScope scope(runtime_.acl, context_);
  return runtime_.adxl.disconnect(&room_, Text(runtime_.adxl, peer), timeoutMs);
}

TransportStatus Engine::transfer(const std::string& peer, Direction direction, const std::vector<Piece>& pieces,
                                 int32_t timeoutMs) {
  const ContextScope scope(runtime_.acl, context_);
  return runtime_.adxl.transfer(&room_, Text(runtime_.adxl, peer), direction, pieces, timeoutMs);
}

TransportStatus Engine::begin(const std::string& peer, Direction direction, const std::vector<Piece>& pieces,
                              TransferRequest& request) {
  const ContextScope scope(runtime_.acl, context_);
  return runtime_.adxl.transferAsync(&room_, Text(runtime_.adxl, peer), direction, pieces, TransferArguments{},
                                     request);
}

TransportStatus Engine::progress(TransferRequest request, Progress& progress) {
  const ContextScope scope(runtime_.acl, context_);
  return runtime_.adxl.progress(&room_, request, progress);
}

}  // namespace kvpool::ascend
