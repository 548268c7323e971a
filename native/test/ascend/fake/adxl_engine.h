// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "adxl_channels.h"
#include "adxl_listener.h"
#include "adxl_requests.h"
#include "engine_options.h"
#include "registered_memory.h"

namespace fake_ascend {

/// An engine from Initialize to Finalize. Whether AdxlEngine or Hixl stands before it, it does not know.
class Engine {
 public:
  static Status start(const std::string& name, const EngineOptions& options, std::shared_ptr<Engine>& engine);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  void stop();

  Status registerMemory(uint64_t start, uint64_t size, Home home, void*& handle);
  void deregisterMemory(void* handle) { memory_.remove(handle); }
  Status connect(const std::string& peer, Deadline deadline);
  Status disconnect(const std::string& peer, Deadline deadline) { return channels_.disconnect(peer, deadline); }
  Status transfer(const std::string& peer, Channel::Direction direction, const std::vector<Piece>& pieces,
                  Deadline deadline);
  /// A transfer whose time a rule used up before it began.
  void timedOut(const std::string& peer);
  Status transferLater(const std::string& peer, Channel::Direction direction, const std::vector<Piece>& pieces,
                       void*& request);
  Status look(void* request, Progress& progress) { return requests_.look(request, progress); }

  Closing& closing() { return closing_; }

 private:
  explicit Engine(const EngineOptions& options);

  /// The channel to use; by auto-connect, a new one.
  Status channelTo(const std::string& peer, Deadline deadline, std::shared_ptr<Channel>& channel);
  Status check(const Channel& channel, const std::vector<Piece>& pieces) const;
  /// Disconnects after an error of the link, as an engine that connects by itself does.
  Status afterTransfer(const std::string& peer, Status status);
  void beat();

  const EngineOptions options_;
  RegisteredMemory memory_;
  Listener listener_;
  Channels channels_;
  Requests requests_;
  Closing closing_;
  std::thread heartbeat_;
};

}  // namespace fake_ascend
