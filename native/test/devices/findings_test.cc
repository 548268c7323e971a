// SPDX-License-Identifier: Apache-2.0
#include "devices/findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace kvpool::devices {
namespace {

using ascend::Absence;

const CannAnswer kCann{std::nullopt, "1 NPU"};
const CannAnswer kNoDevice{Absence::NoDevice, "ACL sees no device"};

HostFacts allThere() {
  HostFacts facts;
  facts.npus = {{"/dev/davinci3", ""}};
  facts.numbers = {3};
  facts.control = {{"/dev/davinci_manager", ""}, {"/dev/devmm_svm", ""}, {"/dev/hisi_hdc", ""}};
  facts.driverVersion = "25.5.0";
  facts.withAddress = {3};
  facts.addressesReadable = true;
  facts.of1Gi = {4, 4};
  return facts;
}

Finding of(const std::string& check, const HostFacts& facts, const CannAnswer& cann, const Needs& needs) {
  const auto findings = judge(facts, cann, needs);
  const auto found =
      std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) { return finding.check == check; });
  EXPECT_NE(found, findings.end()) << check;
  return found == findings.end() ? Finding{} : *found;
}

Needs with(Link link) {
  Needs needs;
  needs.link = link;
  return needs;
}

TEST(Findings, NothingIsMissingWhereAllIsThere) {
  for (const Link link : {Link::Any, Link::RoCE, Link::Fabric}) {
    const auto findings = judge(allThere(), kCann, with(link));
    EXPECT_EQ(worst(findings), nullptr);
    for (const Finding& finding : findings) {
      EXPECT_EQ(finding.level, Level::Ok) << finding.check << ": " << finding.text;
      EXPECT_EQ(finding.remedy, "") << finding.check;
    }
  }
}

TEST(Findings, EachThatIsNotOkHasARemedy) {
  HostFacts nothing;
  nothing.lacking = {"/dev/devmm_svm"};
  nothing.lockableBytes = 65536;
  Needs needs = with(Link::RoCE);
  needs.driverMinimum = DriverVersion{25, 5};
  auto findings = judge(nothing, {Absence::CannLibraryNotFound, "none"}, needs);
  needs.link = Link::Fabric;
  for (const Finding& more : judge(nothing, {Absence::SymbolMissing, "none"}, needs))
    findings.push_back(more);
  for (const Finding& finding : findings) {
    EXPECT_NE(finding.level, Level::Ok) << finding.check;
    EXPECT_NE(finding.remedy, "") << finding.check;
    EXPECT_EQ(finding.level == Level::Missing, finding.absence.has_value()) << finding.check;
  }
}

TEST(Findings, ReasonsComeInTheOrderOfTheWayToADevice) {
  HostFacts facts = allThere();
  facts.npus.clear();
  facts.numbers.clear();
  Needs needs;
  needs.driverMinimum = DriverVersion{26, 0};
  EXPECT_EQ(worst(judge(facts, {Absence::CannLibraryNotFound, ""}, needs))->absence, Absence::CannLibraryNotFound);
  EXPECT_EQ(worst(judge(facts, {Absence::SymbolMissing, ""}, needs))->absence, Absence::SymbolMissing);
  EXPECT_EQ(worst(judge(facts, kNoDevice, needs))->absence, Absence::DriverTooOld);
  EXPECT_EQ(worst(judge(facts, kNoDevice, {}))->absence, Absence::NoDevice);
}

TEST(Findings, DeviceFilesThatAreMissingOrClosedAreNamed) {
  HostFacts facts = allThere();
  facts.lacking = {"/dev/devmm_svm", "/dev/hisi_hdc"};
  const Finding lacking = of("devices", facts, kNoDevice, {});
  EXPECT_EQ(lacking.absence, Absence::NoDevice);
  EXPECT_EQ(lacking.text, "/dev/devmm_svm, /dev/hisi_hdc are missing");

  facts.lacking.clear();
  facts.npus[0].problem = "Permission denied";
  const Finding closed = of("devices", facts, kNoDevice, {});
  EXPECT_EQ(closed.absence, Absence::NoDevice);
  EXPECT_EQ(closed.text, "cannot open /dev/davinci3 (Permission denied)");
  EXPECT_NE(closed.remedy.find("accelerator.group"), std::string::npos);
}

TEST(Findings, WhereCannSeesDevicesItsWordCountsMoreThanFiles) {
  HostFacts facts = allThere();
  facts.npus.clear();
  const Finding finding = of("devices", facts, kCann, {});
  EXPECT_EQ(finding.level, Level::Warning);
  EXPECT_EQ(worst(judge(facts, kCann, {})), nullptr);
}

TEST(Findings, FewerDevicesThanWantedAreAWarning) {
  Needs needs;
  needs.devices = 2;
  const Finding finding = of("devices", allThere(), kCann, needs);
  EXPECT_EQ(finding.level, Level::Warning);
  EXPECT_EQ(finding.text, "the container has 1 of 2 NPUs");
}

TEST(Findings, ADriverIsTooOldOnlyBelowTheMinimum) {
  HostFacts facts = allThere();
  Needs needs;
  needs.driverMinimum = DriverVersion{25, 5};
  for (const char* enough : {"25.5.0", "25.5", "25.10.1", "26.0.rc1", "100.0"}) {
    facts.driverVersion = enough;
    EXPECT_EQ(of("driver", facts, kCann, needs).level, Level::Ok) << enough;
  }
  for (const char* old : {"25.4.9", "24.9.0", "24.1.rc2.b080", "0.0"}) {
    facts.driverVersion = old;
    const Finding finding = of("driver", facts, kCann, needs);
    EXPECT_EQ(finding.absence, Absence::DriverTooOld) << old;
    EXPECT_NE(finding.text.find("25.5 or newer"), std::string::npos) << finding.text;
  }
  EXPECT_EQ(of("driver", facts, kCann, {}).level, Level::Ok) << "no minimum";
}

TEST(Findings, AnUnknownDriverIsAWarningWhereAMinimumIs) {
  HostFacts facts = allThere();
  Needs needs;
  needs.driverMinimum = DriverVersion{25, 5};
  for (const char* none : {"", "25", "25.", ".5", "-1.5", "v25.5", "25.5rc", "99999999999.0"}) {
    facts.driverVersion = none;
    EXPECT_EQ(of("driver", facts, kCann, needs).level, Level::Warning) << none;
    EXPECT_EQ(of("driver", facts, kCann, {}).level, Level::Ok) << none;
  }
  facts.driverVersion.reset();
  EXPECT_EQ(of("driver", facts, kCann, needs).level, Level::Warning);
}

TEST(Findings, NpusWithoutAddressAreNamedForRoceOnly) {
  HostFacts facts = allThere();
  facts.numbers = {3, 4, 5};
  const Finding some = of("addresses", facts, kCann, with(Link::RoCE));
  EXPECT_EQ(some.level, Level::Warning);
  EXPECT_NE(some.text.find("no address of NPU 4, 5,"), std::string::npos) << some.text;
  facts.addressesReadable = false;
  EXPECT_NE(of("addresses", facts, kCann, with(Link::RoCE)).text.find("is missing, empty"), std::string::npos);
  for (const Finding& finding : judge(facts, kCann, with(Link::Fabric)))
    EXPECT_NE(finding.check, "addresses");
}

TEST(Findings, HugePagesAreForFabricOnly) {
  HostFacts facts = allThere();
  facts.of1Gi = {4, 0};
  EXPECT_NE(of("hugepages", facts, kCann, with(Link::Fabric)).text.find("are in use"), std::string::npos);
  facts.of1Gi = {0, 0};
  EXPECT_NE(of("hugepages", facts, kCann, with(Link::Fabric)).text.find("has no huge pages"), std::string::npos);
  facts.of2Mi = {1, 1};
  EXPECT_EQ(of("hugepages", facts, kCann, with(Link::Fabric)).level, Level::Ok);
  for (const Finding& finding : judge(facts, kCann, with(Link::RoCE)))
    EXPECT_NE(finding.check, "hugepages");
}

TEST(Findings, ALimitOfLockedMemoryIsSaid) {
  HostFacts facts = allThere();
  facts.lockableBytes = uint64_t{8} << 20;
  const Finding finding = of("memlock", facts, kCann, {});
  EXPECT_EQ(finding.level, Level::Warning);
  EXPECT_NE(finding.text.find("only 8 MiB"), std::string::npos) << finding.text;
}

}  // namespace
}  // namespace kvpool::devices
