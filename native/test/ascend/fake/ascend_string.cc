// SPDX-License-Identifier: Apache-2.0
#include "ascend_string.h"

namespace ge {

AscendString::AscendString(const char* text) : text_(text == nullptr ? nullptr : std::make_shared<std::string>(text)) {}

bool AscendString::operator<(const AscendString& other) const {
  if (text_ == nullptr || other.text_ == nullptr) return text_ == nullptr && other.text_ != nullptr;
  return *text_ < *other.text_;
}

const char* AscendString::GetString() const {
  return text_ == nullptr ? "" : text_->c_str();
}
size_t AscendString::GetLength() const {
  return text_ == nullptr ? 0 : text_->size();
}

}  // namespace ge
