// SPDX-License-Identifier: Apache-2.0
#include "fetch.h"

#include <algorithm>
#include <vector>

namespace kvpool::python {
namespace {

// Memory offered on a guess, for a batch and for one object: the rest is allocated when the sizes are known.
constexpr uint64_t kGuessBatchBytes = 64ULL << 20;
constexpr uint64_t kGuessMin = 4096;

// An object may be replaced by a larger one between the answer "too small" and the next read; not for ever.
constexpr int kRounds = 4;

// Bytes that nothing has seen yet, to be filled by the library.
bool offerMemory(Ref& bytes, kv_op& op, uint64_t size) {
  if (size > static_cast<uint64_t>(PY_SSIZE_T_MAX)) {
    PyErr_Format(PyExc_MemoryError, "an object of %llu bytes does not fit into memory",
                 static_cast<unsigned long long>(size));
    return false;
  }
  bytes = Ref(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  if (!bytes) return false;
  op.data = PyBytes_AsString(bytes.get());
  op.length = size;
  return true;
}

// The limited API cannot shorten bytes in place: what is smaller than the guess is copied once.
bool cutToLength(Ref& bytes, uint64_t length) {
  if (static_cast<uint64_t>(PyBytes_Size(bytes.get())) == length) return true;
  bytes = Ref(PyBytes_FromStringAndSize(PyBytes_AsString(bytes.get()), static_cast<Py_ssize_t>(length)));
  return static_cast<bool>(bytes);
}

// One fetch(): the lines of all keys, of which each round asks for those that lack an answer.
class Fetch {
 public:
  bool prepare(PyObject* keys, const SizeGuess& guess) {
    if (!all_.addKeys(keys)) return false;
    values_.resize(all_.size());
    const uint64_t room = guess.forBatch(all_.size());
    for (size_t i = 0; i < all_.size(); ++i) {
      if (!offerMemory(values_[i], all_.line(i), room)) return false;
      open_.push_back(i);
    }
    return true;
  }

  bool run(kv_client* client, const Deadline& deadline) {
    for (int round = 0; round < kRounds && !open_.empty(); ++round) {
      Batch asked;
      for (const size_t i : open_)
        asked.addLine(all_.line(i));
      if (!asked.run(client, KV_OP_GET, BatchOptions{}, deadline)) return false;
      if (!takeAnswers(asked)) return false;
    }
    return true;
  }

  Ref list() {
    Ref list(PyList_New(static_cast<Py_ssize_t>(values_.size())));
    if (!list) return Ref();
    for (size_t i = 0; i < values_.size(); ++i) {
      const kv_op& op = all_.line(i);
      if (op.status != KV_OK) values_[i] = Ref(PyLong_FromLong(op.status));
      if (!values_[i] || PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), values_[i].release()) != 0)
        return Ref();
    }
    return list;
  }

  uint64_t largest() const { return largest_; }

 private:
  bool takeAnswers(Batch& asked) {
    std::vector<size_t> tooSmall;
    for (size_t j = 0; j < open_.size(); ++j) {
      const size_t i = open_[j];
      const kv_op& answer = asked.line(j);
      all_.line(i).status = answer.status;
      if (answer.status == KV_OK) {
        if (!cutToLength(values_[i], answer.result_length)) return false;
        largest_ = std::max(largest_, answer.result_length);
      } else if (answer.status == KV_BUFFER_TOO_SMALL) {
        if (!offerMemory(values_[i], all_.line(i), answer.result_length)) return false;
        tooSmall.push_back(i);
      }
    }
    open_.swap(tooSmall);
    return true;
  }

  Batch all_;
  std::vector<Ref> values_;
  std::vector<size_t> open_;  // lines still to be asked for
  uint64_t largest_ = 0;
};

}  // namespace

uint64_t SizeGuess::forBatch(size_t count) const {
  const uint64_t share = kGuessBatchBytes / std::max<uint64_t>(count, 1);
  return std::max(kGuessMin, std::min(share, largest_.load(std::memory_order_relaxed)));
}

Ref fetch(kv_client* client, PyObject* keys, const Deadline& deadline, SizeGuess& guess) {
  Fetch work;
  if (!work.prepare(keys, guess) || !work.run(client, deadline)) return Ref();
  if (work.largest() > 0) guess.learn(work.largest());
  return work.list();
}

}  // namespace kvpool::python
