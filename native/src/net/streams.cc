// SPDX-License-Identifier: Apache-2.0
#include "net/streams.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace kvpool::net {

std::shared_ptr<Stream> Streams::add(Stream::Id id, const Stream::Limits& limits) {
  auto stream = std::make_shared<Stream>(loop_, listener_, id, limits);
  streams_[id] = stream;
  return stream;
}

Stream* Streams::find(Stream::Id id) {
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : found->second.get();
}

OutQueue* Streams::outOf(Stream::Id id) {
  Stream* stream = find(id);
  if (stream == nullptr) return nullptr;
  if (touched_.empty() || touched_.back() != id) touched_.push_back(id);
  return &stream->out();
}

void Streams::drop(Stream::Id id) {
  lingering_.erase(id);
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  found->second->close();
  dropped_.push_back(std::move(found->second));
  streams_.erase(found);
}

void Streams::dropAfterOutput(Stream::Id id, int64_t now) {
  Stream* stream = find(id);
  if (stream == nullptr) return;
  lingering_[id] = now + kLingerMs;
  stream->linger();
  touched_.push_back(id);
}

void Streams::closeAll() {
  for (auto& [id, stream] : streams_)
    stream->close();
  streams_.clear();
  lingering_.clear();
}

void Streams::settle(const std::function<void()>& act, int rounds) {
  act();
  for (int round = 0; round < rounds && !touched_.empty(); ++round) {
    for (const Stream::Id id : std::exchange(touched_, {})) {
      if (const auto found = streams_.find(id); found != streams_.end()) {
        const std::shared_ptr<Stream> keep = found->second;
        keep->flush();
      }
    }
    act();
  }
  dropped_.clear();
}

void Streams::tick(int64_t now) {
  std::vector<Stream::Id> over;
  for (auto& [id, until] : lingering_) {
    Stream& stream = *streams_.at(id);
    if (!stream.out().empty() && !stream.stalled(now, kLingerMs)) until = now + kLingerMs;
    if (until <= now) over.push_back(id);
  }
  for (const Stream::Id id : over) {
    if (Stream* stream = find(id)) stream->end({Stream::Ending::How::Closed, "did not close in time"});
  }
}

void Streams::endStalled(int64_t now, int64_t ms) {
  forEach([now, ms](Stream& stream) {
    if (!stream.stalled(now, ms)) return;
    stream.end({Stream::Ending::How::Lost, "made no progress for " + std::to_string(ms) + " ms"});
  });
}

/// Whose connections are judged together: a tenant with many small ones must not cost others their busy one.
static std::string partyOf(const Stream& stream) {
  const Principal* const peer = stream.principal();
  if (peer == nullptr) return "default";  // as who has no certificate is
  return peer->role == Principal::Role::Node ? "node/" + peer->name : peer->tenant;
}

void Streams::keepTo(const Stream::UnsentMemory& unsent) {
  while (unsent.bytes > unsent.bytesMax) {
    std::unordered_map<std::string, uint64_t> ofParties;
    for (const auto& [id, stream] : streams_)
      ofParties[partyOf(*stream)] += stream->unsentMemory();
    std::shared_ptr<Stream> most;
    std::pair<uint64_t, uint64_t> mostUnsent;
    for (const auto& [id, stream] : streams_) {
      const std::pair each(stream->unsentMemory() == 0 ? 0 : ofParties.at(partyOf(*stream)), stream->unsentMemory());
      if (each <= mostUnsent) continue;
      most = stream;
      mostUnsent = each;
    }
    if (most == nullptr) return;
    most->end({Stream::Ending::How::Lost,
               "leaves more answers unread than any other of its tenant, which leaves most, and all of them together "
               "fill the " +
                   std::to_string(unsent.bytesMax) + " bytes that there are for them"});
  }
}

void Streams::endUnauthenticated(int64_t now) {
  forEach([now](Stream& stream) { stream.endUnauthenticated(now); });
}

void Streams::forEach(const std::function<void(Stream&)>& look) {
  std::vector<std::shared_ptr<Stream>> all;
  all.reserve(streams_.size());
  for (const auto& [id, stream] : streams_)
    all.push_back(stream);
  for (const auto& stream : all)
    look(*stream);
}

}  // namespace kvpool::net
