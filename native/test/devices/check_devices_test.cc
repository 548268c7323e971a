// SPDX-License-Identifier: Apache-2.0
// The command `kvpool check-devices` with the fake CANN and a directory that stands for the container's root.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "temporary_directory.h"

namespace kvpool::devices {
namespace {

namespace fs = std::filesystem;

const std::string kSets = FAKE_CANN_DIRECTORY;

struct Result {
  int code = -1;
  std::string out;
};

class CheckDevices : public testing::Test {
 protected:
  void SetUp() override {
    device("davinci_manager");
    device("devmm_svm");
    device("hisi_hdc");
    device("davinci0");
    write("/usr/local/Ascend/driver/version.info", "Version=25.5.0\nascendhal_version=7.35.23\n");
    write("/etc/hccn.conf", "address_0=192.168.100.101\nnetmask_0=255.255.255.0\n");
  }

  void device(const std::string& name) {
    fs::create_directories(root() + "/dev");
    fs::create_symlink("/dev/null", root() + "/dev/" + name);  // is a device, and anybody opens it
  }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root() + path).parent_path());
    std::ofstream(root() + path) << text;
  }
  [[nodiscard]] std::string root() const { return directory_.path() + "/root"; }
  [[nodiscard]] std::string log() const { return directory_.path() + "/termination-log"; }
  [[nodiscard]] std::string logged() const {
    std::ostringstream text;
    text << std::ifstream(log()).rdbuf();
    return text.str();
  }

  /// Lines of stdout. With the set of libraries; "": without any.
  Result run(const std::string& set, const std::string& arguments, const std::string& variables = "") {
    const std::string folder = set.empty() ? directory_.path() : kSets + "/" + set;
    const std::string command = "env -u LD_LIBRARY_PATH KVPOOL_ASCEND_LIBRARY_DIR=" + folder + " " + variables + " " +
                                KVPOOL_PROGRAM + " check-devices --root=" + root() + " --termination-log=" + log() +
                                " " + arguments + " 2>" + directory_.path() + "/stderr";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    Result result;
    std::array<char, 4096> part;
    while (const size_t read = std::fread(part.data(), 1, part.size(), pipe))
      result.out.append(part.data(), read);
    const int status = ::pclose(pipe);
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return result;
  }
  [[nodiscard]] std::string errors() const {
    std::ostringstream text;
    text << std::ifstream(directory_.path() + "/stderr").rdbuf();
    return text.str();
  }

 private:
  const test::TemporaryDirectory directory_;
};

/// As after a boot of the host of mode Shared: CANN counts the device, and the driver opens it to no second container.
TEST_F(CheckDevices, ADeviceThatCannotBeOpenedIsNone) {
  const Result result = run("cann", "", "FAKE_ASCEND_DEVICES=2 FAKE_ASCEND_CLOSED_DEVICES=1");
  EXPECT_NE(result.out.find("NoDevice"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("CANN sees 2 NPUs, and NPU 1 of them cannot be opened, aclrtSetDevice: ACL error 507033"),
            std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("device-share"), std::string::npos) << result.out;
}

TEST_F(CheckDevices, WhereAllIsThereNothingIsMissing) {
  const Result result = run("cann", "--link=RoCE --driver-min=25.5");
  EXPECT_EQ(result.code, 0) << errors();
  EXPECT_NE(result.out.find("ok\tcann: 1 NPU, adxl::AdxlEngine of "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("ok\tdevices: /dev/davinci0, /dev/davinci_manager"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("ok\tdriver: HDK 25.5.0"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("ok\taddresses: "), std::string::npos) << result.out;
  EXPECT_EQ(logged().find(R"({"reason":"","blocking":false,"npus":[0],)"), 0U) << logged();
}

TEST_F(CheckDevices, EachReasonIsSaidAndBlocksOnlyAscendAlone) {
  struct Case {
    const char* set;
    const char* arguments;
    const char* variables;
    const char* reason;
  };
  for (const Case& one :
       {Case{"", "", "", "CannLibraryNotFound"}, Case{"cann-nosymbol", "", "", "SymbolMissing"},
        Case{"cann-8.2", "", "", "SymbolMissing"}, Case{"cann", "--driver-min=26.0", "", "DriverTooOld"},
        Case{"cann", "", "FAKE_ASCEND_DEVICES=0", "NoDevice"}}) {
    const std::string head = std::string(R"({"reason":")") + one.reason + R"(","blocking":)";
    const Result beside = run(one.set, std::string(one.arguments) + " --protocols=ascend,tcp --json", one.variables);
    EXPECT_EQ(beside.code, 0) << one.reason << errors();
    EXPECT_EQ(beside.out.find(head + "false"), 0U) << beside.out;
    EXPECT_EQ(logged().find(head + "false"), 0U) << logged();
    const Result alone = run(one.set, std::string(one.arguments) + " --protocols=ascend --json", one.variables);
    EXPECT_EQ(alone.code, 1) << one.reason << errors();
    EXPECT_EQ(alone.out.find(head + "true"), 0U) << alone.out;
    EXPECT_EQ(logged().find(head + "true"), 0U) << logged();
  }
}

TEST_F(CheckDevices, WithoutDeviceFilesAndDevicesTheFilesAreNamedToo) {
  fs::remove(root() + "/dev/davinci0");
  const Result result = run("cann", "", "FAKE_ASCEND_DEVICES=0");
  EXPECT_NE(result.out.find("missing\tdevices (NoDevice): there is no /dev/davinciN"), std::string::npos) << result.out;
}

TEST_F(CheckDevices, FilesThatAreNoDevicesDoNotCount) {
  fs::remove(root() + "/dev/davinci0");
  write("/dev/davinci0", "a file");
  write("/dev/davinci", "");
  write("/dev/davincix", "");
  EXPECT_NE(run("cann", "", "FAKE_ASCEND_DEVICES=0").out.find("there is no /dev/davinciN"), std::string::npos);
}

TEST_F(CheckDevices, EmptyCopiesOfAHostThatLacksThemAreWarnings) {
  write("/usr/local/Ascend/driver/version.info", "");
  write("/etc/hccn.conf", "");
  const Result result = run("cann", "--link=RoCE --driver-min=25.5");
  EXPECT_EQ(result.code, 0);
  EXPECT_NE(result.out.find("warning\tdriver: "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("warning\taddresses: /etc/hccn.conf is missing, empty"), std::string::npos) << result.out;
  EXPECT_EQ(logged().find(R"({"reason":"",)"), 0U) << logged();
}

TEST_F(CheckDevices, FilesOfOtherBytesAreWarningsToo) {
  write("/usr/local/Ascend/driver/version.info", "Version=\xff\xfe\n");
  write("/etc/hccn.conf", std::string(2 << 20, 'x') + "\naddress_0=1\n");
  const Result result = run("cann", "--link=RoCE --driver-min=25.5 --json");
  EXPECT_EQ(result.code, 0);
  EXPECT_NE(result.out.find(R"("check":"driver","level":"warning")"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find(R"("check":"addresses","level":"warning")"), std::string::npos) << result.out;
}

TEST_F(CheckDevices, HugePagesAreReadForFabric) {
  write("/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "4\n");
  write("/sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", "3\n");
  EXPECT_NE(run("cann", "--link=Fabric").out.find("ok\thugepages: 3 free of 1 GiB, 0 of 2 MiB"), std::string::npos);
}

TEST_F(CheckDevices, ACannThatHangsIsADeviceThatDoesNotAnswer) {
  const Result result = run("cann", "--time-limit=1 --protocols=ascend", "FAKE_ASCEND_RULES='hang aclInit *'");
  EXPECT_EQ(result.code, 1) << errors();
  EXPECT_NE(result.out.find("missing\tcann (NoDevice): CANN was loaded, and did not say within 1 s"), std::string::npos)
      << result.out;
}

TEST_F(CheckDevices, ALogThatCannotBeWrittenIsNoReasonToFail) {
  fs::create_directories(log());
  EXPECT_EQ(run("cann", "").code, 0);
  EXPECT_NE(errors().find("cannot write the findings to " + log()), std::string::npos) << errors();
}

TEST_F(CheckDevices, HelpIsPrintedAndWrongArgumentsAreRefused) {
  EXPECT_EQ(run("cann", "--help").out.find("usage: kvpool check-devices "), 0U);
  for (const char* wrong :
       {"--devices=0", "--devices=65", "--devices=-1", "--devices=x", "--devices=", "--devices",
        "--devices=1 --devices=1", "--protocols=tcp", "--protocols=ascend,rdma", "--link=HCCS", "--driver-min=25",
        "--time-limit=0", "--json=yes", "--absent=1", "word", "--time-limit=99999999999"}) {
    EXPECT_EQ(run("cann", wrong).code, 2) << wrong;
    EXPECT_NE(errors().find("see kvpool check-devices --help"), std::string::npos) << wrong << errors();
  }
}

}  // namespace
}  // namespace kvpool::devices
