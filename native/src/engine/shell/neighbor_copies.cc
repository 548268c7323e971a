// SPDX-License-Identifier: Apache-2.0
#include "engine/shell/neighbor_copies.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

namespace kvpool::engine {
namespace {

iovec range(uint64_t address, uint64_t length) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): of the other process, for the kernel only
  return {reinterpret_cast<void*>(static_cast<uintptr_t>(address)), static_cast<size_t>(length)};
}

/// The first `bytes` of these.
void wipe(std::vector<iovec>& memory, uint64_t bytes) {
  for (const iovec& one : memory) {
    const uint64_t part = std::min<uint64_t>(bytes, one.iov_len);
    std::memset(one.iov_base, 0, part);
    bytes -= part;
  }
}

Pulled refused(std::string why) {
  return {Pulled::How::Refused, std::move(why)};
}

}  // namespace

void NeighborCopies::add(Pull pull) {
  copies_.push_back({std::move(pull), 0, 0});
}

void NeighborCopies::drop(ConnectionId connection, PayloadId pull) {
  std::erase_if(copies_, [&](const Copy& one) { return one.pull.connection == connection && one.pull.pull == pull; });
}

void NeighborCopies::forget(ConnectionId connection) {
  if (neighbors_.erase(connection) == 0) return;
  std::erase_if(copies_, [&](const Copy& one) { return one.pull.connection == connection; });
}

void NeighborCopies::turn(const Ended& ended) {
  for (uint64_t budget = kTurnBytes; budget > 0 && !copies_.empty();) {
    Copy copy = std::move(copies_.front());
    copies_.pop_front();
    if (const std::optional<Pulled> end = advance(copy, budget)) {
      ended(copy.pull.connection, copy.pull.pull, *end);
    } else {
      copies_.push_back(std::move(copy));
    }
  }
}

/// Nothing while there is more to copy.
std::optional<Pulled> NeighborCopies::advance(Copy& copy, uint64_t& budget) {
  const auto found = neighbors_.find(copy.pull.connection);
  if (found == neighbors_.end()) return refused("the other process is not known");
  OneNeighbor& neighbor = found->second;
  if (!identify(neighbor)) return refused(neighbor.refusal);
  if (!processes_.lives(neighbor.process)) return Pulled{Pulled::How::Gone, {}};

  const uint64_t most = std::min(budget, kTurnBytes);
  std::vector<iovec> to;
  std::vector<iovec> from;
  uint64_t bytes = 0;
  size_t piece = copy.piece;
  uint64_t done = copy.done;
  while (piece < copy.pull.to.size() && bytes < most && to.size() < kPiecesPerCall) {
    const kv_piece& into = copy.pull.to[piece];
    const uint64_t part = std::min(into.length - done, most - bytes);
    to.push_back({static_cast<uint8_t*>(into.data) + done, static_cast<size_t>(part)});
    from.push_back(range(copy.pull.from[piece] + done, part));
    bytes += part;
    done += part;
    if (done < into.length) continue;
    done = 0;
    ++piece;
  }
  ShownProof shown;
  to.push_back({&shown, sizeof shown});
  from.push_back(range(neighbor.met.peer.proof, sizeof shown));
  const ssize_t copied = processes_.read(neighbor.met.peer.process.pid, to, from);
  budget -= std::min(budget, std::max<uint64_t>(bytes, 1));
  to.pop_back();
  if (copied == -ESRCH) return Pulled{Pulled::How::Gone, {}};
  if (copied < 0) {
    return refused("the kernel does not copy from its memory: " +
                   std::generic_category().message(static_cast<int>(-copied)));
  }
  if (static_cast<uint64_t>(copied) < bytes + sizeof shown) {
    wipe(to, std::min<uint64_t>(bytes, static_cast<uint64_t>(copied)));
    return refused("the kernel copies only " + std::to_string(copied) + " of " + std::to_string(bytes) +
                   " bytes from its memory");
  }
  const Pulled judged = judge(neighbor, copy, shown);
  if (judged.how != Pulled::How::Done) {
    wipe(to, bytes);
    return judged;
  }
  copy.piece = piece;
  copy.done = done;
  if (piece < copy.pull.to.size()) return std::nullopt;
  return judged;
}

/// Whether it is the process at the other end: asked once.
bool NeighborCopies::identify(OneNeighbor& neighbor) {
  if (neighbor.process.valid()) return true;
  if (!neighbor.refusal.empty()) return false;
  const NeighborClaim& peer = neighbor.met.peer;
  Result<Fd> process = processes_.atTheOtherEnd(neighbor.socket, peer.process.pid, peer.descriptor);
  if (process.ok()) {
    neighbor.process = std::move(process.value());
  } else {
    neighbor.refusal = process.status().text();
  }
  return process.ok();
}

Pulled NeighborCopies::judge(OneNeighbor& neighbor, const Copy& copy, const ShownProof& shown) {
  if (shown.challenge != neighbor.met.challenge) {
    if (neighbor.proven) return {Pulled::How::Gone, {}};  // it shows nothing any more, or is another one by now
    return refused("its memory does not show what was asked of it");
  }
  neighbor.proven = true;
  if (shown.withdrawn != copy.pull.withdrawn) return {Pulled::How::Withdrawn, {}};
  return {};
}

}  // namespace kvpool::engine
