// SPDX-License-Identifier: Apache-2.0
#include "devices/cann_probe.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace kvpool::devices {

using ascend::Absence;

namespace {

constexpr int kDone = 0;
constexpr char kReady = 'R';
constexpr char kEnd = '\0';

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// Why the process may not compute on one of its devices; empty: it may on all. CANN counts those, too, that the driver
/// opens to no second container.
std::string problemOfDevices(const ascend::Runtime& runtime) {
  const ascend::Acl& acl = runtime.acl;
  for (uint32_t device = 0; device < runtime.devices; ++device) {
    const char* call = "aclrtSetDevice";
    ascend::AclError error = acl.setDevice(static_cast<int32_t>(device));
    ascend::AclContext context = nullptr;
    if (error == ascend::kAclOk) {
      call = "aclrtCreateContext";
      error = acl.createContext(&context, static_cast<int32_t>(device));
    }
    if (error == ascend::kAclOk) {
      (void)acl.destroyContext(context);
      continue;
    }
    return "CANN sees " + std::to_string(runtime.devices) + (runtime.devices == 1 ? " NPU" : " NPUs") + ", and NPU " +
           std::to_string(device) + " of them cannot be opened, " + acl.problem(call, error) +
           (error == ascend::kAclDeviceOpenFailed
                ? ". Where pods share NPUs the host must allow it, again after each boot: npu-smi set -t device-share "
                  "-i NPU -c CHIP -d 1"
                : ". See with npu-smi info whether it is healthy and which process has it");
  }
  return {};
}

/// The answer as bytes: one for the absence, the text, and one that says that this is all.
[[noreturn]] void answerInto(int pipe) {
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ascend::Loading loading = ascend::loadRuntime();
  if (loading.runtime != nullptr) {
    if (std::string problem = problemOfDevices(*loading.runtime); !problem.empty())
      loading = {nullptr, Absence::NoDevice, std::move(problem)};
  }
  std::string bytes(1, loading.absence ? static_cast<char>('0' + static_cast<int>(*loading.absence)) : kReady);
  bytes += loading.text;
  bytes += kEnd;
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t written = ::write(pipe, rest.data(), rest.size());
    if (written < 0) ::_exit(errno);
    rest.remove_prefix(static_cast<size_t>(written));
  }
  // Without what libraries have registered for the end: what they do then is no matter here.
  ::_exit(kDone);
}

/// What comes until its end, or the time is over: then false. A process that CANN has made may hold the other end of
/// the pipe for ever.
bool readAll(int pipe, std::chrono::steady_clock::time_point until, std::string& into) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    pollfd wanted{pipe, POLLIN, 0};
    const int ready = ::poll(&wanted, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) fail("poll");
    if (ready == 0) return false;
    std::array<char, 4096> part;
    const ssize_t read = ::read(pipe, part.data(), part.size());
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) fail("read");
    into.append(part.data(), static_cast<size_t>(read));
    if (read == 0 || into.back() == kEnd) return true;
  }
}

CannAnswer ended(int status) {
  const std::string how = WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                              : "exit code " + std::to_string(WEXITSTATUS(status));
  return {Absence::NoDevice, "CANN ended the process that loaded it and looked for devices (" + how +
                                 "). That is mostly a driver that does not fit CANN"};
}

}  // namespace

CannAnswer probeCann(std::chrono::seconds limit) {
  int ends[2];
  if (::pipe(ends) != 0) fail("pipe");
  const pid_t child = ::fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    ::close(ends[0]);
    answerInto(ends[1]);
  }
  ::close(ends[1]);
  std::string answer;
  const bool inTime = readAll(ends[0], std::chrono::steady_clock::now() + limit, answer);
  ::close(ends[0]);
  if (!inTime) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!inTime) {
    return {Absence::NoDevice, "CANN was loaded, and did not say within " + std::to_string(limit.count()) +
                                   " s which devices there are. That is mostly a driver that hangs"};
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != kDone || answer.empty()) return ended(status);
  answer.pop_back();
  if (answer[0] == kReady) return {std::nullopt, answer.substr(1)};
  return {static_cast<Absence>(answer[0] - '0'), answer.substr(1)};
}

}  // namespace kvpool::devices
