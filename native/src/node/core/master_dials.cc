// SPDX-License-Identifier: Apache-2.0
// The part of MasterLinks that dials: when a master is asked for, and when again after that was in vain.
#include <algorithm>

#include "node/core/master_links.h"

namespace kvpool::node {

void MasterLinks::dial(Link& link) {
  link.state = State::Dialing;
  context_.outbox.add(Dial{numberOf(link)});
}

void MasterLinks::dialFailed(uint64_t nowMs, size_t master, bool refused, const std::string& why) {
  Link& link = links_.at(master);
  link.known = true;
  redialLater(nowMs, link, why);
  if (watch_.dialFailed(master, refused)) tellLeaderGone();
}

void MasterLinks::nameUnknown(uint64_t nowMs, size_t master, const std::string& why) {
  Link& link = links_.at(master);
  const bool rarely = !link.known && connected() > 0;
  redialLater(nowMs, link, why, rarely ? kUnknownRedialMsMax : kRedialMsMax);
  if (watch_.dialFailed(master, false)) tellLeaderGone();
}

/// Waits a little longer after each failure, with jitter so that many nodes do not dial a restarted master at once.
void MasterLinks::redialLater(uint64_t nowMs, Link& link, const std::string& problem, uint64_t longestMs) {
  if (link.state != State::Closing && problem != link.lastProblem) {
    // Masters that were never there are no trouble by themselves.
    context_.outbox.note(link.known ? LogLevel::Warning : LogLevel::Info, "master " + link.peer + ": " + problem);
    link.lastProblem = problem;
  }
  link.state = State::Waiting;
  link.connection = 0;
  link.dialAtMs = nowMs + link.redialMs / 2 + random() % (link.redialMs / 2 + 1);
  link.redialMs = std::min(link.redialMs * 2, longestMs);
  if (connected() == 0) hurry(nowMs);
}

/// The next leader may be one that was not there when it was last asked for.
void MasterLinks::hurry(uint64_t nowMs) {
  for (Link& link : links_) {
    link.redialMs = std::min(link.redialMs, kRedialMsMax);
    if (link.state == State::Waiting) link.dialAtMs = std::min(link.dialAtMs, nowMs + kRedialMsMax);
  }
}

/// splitmix64: good enough to spread dials, and the same in every run of a simulation.
uint64_t MasterLinks::random() {
  uint64_t z = (randomState_ += 0x9E3779B97F4A7C15ULL);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

}  // namespace kvpool::node
