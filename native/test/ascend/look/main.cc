// SPDX-License-Identifier: Apache-2.0
// Loads CANN as this process's environment says and prints what came of it: in a process of its own, since what is
// loaded stays. With the file of an ACL: how often a forked child asks that for a context, which the process began
// itself, when it forks in its turn.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "ascend/cann/runtime.h"

namespace {

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

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) return lookAtForks(arguments[1]);
  const kvpool::ascend::Loading loading = kvpool::ascend::loadRuntime();
  std::printf("%s\n%s\n", loading.absence ? toString(*loading.absence) : "Ready", loading.text.c_str());
  return 0;
}
