// SPDX-License-Identifier: Apache-2.0
#include "client/shell/copier.h"

#include <algorithm>

#include "base/crc32c.h"
#include "kvpool/kvpool.h"

namespace kvpool::client {

void Copier::cancel(ConnectionId connection, TransferId transfer) {
  std::erase_if(jobs_, [=](const Job& job) { return job.connection == connection && job.transfer == transfer; });
}

void Copier::detach(ConnectionId connection) {
  std::erase_if(jobs_, [=](const Job& job) { return job.connection == connection; });
  attachments_.erase(connection);
}

void Copier::run(uint64_t bytes) {
  constexpr uint64_t kJobCost = 256;  // so that empty objects count as well
  while (!jobs_.empty() && bytes > 0) {
    Job& job = jobs_.front();
    bytes -= std::min(bytes, kJobCost);
    // Each step tells the result and drops the job itself when it is complete.
    bool more = false;
    if (const auto* in = std::get_if<CopyToStaging>(&job.copy)) {
      more = stepIn(job, *in, bytes);
    } else if (const auto* out = std::get_if<CopyFromSegment>(&job.copy)) {
      more = stepOut(job, *out, bytes);
    } else {
      more = stepOut(job, std::get<CopyFromStaging>(job.copy), bytes);
    }
    if (more) return;
  }
}

bool Copier::stepIn(Job& job, const CopyToStaging& copy, uint64_t& budget) {
  const uint64_t part = std::min(copy.length - job.done, budget);
  const Attachment& attachment = attachments_.at(job.connection);
  for (uint64_t left = part; left > 0;) {
    const std::span<const uint8_t> run = job.at.run(left);
    job.crc = crc32cCopy(attachment.stagingAt(copy.stagingOffset + job.done), run.data(), run.size(), job.crc);
    job.at.advance(run.size());
    job.done += run.size();
    left -= run.size();
  }
  budget -= part;
  if (job.done < copy.length) return true;
  const Job done = job;
  jobs_.pop_front();
  listener_.copiedToStaging(done.connection, done.transfer, done.crc);
  return false;
}

const uint8_t* Copier::find(const CopyFromSegment& copy) {
  const auto& segments = attachments_.at(copy.connection).segments;
  const auto segment = segments.find(copy.extent.segment);
  if (segment == segments.end()) return nullptr;
  return segment->second->find(copy.extent, copy.object, copy.offset, copy.length);
}

/// A part of the value at `from` into the caller's memory.
void Copier::copyOut(Job& job, const uint8_t* from, uint64_t length, uint64_t& budget) {
  const uint64_t part = std::min(length - job.done, budget);
  for (uint64_t left = part; left > 0;) {
    const std::span<uint8_t> run = job.at.run(left);
    job.crc = crc32cCopy(run.data(), from + job.done, run.size(), job.crc);
    job.at.advance(run.size());
    job.done += run.size();
    left -= run.size();
  }
  budget -= part;
}

bool Copier::stepOut(Job& job, const CopyFromStaging& copy, uint64_t& budget) {
  copyOut(job, attachments_.at(job.connection).stagingAt(copy.stagingOffset), copy.length, budget);
  if (job.done < copy.length) return true;
  const Job done = job;
  jobs_.pop_front();
  listener_.copiedFromSegment(done.connection, done.transfer, KV_OK, done.crc);
  return false;
}

bool Copier::stepOut(Job& job, const CopyFromSegment& copy, uint64_t& budget) {
  // Looking before every piece is cheap and stops a large copy soon after its extent was given to another object.
  const uint8_t* from = find(copy);
  if (from != nullptr) copyOut(job, from, copy.length, budget);
  if (from != nullptr && job.done < copy.length) return true;
  const int32_t status = from != nullptr && find(copy) != nullptr ? KV_OK : KV_NOT_FOUND;
  const Job done = job;
  jobs_.pop_front();
  listener_.copiedFromSegment(done.connection, done.transfer, status, done.crc);
  return false;
}

}  // namespace kvpool::client
