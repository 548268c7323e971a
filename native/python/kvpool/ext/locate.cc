// SPDX-License-Identifier: Apache-2.0
#include "locate.h"

#include <algorithm>
#include <vector>

namespace kvpool::python {
namespace {

// Room for the copies of so many keys at a time is about 1 MiB.
constexpr size_t kKeysAtATime = 64;

Ref tupleOf(const kv_replica& replica) {
  return Ref(Py_BuildValue("(ssIKK)", replica.node, replica.address, replica.medium,
                           static_cast<unsigned long long>(replica.length),
                           static_cast<unsigned long long>(replica.offset)));
}

Ref answerOf(const kv_op& line) {
  if (line.status != KV_OK) return Ref(PyLong_FromLong(line.status));
  const auto* replicas = static_cast<const kv_replica*>(line.data);
  const auto count = static_cast<Py_ssize_t>(std::min(line.result_length, line.length));
  Ref list(PyList_New(count));
  for (Py_ssize_t i = 0; list && i < count; ++i) {
    Ref tuple = tupleOf(replicas[i]);
    if (!tuple || PyList_SetItem(list.get(), i, tuple.release()) != 0) return Ref();
  }
  return list;
}

}  // namespace

Ref locate(kv_client* client, PyObject* keys, const Deadline& deadline) {
  Batch all;
  if (!all.addKeys(keys)) return Ref();
  std::vector<kv_replica> room(std::min(all.size(), kKeysAtATime) * KV_LOCATED_MAX);
  Ref answers(PyList_New(static_cast<Py_ssize_t>(all.size())));
  if (!answers) return Ref();
  for (size_t begin = 0; begin < all.size(); begin += kKeysAtATime) {
    Batch asked;
    const size_t count = std::min(all.size() - begin, kKeysAtATime);
    for (size_t i = 0; i < count; ++i) {
      kv_op line = all.line(begin + i);
      line.data = &room[i * KV_LOCATED_MAX];
      line.length = KV_LOCATED_MAX;
      asked.addLine(line);
    }
    if (!asked.run(client, KV_OP_LOCATE, BatchOptions{}, deadline)) return Ref();
    for (size_t i = 0; i < count; ++i) {
      Ref answer = answerOf(asked.line(i));
      if (!answer || PyList_SetItem(answers.get(), static_cast<Py_ssize_t>(begin + i), answer.release()) != 0)
        return Ref();
    }
  }
  return answers;
}

}  // namespace kvpool::python
