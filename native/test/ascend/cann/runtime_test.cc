// SPDX-License-Identifier: Apache-2.0
// What becomes of each set of libraries that a machine may have.
#include "ascend/cann/runtime.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include "temporary_directory.h"

namespace kvpool::ascend {
namespace {

const std::string kSets = FAKE_CANN_DIRECTORY;

/// What kv_ascend_look prints with these variables, and without those of this test.
std::string look(const std::string& variables, const std::string& argument = "") {
  const std::string command =
      "env -u KVPOOL_ASCEND_LIBRARY_DIR -u LD_LIBRARY_PATH " + variables + " " KVPOOL_ASCEND_LOOK " " + argument;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> part;
  while (const size_t read = std::fread(part.data(), 1, part.size(), pipe))
    text.append(part.data(), read);
  EXPECT_EQ(::pclose(pipe), 0) << command << "\n" << text;
  return text;
}
std::string lookIn(const std::string& directory, const std::string& argument = "") {
  return look("KVPOOL_ASCEND_LIBRARY_DIR=" + directory, argument);
}

TEST(Runtime, EachVersionOfCannIsUsed) {
  struct Case {
    const char* set;
    const char* className;
    const char* library;
  };
  for (const Case& one : {Case{"cann", "adxl::AdxlEngine", "libllm_datadist.so"},
                          Case{"cann-abi0", "adxl::AdxlEngine", "libllm_datadist.so"},
                          Case{"cann-graph", "adxl::AdxlEngine", "libadxl.so"},
                          Case{"cann-8.3", "adxl::AdxlEngine", "libllm_datadist.so"},
                          Case{"cann-hixl", "hixl::Hixl", "libcann_hixl.so"}}) {
    const std::string text = lookIn(kSets + "/" + one.set, "move");
    EXPECT_EQ(text.substr(0, text.find('\n')), "Ready") << text;
    EXPECT_NE(text.find("\nmoved 1048576 bytes there and back\n"), std::string::npos) << one.set << "\n" << text;
    EXPECT_NE(text.find("1 NPU, " + std::string(one.className) + " of "), std::string::npos) << text;
    EXPECT_NE(text.find(kSets + "/" + one.set + "/" + one.library), std::string::npos) << text;
  }
}

TEST(Runtime, HixlIsUsedWhereTheLibraryOfAdxlIsThereWithoutIt) {
  const test::TemporaryDirectory directory;
  for (const char* library : {"libascendcl.so", "libmetadef.so", "libcann_hixl.so"})
    std::filesystem::create_symlink(kSets + "/cann-hixl/" + library, directory.path() + "/" + library);
  std::filesystem::create_symlink(kSets + "/cann-hixl/libmetadef.so", directory.path() + "/libllm_datadist.so");
  const std::string text = lookIn(directory.path());
  EXPECT_EQ(text.substr(0, text.find('\n')), "Ready") << text;
  EXPECT_NE(text.find("hixl::Hixl of "), std::string::npos) << text;
  EXPECT_EQ(text.find("libllm_datadist.so"), std::string::npos) << text;
}

TEST(Runtime, LibrariesThatTheLoaderFindsByItselfAreUsed) {
  const std::string text = look("LD_LIBRARY_PATH=" + kSets + "/cann");
  EXPECT_EQ(text, "Ready\n1 NPU, adxl::AdxlEngine of libascendcl.so, libmetadef.so, libllm_datadist.so\n");
}

TEST(Runtime, WithoutLibrariesEveryPathThatWasTriedIsNamed) {
  const std::string text = look("");
  EXPECT_EQ(text.find("CannLibraryNotFound\nACL, the runtime of CANN cannot be loaded. Tried: "), 0U) << text;
  for (const char* tried :
       {"libascendcl.so: cannot open shared object file", "/usr/local/Ascend/cann/lib64/libascendcl.so: ",
        "/usr/local/Ascend/ascend-toolkit/latest/lib64/libascendcl.so: ",
        "/usr/local/Ascend/driver/lib64/libascendcl.so: ", "/usr/local/Ascend/driver/lib64/common/libascendcl.so: ",
        "/usr/local/Ascend/driver/lib64/driver/libascendcl.so: ", "Install CANN 8.3 or newer and source its set_env.sh",
        "KVPOOL_ASCEND_LIBRARY_DIR"}) {
    EXPECT_NE(text.find(tried), std::string::npos) << tried << " is not in:\n" << text;
  }
}

TEST(Runtime, ALibraryThatIsNoneIsNamedWithWhatIsWrongWithIt) {
  const test::TemporaryDirectory directory;
  std::FILE* file = std::fopen((directory.path() + "/libascendcl.so").c_str(), "w");
  std::fputs("not a library", file);
  std::fclose(file);
  const std::string text = lookIn(directory.path());
  EXPECT_EQ(text.find("CannLibraryNotFound\n"), 0U) << text;
  EXPECT_NE(text.find(directory.path() + "/libascendcl.so: file too short"), std::string::npos) << text;
}

TEST(Runtime, ALibraryThatLacksAnotherOneIsNamedWithIt) {
  const std::string text = lookIn(kSets + "/cann-nodriver");
  EXPECT_EQ(text.find("CannLibraryNotFound\n"), 0U) << text;
  EXPECT_NE(text.find(kSets + "/cann-nodriver/libascendcl.so: libascend_hal.so: cannot open shared object file"),
            std::string::npos)
      << text;
}

TEST(Runtime, AMissingFunctionIsNamed) {
  const std::string text = lookIn(kSets + "/cann-nosymbol");
  EXPECT_EQ(text.find("SymbolMissing\nCANN ("), 0U) << text;
  EXPECT_NE(text.find("lacks _ZN4adxl10AdxlEngine12TransferSync"), std::string::npos) << text;
}

TEST(Runtime, Cann82IsRecognised) {
  const std::string text = lookIn(kSets + "/cann-8.2");
  EXPECT_EQ(text.find("SymbolMissing\nCANN ("), 0U) << text;
  EXPECT_NE(text.find("is 8.2"), std::string::npos) << text;
  EXPECT_NE(text.find("Install CANN 8.3 or newer"), std::string::npos) << text;
}

TEST(Runtime, AMachineWithoutDevicesIsNamed) {
  const std::string text = look("FAKE_ASCEND_DEVICES=0 KVPOOL_ASCEND_LIBRARY_DIR=" + kSets + "/cann");
  EXPECT_EQ(text.find("NoDevice\n"), 0U) << text;
  EXPECT_NE(text.find("npu-smi info"), std::string::npos) << text;
}

TEST(Runtime, EightDevicesAreCounted) {
  const std::string text = look("FAKE_ASCEND_DEVICES=8 KVPOOL_ASCEND_LIBRARY_DIR=" + kSets + "/cann");
  EXPECT_EQ(text.find("Ready\n8 NPUs, "), 0U) << text;
}

TEST(Runtime, AForkedChildThatForksDoesNotAskTheAclThatTheApplicationBegan) {
  EXPECT_EQ(look("", kSets + "/cann/libascendcl.so"), "parent 1, child 0\n");
}

}  // namespace
}  // namespace kvpool::ascend
