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
      more = out->offsets == nullptr ? stepOut(job, *out, bytes) : stepParts(job, *out, bytes);
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
  std::optional<uint32_t> crc;
  if (copy.offsets != nullptr) crc = copy.crc;  // of the whole it is computed
  return segment->second->find(copy.extent, copy.object, copy.offset, copy.length, crc);
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
  copiedFromSegment(KV_OK, job.crc);
  return false;
}

bool Copier::stepOut(Job& job, const CopyFromSegment& copy, uint64_t& budget) {
  // Looking before every piece is cheap and stops a large copy soon after its extent was given to another object.
  const uint8_t* from = find(copy);
  if (from != nullptr) copyOut(job, from, copy.length, budget);
  if (from != nullptr && job.done < copy.length) return true;
  copiedFromSegment(from != nullptr && find(copy) != nullptr ? KV_OK : KV_NOT_FOUND, job.crc);
  return false;
}

// ---- parts ----
// Each run of parts that follow each other is read together with the rest of the blocks that it begins and ends in.

bool Copier::stepParts(Job& job, const CopyFromSegment& copy, uint64_t& budget) {
  const uint8_t* from = find(copy);
  int32_t status = from != nullptr ? KV_OK : KV_NOT_FOUND;
  while (status == KV_OK && (job.run || beginRun(job, copy, from))) {
    if (budget == 0) return true;
    if (!advance(job, from, budget)) continue;
    if (job.run->crc != job.run->blocks.behind) status = KV_CHECKSUM;
    job.run.reset();
  }
  // What was overwritten meanwhile is another object's.
  if (from != nullptr && find(copy) == nullptr) status = KV_NOT_FOUND;
  copiedFromSegment(status, copy.crc);
  return false;
}

/// False when there are no more parts.
bool Copier::beginRun(Job& job, const CopyFromSegment& copy, const uint8_t* from) {
  const std::span<const kv_piece> pieces = copy.destination.pieces();
  PartsRun run;
  while (run.begin == run.end) {
    if (job.next == pieces.size()) return false;
    run.begin = run.end = copy.offsets[job.next];
    while (job.next < pieces.size() && copy.offsets[job.next] == run.end)
      run.end += pieces[job.next++].length;
  }
  run.blocks = SummedBlocks::around(run.begin, run.end, copy.length, copy.crc, sumsBehind(from, copy.length));
  run.at = run.blocks.begin;
  run.crc = run.blocks.before;
  job.run = run;
  return true;
}

/// Goes on in the job's run; whether it is over.
bool Copier::advance(Job& job, const uint8_t* from, uint64_t& budget) {
  PartsRun& run = *job.run;
  const bool inParts = run.at >= run.begin && run.at < run.end;
  const uint64_t until = run.at < run.begin ? run.begin : inParts ? run.end : run.blocks.end;
  uint64_t part = std::min(until - run.at, budget);
  if (inParts) {
    const std::span<uint8_t> to = job.at.run(part);
    part = to.size();
    run.crc = crc32cCopy(to.data(), from + run.at, part, run.crc);
    job.at.advance(part);
  } else {
    run.crc = crc32c(from + run.at, part, run.crc);
  }
  run.at += part;
  budget -= part;
  return run.at == run.blocks.end;
}

void Copier::copiedFromSegment(int32_t status, uint32_t crc) {
  const Job done = jobs_.front();
  jobs_.pop_front();
  listener_.copiedFromSegment(done.connection, done.transfer, status, crc);
}

}  // namespace kvpool::client
