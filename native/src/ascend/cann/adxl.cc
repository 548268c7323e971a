// SPDX-License-Identifier: Apache-2.0
#include "ascend/cann/adxl.h"

namespace kvpool::ascend {
namespace {

/// Of the library that is loaded; comparators of maps have no state of their own.
bool (*lessOfTexts)(const TextRoom*, const TextRoom*) = nullptr;

}  // namespace

bool TextOrder::operator()(const Text& a, const Text& b) const {
  return lessOfTexts(&a.room_, &b.room_);
}

Adxl Adxl::of(Symbols& methods, Symbols& texts, const std::string& scope) {
  const std::string prefix = "_ZN" + scope;
  const std::string peer = "ERKN2ge12AscendString";
  const std::string piecesOf = peer + "ENS_10TransferOpERKSt6vectorINS_14TransferOpDescESaIS7_EE";
  Adxl adxl;
  adxl.name = scope == kHixlScope ? "hixl::Hixl" : "adxl::AdxlEngine";
  adxl.optionPrefix = scope == kHixlScope ? "" : "adxl.";
  texts.take(adxl.textCreate, "_ZN2ge12AscendStringC1EPKc");
  texts.take(adxl.textLess, "_ZNK2ge12AscendStringltERKS0_");
  methods.take(adxl.create, prefix + "C1Ev");
  methods.take(adxl.destroy, prefix + "D1Ev");
  methods.take(adxl.initialize, prefix + "10Initialize" + peer + "ERKSt3mapIS2_S2_St4lessIS2_ESaISt4pairIS3_S2_EEE");
  methods.take(adxl.finalize, prefix + "8FinalizeEv");
  methods.take(adxl.registerMemory, prefix + "11RegisterMemERKNS_7MemDescENS_7MemTypeERPv");
  methods.take(adxl.deregisterMemory, prefix + "13DeregisterMemEPv");
  methods.take(adxl.connect, prefix + "7Connect" + peer + "Ei");
  methods.take(adxl.disconnect, prefix + "10Disconnect" + peer + "Ei");
  methods.take(adxl.transfer, prefix + "12TransferSync" + piecesOf + "i");
  methods.takeIfThere(adxl.transferAsync, prefix + "13TransferAsync" + piecesOf + "RKNS_12TransferArgsERPv");
  methods.takeIfThere(adxl.progress, prefix + "17GetTransferStatusERKPvRNS_14TransferStatusE");
  methods.takeIfThere(adxl.mallocMemory, prefix + "9MallocMemENS_7MemTypeEmPPv");
  methods.takeIfThere(adxl.freeMemory, prefix + "7FreeMemEPv");
  methods.takeIfThere(adxl.capability, prefix + "13GetCapabilityENS_11FeatureTypeERi");
  if (adxl.textLess != nullptr) lessOfTexts = adxl.textLess;
  return adxl;
}

bool Adxl::isIn(void* library) {
  const Symbols methods(library);
  return methods.has("_ZN" + std::string(kAdxlScope) + "C1Ev") || isOfCann82(methods);
}

bool Adxl::isOfCann82(const Symbols& methods) {
  return methods.has("_ZN" + std::string(kAdxlScope) + "C1ERKN2ge12AscendStringE");
}

bool Adxl::has(Feature feature) const {
  int32_t value = 0;
  return capability != nullptr && capability(feature, value) == kTransportOk && value != 0;
}

}  // namespace kvpool::ascend
