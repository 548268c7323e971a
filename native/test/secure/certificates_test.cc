// SPDX-License-Identifier: Apache-2.0
#include "secure/certificates.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "certificate_authority.h"
#include "temporary_directory.h"

namespace kvpool::secure {
namespace {

using test::CertificateAuthority;
using test::named;

class CertificatesTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return directory_.path() + "/tls"; }
  void write(const PemTriple& triple) const { CertificateAuthority::write(triple, path()); }

  const test::TemporaryDirectory directory_;
  const CertificateAuthority authority_;
};

TEST_F(CertificatesTest, AreLoadedWithTheirName) {
  for (const char* const curve : {"P-256", ""}) {
    CertificateAuthority::Wish wish{{named("tenant/t/ro/a")}};
    wish.curve = curve;
    write(authority_.issue(wish));
    const auto opened = Certificates::open(path());
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    const Principal& self = opened.value()->current()->self().principal;
    EXPECT_EQ(kvpool::toString(self), "tenant/t/ro/a");
    const int64_t endsInMs = self.notAfterMs - int64_t{::time(nullptr)} * 1000;
    EXPECT_NEAR(static_cast<double>(endsInMs), 3'600'000, 60'000);
  }
}

/// Beside the directory, which those who fill it may own.
TEST_F(CertificatesTest, OfOthersNeedRulesBesideTheDirectoryAndFollowThem) {
  const auto rules = [this](const std::string& lines) {
    std::filesystem::create_directories(path() + ".names");
    std::ofstream(path() + ".names/names") << lines;
  };
  const std::string head = std::string("pool ") + test::kPool + "\ntrust-domain cluster.local\n";
  write(authority_.issue(CertificateAuthority::Wish{{"spiffe://cluster.local/ns/a/sa/engine"}}));
  EXPECT_NE(Certificates::open(path()).status().text().find("no pool's id"), std::string::npos);
  rules(head);
  EXPECT_NE(Certificates::open(path()).status().text().find("no rule for ServiceAccount a/engine"), std::string::npos);
  rules(head + "a/engine something");
  EXPECT_NE(Certificates::open(path()).status().text().find("tls.names/names : line 3: "), std::string::npos)
      << Certificates::open(path()).status().text();

  rules(head + "a/engine tenant t rw");
  const auto opened = Certificates::open(path() + "/");
  ASSERT_TRUE(opened.ok()) << opened.status().text();
  EXPECT_EQ(kvpool::toString(opened.value()->current()->self().principal), "tenant/t/rw/a.engine");
  rules(head + "a/engine tenant u ro");
  opened.value()->look(0);
  EXPECT_EQ(kvpool::toString(opened.value()->current()->self().principal), "tenant/u/ro/a.engine");
  rules(head);
  opened.value()->look(Certificates::kLookEveryMs);
  EXPECT_EQ(kvpool::toString(opened.value()->current()->self().principal), "tenant/u/ro/a.engine") << "what was good";
}

/// Who may not look at the rules must not go on as if there were none.
TEST_F(CertificatesTest, OnlyAMissingFileOfRulesMeansThatThereAreNone) {
  const std::string names = path() + ".names/names";
  const auto problem = [this] { return Certificates::open(path()).status().text(); };
  write(authority_.issue("tenant/t/rw/a"));
  EXPECT_EQ(problem(), "");
  std::filesystem::create_directories(path() + ".names");
  EXPECT_EQ(problem(), "");
  std::filesystem::create_symlink("names", names);  // of itself: not even root can read it
  EXPECT_NE(problem().find("cannot look at " + names), std::string::npos) << problem();
  EXPECT_NE(problem().find("or there must be none"), std::string::npos) << problem();

  const auto filled = [&names](size_t bytes) {
    const std::string head = std::string("pool ") + test::kPool + "\ntrust-domain cluster.local\n#";
    std::filesystem::remove(names);
    std::ofstream(names) << head << std::string(bytes - head.size(), 'x');
  };
  filled(size_t{1} << 20);
  EXPECT_EQ(problem(), "");
  filled((size_t{1} << 20) + 1);
  EXPECT_NE(problem().find("has more than 1024 KiB"), std::string::npos) << problem();
}

TEST_F(CertificatesTest, ThatDoNotDoAreRefusedWithFileCauseAndRemedy) {
  const CertificateAuthority other("another root");
  const PemTriple fine = authority_.issue("node/a");
  const auto wished = [this](const std::function<void(CertificateAuthority::Wish&)>& change) {
    CertificateAuthority::Wish wish{{named("node/a")}};
    change(wish);
    return authority_.issue(wish);
  };
  const std::string half = fine.certificates.substr(0, fine.certificates.size() / 2);
  const std::vector<std::tuple<std::string, PemTriple, std::string>> table = {
      {"expired", wished([](auto& wish) { wish.endsInSeconds = -1; }), "tls.crt has expired; renew it"},
      {"early", wished([](auto& wish) { wish.beginsInSeconds = 1000; }), "tls.crt is not valid yet; compare"},
      {"no name", wished([](auto& wish) { wish.uris = {}; }), "tls.crt : has 0 URIs among its names"},
      {"two names", wished([](auto& wish) { wish.uris.push_back(named("node/b")); }), "has 2 URIs among its names"},
      {"strange name", wished([](auto& wish) { wish.uris = {"spiffe://cluster.local/ns/a"}; }), "no pool's id"},
      {"other key", {fine.certificates, authority_.issue("node/a").key, fine.roots}, "tls.key is not the key"},
      {"other root", {fine.certificates, fine.key, other.roots()}, "signed by none of the roots in ca.crt"},
      {"other curve", wished([](auto& wish) { wish.curve = "P-384"; }), "tls.key has neither a key of EC P-256"},
      {"short RSA", wished([](auto& wish) {
         wish.curve.clear();
         wish.rsaBits = 1024;
       }),
       "tls.key has neither a key of EC P-256"},
      {"empty certificate", {"", fine.key, fine.roots}, "tls.crt has no certificate in PEM"},
      {"half a certificate", {half, fine.key, fine.roots}, "tls.crt has a certificate that cannot be read"},
      {"one and a half", {fine.certificates + half, fine.key, fine.roots}, "tls.crt has a certificate that cannot"},
      {"no PEM", {std::string(1000, '\xFF'), fine.key, fine.roots}, "tls.crt has no certificate in PEM"},
      {"empty key", {fine.certificates, "", fine.roots}, "tls.key has no private key that can be read"},
      {"empty roots", {fine.certificates, fine.key, ""}, "ca.crt has no certificate in PEM"},
      {"huge", {fine.certificates + std::string(300'000, '\n'), fine.key, fine.roots}, "has more than 256 KiB"},
  };
  for (const auto& [what, triple, why] : table) {
    write(triple);
    const auto opened = Certificates::open(path());
    ASSERT_FALSE(opened.ok()) << what;
    EXPECT_NE(opened.status().text().find(why), std::string::npos) << what << ": " << opened.status().text();
    EXPECT_NE(opened.status().text().find(path()), std::string::npos) << what << ": " << opened.status().text();
  }
}

TEST_F(CertificatesTest, ThatAreMissingAreNamed) {
  for (const char* const file : {"tls.crt", "tls.key", "ca.crt"}) {
    write(authority_.issue("node/a"));
    std::filesystem::remove(path() + "/" + file);
    const auto opened = Certificates::open(path());
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.status().code(), KV_IO);
    EXPECT_NE(opened.status().text().find(path() + "/" + file), std::string::npos) << opened.status().text();
    EXPECT_NE(opened.status().text().find("must have tls.crt, tls.key and ca.crt"), std::string::npos);
  }
  EXPECT_FALSE(Certificates::open(path() + "/nowhere").ok());
}

TEST_F(CertificatesTest, AKeyWithAPassphraseIsRefusedWithoutAQuestion) {
  write(authority_.issue("node/a"));
  EVP_PKEY* const key = CertificateAuthority::newKey("P-256");
  BIO* const file = BIO_new_file((path() + "/tls.key").c_str(), "w");
  PEM_write_bio_PKCS8PrivateKey(file, key, EVP_aes_256_cbc(), "secret", 6, nullptr, nullptr);
  BIO_free(file);
  EVP_PKEY_free(key);
  const auto opened = Certificates::open(path());
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.status().text().find("without a passphrase"), std::string::npos) << opened.status().text();
}

TEST_F(CertificatesTest, AreLookedAtEveryTenSecondsAndStayWhileNewOnesDoNotDo) {
  write(authority_.issue("node/a"));
  auto opened = Certificates::open(path());
  ASSERT_TRUE(opened.ok()) << opened.status().text();
  Certificates& certificates = *opened.value();
  const auto name = [&] { return certificates.current()->self().principal.name; };
  certificates.look(0);
  const auto first = certificates.current();

  write(authority_.issue("node/b"));
  certificates.look(9'999);
  EXPECT_EQ(name(), "a") << "not due";
  certificates.look(10'000);
  EXPECT_EQ(name(), "b");
  EXPECT_EQ(first->self().principal.name, "a") << "who has the old ones keeps them";

  std::filesystem::remove(path() + "/tls.key");
  testing::internal::CaptureStderr();
  certificates.look(20'000);
  certificates.look(30'000);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(name(), "b");
  const size_t once = said.find("stays in use");
  ASSERT_NE(once, std::string::npos) << said;
  EXPECT_EQ(said.find("stays in use", once + 1), std::string::npos) << "said once: " << said;

  write(authority_.issue("node/c"));
  certificates.look(40'000);
  EXPECT_EQ(name(), "c");
  const auto present = certificates.current();
  certificates.look(50'000);
  EXPECT_EQ(certificates.current(), present) << "the same files are the same credentials";
}

}  // namespace
}  // namespace kvpool::secure
