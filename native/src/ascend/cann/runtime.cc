// SPDX-License-Identifier: Apache-2.0
#include "ascend/cann/runtime.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "ascend/cann/search.h"

namespace kvpool::ascend {
namespace {

using Names = std::vector<std::string>;

constexpr const char* kAclFile = "libascendcl.so";
const Names kAcl = {kAclFile};
/// AscendString: the second before CANN 8.3.
const Names kTexts = {"libmetadef.so", "libgraph_base.so"};
/// ADXL: the second until CANN 8.2. HIXL where only that is.
const Names kAdxl = {"libllm_datadist.so", "libadxl.so"};
const Names kHixl = {"libcann_hixl.so"};

/// By us, in this process or the one that it was forked from.
std::atomic<bool> isAclBegun = false;
/// In a process that was forked: ACL was begun before that.
bool isInherited = false;
thread_local bool isForkedWithAcl = false;

const char* const kInherited =
    "ACL was begun by the process that this one was forked from, and does not work after a fork. Start processes that "
    "use "
    "NPUs in another way, in Python by multiprocessing with spawn";

bool contextIsThere() {
  void* library = ::dlopen(kAclFile, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  Symbols symbols(library);
  const Acl acl = Acl::of(symbols);
  const bool has = symbols.missing().empty() && acl.currentContext() != nullptr;
  ::dlclose(library);
  return has;
}

/// Looks before the fork, as the child may not wait for a lock of the loader's.
[[maybe_unused]] const int kForksAreSeen =
    ::pthread_atfork([] { isForkedWithAcl = isInherited || isAclBegun || contextIsThere(); }, nullptr,
                     [] { isInherited = isForkedWithAcl; });

std::string listed(const std::vector<std::string>& items, const char* between) {
  std::string text;
  for (const std::string& item : items)
    text += (text.empty() ? "" : between) + item;
  return text;
}

/// One attempt: what it loaded is closed again unless it comes as far as to begin ACL.
class Attempt {
 public:
  Attempt() {
    const char* named = std::getenv(kLibraryFolderVariable);
    folder_ = named == nullptr ? "" : named;
  }
  ~Attempt() {
    for (auto library = loaded_.rbegin(); library != loaded_.rend(); ++library)
      ::dlclose(*library);
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  enum class Extent { Acl, Transport };

  Loading run(Extent extent, std::unique_ptr<Runtime>& into) {
    auto runtime = std::make_unique<Runtime>();
    void* acl = open(kAcl);
    if (acl == nullptr) return notFound("ACL, the runtime of CANN");
    Symbols ofAcl(acl);
    runtime->acl = Acl::of(ofAcl);
    if (extent == Extent::Acl) {
      if (!ofAcl.missing().empty()) return lacks(ofAcl.missing());
      return withDevices(std::move(runtime), into);
    }
    void* texts = open(kTexts);
    if (texts == nullptr) return notFound("metadef of CANN, which has its texts");
    const char* scope = kAdxlScope;
    void* methods = open(kAdxl);
    // The library of ADXL has more than that, and may be there without it.
    if (methods == nullptr || !Adxl::isIn(methods)) {
      if (void* hixl = open(kHixl); hixl != nullptr) {
        if (methods != nullptr) files_.erase(files_.end() - 2);  // which is not used
        scope = kHixlScope;
        methods = hixl;
      }
    }
    if (methods == nullptr) return notFound("ADXL, the transport of CANN");

    Symbols ofTexts(texts);
    Symbols ofMethods(methods);
    runtime->adxl = Adxl::of(ofMethods, ofTexts, scope);
    if (!ofMethods.missing().empty() && Adxl::isOfCann82(ofMethods)) return tooOld();
    for (const Symbols* symbols : {&ofAcl, &ofTexts, &ofMethods}) {
      if (!symbols->missing().empty()) return lacks(symbols->missing());
    }
    return withDevices(std::move(runtime), into);
  }

 private:
  void* open(const Names& names) {
    Search search = load(candidates(names, folder_));
    tried_.insert(tried_.end(), search.tried.begin(), search.tried.end());
    if (search.library == nullptr) return nullptr;
    loaded_.push_back(search.library);
    files_.push_back(search.file);
    return search.library;
  }

  Loading withDevices(std::unique_ptr<Runtime> runtime, std::unique_ptr<Runtime>& into) {
    const Acl& acl = runtime->acl;
    loaded_.clear();  // they stay: ACL may have threads from now on, also where it finds no device
    isAclBegun = true;
    const AclError begun = acl.init(nullptr);
    if (begun != kAclOk && begun != kAclRepeatInitialize) return noDevice(acl.problem("aclInit", begun));
    const AclError counted = acl.getDeviceCount(&runtime->devices);
    if (counted != kAclOk) return noDevice(acl.problem("aclrtGetDeviceCount", counted));
    if (runtime->devices == 0) return noDevice("ACL sees no device");
    runtime->files = listed(files_, ", ");
    Loading loading;
    loading.text = std::to_string(runtime->devices) + (runtime->devices == 1 ? " NPU, " : " NPUs, ") +
                   runtime->adxl.name + " of " + runtime->files;
    into = std::move(runtime);
    return loading;
  }

  [[nodiscard]] Loading notFound(const std::string& what) const {
    return {nullptr, Absence::CannLibraryNotFound,
            what + " cannot be loaded. Tried: " + listed(tried_, "; ") +
                ". Install CANN 8.3 or newer and source its set_env.sh, or mount " + "the host's Ascend driver; " +
                kLibraryFolderVariable + " names a folder with the libraries"};
  }
  [[nodiscard]] Loading lacks(const std::vector<std::string>& missing) const {
    return {nullptr, Absence::SymbolMissing,
            "CANN (" + listed(files_, ", ") + ") lacks " + listed(missing, ", ") + ". Install CANN 8.3 or newer"};
  }
  [[nodiscard]] Loading tooOld() const {
    return {nullptr, Absence::SymbolMissing,
            "CANN (" + listed(files_, ", ") +
                ") is 8.2, whose adxl::AdxlEngine takes its name when it is made. Install CANN 8.3 or newer"};
  }
  [[nodiscard]] Loading noDevice(const std::string& why) const {
    return {
        nullptr, Absence::NoDevice,
        why +
            ". Give the pod an NPU (a device plugin's resource), and see with npu-smi info whether the driver has it"};
  }

  std::string folder_;
  std::vector<void*> loaded_;
  std::vector<std::string> files_;
  std::vector<std::string> tried_;
};

}  // namespace

const char* toString(Absence absence) {
  switch (absence) {
    case Absence::CannLibraryNotFound:
      return "CannLibraryNotFound";
    case Absence::SymbolMissing:
      return "SymbolMissing";
    case Absence::NoDevice:
      return "NoDevice";
    case Absence::DriverTooOld:
      return "DriverTooOld";
  }
  return "";
}

Loading loadRuntime() {
  if (isInherited) return {nullptr, Absence::NoDevice, kInherited};
  static std::mutex mutex;
  static std::unique_ptr<Runtime> loaded;
  static std::string text;
  const std::lock_guard lock(mutex);
  if (!loaded) {
    Loading loading = Attempt().run(Attempt::Extent::Transport, loaded);
    if (!loaded) return loading;
    text = loading.text;
  }
  return {loaded.get(), std::nullopt, text};
}

AclLoading loadAcl() {
  if (isInherited) return {nullptr, Absence::NoDevice, kInherited};
  static std::mutex mutex;
  static std::unique_ptr<Runtime> loaded;
  const std::lock_guard lock(mutex);
  if (!loaded) {
    const Loading loading = Attempt().run(Attempt::Extent::Acl, loaded);
    if (!loaded) return {nullptr, loading.absence, loading.text};
  }
  return {&loaded->acl, std::nullopt, {}};
}

bool threadHasContext() {
  return !isInherited && contextIsThere();
}

}  // namespace kvpool::ascend
