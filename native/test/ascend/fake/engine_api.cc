// SPDX-License-Identifier: Apache-2.0
#include "engine_api.h"

#include "engine_handle.h"
#include "fabric_memory.h"

namespace FAKE_ASCEND_NAMESPACE {
namespace {

using fake_ascend::Channel;
using fake_ascend::Deadline;
using fake_ascend::Engine;
using fake_ascend::EngineHandle;
using fake_ascend::Home;
using fake_ascend::Piece;
using fake_ascend::Progress;

std::map<std::string, std::string> textOf(const std::map<AscendString, AscendString>& options) {
  std::map<std::string, std::string> texts;
  for (const auto& [name, value] : options)
    texts[name.GetString()] = value.GetString();
  return texts;
}

#ifdef FAKE_ASCEND_HIXL
constexpr const char* kOptionPrefix = "";
#else
constexpr const char* kOptionPrefix = "adxl.";
#endif

[[maybe_unused]] std::vector<Piece> piecesOf(const std::vector<TransferOpDesc>& descriptions) {
  std::vector<Piece> pieces;
  pieces.reserve(descriptions.size());
  for (const TransferOpDesc& piece : descriptions)
    pieces.push_back({piece.local_addr, piece.remote_addr, piece.len});
  return pieces;
}

[[maybe_unused]] Channel::Direction directionOf(TransferOp operation) {
  return operation == READ ? Channel::Direction::kRead : Channel::Direction::kWrite;
}

[[maybe_unused]] std::string describe(const AscendString& remote, TransferOp operation,
                                      const std::vector<TransferOpDesc>& pieces) {
  uint64_t bytes = 0;
  for (const TransferOpDesc& piece : pieces)
    bytes += piece.len;
  return std::string(remote.GetString()) + (operation == READ ? " read " : " write ") + std::to_string(pieces.size()) +
         " " + std::to_string(bytes);
}

}  // namespace

#ifdef FAKE_ASCEND_OLD_CONSTRUCTOR
FAKE_ASCEND_ENGINE::FAKE_ASCEND_ENGINE(const AscendString& localEngine)
    : handle_(std::make_unique<EngineHandle>()), name_(localEngine.GetString()) {}

Status FAKE_ASCEND_ENGINE::Initialize(const std::map<AscendString, AscendString>& options) {
  return handle_->initialize(name_, textOf(options), kOptionPrefix);
}
#else
FAKE_ASCEND_ENGINE::FAKE_ASCEND_ENGINE() : handle_(std::make_unique<EngineHandle>()) {}

Status FAKE_ASCEND_ENGINE::Initialize(const AscendString& localEngine,
                                      const std::map<AscendString, AscendString>& options) {
  return handle_->initialize(localEngine.GetString(), textOf(options), kOptionPrefix);
}
#endif

FAKE_ASCEND_ENGINE::~FAKE_ASCEND_ENGINE() = default;

void FAKE_ASCEND_ENGINE::Finalize() {
  handle_->finalize();
}

Status FAKE_ASCEND_ENGINE::RegisterMem(const MemDesc& memory, MemType type, MemHandle& handle) {
  const std::string text = std::to_string(memory.len) + (type == MEM_DEVICE ? " device" : " host");
  return handle_->call("RegisterMem", text, [&](Engine& engine) {
    return engine.registerMemory(memory.addr, memory.len, static_cast<Home>(type), handle);
  });
}

Status FAKE_ASCEND_ENGINE::DeregisterMem(MemHandle handle) {
  return handle_->call("DeregisterMem", "", [&](Engine& engine) {
    engine.deregisterMemory(handle);
    return fake_ascend::kSuccess;
  });
}

Status FAKE_ASCEND_ENGINE::Connect(const AscendString& remote, int32_t milliseconds) {
  return handle_->callFor("Connect", remote.GetString(), milliseconds, [&](Engine& engine, Deadline deadline) {
    return engine.connect(remote.GetString(), deadline);
  });
}

Status FAKE_ASCEND_ENGINE::Disconnect(const AscendString& remote, int32_t milliseconds) {
  return handle_->callFor("Disconnect", remote.GetString(), milliseconds, [&](Engine& engine, Deadline deadline) {
    return engine.disconnect(remote.GetString(), deadline);
  });
}

#ifndef FAKE_ASCEND_WITHOUT_TRANSFER
Status FAKE_ASCEND_ENGINE::TransferSync(const AscendString& remote, TransferOp operation,
                                        const std::vector<TransferOpDesc>& pieces, int32_t milliseconds) {
  const Status status = handle_->callFor(
      "TransferSync", describe(remote, operation, pieces), milliseconds, [&](Engine& engine, Deadline deadline) {
        return engine.transfer(remote.GetString(), directionOf(operation), piecesOf(pieces), deadline);
      });
  if (status == fake_ascend::kTimeout) handle_->timedOut(remote.GetString());
  return status;
}
#endif

#ifndef FAKE_ASCEND_WITHOUT_OPTIONAL
Status FAKE_ASCEND_ENGINE::TransferAsync(const AscendString& remote, TransferOp operation,
                                         const std::vector<TransferOpDesc>& pieces, const TransferArgs&,
                                         TransferReq& request) {
  return handle_->call("TransferAsync", describe(remote, operation, pieces), [&](Engine& engine) {
    return engine.transferLater(remote.GetString(), directionOf(operation), piecesOf(pieces), request);
  });
}

Status FAKE_ASCEND_ENGINE::GetTransferStatus(const TransferReq& request, TransferStatus& status) {
  Progress progress = Progress::kWaiting;
  const Status result = handle_->look(request, progress);
  status = static_cast<TransferStatus>(progress);
  return result;
}

Status FAKE_ASCEND_ENGINE::MallocMem(MemType type, size_t size, void** pointer) {
  return fake_ascend::allocateFabric(static_cast<Home>(type), size, pointer);
}

Status FAKE_ASCEND_ENGINE::FreeMem(void* pointer) {
  return fake_ascend::freeFabric(pointer);
}

Status FAKE_ASCEND_ENGINE::ExportToShareableHandle(void* pointer, aclrtMemFabricHandle& handle) {
  return fake_ascend::exportFabric(pointer, handle);
}

Status FAKE_ASCEND_ENGINE::GetCapability(FeatureType feature, int32_t& value) {
  fake_ascend_order order{};
  fake_ascend_begin("GetCapability", &order);
  Status status = order.status;
  if (status == fake_ascend::kSuccess) {
    if (feature == FeatureType::AUTO_CONNECT)
      value = static_cast<int32_t>(fake_ascend_number("auto_connect_capability", 1));
    else if (feature == FeatureType::CLIENT_SERVER_COMM)
      value = static_cast<int32_t>(fake_ascend_number("client_server_capability", 1));
    else
      status = fake_ascend::kParamInvalid;
  }
  fake_ascend_end("GetCapability", status, "");
  return status;
}
#endif

}  // namespace FAKE_ASCEND_NAMESPACE
