// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "net/address.h"
#include "net/event_loop.h"

namespace kvpool::net {

/// Resolves names on a thread of its own, because DNS can block for many seconds: when a machine is gone, and the
/// cluster's DNS with it, each name does. Literals do not wait for names. Answers arrive in the loop's thread.
class Resolver {
 public:
  using Answer = std::function<void(Result<std::vector<SocketAddress>>)>;

  static constexpr size_t kQuestionsMax = 256;

  explicit Resolver(EventLoop& loop);
  /// No answer is delivered after this. Does not wait for DNS: a question in progress ends on its own.
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// `answer` is called once, later. Beyond kQuestionsMax waiting questions it is a KV_QUEUE_FULL.
  void resolve(const HostPort& address, Answer answer);

 private:
  struct State;
  /// With the state's mutex held.
  static void deliver(const std::shared_ptr<State>& state, Answer answer, Result<std::vector<SocketAddress>> found);
  static void run(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;
};

}  // namespace kvpool::net
