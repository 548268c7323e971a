// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "net/event_loop.h"
#include "net/stream.h"

namespace kvpool::net {

/// The streams of a shell by the numbers that its core gives them.
class Streams {
 public:
  /// After the last output, how long is read and dropped so that the peer gets it.
  static constexpr int64_t kLingerMs = 1000;

  Streams(EventLoop& loop, Stream::Listener& listener) : loop_(loop), listener_(listener) {}
  ~Streams() { closeAll(); }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  std::shared_ptr<Stream> add(Stream::Id id, const Stream::Limits& limits = {});
  Stream* find(Stream::Id id);
  /// Null like find(); its output goes out with the next settle().
  OutQueue* outOf(Stream::Id id);
  /// Closes it; it is kept until the end of settle(), as it may still be on the call stack.
  void drop(Stream::Id id);
  /// Sends what is queued with the next settle(), then closes.
  void dropAfterOutput(Stream::Id id, int64_t now);
  void closeAll();

  /// Sends what was queued and calls `act`, in turns, as what was sent may lead to more; at most so many rounds.
  void settle(const std::function<void()>& act, int rounds = INT32_MAX);
  /// Whether there was more to do than settle() had rounds.
  [[nodiscard]] bool unsettled() const { return !touched_.empty(); }
  /// Now and then: drops those that were to be dropped after output.
  void tick(int64_t now);
  /// Ends those in which nothing has moved for `ms` although something should; asked now and then, as stalled() is.
  void endStalled(int64_t now, int64_t ms);
  /// While streams have more unsent than they may together, ends the one that has most of the tenant whose streams have
  /// most; one without a certificate is of tenant `default`.
  void keepTo(const Stream::UnsentMemory& unsent);
  /// Ends those whose peers take too long to authenticate themselves; asked now and then.
  void endUnauthenticated(int64_t now);
  /// Calls `look` with each; they may end meanwhile.
  void forEach(const std::function<void(Stream&)>& look);

 private:
  EventLoop& loop_;
  Stream::Listener& listener_;
  std::unordered_map<Stream::Id, std::shared_ptr<Stream>> streams_;
  std::unordered_map<Stream::Id, int64_t> lingering_;  // until when
  std::vector<std::shared_ptr<Stream>> dropped_;
  std::vector<Stream::Id> touched_;
};

}  // namespace kvpool::net
