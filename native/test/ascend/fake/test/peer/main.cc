// SPDX-License-Identifier: Apache-2.0
// An engine in a process of its own: fake_ascend_peer NAME BYTES. Says "ADDRESS" of its registered device memory, which
// is filled with 'p', then answers each line: "sum" by the sum of its bytes, "fill C", "end".
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <numeric>
#include <string>

#include "../../engine_api.h"

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const size_t size = std::strtoull(arguments[2], nullptr, 10);
  void* memory = nullptr;
  void* handle = nullptr;
  adxl::AdxlEngine engine;
  if (aclrtSetDevice(0) != 0 || aclrtMalloc(&memory, size, 0) != 0 ||
      engine.Initialize(arguments[1], {{"adxl.BufferPool", "0:0"}}) != 0 ||
      engine.RegisterMem({reinterpret_cast<uintptr_t>(memory), size, {}}, adxl::MEM_DEVICE, handle) != 0)
    return 3;
  std::memset(memory, 'p', size);
  std::cout << reinterpret_cast<uintptr_t>(memory) << std::endl;
  for (std::string line; std::getline(std::cin, line) && line != "end";) {
    const auto* bytes = static_cast<const unsigned char*>(memory);
    if (line.rfind("fill ", 0) == 0) std::memset(memory, line[5], size);
    std::cout << std::accumulate(bytes, bytes + size, uint64_t{0}) << std::endl;
  }
  engine.Finalize();
  return aclrtFree(memory);
}
