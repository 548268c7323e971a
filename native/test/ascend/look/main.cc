// SPDX-License-Identifier: Apache-2.0
// Loads CANN as this process's environment says and prints what came of it: in a process of its own, since what is
// loaded stays. With "move": what came of a transfer between two engines too. With the file of an ACL: how often a
// forked child asks that for a context, which the process began itself, when it forks in its turn.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <span>
#include <string_view>

#include "ascend/cann/runtime.h"
#include "ascend/shell/station.h"

namespace {

namespace ascend = kvpool::ascend;

template <typename Function>
Function functionOf(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

/// What `work` returns in a forked child.
template <typename Work>
int inChild(Work work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = -1;
  (void)::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int lookAtForks(const char* file) {
  void* const acl = ::dlopen(file, RTLD_NOW);
  if (acl == nullptr) return 1;
  if (functionOf<int (*)(const char*)>(acl, "aclInit")(nullptr) != 0) return 1;
  if (functionOf<int (*)(int32_t)>(acl, "aclrtSetDevice")(0) != 0) return 1;
  const auto calls = functionOf<uint64_t (*)(const char*)>(acl, "fake_ascend_calls");
  const auto asked = [&] { return calls("aclrtGetCurrentContext"); };
  const uint64_t before = asked();
  const int byChild = inChild([&] {
    const uint64_t inherited = asked();
    (void)inChild([] { return 0; });
    return static_cast<int>(asked() - inherited);
  });
  std::printf("parent %d, child %d\n", static_cast<int>(asked() - before), byChild);
  return 0;
}

/// Between memory of the host, which without RoCE or the fabric cannot be reached.
kvpool::Status transfer(ascend::Station& here, const ascend::Station& there, ascend::Direction direction,
                        std::span<uint8_t> ours, std::span<uint8_t> theirs) {
  std::promise<kvpool::Status> end;
  here.move({there.endpoint(), 1}, direction,
            {{reinterpret_cast<uintptr_t>(ours.data()), reinterpret_cast<uintptr_t>(theirs.data()), ours.size()}},
            [&end](const kvpool::Status& status) { end.set_value(status); });
  return end.get_future().get();
}

kvpool::Status moveBothWays() {
  constexpr uint64_t kBytes = 1 << 20;
  ::setenv("HCCL_INTRA_ROCE_ENABLE", "1", 1);
  auto here = ascend::Station::open({"127.0.0.1", "here"});
  if (!here.ok()) return here.status();
  auto there = ascend::Station::open({"127.0.0.1", "there"});
  if (!there.ok()) return there.status();
  const auto ours = here.value()->hostMemory(kBytes);
  if (!ours.ok()) return ours.status();
  const auto theirs = there.value()->hostMemory(kBytes);
  if (!theirs.ok()) return theirs.status();
  const auto same = [&] { return std::ranges::equal(ours.value(), theirs.value()); };
  for (const auto direction : {ascend::Direction::Write, ascend::Direction::Read}) {
    const bool isWrite = direction == ascend::Direction::Write;
    std::ranges::fill(ours.value(), uint8_t{1});
    std::ranges::fill(theirs.value(), uint8_t{2});
    const kvpool::Status moved = transfer(*here.value(), *there.value(), direction, ours.value(), theirs.value());
    if (!moved.ok()) return moved;
    if (!same() || ours.value().back() != (isWrite ? 1 : 2)) return {KV_INTERNAL, "other bytes"};
  }
  std::printf("moved %zu bytes there and back\n", ours.value().size());
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  const bool moves = count > 1 && std::string_view(arguments[1]) == "move";
  if (count > 1 && !moves) return lookAtForks(arguments[1]);
  const ascend::Loading loading = ascend::loadRuntime();
  std::printf("%s\n%s\n", loading.absence ? toString(*loading.absence) : "Ready", loading.text.c_str());
  if (!moves || loading.runtime == nullptr) return 0;
  const kvpool::Status moved = moveBothWays();
  if (!moved.ok()) std::printf("%s\n", moved.text().c_str());
  return 0;
}
