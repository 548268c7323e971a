// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "net/address.h"
#include "net/event_loop.h"
#include "net/resolver.h"

namespace kvpool::net {

/// One try to connect to a name: resolves it anew, because pods come back with other addresses, and tries each address
/// in turn. Destroying it gives up.
class Dial {
 public:
  /// How often an address is dialled again at once, when the connection was reset while it was made. A process that
  /// dies still has connections accepted for it and then resets them; a moment later it refuses, which says that it is
  /// gone.
  static constexpr int kResetsMax = 3;

  struct Outcome {
    Fd socket;             // invalid when it failed
    std::string peer;      // name and address of who answered
    std::string why;       // why it failed
    bool refused = false;  // it failed, and every address answered that nobody listens
    bool unknown = false;  // it failed, because the name has no address, or none could be asked for
  };
  /// Called once, later, in the loop's thread; may destroy the dial from inside.
  using Done = std::function<void(Outcome outcome)>;

  Dial(EventLoop& loop, Resolver& resolver, const HostPort& name, Done done);
  ~Dial();
  Dial(const Dial&) = delete;
  Dial& operator=(const Dial&) = delete;

 private:
  void resolved(const Result<std::vector<SocketAddress>>& found);
  void tryNext();
  void writable();
  [[nodiscard]] bool isWorthAnother(int error);
  void finish(Outcome outcome);

  EventLoop& loop_;
  const std::string name_;
  Done done_;
  std::shared_ptr<Dial*> self_;  // the resolver may answer when the dial is gone
  std::vector<SocketAddress> addresses_;
  size_t next_ = 0;
  int resets_ = 0;  // of the present address
  Fd socket_;
  bool refused_ = false;  // so far, by every address that was tried
  std::string lastError_;
};

}  // namespace kvpool::net
