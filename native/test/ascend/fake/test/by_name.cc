// SPDX-License-Identifier: Apache-2.0
// by_name SET DIRECTORY: uses a set of libraries as a program does that has no header of CANN: by dlopen and mangled
// names, with strings that only the libraries look into. Two engines move bytes, whichever layout of std::string the
// libraries were built with.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

void require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
  std::exit(1);
}

struct String {
  std::shared_ptr<void> text;
};

struct Less {
  bool operator()(const String& one, const String& other) const { return compare(&one, &other); }
  static bool (*compare)(const void*, const void*);
};
bool (*Less::compare)(const void*, const void*) = nullptr;

using Options = std::map<String, String, Less>;

struct Memory {
  uintptr_t start;
  size_t size;
  uint8_t reserved[128];
};

struct Piece {
  uintptr_t local;
  uintptr_t remote;
  size_t size;
};

struct Version {
  const char* prefix;
  const char* strings;
  const char* engine;
  bool optional;
  bool nameInConstructor;
  bool transfer;
};

const std::map<std::string, Version> kVersions = {
    {"cann", {"_ZN4adxl10AdxlEngine", "libmetadef.so", "libllm_datadist.so", true, false, true}},
    {"cann-abi0", {"_ZN4adxl10AdxlEngine", "libmetadef.so", "libllm_datadist.so", true, false, true}},
    {"cann-graph", {"_ZN4adxl10AdxlEngine", "libgraph_base.so", "libadxl.so", true, false, true}},
    {"cann-8.3", {"_ZN4adxl10AdxlEngine", "libmetadef.so", "libllm_datadist.so", false, false, true}},
    {"cann-8.2", {"_ZN4adxl10AdxlEngine", "libmetadef.so", "libadxl.so", false, true, true}},
    {"cann-hixl", {"_ZN4hixl4Hixl", "libmetadef.so", "libcann_hixl.so", true, false, true}},
    {"cann-nosymbol", {"_ZN4adxl10AdxlEngine", "libmetadef.so", "libllm_datadist.so", true, false, false}},
};

/// The libraries, in the order in which they must be loaded.
class Libraries {
 public:
  Libraries(const std::string& directory, const Version& version) : prefix_(version.prefix) {
    acl_ = load(directory + "/libascendcl.so");
    strings_ = load(directory + "/" + version.strings);
    engine_ = load(directory + "/" + version.engine);
    Less::compare = at<bool(const void*, const void*)>(strings_, "_ZNK2ge12AscendStringltERKS0_");
  }

  template <typename Function>
  Function* method(const char* name) const {
    return at<Function>(engine_, prefix_ + name);
  }

  template <typename Function>
  Function* acl(const char* name) const {
    return at<Function>(acl_, name);
  }

  [[nodiscard]] bool hasMethod(const char* name) const { return ::dlsym(engine_, (prefix_ + name).c_str()) != nullptr; }

  [[nodiscard]] String string(const std::string& text) const {
    String made;
    at<void(void*, const char*)>(strings_, "_ZN2ge12AscendStringC1EPKc")(&made, text.c_str());
    const char* read = at<const char*(const void*)>(strings_, "_ZNK2ge12AscendString9GetStringEv")(&made);
    require(text == read, "the string reads " + std::string(read));
    return made;
  }

 private:
  static void* load(const std::string& path) {
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    require(library != nullptr, library == nullptr ? ::dlerror() : "");
    return library;
  }

  template <typename Function>
  static Function* at(void* library, const std::string& name) {
    void* symbol = ::dlsym(library, name.c_str());
    require(symbol != nullptr, "no " + name);
    return reinterpret_cast<Function*>(symbol);
  }

  std::string prefix_;
  void* acl_ = nullptr;
  void* strings_ = nullptr;
  void* engine_ = nullptr;
};

std::string freeAddress() {
  const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof name;
  require(::bind(file, reinterpret_cast<sockaddr*>(&name), size) == 0, "bind");
  ::getsockname(file, reinterpret_cast<sockaddr*>(&name), &size);
  ::close(file);
  return "127.0.0.1:" + std::to_string(ntohs(name.sin_port));
}

/// An engine in storage that the library alone understands.
class Engine {
 public:
  Engine(const Libraries& libraries, const Version& version)
      : libraries_(libraries), name_(freeAddress()), own_(libraries.string(name_)) {
    const char* pool = std::strcmp(version.prefix, "_ZN4hixl4Hixl") == 0 ? "BufferPool" : "adxl.BufferPool";
    Options options;
    options[libraries.string(pool)] = libraries.string("0:0");
    options[libraries.string("AutoConnect")] = libraries.string("0");
    uint32_t status = 0;
    if (version.nameInConstructor) {
      libraries.method<void(void*, const void*)>("C1ERKN2ge12AscendStringE")(storage_, &own_);
      status = libraries.method<uint32_t(void*, const void*)>(
          "10InitializeERKSt3mapIN2ge12AscendStringES3_St4lessIS3_ESaISt4pairIKS3_S3_EEE")(storage_, &options);
    } else {
      libraries.method<void(void*)>("C1Ev")(storage_);
      status = libraries.method<uint32_t(void*, const void*, const void*)>(
          "10InitializeERKN2ge12AscendStringERKSt3mapIS2_S2_St4lessIS2_ESaISt4pairIS3_S2_EEE")(storage_, &own_,
                                                                                               &options);
    }
    require(status == 0, "Initialize: " + std::to_string(status));
  }

  ~Engine() {
    libraries_.method<void(void*)>("8FinalizeEv")(storage_);
    libraries_.method<void(void*)>("D1Ev")(storage_);
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  char* registeredMemory(size_t size) {
    void* pointer = nullptr;
    require(libraries_.acl<int(void**, size_t, uint32_t)>("aclrtMalloc")(&pointer, size, 0) == 0, "aclrtMalloc");
    const Memory memory{reinterpret_cast<uintptr_t>(pointer), size, {}};
    void* handle = nullptr;
    const uint32_t status = libraries_.method<uint32_t(void*, const void*, uint32_t, void**)>(
        "11RegisterMemERKNS_7MemDescENS_7MemTypeERPv")(storage_, &memory, 0, &handle);
    require(status == 0 && handle != nullptr, "RegisterMem: " + std::to_string(status));
    return static_cast<char*>(pointer);
  }

  void connect(const Engine& peer) {
    const uint32_t status = libraries_.method<uint32_t(void*, const void*, int)>("7ConnectERKN2ge12AscendStringEi")(
        storage_, &peer.own_, 1000);
    require(status == 0, "Connect: " + std::to_string(status));
  }

  void write(const Engine& peer, const std::vector<Piece>& pieces) {
    const uint32_t status = libraries_.method<uint32_t(void*, const void*, uint32_t, const void*, int)>(
        "12TransferSyncERKN2ge12AscendStringENS_10TransferOpERKSt6vectorINS_14TransferOpDescESaIS7_EEi")(
        storage_, &peer.own_, 1, &pieces, 1000);
    require(status == 0, "TransferSync: " + std::to_string(status));
  }

 private:
  const Libraries& libraries_;
  const std::string name_;
  const String own_;
  alignas(16) unsigned char storage_[64] = {};
};

}  // namespace

int main(int count, char** arguments) {
  require(count == 3 && kVersions.count(arguments[1]) == 1, "usage: by_name SET DIRECTORY");
  const Version& version = kVersions.at(arguments[1]);
  const Libraries libraries(arguments[2], version);
  require(libraries.hasMethod("13GetCapabilityENS_11FeatureTypeERi") == version.optional, "GetCapability");
  require(libraries.hasMethod("17GetTransferStatusERKPvRNS_14TransferStatusE") == version.optional,
          "GetTransferStatus");
  require(libraries.hasMethod("12TransferSyncERKN2ge12AscendStringENS_10TransferOpERKSt6vectorINS_"
                              "14TransferOpDescESaIS7_EEi") == version.transfer,
          "TransferSync");
  require(libraries.acl<int(int32_t)>("aclrtSetDevice")(0) == 0, "aclrtSetDevice");

  constexpr size_t kSize = 100000;
  Engine one(libraries, version);
  Engine other(libraries, version);
  char* from = one.registeredMemory(kSize);
  char* to = other.registeredMemory(kSize);
  one.connect(other);
  if (version.transfer) {
    std::memset(from, 7, kSize);
    one.write(other, {{reinterpret_cast<uintptr_t>(from), reinterpret_cast<uintptr_t>(to), kSize}});
    require(std::memcmp(from, to, kSize) == 0, "the bytes are others");
  }
  return 0;
}
